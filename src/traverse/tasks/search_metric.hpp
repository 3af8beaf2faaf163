// SPDX-License-Identifier: Apache-2.0
// What asynchronous searches compare: depths, and distances.
#pragma once

#include "warren/graph/shard.hpp"

#include "traverse/sssp/sssp_metric.hpp"

namespace warren::traverse {

/// Depth above, parent below: the least word has the least depth.
struct DepthMetric {
  using Word = std::uint64_t;
  static constexpr Word kUnreached = ~Word{0};

  struct Weights {
    WARREN_HD explicit Weights(const graph::CsrView&) {}
  };
  [[nodiscard]] WARREN_HD static Word start(Vertex source) { return source; }
  [[nodiscard]] WARREN_HD static Word extend(Word word, const Weights&, EdgeOffset, Vertex from) {
    return ((word >> 32) + 1) << 32 | from;
  }
  [[nodiscard]] WARREN_HD static bool is_less(Word a, Word b) { return a >> 32 < b >> 32; }
  [[nodiscard]] WARREN_HD static double priority(Word word) {
    return static_cast<double>(word >> 32);
  }
  /// Words at less than `width` levels more are less than this.
  [[nodiscard]] WARREN_HD static Word after(Word word, double width) {
    constexpr double kMost = 0xffffffffu;
    const double level = static_cast<double>(word >> 32) + width;
    return static_cast<Word>(level < kMost ? level : kMost) << 32;
  }
};

/// Distances in the words of a metric of the synchronous SSSP.
template <class Metric>
struct DistanceMetric {
  using Word = typename Metric::Word;
  static constexpr Word kUnreached = Metric::kUnreached;

  struct Weights {
    const typename Metric::Weight* of;
    WARREN_HD explicit Weights(const graph::CsrView& view) : of(Metric::weights(view)) {}
  };
  [[nodiscard]] WARREN_HD static Word start(Vertex) { return 0; }
  [[nodiscard]] WARREN_HD static Word extend(Word word, const Weights& weights, EdgeOffset edge,
                                             Vertex) {
    return Metric::add(word, weights.of[edge]);
  }
  [[nodiscard]] WARREN_HD static bool is_less(Word a, Word b) { return a < b; }
  [[nodiscard]] WARREN_HD static double priority(Word word) {
    return static_cast<double>(Metric::between(0, word));
  }
  [[nodiscard]] WARREN_HD static Word after(Word word, double width) {
    return Metric::after(word, width);
  }
};

}  // namespace warren::traverse
