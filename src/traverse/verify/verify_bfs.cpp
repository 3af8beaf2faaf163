// SPDX-License-Identifier: Apache-2.0
// The Graph500 rules for the result of a breadth-first search, each vertex looked at once. They
// leave one answer for the depths: a parent one level up for every reached vertex bounds a depth
// from below by induction, no edge spanning more than one level bounds it from above.
#include <algorithm>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/traverse/verify.hpp"

#include "traverse/verify/source_set.hpp"
#include "traverse/verify/verify_first.hpp"

namespace warren::traverse {
namespace {

struct BfsRules {
  const graph::Graph& graph;
  const SourceSet& sources;
  std::span<const Vertex> depth;
  std::span<const Vertex> parent;
  Vertex limit;  ///< Where the search ended.

  [[nodiscard]] std::string name(Vertex v) const { return std::to_string(graph.original_id(v)); }
  [[nodiscard]] bool reached(Vertex v) const { return depth[v] != kNoVertex; }

  [[nodiscard]] bool has_edge(Vertex from, Vertex to) const {
    const auto list = graph.neighbours(from);
    return std::binary_search(list.begin(), list.end(), to);
  }

  [[nodiscard]] std::string check_source(Vertex source) const {
    if (depth[source] != 0) {
      return fmt::format("the source {} has depth {}; it should be 0", name(source), depth[source]);
    }
    if (parent[source] != source) {
      return fmt::format("the source {} is not its own parent", name(source));
    }
    return {};
  }

  [[nodiscard]] std::string check_parent(Vertex v) const {
    const Vertex p = parent[v];
    if (p == kNoVertex) return fmt::format("vertex {} has a depth but no parent", name(v));
    if (p >= graph.vertices) {
      return fmt::format("the parent of vertex {} is {}, which is no vertex", name(v), p);
    }
    if (!reached(p)) {
      return fmt::format("the parent of vertex {}, vertex {}, was not reached", name(v), name(p));
    }
    if (depth[p] + 1 != depth[v]) {
      return fmt::format(
          "vertex {} has depth {} and its parent {} depth {}; they should differ by 1", name(v),
          depth[v], name(p), depth[p]);
    }
    if (!has_edge(p, v)) {
      return fmt::format("vertex {} is the parent of vertex {}, but there is no edge between them",
                         name(p), name(v));
    }
    return {};
  }

  [[nodiscard]] std::string check_edges(Vertex u) const {
    if (depth[u] > limit) {
      return fmt::format("vertex {} has depth {}; the search ends at {}", name(u), depth[u], limit);
    }
    if (depth[u] == limit) return {};
    for (const Vertex v : graph.neighbours(u)) {
      if (!reached(v)) {
        return fmt::format("the edge from {} to {} leaves the reached vertices", name(u), name(v));
      }
      if (depth[v] > depth[u] + 1) {
        return fmt::format(
            "the edge from {} to {} goes from depth {} to {}; at most {} is possible", name(u),
            name(v), depth[u], depth[v], depth[u] + 1);
      }
    }
    return {};
  }

  [[nodiscard]] std::string check(Vertex v) const {
    if (!reached(v)) {
      if (parent[v] == kNoVertex) return {};
      return fmt::format("vertex {} has a parent but no depth", name(v));
    }
    std::string message = sources.has(v) ? check_source(v) : check_parent(v);
    return message.empty() ? check_edges(v) : message;
  }
};

Vertex end_of(std::span<const Vertex> depth, const BfsLimits& limits) {
  Vertex farthest = limits.targets.empty() ? kNoVertex : 0;
  for (const Vertex target : limits.targets) farthest = std::max(farthest, depth[target]);
  return std::min(limits.depth, farthest);
}

}  // namespace

Verdict verify_bfs(const graph::Graph& graph, std::span<const Vertex> sources,
                   std::span<const Vertex> depth, std::span<const Vertex> parent,
                   exec::ThreadPool& pool, const BfsLimits& limits) {
  const std::uint64_t n = graph.vertices;
  const SourceSet set(sources, n);
  require(depth.size() == n && parent.size() == n,
          fmt::format("{} depths and {} parents for {} vertices", depth.size(), parent.size(), n));
  const BfsRules rules{graph, set, depth, parent, end_of(depth, limits)};
  for (const Vertex source : set) {
    if (std::string message = rules.check_source(source); !message.empty()) return {false, message};
  }
  return first_failure(n, pool,
                       [&](std::uint64_t v) { return rules.check(static_cast<Vertex>(v)); });
}

}  // namespace warren::traverse
