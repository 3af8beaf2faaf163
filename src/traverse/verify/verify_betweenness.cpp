// SPDX-License-Identifier: Apache-2.0
// A check of betweenness by the sequential algorithm, which keeps predecessors in place of levels.
#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/traverse/verify.hpp"

#include "traverse/verify/verify_first.hpp"

namespace warren::traverse {
namespace {

/// Adds what one source adds.
void add_source(const graph::Graph& graph, Vertex source, std::vector<double>& scores) {
  const std::size_t n = graph.vertices;
  std::vector<std::uint32_t> depth(n, kNoVertex);
  std::vector<double> paths(n, 0.0), delta(n, 0.0);
  std::vector<std::vector<Vertex>> before(n);
  std::vector<Vertex> order = {source};
  depth[source] = 0;
  paths[source] = 1.0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Vertex v = order[i];
    for (const Vertex w : graph.neighbours(v)) {
      if (depth[w] == kNoVertex) {
        depth[w] = depth[v] + 1;
        order.push_back(w);
      }
      if (depth[w] != depth[v] + 1) continue;
      paths[w] += paths[v];
      before[w].push_back(v);
    }
  }
  for (std::size_t i = order.size(); i-- > 1;) {
    const Vertex w = order[i];
    for (const Vertex v : before[w]) delta[v] += paths[v] / paths[w] * (1.0 + delta[w]);
    scores[w] += delta[w];
  }
}

}  // namespace

Verdict verify_betweenness(const graph::Graph& graph, std::span<const Vertex> sources,
                           std::span<const double> scores, double scale, exec::ThreadPool& pool) {
  require(scores.size() == graph.vertices,
          fmt::format("{} scores for {} vertices", scores.size(), graph.vertices));
  std::vector<double> right(graph.vertices, 0.0);
  for (const Vertex source : sources) add_source(graph, source, right);
  return first_failure(graph.vertices, pool, [&](std::uint64_t v) -> std::string {
    const double wanted = right[v] * scale;
    constexpr double kRounding = 1e-9;
    if (std::abs(scores[v] - wanted) <= kRounding * std::max(std::abs(wanted), scale)) return {};
    return fmt::format("the score of vertex {} is {}; it should be {}",
                       graph.original_id(static_cast<Vertex>(v)), scores[v], wanted);
  });
}

}  // namespace warren::traverse
