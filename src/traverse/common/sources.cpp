// SPDX-License-Identifier: Apache-2.0
// Sources by degree, and by counter-based random numbers: the i-th candidate depends on the seed
// and i alone, whatever the number of ranks.
#include "warren/traverse/sources.hpp"

#include <unordered_set>

#include <fmt/format.h>

#include "warren/core/error.hpp"

namespace warren::traverse {
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

struct Busiest {
  EdgeOffset degree = 0;
  Vertex vertex = kNoVertex;
};

Busiest busier(const Busiest& a, const Busiest& b) {
  if (a.degree != b.degree) return a.degree > b.degree ? a : b;
  return a.vertex < b.vertex ? a : b;
}

void require_vertices(std::uint64_t vertices) {
  require(vertices > 0, "the graph has no vertices; there is nothing to start from");
}

void require_sources(const std::string& name, std::uint64_t count, std::uint64_t possible) {
  require(count <= possible, fmt::format("{} {}: only {} vertices have out-edges; ask for at "
                                         "most as many",
                                         name, count, possible));
}

/// splitmix64.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t x = seed * 0xd1342543de82ef95ull + (i + 1) * 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

Vertex random_vertex(std::uint64_t seed, std::uint64_t i, std::uint64_t vertices) {
  return static_cast<Vertex>((random_bits(seed, i) >> 32) * vertices >> 32);
}

/// Draws until there are `count`. usable(i) has a bit for each of the candidates from i on, set
/// where the candidate has out-edges.
template <class Usable>
std::vector<Vertex> draw(std::uint64_t vertices, std::uint64_t count, std::uint64_t seed,
                         std::uint64_t batch, Usable&& usable) {
  std::vector<Vertex> sources;
  std::unordered_set<Vertex> taken;
  for (std::uint64_t i = 0; sources.size() < count; i += batch) {
    const std::uint64_t bits = usable(i);
    for (std::uint64_t k = 0; k < batch && sources.size() < count; ++k) {
      const Vertex v = random_vertex(seed, i + k, vertices);
      if ((bits >> k & 1) != 0 && taken.insert(v).second) sources.push_back(v);
    }
  }
  return sources;
}

}  // namespace

Vertex busiest_vertex(const graph::Graph& graph) {
  require_vertices(graph.vertices);
  Busiest best;
  for (std::uint64_t v = 0; v < graph.vertices; ++v)
    best = busier(best, {graph.degree(static_cast<Vertex>(v)), static_cast<Vertex>(v)});
  return best.vertex;
}

Vertex busiest_vertex(team::Team& team, const graph::Shard& shard, const Renumber& to_user) {
  require_vertices(shard.vertices);
  const OwnDegrees degrees(team, shard);
  Busiest best;
  for (std::uint64_t i = 0; i < degrees.count(); ++i) {
    const auto v = static_cast<Vertex>(degrees.first() + i);
    best = busier(best, {degrees.degree(v), to_user(v)});
  }
  return team.all_reduce(best, busier).vertex;
}

std::vector<Vertex> random_sources(const graph::Graph& graph, std::uint64_t count,
                                   std::uint64_t seed, const std::string& name) {
  std::uint64_t possible = 0;
  for (std::uint64_t v = 0; v < graph.vertices; ++v)
    possible += graph.degree(static_cast<Vertex>(v)) > 0 ? 1 : 0;
  require_sources(name, count, possible);
  return draw(graph.vertices, count, seed, 1, [&](std::uint64_t i) -> std::uint64_t {
    return graph.degree(random_vertex(seed, i, graph.vertices)) > 0 ? 1 : 0;
  });
}

std::vector<Vertex> random_sources(const graph::EdgeFile& file, std::uint64_t count,
                                   std::uint64_t seed, const std::string& name) {
  require_sources(name, count, file.sources());
  return draw(file.vertices(), count, seed, 1, [&](std::uint64_t i) -> std::uint64_t {
    const Vertex v = random_vertex(seed, i, file.vertices());
    return file.has_edges()[v / 32] >> v % 32 & 1;
  });
}

std::vector<Vertex> random_sources(team::Team& team, const graph::Shard& shard, std::uint64_t count,
                                   std::uint64_t seed, const Renumber& to_shard,
                                   const std::string& name) {
  const OwnDegrees degrees(team, shard);
  std::uint64_t own = 0;
  for (std::uint64_t i = 0; i < degrees.count(); ++i)
    own += degrees.degree(static_cast<Vertex>(degrees.first() + i)) > 0 ? 1 : 0;
  require_sources(name, count, team.all_reduce(own, std::plus<std::uint64_t>()));
  constexpr std::uint64_t kBatch = 64;  // Candidates that ranks look at together.
  return draw(shard.vertices, count, seed, kBatch, [&](std::uint64_t i) {
    std::uint64_t usable = 0;
    for (std::uint64_t k = 0; k < kBatch; ++k) {
      const Vertex v = random_vertex(seed, i + k, shard.vertices);
      if (degrees.degree(to_shard(v)) > 0) usable |= std::uint64_t{1} << k;
    }
    return team.all_reduce(usable, std::bit_or<std::uint64_t>());
  });
}

}  // namespace warren::traverse
