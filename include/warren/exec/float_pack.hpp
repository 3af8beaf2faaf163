// SPDX-License-Identifier: Apache-2.0
// N floats that one thread computes with: registers of a GPU's thread, SIMD registers of the CPU,
// in whose width launch_wide() compiles them.
#pragma once

#include <cstdint>
#include <cstring>

#include "warren/exec/half.hpp"

namespace warren::exec {

#if defined(__CUDACC__)
// The class is another one to nvcc: the two must not meet in one program under one name.
inline namespace of_nvcc {

/// N elements as they are loaded: at once where they are 16 bytes.
template <class T, std::uint32_t N>
struct alignas(sizeof(T) * N) RawPack {
  T element[N];
};

template <std::uint32_t N>
struct FloatPack {
  float element[N];

  WARREN_HD void clear() {
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) element[i] = 0.0f;
  }
  template <class T>
  WARREN_HD void load(const T* from) {
    set(*reinterpret_cast<const RawPack<T, N>*>(from));
  }
  template <class T>
  WARREN_HD void set(const RawPack<T, N>& raw) {
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) element[i] = to_float(raw.element[i]);
  }
  template <class T>
  WARREN_HD void store(T* to) const {
    RawPack<T, N> raw;
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) raw.element[i] = from_float<T>(element[i]);
    *reinterpret_cast<RawPack<T, N>*>(to) = raw;
  }
  /// this += factor * other.
  WARREN_HD void add(float factor, const FloatPack& other) {
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) element[i] += factor * other.element[i];
  }
  WARREN_HD void scale(float factor) {
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) element[i] *= factor;
  }
  [[nodiscard]] WARREN_HD float dot(const FloatPack& other) const {
    float sum = 0.0f;
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) sum += element[i] * other.element[i];
    return sum;
  }
  [[nodiscard]] WARREN_HD float at(std::uint32_t i) const { return element[i]; }
};

}  // namespace of_nvcc
#else

template <std::uint32_t N>
struct FloatPack {
  static constexpr std::uint32_t kWide = N < 16 ? N : 16;
  static constexpr std::uint32_t kParts = N / kWide;
  static_assert(N % kWide == 0);
  using Floats [[gnu::vector_size(kWide * sizeof(float))]] = float;
  Floats part[kParts];

  [[gnu::always_inline]] void clear() {
    for (std::uint32_t i = 0; i < kParts; ++i) part[i] = Floats{};
  }
  [[gnu::always_inline]] void load(const float* from) { std::memcpy(part, from, sizeof part); }
  template <class T>
  [[gnu::always_inline]] void load(const T* from) {
    // Plain loops over an array, which the compiler makes SIMD conversions of.
    for (std::uint32_t i = 0; i < kParts; ++i) {
      float lane[kWide];
      for (std::uint32_t l = 0; l < kWide; ++l) lane[l] = to_float(from[i * kWide + l]);
      std::memcpy(&part[i], lane, sizeof lane);
    }
  }
  template <class T>
  [[gnu::always_inline]] void store(T* to) const {
    if constexpr (sizeof(T) == sizeof(float)) {
      std::memcpy(to, part, sizeof part);
    } else {
      for (std::uint32_t i = 0; i < N; ++i) to[i] = from_float<T>(at(i));
    }
  }
  [[gnu::always_inline]] void add(float factor, const FloatPack& other) {
    for (std::uint32_t i = 0; i < kParts; ++i) part[i] += factor * other.part[i];
  }
  [[gnu::always_inline]] void scale(float factor) {
    for (std::uint32_t i = 0; i < kParts; ++i) part[i] *= factor;
  }
  /// this += left * right.
  [[gnu::always_inline]] void add_product(const FloatPack& left, const FloatPack& right) {
    for (std::uint32_t i = 0; i < kParts; ++i) part[i] += left.part[i] * right.part[i];
  }
  [[nodiscard, gnu::always_inline]] float sum() const {
    Floats total = part[0];
    for (std::uint32_t i = 1; i < kParts; ++i) total += part[i];
    float lane[kWide];
    std::memcpy(lane, &total, sizeof total);
    for (std::uint32_t half = kWide / 2; half > 0; half /= 2) {
      for (std::uint32_t i = 0; i < half; ++i) lane[i] += lane[i + half];
    }
    return lane[0];
  }
  [[nodiscard, gnu::always_inline]] float at(std::uint32_t i) const {
    float value;
    std::memcpy(&value, reinterpret_cast<const float*>(part) + i, sizeof value);
    return value;
  }
};
#endif

}  // namespace warren::exec
