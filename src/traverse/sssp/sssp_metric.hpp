// SPDX-License-Identifier: Apache-2.0
// How distances are held: as machine words whose unsigned order is the order of the distances, so
// that one atomic minimum serves all. Integers as they are, in 32 or 64 bits; sums of float32
// weights in double precision, whose bits are ordered like the numbers while none is negative.
#pragma once

#include <bit>
#include <limits>

#include "warren/graph/shard.hpp"

namespace warren::traverse {

/// Bins of one window of distances.
inline constexpr std::uint32_t kSsspBins = 8;

/// `WeightType`: std::uint8_t where weights were narrowed.
template <class WordType, class WeightType = std::int32_t>
struct IntegerMetric {
  using Word = WordType;
  using Weight = WeightType;
  /// What bins are computed in: single precision is enough for 32-bit words, since all that is
  /// asked of a bin's number is that it grows with the distance.
  using Real = std::conditional_t<sizeof(Word) == 4, float, double>;
  static constexpr Word kUnreached = static_cast<Word>(~Word{0});

  [[nodiscard]] WARREN_HD static const Weight* weights(const graph::CsrView& view) {
    if constexpr (std::is_same_v<Weight, std::uint8_t>) {
      return view.weights_byte;
    } else {
      return view.weights_int;
    }
  }
  /// kUnreached where the word cannot hold the sum.
  [[nodiscard]] WARREN_HD static Word add(Word distance, Weight weight) {
    const Word sum = distance + static_cast<Word>(weight);
    return sum < distance ? kUnreached : sum;
  }
  [[nodiscard]] WARREN_HD static Real between(Word from, Word to) {
    return static_cast<Real>(to - from);
  }
  /// The first word above all distances of at most `cutoff`; kUnreached where that is every one.
  [[nodiscard]] static Word beyond(double cutoff) {
    if (!(cutoff < static_cast<double>(kUnreached) - 1.0)) return kUnreached;
    return static_cast<Word>(cutoff) + 1;
  }
  /// A later distance, by about `width`; at most kUnreached.
  [[nodiscard]] WARREN_HD static Word after(Word distance, double width) {
    if (!(width < static_cast<double>(kUnreached - distance))) return kUnreached;
    const Word step = static_cast<Word>(width);
    return distance + (step > 0 ? step : Word{distance < kUnreached ? 1u : 0u});
  }
};

/// Of weights that fit a byte.
using ByteMetric = IntegerMetric<std::uint32_t, std::uint8_t>;

struct RealMetric {
  using Word = std::uint64_t;
  using Weight = float;
  using Real = double;
  static constexpr Word kUnreached = ~Word{0};  ///< Above the bits of every finite number.

  [[nodiscard]] WARREN_HD static const Weight* weights(const graph::CsrView& view) {
    return view.weights_float;
  }
  [[nodiscard]] WARREN_HD static double value(Word word) {
#if defined(__CUDA_ARCH__)
    return __longlong_as_double(static_cast<long long>(word));
#else
    return std::bit_cast<double>(word);
#endif
  }
  [[nodiscard]] WARREN_HD static Word word(double value) {
#if defined(__CUDA_ARCH__)
    return static_cast<Word>(__double_as_longlong(value));
#else
    return std::bit_cast<Word>(value);
#endif
  }
  [[nodiscard]] static Word beyond(double cutoff) {
    return cutoff < std::numeric_limits<double>::infinity() ? word(cutoff + 0.0) + 1 : kUnreached;
  }
  [[nodiscard]] WARREN_HD static Word add(Word distance, Weight weight) {
    return word(value(distance) + static_cast<double>(weight));
  }
  [[nodiscard]] WARREN_HD static Real between(Word from, Word to) {
    return value(to) - value(from);
  }
  [[nodiscard]] WARREN_HD static Word after(Word distance, double width) {
    if (distance == kUnreached) return kUnreached;
    const Word later = word(value(distance) + width);
    return later > distance ? later : distance + 1;
  }
};

/// The bin that a distance falls in, kSsspBins where it lies beyond the window: never falls while
/// the distance grows.
template <class Metric>
[[nodiscard]] WARREN_HD std::uint32_t sssp_bin(typename Metric::Word base,
                                               typename Metric::Word distance,
                                               typename Metric::Real inverse_delta) {
  const typename Metric::Real bin = Metric::between(base, distance) * inverse_delta;
  return bin < static_cast<typename Metric::Real>(kSsspBins) ? static_cast<std::uint32_t>(bin)
                                                             : kSsspBins;
}

}  // namespace warren::traverse
