// SPDX-License-Identifier: Apache-2.0
// Checks of shortest paths by the edge conditions. No edge may offer less than a vertex has: then
// no distance is too large. Every distance must be attained along an edge: then, where weights are
// positive, none is too small, by induction over growing distances. Edges that add nothing could
// attain a distance in a circle; where there are any, the attained distances are also followed from
// the source.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/graph/draw.hpp"
#include "warren/traverse/sssp.hpp"
#include "warren/traverse/verify.hpp"

#include "traverse/verify/source_set.hpp"
#include "traverse/verify/verify_first.hpp"

namespace warren::traverse {
namespace {

constexpr std::uint64_t kVerifyGrain = 4096;

/// Weights that the graph has.
template <class Weight>
struct HeldWeights {
  std::span<const Weight> all;
  [[nodiscard]] Weight operator()(Vertex, EdgeOffset edge) const { return all[edge]; }
};

/// Weights that are a function of the edge's ends.
struct DrawnWeights {
  const graph::Graph& graph;
  const graph::UniformWeights& rule;
  [[nodiscard]] std::int32_t operator()(Vertex u, EdgeOffset edge) const {
    return graph::draw_weight(rule, u, graph.targets[edge]);
  }
};

/// Distances as `Distance`; weights(u, edge) is the weight of an edge out of u.
template <class Distance, class Weights>
struct SsspRules {
  const graph::Graph& graph;
  const SourceSet& sources;
  std::span<const Distance> distance;
  Weights weights;
  Distance unreached;
  const SsspLimits& limits;
  Distance last = end_of();  ///< The farthest target's.

  [[nodiscard]] Distance end_of() const {
    Distance farthest = limits.targets.empty() ? unreached : Distance{0};
    for (const Vertex target : limits.targets) farthest = std::max(farthest, distance[target]);
    return farthest;
  }
  [[nodiscard]] bool is_within(Distance value) const {
    return value <= last && static_cast<double>(value) <= limits.cutoff;
  }
  [[nodiscard]] std::string name(Vertex v) const { return std::to_string(graph.original_id(v)); }
  [[nodiscard]] bool reached(Vertex v) const { return distance[v] != unreached; }
  [[nodiscard]] Distance offer(Vertex u, EdgeOffset edge) const {
    return distance[u] + static_cast<Distance>(weights(u, edge));
  }

  /// f(edge, v) for the edges out of u.
  template <class F>
  void for_edges(Vertex u, F&& f) const {
    for (EdgeOffset e = graph.offsets[u]; e < graph.offsets[std::uint64_t{u} + 1]; ++e)
      f(e, graph.targets[e]);
  }

  [[nodiscard]] std::string check_edges(Vertex u) const {
    std::string message;
    if (!reached(u)) return message;
    if (!is_within(distance[u])) {
      return fmt::format("vertex {} has distance {}; the search ends before", name(u), distance[u]);
    }
    for_edges(u, [&](EdgeOffset e, Vertex v) {
      if (!message.empty()) return;
      if (!reached(v) && !is_within(offer(u, e))) return;
      if (!reached(v)) {
        message =
            fmt::format("the edge from {} to {} leaves the reached vertices", name(u), name(v));
      } else if (distance[v] > offer(u, e)) {
        message = fmt::format(
            "the edge from {} to {} of weight {} leads from distance {} to {}; at most {} is "
            "possible",
            name(u), name(v), weights(u, e), distance[u], distance[v], offer(u, e));
      }
    });
    return message;
  }

  /// A byte for each vertex: 1 where some edge attains its distance.
  [[nodiscard]] std::vector<std::uint8_t> attained(exec::ThreadPool& pool) const {
    std::vector<std::uint8_t> is_attained(graph.vertices, 0);
    pool.parallel_for(0, graph.vertices, kVerifyGrain, [&](std::uint64_t begin, std::uint64_t end) {
      for (auto u = static_cast<Vertex>(begin); u < end; ++u) {
        if (!reached(u)) continue;
        for_edges(u, [&](EdgeOffset e, Vertex v) {
          if (offer(u, e) == distance[v] && offer(u, e) > distance[u])
            std::atomic_ref<std::uint8_t>(is_attained[v]).store(1, std::memory_order_relaxed);
        });
      }
    });
    return is_attained;
  }

  /// Follows edges that attain a distance from the vertices that are known to be right.
  void follow(std::vector<std::uint8_t>& is_attained) const {
    std::vector<Vertex> waiting;
    for (Vertex v = 0; v < graph.vertices; ++v) {
      if (is_attained[v] != 0 || sources.has(v)) waiting.push_back(v);
    }
    while (!waiting.empty()) {
      const Vertex u = waiting.back();
      waiting.pop_back();
      for_edges(u, [&](EdgeOffset e, Vertex v) {
        if (is_attained[v] != 0 || sources.has(v) || offer(u, e) != distance[v]) return;
        is_attained[v] = 1;
        waiting.push_back(v);
      });
    }
  }

  [[nodiscard]] Verdict check(exec::ThreadPool& pool) const {
    const std::uint64_t n = graph.vertices;
    require(distance.size() == n, fmt::format("{} distances for {} vertices", distance.size(), n));
    for (const Vertex source : sources) {
      if (distance[source] == Distance{0}) continue;
      return {false, fmt::format("the source {} has distance {}; it should be 0", name(source),
                                 distance[source])};
    }
    Verdict verdict = first_failure(
        n, pool, [&](std::uint64_t v) { return check_edges(static_cast<Vertex>(v)); });
    if (!verdict.correct) return verdict;
    std::vector<std::uint8_t> is_attained = attained(pool);
    follow(is_attained);
    return first_failure(n, pool, [&](std::uint64_t i) -> std::string {
      const auto v = static_cast<Vertex>(i);
      if (!reached(v) || sources.has(v) || is_attained[v] != 0) return {};
      return fmt::format("vertex {} has distance {}, which no path from the source attains",
                         name(v), distance[v]);
    });
  }
};

}  // namespace

Verdict verify_sssp(const graph::Graph& graph, std::span<const Vertex> sources,
                    std::span<const std::uint64_t> distance, exec::ThreadPool& pool,
                    const SsspLimits& limits) {
  require(graph.weight_type == graph::WeightType::int32 || graph.edges() == 0,
          "integer distances need integer weights");
  const SourceSet set(sources, graph.vertices);
  return SsspRules<std::uint64_t, HeldWeights<std::int32_t>>{
      graph, set, distance, {graph.weights_int.span()}, kUnreachedDistance, limits}
      .check(pool);
}

Verdict verify_sssp(const graph::Graph& graph, const graph::UniformWeights& weights,
                    std::span<const Vertex> sources, std::span<const std::uint64_t> distance,
                    exec::ThreadPool& pool, const SsspLimits& limits) {
  graph::check_uniform_weights(weights);
  const SourceSet set(sources, graph.vertices);
  return SsspRules<std::uint64_t, DrawnWeights>{
      graph, set, distance, {graph, weights}, kUnreachedDistance, limits}
      .check(pool);
}

Verdict verify_sssp(const graph::Graph& graph, std::span<const Vertex> sources,
                    std::span<const double> distance, exec::ThreadPool& pool,
                    const SsspLimits& limits) {
  require(graph.weight_type == graph::WeightType::float32 || graph.edges() == 0,
          "real distances are checked against real weights");
  const SourceSet set(sources, graph.vertices);
  return SsspRules<double, HeldWeights<float>>{
      graph, set, distance, {graph.weights_float.span()}, std::numeric_limits<double>::infinity(),
      limits}
      .check(pool);
}

Verdict check_weights(const graph::Graph& graph, exec::ThreadPool& pool) {
  const bool is_integer = graph.weight_type == graph::WeightType::int32;
  if (graph.weight_type == graph::WeightType::none) return {};
  return first_failure(graph.vertices, pool, [&](std::uint64_t u) -> std::string {
    for (EdgeOffset e = graph.offsets[u]; e < graph.offsets[u + 1]; ++e) {
      const double weight =
          is_integer ? graph.weights_int[e] : static_cast<double>(graph.weights_float[e]);
      if (weight >= 0.0 && std::isfinite(weight)) continue;
      return fmt::format(
          "the edge from {} to {} has the weight {}; weights must be finite and not negative here",
          graph.original_id(static_cast<Vertex>(u)), graph.original_id(graph.targets[e]), weight);
    }
    return {};
  });
}

}  // namespace warren::traverse
