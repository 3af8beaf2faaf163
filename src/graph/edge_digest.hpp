// SPDX-License-Identifier: Apache-2.0
// Whether a graph is symmetric, from sums over its edges: those of parts of a graph add up.
#pragma once

#include <cstdint>

#include "warren/exec/thread_pool.hpp"
#include "warren/graph/draw.hpp"

#include "graph/shard_lists.hpp"

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

/// Of the edges of the rows, the first of which is vertex `first`'s.
[[nodiscard]] BothDigests digests_of(const HostRows& rows, Vertex first, exec::ThreadPool& pool);

}  // namespace warren::graph::detail
