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

/// A column of B (exec/tensor_cores.hpp) that multiplies the first or the second numbers of A's
/// words alone, 0 for the others.
class WeightColumn {
 public:
  WARREN_HD explicit WeightColumn(bool is_second)
      : weights_(is_second ? 0x1044u : 0x4410u), rests_(is_second ? 0x3244u : 0x4432u) {}

  /// d += A B for words `first` in B's upper rows, `second` in its lower ones.
  template <class T, class W>
  WARREN_HD void multiply_add(const W& worker, float (&d)[4], const std::uint32_t (&a)[4],
                              std::uint32_t first, std::uint32_t second) const {
    const std::uint32_t weights[2] = {exec::permute_bytes(first, 0, weights_),
                                      exec::permute_bytes(second, 0, weights_)};
    const std::uint32_t rests[2] = {exec::permute_bytes(first, 0, rests_),
                                    exec::permute_bytes(second, 0, rests_)};
    worker.template multiply_add<T>(d, a, weights);
    worker.template multiply_add<T>(d, a, rests);
  }

 private:
  std::uint32_t weights_, rests_;  ///< Places for permute_bytes(); 4 is a byte of 0.
};

}  // namespace warren::learn::detail
