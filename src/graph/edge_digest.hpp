// SPDX-License-Identifier: Apache-2.0
// Whether a graph is symmetric, from sums over its edges: those of parts of a graph add up.
#pragma once

#include <bit>
#include <cstdint>

#include "warren/exec/thread_pool.hpp"
#include "warren/graph/draw.hpp"
#include "warren/graph/graph.hpp"

namespace warren::graph::detail {

/// A sum over edges of a hash of (source, target, weight): equal for equal multisets of edges, in
/// any order.
struct EdgeDigest {
  std::uint64_t first = 0;
  std::uint64_t second = 0;

  void add(Vertex source, Vertex target, std::uint32_t weight) {
    const std::uint64_t hash = mix((std::uint64_t{source} << 32 | target) + 0x9e3779b97f4a7c15ull);
    first += mix(hash + weight);
    second += mix(hash ^ (std::uint64_t{weight} << 32 | 0x5bd1e995u));
  }
  void add(const EdgeDigest& other) {
    first += other.first;
    second += other.second;
  }
  friend bool operator==(const EdgeDigest&, const EdgeDigest&) = default;
};

/// Of the edges as they are, and turned round. Equal: the edges are symmetric.
struct BothDigests {
  EdgeDigest forwards;
  EdgeDigest backwards;
};

/// The bits of edge e's weight; both zeros of a float are one value.
inline std::uint32_t weight_bits(const Graph& graph, EdgeOffset e) {
  switch (graph.weight_type) {
    case WeightType::none:
      return 0;
    case WeightType::int32:
      return static_cast<std::uint32_t>(graph.weights_int[e]);
    case WeightType::float32:
      return std::bit_cast<std::uint32_t>(graph.weights_float[e] + 0.0f);
  }
  return 0;
}

/// Of the edges of rows [first, end).
[[nodiscard]] BothDigests digests_of(const Graph& graph, std::uint64_t first, std::uint64_t end,
                                     exec::ThreadPool& pool);

}  // namespace warren::graph::detail
