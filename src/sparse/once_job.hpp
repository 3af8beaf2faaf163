// SPDX-License-Identifier: Apache-2.0
// What the kernels of the column-wise product have in common.
#pragma once

#include "warren/sparse/spmm.hpp"

namespace warren::sparse::detail {

/// C[row(e)] += alpha row_scale value(e) B[rows[i]] for the entries e of column i, of which each
/// column has one at least.
struct OnceJob {
  const EdgeOffset* offsets = nullptr;  ///< By column.
  const Vertex* row_ids = nullptr;
  const float* values = nullptr;     ///< nullptr: all ones.
  const float* row_scale = nullptr;  ///< nullptr: all ones.
  const Vertex* rows = nullptr;      ///< Of B, by column.
  std::uint64_t columns = 0;
  RowTable<float> b;
  float* c = nullptr;
  std::uint64_t c_stride = 0;
  std::uint64_t k = 0;  ///< Columns of B and C.
  float alpha = 1.0f;
  std::uint64_t* rows_moved = nullptr;  ///< Columns whose rows were read are added, where wanted.

  /// What entry e's row of B is multiplied by, but for alpha.
  [[nodiscard]] WARREN_HD float factor(EdgeOffset e) const {
    const float value = values == nullptr ? 1.0f : values[e];
    return row_scale == nullptr ? value : value * row_scale[row_ids[e]];
  }
  [[nodiscard]] WARREN_HD bool is_plain() const {
    return values == nullptr && row_scale == nullptr;
  }
};

}  // namespace warren::sparse::detail
