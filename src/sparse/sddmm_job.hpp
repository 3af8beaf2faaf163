// SPDX-License-Identifier: Apache-2.0
// What the kernels of the sampled dense-dense product have in common.
#pragma once

#include <cstdint>

#include "warren/exec/float_pack.hpp"
#include "warren/exec/launch.hpp"
#include "warren/sparse/sddmm.hpp"

namespace warren::sparse::detail {

/// One product, as its kernels see it.
template <class T>
struct SddmmJob {
  MatrixView a;
  const T* x = nullptr;
  std::uint64_t x_stride = 0;
  const T* y = nullptr;
  std::uint64_t y_stride = 0;
  std::uint64_t k = 0;
  float* out = nullptr;
  const SpmmTask* tasks = nullptr;
  std::uint64_t task_count = 0;

  [[nodiscard]] WARREN_HD float scaled(float dot, EdgeOffset e, std::uint64_t row,
                                       std::uint64_t column) const {
    const float scale = a.row_scale == nullptr ? 1.0f : a.row_scale[row];
    return a.is_weighted() ? dot * scale * a.weight(e, column) : dot * scale;
  }
};

}  // namespace warren::sparse::detail
