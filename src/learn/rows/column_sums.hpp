// SPDX-License-Identifier: Apache-2.0
// What is done with the columns that a lane has of two rows: on the CPU in SIMD registers of
// sixteen numbers, which compilers do not make of choices within loops by themselves.
#pragma once

#include <cstring>

#include "learn/rows/row_pass.hpp"

namespace warren::learn::detail {

#if !defined(__CUDA_ARCH__)
/// f(block) for blocks of sixteen columns of N, a multiple of it.
template <std::uint32_t N, class F>
[[gnu::always_inline]] inline void each_sixteen(F&& f) {
  for (std::uint32_t first = 0; first < N; first += 16) f(first);
}
using Sixteen [[gnu::vector_size(64)]] = float;
[[gnu::always_inline]] inline void read_sixteen(const float* from, Sixteen& to) {
  std::memcpy(&to, from, sizeof to);
}
[[gnu::always_inline]] inline float sum_of_sixteen(const Sixteen& values) {
  float sums[16];
  std::memcpy(sums, &values, sizeof sums);
  for (std::uint32_t half = 8; half > 0; half /= 2) {
    for (std::uint32_t i = 0; i < half; ++i) sums[i] += sums[i + half];
  }
  return sums[0];
}
template <std::uint32_t N>
inline constexpr bool kHasSixteens = N % 16 == 0;
#else
template <std::uint32_t N>
inline constexpr bool kHasSixteens = false;
#endif

/// <weights, LeakyReLU(x + y)>.
template <std::uint32_t N>
WARREN_HD float leaky_product(const Floats<N>& weights, const Floats<N>& x, const Floats<N>& y,
                              float slope) {
#if !defined(__CUDA_ARCH__)
  if constexpr (kHasSixteens<N>) {
    Sixteen sum = {};
    each_sixteen<N>([&](std::uint32_t first) {
      Sixteen w, left, right;
      read_sixteen(weights.at + first, w);
      read_sixteen(x.at + first, left);
      read_sixteen(y.at + first, right);
      left += right;
      right = slope * left;
      sum += w * (left > 0.0f ? left : right);
    });
    return sum_of_sixteen(sum);
  }
#endif
  float sum = 0.0f;
  WARREN_UNROLL
  for (std::uint32_t i = 0; i < N; ++i) {
    const float u = x.at[i] + y.at[i];
    sum += weights.at[i] * (u > 0.0f ? u : slope * u);
  }
  return sum;
}
/// <x, y>.
template <std::uint32_t N>
WARREN_HD float inner_product(const Floats<N>& x, const Floats<N>& y) {
#if !defined(__CUDA_ARCH__)
  if constexpr (kHasSixteens<N>) {
    Sixteen sum = {};
    each_sixteen<N>([&](std::uint32_t first) {
      Sixteen left, right;
      read_sixteen(x.at + first, left);
      read_sixteen(y.at + first, right);
      sum += left * right;
    });
    return sum_of_sixteen(sum);
  }
#endif
  float sum = 0.0f;
  WARREN_UNROLL
  for (std::uint32_t i = 0; i < N; ++i) sum += x.at[i] * y.at[i];
  return sum;
}
/// sums += factor x.
template <std::uint32_t N>
WARREN_HD void add_scaled(float factor, const Floats<N>& x, Floats<N>& sums) {
#if !defined(__CUDA_ARCH__)
  if constexpr (kHasSixteens<N>) {
    each_sixteen<N>([&](std::uint32_t first) {
      Sixteen sum, values;
      read_sixteen(sums.at + first, sum);
      read_sixteen(x.at + first, values);
      sum += factor * values;
      std::memcpy(sums.at + first, &sum, sizeof sum);
    });
    return;
  }
#endif
  WARREN_UNROLL
  for (std::uint32_t i = 0; i < N; ++i) sums.at[i] += factor * x.at[i];
}
/// sums += value where x + y > 0.
template <std::uint32_t N>
WARREN_HD void add_where_positive(const Floats<N>& x, const Floats<N>& y, float value,
                                  Floats<N>& sums) {
#if !defined(__CUDA_ARCH__)
  if constexpr (kHasSixteens<N>) {
    each_sixteen<N>([&](std::uint32_t first) {
      Sixteen left, right, sum;
      read_sixteen(x.at + first, left);
      read_sixteen(y.at + first, right);
      read_sixteen(sums.at + first, sum);
      left += right;
      const Sixteen none = {};
      sum += left > 0.0f ? none + value : none;
      std::memcpy(sums.at + first, &sum, sizeof sum);
    });
    return;
  }
#endif
  WARREN_UNROLL
  for (std::uint32_t i = 0; i < N; ++i) sums.at[i] += x.at[i] + y.at[i] > 0.0f ? value : 0.0f;
}

}  // namespace warren::learn::detail
