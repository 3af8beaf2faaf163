// SPDX-License-Identifier: Apache-2.0
// e^x in float32 without a call, so that loops over it become SIMD on the CPU: x = n ln 2 + r, a
// polynomial of r, and n added to the exponent. Within 2 units in the last place; NaN stays NaN;
// below -87 it is nearly, not exactly, 0, above 88 the largest power of e that float32 holds.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "warren/core/types.hpp"

namespace warren::learn::detail {

WARREN_HD inline float exponential(float x) {
#if defined(__CUDA_ARCH__)
  return __expf(x);
#else
  x = x < -87.0f ? -87.0f : x;
  x = x > 88.0f ? 88.0f : x;
  // Adding 1.5 * 2^23 rounds to a whole number, which then stands in the last bits.
  constexpr float kRound = 12582912.0f;
  const float shifted = x * 1.44269504f + kRound;
  const float n = shifted - kRound;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const std::uint32_t exponent =
      std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(kRound) + 127u;
  return p * std::bit_cast<float>(exponent << 23);
#endif
}

}  // namespace warren::learn::detail
