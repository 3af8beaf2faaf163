// SPDX-License-Identifier: Apache-2.0
// Numbers of 16 bits as storage: IEEE half precision and bfloat16. Arithmetic is done in float;
// rounding is to the nearest, ties to even; infinities and NaNs are carried through.
#pragma once

#include <bit>
#include <cstdint>

#include "warren/core/types.hpp"

namespace warren {

struct Half {
  std::uint16_t bits = 0;
};
struct BFloat16 {
  std::uint16_t bits = 0;
};

WARREN_HD inline float to_float(float value) { return value; }

WARREN_HD inline float to_float(BFloat16 value) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(std::uint32_t{value.bits} << 16);
#else
  return std::bit_cast<float>(std::uint32_t{value.bits} << 16);
#endif
}

WARREN_HD inline float to_float(Half value) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
  return result;
#else
  // Exponent and fraction moved to float's places and scaled by 2^112, which subnormal numbers
  // survive, without a branch: loops over it vectorise.
  const std::uint32_t magnitude = (value.bits & 0x7fffu) << 13;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
  const std::uint32_t special = magnitude >= 0x0f800000u ? 0x7f800000u : 0u;
  const std::uint32_t sign = (value.bits & 0x8000u) << 16;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special | sign);
#endif
}

template <class T>
WARREN_HD T from_float(float value);

template <>
WARREN_HD inline float from_float<float>(float value) {
  return value;
}

template <>
WARREN_HD inline BFloat16 from_float<BFloat16>(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  BFloat16 result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
#else
#if defined(__CUDA_ARCH__)
  const std::uint32_t bits = __float_as_uint(value);
#else
  const auto bits = std::bit_cast<std::uint32_t>(value);
#endif
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  const std::uint32_t rounded = bits + 0x7fffu + (bits >> 16 & 1u);
  return {static_cast<std::uint16_t>((is_nan ? bits | 0x400000u : rounded) >> 16)};
#endif
}

template <>
WARREN_HD inline Half from_float<Half>(float value) {
#if defined(__CUDA_ARCH__)
  Half result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
#else
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  std::uint32_t half = 0;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u;
  } else if (magnitude >= 0x47800000u) {
    half = 0x7c00u;  // 65536 and more.
  } else if (magnitude >= 0x38800000u) {
    const std::uint32_t rebased = magnitude - 0x38000000u;
    half = (rebased + 0xfffu + (rebased >> 13 & 1u)) >> 13;
  } else {
    // Adding 1/2 lets the float's own rounding cut the fraction at the subnormal numbers' 2^-24.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    half = std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u;
  }
  return {static_cast<std::uint16_t>(half | sign)};
#endif
}

}  // namespace warren
