// SPDX-License-Identifier: Apache-2.0
// Places in sorted lists and in sums of weights.
#pragma once

#include <cstdint>

#include "warren/sample/random.hpp"

namespace warren::sample::detail {

/// The first of places 0 ... end - 1 for which holds(place), which then holds for all behind it;
/// or `end`.
template <class Holds>
[[nodiscard]] WARREN_HD std::uint32_t first_place(std::uint32_t end, Holds&& holds) {
  std::uint32_t low = 0;
  std::uint32_t high = end;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// A number of [0, 1), in steps of 2^-53, from the upper 53 of 64 random bits.
[[nodiscard]] WARREN_HD inline double uniform(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

/// The first of n places whose sum of weights, up to and with its own, is above the part `drawn`
/// (of [0, 1)) of the last sum, which must be above 0.
[[nodiscard]] WARREN_HD inline std::uint32_t place_by_sums(const double* sums, std::uint32_t n,
                                                           double drawn) {
  const double total = sums[n - 1];
  const double part = multiply(drawn, total);
  // Rounded up to the total, it is the last place with a weight.
  return first_place(
      n - 1, [&](std::uint32_t place) { return sums[place] > part || sums[place] >= total; });
}

}  // namespace warren::sample::detail
