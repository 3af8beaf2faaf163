// SPDX-License-Identifier: Apache-2.0
#include "sources.hpp"

#include <functional>
#include <unordered_set>

#include "warren/core/error.hpp"

namespace warren::app {
namespace {

/// The out-degrees of this rank's vertices, in host memory.
class OwnDegrees {
 public:
  OwnDegrees(const team::Team& team, const graph::Shard& shard)
      : first_(shard.out.first), offsets_(std::uint64_t{shard.out.count} + 1) {
    const exec::Stream stream(team.device());
    exec::copy(stream, offsets_.data(), shard.out.offsets, offsets_.size() * sizeof(EdgeOffset));
    stream.synchronize();
  }
  [[nodiscard]] Vertex first() const { return first_; }
  [[nodiscard]] std::uint64_t count() const { return offsets_.size() - 1; }
  /// Of a vertex in the shards' order; 0 if it is another rank's.
  [[nodiscard]] EdgeOffset degree(Vertex v) const {
    if (v < first_ || v - first_ >= count()) return 0;
    return offsets_[std::uint64_t{v} - first_ + 1] - offsets_[v - first_];
  }

 private:
  Vertex first_;
  std::vector<EdgeOffset> offsets_;
};

/// Counter-based random numbers (splitmix64): the i-th depends on the seed and i alone.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t x = seed * 0xd1342543de82ef95ull + (i + 1) * 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

Vertex random_vertex(std::uint64_t seed, std::uint64_t i, std::uint64_t vertices) {
  return static_cast<Vertex>((random_bits(seed, i) >> 32) * vertices >> 32);
}

}  // namespace

Vertex busiest_vertex(team::Team& team, const graph::Shard& shard, const TraversalInput& input) {
  require(shard.vertices > 0, "the graph has no vertices; there is nothing to start from");
  const OwnDegrees degrees(team, shard);
  struct Best {
    EdgeOffset degree = 0;
    Vertex vertex = kNoVertex;
  };
  const auto better = [](const Best& a, const Best& b) {
    if (a.degree != b.degree) return a.degree > b.degree ? a : b;
    return a.vertex < b.vertex ? a : b;
  };
  Best best;
  for (std::uint64_t i = 0; i < degrees.count(); ++i) {
    const auto v = static_cast<Vertex>(degrees.first() + i);
    best = better(best, Best{degrees.degree(v), input.to_user(v)});
  }
  return team.all_reduce(best, better).vertex;
}

std::vector<Vertex> random_sources(team::Team& team, const graph::Shard& shard,
                                   const TraversalInput& input, std::uint64_t count,
                                   std::uint64_t seed) {
  const OwnDegrees degrees(team, shard);
  std::uint64_t own = 0;
  for (std::uint64_t i = 0; i < degrees.count(); ++i) {
    own += degrees.degree(static_cast<Vertex>(degrees.first() + i)) > 0 ? 1 : 0;
  }
  const std::uint64_t possible = team.all_reduce(own, std::plus<std::uint64_t>());
  require(count <= possible,
          fmt::format("--sources {}: only {} vertices have out-edges; ask for at "
                      "most as many",
                      count, possible));
  std::vector<Vertex> sources;
  std::unordered_set<Vertex> taken;
  constexpr std::uint64_t kBatch = 64;  // Candidates looked at together: a bit each.
  for (std::uint64_t i = 0; sources.size() < count; i += kBatch) {
    std::uint64_t usable = 0;
    for (std::uint64_t k = 0; k < kBatch; ++k) {
      const Vertex v = random_vertex(seed, i + k, shard.vertices);
      if (degrees.degree(input.to_shard(v)) > 0) usable |= std::uint64_t{1} << k;
    }
    usable = team.all_reduce(usable, std::bit_or<std::uint64_t>());
    for (std::uint64_t k = 0; k < kBatch && sources.size() < count; ++k) {
      const Vertex v = random_vertex(seed, i + k, shard.vertices);
      if ((usable >> k & 1) != 0 && taken.insert(v).second) sources.push_back(v);
    }
  }
  return sources;
}

}  // namespace warren::app
