// SPDX-License-Identifier: Apache-2.0
// Random numbers as a function of what they are for: seed, batch, hop, the target's position and
// the slot, or the neighbour. No state is kept, so that a sample does not depend on who draws it,
// in which order, on which device. The generator is Philox4x32-10 (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011).
#pragma once

#include <bit>
#include <cstdint>

#include "warren/core/types.hpp"

namespace warren::sample {

/// Four words of 32 random bits.
struct RandomWords {
  std::uint32_t word[4];
};

/// Philox4x32-10 of a counter and a key.
WARREN_HD constexpr RandomWords philox(RandomWords counter, std::uint32_t key0,
                                       std::uint32_t key1) {
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter.word[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * counter.word[2];
    counter = {{static_cast<std::uint32_t>(b >> 32) ^ counter.word[1] ^ key0,
                static_cast<std::uint32_t>(b),
                static_cast<std::uint32_t>(a >> 32) ^ counter.word[3] ^ key1,
                static_cast<std::uint32_t>(a)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

namespace detail {

// Products and sums that no compiler fuses: host and device give the same bits.
WARREN_HD inline double add(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dadd_rn(a, b);
#else
  return a + b;
#endif
}
WARREN_HD inline double multiply(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}
WARREN_HD inline std::uint64_t bits_of(double value) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint64_t>(__double_as_longlong(value));
#else
  return std::bit_cast<std::uint64_t>(value);
#endif
}
WARREN_HD inline double from_bits(std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return __longlong_as_double(static_cast<long long>(bits));
#else
  return std::bit_cast<double>(bits);
#endif
}

}  // namespace detail

/// -ln((2 k + 1) / 2^53) for k = the upper 52 of `bits`: an exponential variate of mean 1, above 0,
/// with a relative error below 1e-14 and the same bits everywhere.
WARREN_HD inline double exponential(std::uint64_t bits) {
  constexpr double kLn2 = 0.69314718055994530942;
  constexpr int kTerms = 11;
  const auto odd = static_cast<double>((bits >> 12) * 2 + 1);  // Below 2^53: exact.
  const std::uint64_t pattern = detail::bits_of(odd);
  int exponent = static_cast<int>(pattern >> 52) - 1023;
  double m = detail::from_bits((pattern & 0xfffffffffffffull) | 0x3ff0000000000000ull);
  if (m > 1.41421356237309504880) {
    m *= 0.5;
    ++exponent;
  }
  // ln m = 2 (s + s^3 / 3 + s^5 / 5 + ...), |s| < 0.172.
  const double s = detail::add(m, -1.0) / detail::add(m, 1.0);
  const double z = detail::multiply(s, s);
  double sum = 1.0 / (2 * kTerms + 1);
  for (int term = kTerms - 1; term >= 0; --term)
    sum = detail::add(detail::multiply(sum, z), 1.0 / (2 * term + 1));
  const double log = detail::multiply(2.0, detail::multiply(s, sum));
  return detail::add(detail::multiply(53 - exponent, kLn2), -log);
}

/// The random numbers of one target of one hop of one batch.
class TargetDraws {
 public:
  static constexpr std::uint64_t kMostBatches = std::uint64_t{1} << 48;

  TargetDraws() = default;
  /// `batch` below kMostBatches, `hop` below 256.
  WARREN_HD TargetDraws(std::uint64_t seed, std::uint64_t batch, std::uint32_t hop,
                        std::uint32_t position)
      : key0_(static_cast<std::uint32_t>(seed)),
        key1_(static_cast<std::uint32_t>(seed >> 32)),
        position_(position),
        batch_(static_cast<std::uint32_t>(batch)),
        tag_(hop << 24 | static_cast<std::uint32_t>(batch >> 32)) {}

  /// The words of slots 4 block .. 4 block + 3; `attempt`, below 256, tells repeated draws apart.
  [[nodiscard]] WARREN_HD RandomWords words(std::uint32_t block, std::uint32_t attempt = 0) const {
    return philox({{block, position_, batch_, tag_ | attempt << 16}}, key0_, key1_);
  }

  /// A number below `bound` from the slot's word, each with the same probability (Lemire, "Fast
  /// random integer generation in an interval", 2019).
  [[nodiscard]] WARREN_HD std::uint32_t below(std::uint32_t bound, std::uint32_t slot,
                                              std::uint32_t word) const {
    constexpr std::uint32_t kAttempts = 256;
    std::uint64_t product = std::uint64_t{word} * bound;
    if (static_cast<std::uint32_t>(product) < bound) {
      const std::uint32_t threshold = (0u - bound) % bound;
      for (std::uint32_t attempt = 1;
           static_cast<std::uint32_t>(product) < threshold && attempt < kAttempts; ++attempt)
        product = std::uint64_t{pick(words(slot / 4, attempt), slot % 4)} * bound;
    }
    return static_cast<std::uint32_t>(product >> 32);
  }
  [[nodiscard]] WARREN_HD std::uint32_t below(std::uint32_t bound, std::uint32_t slot) const {
    return below(bound, slot, pick(words(slot / 4), slot % 4));
  }

  /// 64 bits of the slot's own.
  [[nodiscard]] WARREN_HD std::uint64_t bits(std::uint32_t slot) const {
    const RandomWords drawn = words(slot / 2);
    const bool is_odd = slot % 2 == 1;
    const std::uint32_t high = is_odd ? drawn.word[3] : drawn.word[1];
    const std::uint32_t low = is_odd ? drawn.word[2] : drawn.word[0];
    return std::uint64_t{high} << 32 | low;
  }

 private:
  /// Without an index into registers.
  [[nodiscard]] static WARREN_HD std::uint32_t pick(const RandomWords& drawn, std::uint32_t which) {
    const std::uint32_t low = which == 0 ? drawn.word[0] : drawn.word[1];
    const std::uint32_t high = which == 2 ? drawn.word[2] : drawn.word[3];
    return which < 2 ? low : high;
  }

  std::uint32_t key0_ = 0;
  std::uint32_t key1_ = 0;
  std::uint32_t position_ = 0;
  std::uint32_t batch_ = 0;
  std::uint32_t tag_ = 0;
};

/// The random numbers of vertices as neighbours in one hop of one batch, or in all of its hops: the
/// same whichever target they are neighbours of. No TargetDraws of a sampler or a walk has them.
class NeighbourDraws {
 public:
  static constexpr std::uint32_t kAllHops = 126;

  /// `batch` as of TargetDraws; `hop` below kAllHops, or that.
  WARREN_HD NeighbourDraws(std::uint64_t seed, std::uint64_t batch, std::uint32_t hop)
      : draws_(seed, batch, kFirstHop + hop, 0) {}

  /// r_t = (2 k + 1) / 2^53 of vertex t, k being of 52 random bits: uniform in (0, 1).
  [[nodiscard]] WARREN_HD double uniform(Vertex t) const {
    return detail::multiply(static_cast<double>((draws_.bits(t) >> 12) * 2 + 1), 0x1p-53);
  }

 private:
  static constexpr std::uint32_t kFirstHop = 128;  ///< Hops of targets are below, a walk's is 255.
  TargetDraws draws_;
};

}  // namespace warren::sample
