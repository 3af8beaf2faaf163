// SPDX-License-Identifier: Apache-2.0
// Rows of matrices that are padded to 16 bytes.
#pragma once

#include <cstdint>

#include "warren/learn/numbers.hpp"

namespace warren::learn {

/// Numbers from one row of k to the next where rows are padded to 16 bytes: products and gathers on
/// GPUs then read as many at once, and tensor cores take part.
[[nodiscard]] constexpr std::uint64_t padded(std::uint64_t k,
                                             NumberType type = NumberType::float32) {
  const std::uint64_t step = 16 / size_of(type);
  return (k + step - 1) / step * step;
}

}  // namespace warren::learn
