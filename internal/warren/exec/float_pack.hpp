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
  WARREN_HD float get(std::uint32_t i) const { return to_float(element[i]); }
  WARREN_HD void put(std::uint32_t i, float value) { element[i] = from_float<T>(value); }
};
/// Two numbers of 16 bits stay in one register until they are used.
template <class T, std::uint32_t N>
requires(sizeof(T) == 2 && N % 2 == 0) struct alignas(sizeof(T) * N) RawPack<T, N> {
  std::uint32_t words[N / 2];
  /// Elements 2 i and 2 i + 1, the first in the low half.
  WARREN_HD std::uint32_t word(std::uint32_t i) const { return words[i]; }
  WARREN_HD float get(std::uint32_t i) const {
    return to_float(T{static_cast<std::uint16_t>(words[i / 2] >> (i % 2 * 16))});
  }
  WARREN_HD void put(std::uint32_t i, float value) {
    const std::uint32_t bits = from_float<T>(value).bits;
    words[i / 2] = i % 2 == 0 ? bits : words[i / 2] | bits << 16;
  }
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
    for (std::uint32_t i = 0; i < N; ++i) element[i] = raw.get(i);
  }
  template <class T>
  WARREN_HD void store(T* to) const {
    RawPack<T, N> raw;
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) raw.put(i, element[i]);
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
  WARREN_HD void assign(const float (&values)[N]) {
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) element[i] = values[i];
  }
};

}  // namespace of_nvcc
#else

/// N elements as they are stored.
template <class T, std::uint32_t N>
struct RawPack {
  T element[N];
  [[nodiscard]] float get(std::uint32_t i) const { return to_float(element[i]); }
  void put(std::uint32_t i, float value) { element[i] = from_float<T>(value); }
  /// Elements 2 i and 2 i + 1, the first in the low half.
  [[nodiscard]] std::uint32_t word(std::uint32_t i) const {
    return element[2 * i].bits | std::uint32_t{element[2 * i + 1].bits} << 16;
  }
};

namespace detail {

// Sixteen at a time, in the caller's SIMD instructions: as to_float() and from_float(), without
// branches.
using Floats16 [[gnu::vector_size(64)]] = float;
using Words16 [[gnu::vector_size(64)]] = std::uint32_t;
using Shorts16 [[gnu::vector_size(32)]] = std::uint16_t;

[[gnu::always_inline]] inline void load16(const BFloat16* from, float* to) {
  Shorts16 raw;
  std::memcpy(&raw, from, sizeof raw);
  const Words16 words = __builtin_convertvector(raw, Words16) << 16;
  std::memcpy(to, &words, sizeof words);
}
[[gnu::always_inline]] inline void load16(const Half* from, float* to) {
  Shorts16 raw;
  std::memcpy(&raw, from, sizeof raw);
  const Words16 words = __builtin_convertvector(raw, Words16);
  const Words16 magnitude = (words & 0x7fffu) << 13;
  Floats16 scaled;
  std::memcpy(&scaled, &magnitude, sizeof scaled);
  scaled *= 0x1p112f;
  Words16 result;
  std::memcpy(&result, &scaled, sizeof result);
  const auto special = reinterpret_cast<Words16>(magnitude >= 0x0f800000u) & 0x7f800000u;
  result |= special | ((words & 0x8000u) << 16);
  std::memcpy(to, &result, sizeof result);
}
[[gnu::always_inline]] inline void store16(const float* from, BFloat16* to) {
  Words16 bits;
  std::memcpy(&bits, from, sizeof bits);
  const auto is_nan = reinterpret_cast<Words16>((bits & 0x7fffffffu) > 0x7f800000u);
  const Words16 rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  const Words16 result = ((is_nan & (bits | 0x400000u)) | (~is_nan & rounded)) >> 16;
  const Shorts16 raw = __builtin_convertvector(result, Shorts16);
  std::memcpy(static_cast<void*>(to), &raw, sizeof raw);
}
[[gnu::always_inline]] inline void store16(const float* from, Half* to) {
  Words16 bits;
  std::memcpy(&bits, from, sizeof bits);
  const Words16 magnitude = bits & 0x7fffffffu;
  const Words16 rebased = magnitude - 0x38000000u;
  const Words16 normal = (rebased + 0xfffu + ((rebased >> 13) & 1u)) >> 13;
  Floats16 shifted;
  std::memcpy(&shifted, &magnitude, sizeof shifted);
  shifted += 0.5f;
  Words16 small;
  std::memcpy(&small, &shifted, sizeof small);
  small -= 0x3f000000u;
  const auto is_small = reinterpret_cast<Words16>(magnitude < 0x38800000u);
  const auto is_large = reinterpret_cast<Words16>(magnitude >= 0x47800000u);
  const auto is_nan = reinterpret_cast<Words16>(magnitude > 0x7f800000u);
  Words16 result = (is_small & small) | (~is_small & normal);
  result = (is_large & (0x7c00u + (is_nan & 0x200u))) | (~is_large & result);
  result |= (bits >> 16) & 0x8000u;
  const Shorts16 raw = __builtin_convertvector(result, Shorts16);
  std::memcpy(static_cast<void*>(to), &raw, sizeof raw);
}

}  // namespace detail

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
  [[gnu::always_inline]] void assign(const float (&values)[N]) { load(values); }
  template <class T>
  [[gnu::always_inline]] void load(const T* from) {
    for (std::uint32_t i = 0; i < kParts; ++i) {
      float lane[kWide];
      if constexpr (kWide == 16) {
        detail::load16(from + i * kWide, lane);
      } else {
        for (std::uint32_t l = 0; l < kWide; ++l) lane[l] = to_float(from[l]);
      }
      std::memcpy(&part[i], lane, sizeof lane);
    }
  }
  template <class T>
  [[gnu::always_inline]] void store(T* to) const {
    if constexpr (sizeof(T) == sizeof(float)) {
      std::memcpy(to, part, sizeof part);
    } else {
      for (std::uint32_t i = 0; i < kParts; ++i) {
        float lane[kWide];
        std::memcpy(lane, &part[i], sizeof lane);
        if constexpr (kWide == 16) {
          detail::store16(lane, to + i * kWide);
        } else {
          for (std::uint32_t l = 0; l < kWide; ++l) to[l] = from_float<T>(lane[l]);
        }
      }
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
