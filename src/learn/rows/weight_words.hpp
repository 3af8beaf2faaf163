// SPDX-License-Identifier: Apache-2.0
// Weights as tensor cores take them: two 16-bit numbers, the weight rounded and what that is less,
// so that they have twice the fraction of one.
#pragma once

#include "warren/exec/tensor_cores.hpp"

namespace warren::learn::detail {

/// `weight` as a T, in the low half, and what that is less, in the high one. Those that a T does
/// not hold become infinite, as sums of them would.
template <class T>
[[nodiscard]] WARREN_HD std::uint32_t weight_word(float weight) {
  const T rounded = from_float<T>(weight);
  const T rest = from_float<T>(weight - to_float(rounded));
  return rounded.bits | std::uint32_t{rest.bits} << 16;
}

/// Those of four entries, read at once.
struct alignas(16) WeightWords {
  std::uint32_t at[4];

  /// B's numbers of a lane (exec/tensor_cores.hpp): the weights, or what these are less.
  WARREN_HD void put(bool is_rest, std::uint32_t (&b)[2]) const {
    const std::uint32_t which = is_rest ? 0x7632u : 0x5410u;
    b[0] = exec::permute_bytes(at[0], at[1], which);
    b[1] = exec::permute_bytes(at[2], at[3], which);
  }
};

}  // namespace warren::learn::detail
