// SPDX-License-Identifier: Apache-2.0
// Rows of matrices that are padded to 16 bytes.
#pragma once

#include <cstdint>

namespace warren::learn {

/// Floats from one row of k to the next where rows are padded to 16 bytes: products and gathers on
/// GPUs then read four numbers at once, and tensor cores take part.
[[nodiscard]] constexpr std::uint64_t padded(std::uint64_t k) { return (k + 3) / 4 * 4; }

}  // namespace warren::learn
