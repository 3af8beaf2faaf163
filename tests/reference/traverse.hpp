// SPDX-License-Identifier: Apache-2.0
// Sequential references of the traversals: plain, slow and readable.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "warren/graph/graph.hpp"

namespace warren::reference {

inline std::vector<Vertex> bfs_depths(const graph::Graph& graph, Vertex source) {
  std::vector<Vertex> depth(graph.vertices, kNoVertex);
  std::queue<Vertex> waiting;
  depth[source] = 0;
  waiting.push(source);
  while (!waiting.empty()) {
    const Vertex u = waiting.front();
    waiting.pop();
    for (const Vertex v : graph.neighbours(u)) {
      if (depth[v] != kNoVertex) continue;
      depth[v] = depth[u] + 1;
      waiting.push(v);
    }
  }
  return depth;
}

/// Dijkstra's algorithm. `Distance` is what weights are added up in; `unreached` its value for
/// vertices that are not reached.
template <class Distance, class Weights>
std::vector<Distance> dijkstra(const graph::Graph& graph, const Weights& weights, Vertex source,
                               Distance unreached) {
  using Item = std::pair<Distance, Vertex>;
  std::vector<Distance> distance(graph.vertices, unreached);
  std::priority_queue<Item, std::vector<Item>, std::greater<>> waiting;
  distance[source] = 0;
  waiting.push({0, source});
  while (!waiting.empty()) {
    const auto [d, u] = waiting.top();
    waiting.pop();
    if (d > distance[u]) continue;
    for (EdgeOffset e = graph.offsets[u]; e < graph.offsets[u + std::uint64_t{1}]; ++e) {
      const Vertex v = graph.targets[e];
      const Distance offered = d + static_cast<Distance>(weights[e]);
      if (offered >= distance[v]) continue;
      distance[v] = offered;
      waiting.push({offered, v});
    }
  }
  return distance;
}
inline std::vector<std::uint64_t> integer_distances(const graph::Graph& graph, Vertex source) {
  return dijkstra<std::uint64_t>(graph, graph.weights_int, source, ~std::uint64_t{0});
}
inline std::vector<double> real_distances(const graph::Graph& graph, Vertex source) {
  return dijkstra<double>(graph, graph.weights_float, source,
                          std::numeric_limits<double>::infinity());
}

/// The smallest vertex of each vertex' weakly connected component: a search from every vertex that
/// no earlier search has met, along edges and against them.
inline std::vector<Vertex> component_labels(const graph::Graph& graph) {
  std::vector<std::vector<Vertex>> both(graph.vertices);
  for (Vertex u = 0; u < graph.vertices; ++u) {
    for (const Vertex v : graph.neighbours(u)) {
      both[u].push_back(v);
      both[v].push_back(u);
    }
  }
  std::vector<Vertex> label(graph.vertices, kNoVertex);
  for (Vertex first = 0; first < graph.vertices; ++first) {
    if (label[first] != kNoVertex) continue;
    std::queue<Vertex> waiting;
    label[first] = first;
    waiting.push(first);
    while (!waiting.empty()) {
      const Vertex u = waiting.front();
      waiting.pop();
      for (const Vertex v : both[u]) {
        if (label[v] != kNoVertex) continue;
        label[v] = first;
        waiting.push(v);
      }
    }
  }
  return label;
}

/// One iteration of PageRank by weights, pushed.
inline std::vector<double> weighted_pagerank_step(const graph::Graph& graph, double damping,
                                                  const std::vector<double>& rank) {
  const auto weight = [&](EdgeOffset e) {
    return graph.weight_type == graph::WeightType::int32
               ? static_cast<double>(graph.weights_int[e])
               : static_cast<double>(graph.weights_float[e]);
  };
  const auto n = static_cast<double>(graph.vertices);
  std::vector<double> next(graph.vertices, (1.0 - damping) / n);
  double dangling = 0.0;
  for (Vertex u = 0; u < graph.vertices; ++u) {
    double sum = 0.0;
    for (EdgeOffset e = graph.offsets[u]; e < graph.offsets[u + std::uint64_t{1}]; ++e)
      sum += weight(e);
    if (sum == 0.0) dangling += rank[u];
    for (EdgeOffset e = graph.offsets[u]; e < graph.offsets[u + std::uint64_t{1}] && sum > 0.0; ++e)
      next[graph.targets[e]] += damping * rank[u] * weight(e) / sum;
  }
  for (double& value : next) value += damping * dangling / n;
  return next;
}

/// One iteration of PageRank, pushed.
inline std::vector<double> pagerank_step(const graph::Graph& graph, double damping,
                                         const std::vector<double>& rank, bool weighted = false) {
  if (weighted) return weighted_pagerank_step(graph, damping, rank);
  const auto n = static_cast<double>(graph.vertices);
  std::vector<double> next(graph.vertices, (1.0 - damping) / n);
  double dangling = 0.0;
  for (Vertex u = 0; u < graph.vertices; ++u) {
    const auto neighbours = graph.neighbours(u);
    if (neighbours.empty()) dangling += rank[u];
    for (const Vertex v : neighbours)
      next[v] += damping * rank[u] / static_cast<double>(neighbours.size());
  }
  for (double& value : next) value += damping * dangling / n;
  return next;
}

/// One iteration of personalized PageRank, pushed; `share` sums to 1.
inline std::vector<double> personalized_step(const graph::Graph& graph, double damping,
                                             const std::vector<double>& rank,
                                             const std::vector<double>& share, bool weighted) {
  double along = 0.0;
  std::vector<double> next(rank.size(), 0.0);
  const auto weight = [&](EdgeOffset e) {
    if (!weighted) return 1.0;
    return graph.weight_type == graph::WeightType::int32
               ? static_cast<double>(graph.weights_int[e])
               : static_cast<double>(graph.weights_float[e]);
  };
  for (Vertex u = 0; u < graph.vertices; ++u) {
    const EdgeOffset begin = graph.offsets[u], end = graph.offsets[u + std::uint64_t{1}];
    double sum = 0.0;
    for (EdgeOffset e = begin; e < end; ++e) sum += weight(e);
    for (EdgeOffset e = begin; e < end && sum > 0.0; ++e) {
      next[graph.targets[e]] += damping * rank[u] * weight(e) / sum;
      along += damping * rank[u] * weight(e) / sum;
    }
  }
  double total = 0.0;
  for (const double value : rank) total += value;
  // The rest starts anew.
  for (std::size_t v = 0; v < next.size(); ++v) next[v] += (total - along) * share[v];
  return next;
}

inline double l1_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum;
}

/// Pushes along out-edges in double precision until the L1 change is at most `tolerance`.
inline std::vector<double> pagerank(const graph::Graph& graph, double damping, double tolerance,
                                    int max_iterations, bool weighted = false) {
  std::vector<double> rank(graph.vertices, 1.0 / static_cast<double>(graph.vertices));
  for (int i = 0; i < max_iterations; ++i) {
    std::vector<double> next = pagerank_step(graph, damping, rank, weighted);
    const double change = l1_distance(next, rank);
    rank = std::move(next);
    if (change <= tolerance) break;
  }
  return rank;
}

}  // namespace warren::reference
