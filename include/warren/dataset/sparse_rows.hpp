// SPDX-License-Identifier: Apache-2.0
// Features that are mostly zeros.
#pragma once

#include <cstdint>
#include <vector>

#include "warren/core/types.hpp"

namespace warren::learn {

/// Sparse rows in host memory (CSR).
struct SparseRows {
  std::uint64_t rows = 0, columns = 0;
  std::vector<EdgeOffset> offsets{0};  ///< rows + 1, from 0.
  std::vector<Vertex> column_ids;
  std::vector<float> values;
};

}  // namespace warren::learn
