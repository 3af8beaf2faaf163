// SPDX-License-Identifier: Apache-2.0
#include "edge_times.hpp"

#include <algorithm>
#include <utility>

namespace warren::app {

std::vector<std::int64_t> times_of_shard(const std::vector<std::int64_t>& times,
                                         const TraversalInput& input, const graph::Shard& shard,
                                         int rank) {
  const graph::Graph& graph = *input.graph();
  std::vector<std::int64_t> mine;
  std::vector<std::pair<Vertex, EdgeOffset>> list;
  const auto r = static_cast<std::size_t>(rank);
  for (std::uint64_t row = shard.cuts[r]; row < shard.cuts[r + 1]; ++row) {
    const Vertex v = input.to_user(static_cast<Vertex>(row));
    list.clear();
    for (EdgeOffset e = graph.offsets[v]; e < graph.offsets[v + 1ull]; ++e)
      list.emplace_back(input.to_shard(graph.targets[e]), e);
    std::sort(list.begin(), list.end());
    for (const auto& [target, edge] : list) mine.push_back(times[edge]);
  }
  return mine;
}

}  // namespace warren::app
