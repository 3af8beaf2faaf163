// SPDX-License-Identifier: Apache-2.0
// Sequential references of the traversals: plain, slow and readable.
#pragma once

#include <cmath>
#include <queue>
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

/// Pushes along out-edges in double precision until the L1 change is at most `tolerance`.
inline std::vector<double> pagerank(const graph::Graph& graph, double damping, double tolerance,
                                    int max_iterations) {
  const auto n = static_cast<double>(graph.vertices);
  std::vector<double> rank(graph.vertices, 1.0 / n);
  for (int i = 0; i < max_iterations; ++i) {
    std::vector<double> next(graph.vertices, (1.0 - damping) / n);
    double dangling = 0.0;
    for (Vertex u = 0; u < graph.vertices; ++u) {
      const auto neighbours = graph.neighbours(u);
      if (neighbours.empty()) dangling += rank[u];
      for (const Vertex v : neighbours)
        next[v] += damping * rank[u] / static_cast<double>(neighbours.size());
    }
    double change = 0.0;
    for (Vertex v = 0; v < graph.vertices; ++v) {
      next[v] += damping * dangling / n;
      change += std::abs(next[v] - rank[v]);
    }
    rank = next;
    if (change <= tolerance) break;
  }
  return rank;
}

}  // namespace warren::reference
