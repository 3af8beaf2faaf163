// SPDX-License-Identifier: Apache-2.0
// The draws of the generators: edge k of a generator as a function of the seed and k alone, for the
// host and for GPUs. Both give the same bits: the arithmetic is on integers, or on doubles in
// products and sums of which no product feeds a sum inexactly, so that a fused multiply-add changes
// nothing.
#pragma once

#include <cstdint>

#include "warren/core/types.hpp"
#include "warren/graph/generate.hpp"

namespace warren::graph {
namespace detail {

/// The finaliser of MurmurHash3: a permutation of the 64-bit words that spreads every bit over all;
/// 0 stays 0.
WARREN_HD constexpr std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ull;
  return x ^ (x >> 33);
}

/// What distinguishes the streams of different seeds; 0 for seed 1, the seed of the published
/// inputs.
WARREN_HD constexpr std::uint64_t seed_stream(std::uint64_t seed) { return mix(seed - 1); }

/// The random numbers of one edge.
class DrawStream {
 public:
  WARREN_HD constexpr explicit DrawStream(std::uint64_t state) : state_(state) {}

  /// The next 64 bits.
  WARREN_HD constexpr std::uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15ull;
    return mix(state_);
  }
  /// The next number of [0, 1): the upper 53 bits over 2^53, exactly.
  WARREN_HD constexpr double uniform() {
    return static_cast<double>(bits() >> 11) * (1.0 / 9007199254740992.0);
  }

 private:
  std::uint64_t state_;
};

/// A number of [0, 1) as uniform() draws it is at least `probability` where the bits it comes from
/// are at least this. Exact for probabilities of [0.5, 1), whose last binary digit is worth 2^-53
/// or more.
constexpr std::uint64_t threshold(double probability) {
  return static_cast<std::uint64_t>(probability * 9007199254740992.0) << 11;
}

/// Where the generator's first random state for edge k lies.
WARREN_HD constexpr DrawStream stream_of(const GeneratorSpec& spec, std::uint64_t k) {
  const std::uint64_t base =
      spec.kind == GeneratorKind::community ? 1 : static_cast<std::uint64_t>(spec.scale);
  return DrawStream(mix(k * 7919 + base + seed_stream(spec.seed)));
}

/// Maps [0, 2^scale) into itself so that ids do not show the recursive structure they were drawn
/// by.
WARREN_HD constexpr std::uint64_t scramble(std::uint64_t x, int scale) {
  const std::uint64_t mask = (std::uint64_t{1} << scale) - 1;
  for (int round = 0; round < 3; ++round) {
    x = (x * 0x9e3779b97f4a7c15ull + 12345) & mask;
    x ^= x >> (scale / 2);
  }
  return x;
}

/// One level of a Kronecker edge: appends a bit to the row and one to the column, the quadrants
/// having Graph500's probabilities 0.57, 0.19, 0.19, 0.05. The row's bit is set from 0.76 on, the
/// column's in [0.57, 0.76) and from 0.95 on.
WARREN_HD constexpr void kronecker_level(std::uint64_t bits, std::uint64_t& row,
                                         std::uint64_t& column) {
  constexpr std::uint64_t kRow = threshold(0.76);
  constexpr std::uint64_t kColumn = threshold(0.57);
  constexpr std::uint64_t kBoth = threshold(0.95);
  const std::uint64_t lower = bits >= kRow ? 1 : 0;
  const std::uint64_t right =
      (bits >= kColumn ? 1u : 0u) ^ (bits >= kRow ? 1u : 0u) ^ (bits >= kBoth ? 1u : 0u);
  row = row << 1 | lower;
  column = column << 1 | right;
}

WARREN_HD constexpr Edge kronecker_edge(const GeneratorSpec& spec, std::uint64_t k) {
  DrawStream stream = stream_of(spec, k);
  std::uint64_t row = 0;
  std::uint64_t column = 0;
  for (int level = 0; level < spec.scale; ++level) kronecker_level(stream.bits(), row, column);
  return {static_cast<Vertex>(scramble(row, spec.scale)),
          static_cast<Vertex>(scramble(column, spec.scale))};
}

WARREN_HD constexpr Edge uniform_edge(const GeneratorSpec& spec, std::uint64_t k) {
  DrawStream stream = stream_of(spec, k);
  const auto n = static_cast<double>(spec.vertices);
  const auto source = static_cast<Vertex>(stream.uniform() * n);
  return {source, static_cast<Vertex>(stream.uniform() * n)};
}

/// Vertex y * width + x has an edge to its right (even k) and one down (odd k); where the grid
/// ends, a self-loop.
WARREN_HD constexpr Edge grid_edge(const GeneratorSpec& spec, std::uint64_t k) {
  const std::uint64_t v = k / 2;
  std::uint64_t target = v;
  if (k % 2 == 0) {
    if ((v + 1) % spec.width != 0) target = v + 1;
  } else if (v + spec.width < spec.vertices) {
    target = v + spec.width;
  }
  return {static_cast<Vertex>(v), static_cast<Vertex>(target)};
}

/// Three of four edges stay in a community of 200 ids, crowded towards its first; one of five ends
/// within 10,000 ids of its source; the others end at hubs, the lowest ids.
WARREN_HD constexpr Edge community_edge(const GeneratorSpec& spec, std::uint64_t k) {
  constexpr std::uint64_t kSize = 200;
  constexpr double kNeighbourhood = 20000;
  const std::uint64_t n = spec.vertices;
  const std::uint64_t communities = n / kSize;
  DrawStream stream = stream_of(spec, k);
  const double kind = stream.uniform();
  const std::uint64_t first =
      static_cast<std::uint64_t>(stream.uniform() * static_cast<double>(communities)) * kSize;
  const double within = stream.uniform();
  const std::uint64_t source =
      first + static_cast<std::uint64_t>(within * within * static_cast<double>(kSize));
  const double where = stream.uniform();
  std::uint64_t target = 0;
  if (kind < 0.75) {
    target = first + static_cast<std::uint64_t>(where * where * static_cast<double>(kSize));
  } else if (kind < 0.95) {
    const std::int64_t near = static_cast<std::int64_t>(source) +
                              static_cast<std::int64_t>((where - 0.5) * kNeighbourhood);
    target = static_cast<std::uint64_t>(near < 0 ? -near : near) % n;
  } else {
    target = static_cast<std::uint64_t>(where * where * where * static_cast<double>(n));
  }
  return {static_cast<Vertex>(source < n ? source : n - 1),
          static_cast<Vertex>(target < n ? target : n - 1)};
}

}  // namespace detail

/// Edge k of the generator, k < spec.draws.
WARREN_HD constexpr Edge draw_edge(const GeneratorSpec& spec, std::uint64_t k) {
  switch (spec.kind) {
    case GeneratorKind::kronecker:
      return detail::kronecker_edge(spec, k);
    case GeneratorKind::uniform:
      return detail::uniform_edge(spec, k);
    case GeneratorKind::grid:
      return detail::grid_edge(spec, k);
    case GeneratorKind::community:
      return detail::community_edge(spec, k);
  }
  return {0, 0};
}

/// A hash of an unordered pair of vertices: what random weights are made of.
WARREN_HD constexpr std::uint64_t pair_hash(Vertex u, Vertex v, std::uint64_t seed) {
  const std::uint64_t low = u < v ? u : v;
  const std::uint64_t high = u < v ? v : u;
  return detail::mix(low * 1000003 + high + detail::seed_stream(seed));
}

/// The weight of an edge between the generator's vertices u and v, in either direction.
WARREN_HD constexpr std::int32_t draw_weight(const UniformWeights& weights, Vertex u, Vertex v) {
  const auto choices = static_cast<std::uint64_t>(weights.high - weights.low + 1);
  const std::uint64_t drawn = pair_hash(u, v, weights.seed) % choices;
  return static_cast<std::int32_t>(weights.low + static_cast<std::int64_t>(drawn));
}

}  // namespace warren::graph
