// SPDX-License-Identifier: Apache-2.0
// When tensor cores add up rows of a sparse-dense product.
#pragma once

#include <cstdint>

namespace warren::sparse {

/// Whether a GPU's tensor cores add up rows of 16 bits.
enum class TensorCoreUse : std::uint8_t {
  automatic,  ///< Where prefers_tensor_sums() says so.
  off,
  on  ///< Wherever they can.
};

/// Whether sums over rows of `columns` 16-bit numbers, of `mean_entries` entries each in the mean,
/// are faster on tensor cores than by conversions and additions. Measured on one H200 with six
/// graphs of 2.5 to 42 entries a row (docs/decisions/tensor-core-sums.md): at 64 columns with 42
/// and not with 30, at 128 and 256 with 17 and 30, too, and not with 11. Fewer columns were not
/// measured.
[[nodiscard]] constexpr bool prefers_tensor_sums(std::uint64_t columns,
                                                 std::uint64_t mean_entries) {
  if (columns < 64) return false;
  return mean_entries >= (columns < 128 ? 32u : 16u);
}

}  // namespace warren::sparse
