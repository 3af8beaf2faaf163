// SPDX-License-Identifier: Apache-2.0
#include "warren/traverse/search_figures.hpp"

#include <algorithm>
#include <atomic>

namespace warren::traverse {

std::uint64_t input_edges(std::uint64_t edges, bool is_symmetric, const graph::Graph* graph,
                          const std::function<bool(Vertex)>& is_reached) {
  if (!is_symmetric) return edges;
  std::uint64_t self_loops = 0;
  if (graph != nullptr) {
    graph::CsrView lists;
    lists.offsets = graph->offsets.data();
    lists.targets = graph->targets.data();
    lists.count = graph->vertices;
    self_loops = count_self_loops(lists, is_reached);
  }
  return (edges + self_loops) / 2;
}

std::uint64_t count_self_loops(const graph::CsrView& lists,
                               const std::function<bool(Vertex)>& is_reached) {
  std::uint64_t self_loops = 0;
  for (Vertex row = 0; row < lists.count; ++row) {
    const Vertex vertex = lists.first + row;
    if (!is_reached(vertex)) continue;
    const auto [begin, end] =
        std::equal_range(lists.targets + lists.begin(row), lists.targets + lists.end(row), vertex);
    self_loops += static_cast<std::uint64_t>(end - begin);
  }
  return self_loops;
}

std::vector<Vertex> smallest_parents(const graph::Graph& graph, std::span<const Vertex> sources,
                                     std::span<const Vertex> depth, exec::ThreadPool& pool) {
  constexpr std::uint64_t kGrain = 4096;
  std::vector<Vertex> parent(depth.size(), kNoVertex);
  pool.parallel_for(0, depth.size(), kGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      const auto u = static_cast<Vertex>(i);
      if (depth[u] == kNoVertex) continue;
      for (const Vertex v : graph.neighbours(u)) {
        if (depth[v] != depth[u] + 1) continue;
        const std::atomic_ref<Vertex> smallest(parent[v]);
        Vertex seen = smallest.load(std::memory_order_relaxed);
        while (u < seen && !smallest.compare_exchange_weak(seen, u, std::memory_order_relaxed)) {
        }
      }
    }
  });
  for (const Vertex source : sources) parent[source] = source;
  return parent;
}

}  // namespace warren::traverse
