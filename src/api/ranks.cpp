// SPDX-License-Identifier: Apache-2.0
#include "warren/api/ranks.hpp"

#include "warren/team/links.hpp"
#include "warren/traverse/sources.hpp"

#include "api/call.hpp"

namespace warren {
namespace {

/// Ranks that are processes may have the whole graph or not: what they look for, they look for
/// together.
bool is_in_memory(const Graph& graph) {
  return graph.state()->has_csr() && !graph.is_read_by_ranges();
}

}  // namespace

traverse::DeviceChoice choose_devices(const Graph& graph, traverse::Traversal traversal,
                                      const WhereOptions& where) {
  const api::Call call(graph, api::call_options(traversal, where));
  return {call.info.devices, call.info.devices_reason};
}

void on_ranks(const Graph& graph, const WhereOptions& where,
              const std::function<void(team::Team&, const RankPart&)>& work) {
  const graph::Partition same;
  api::Call call(graph, api::call_options(std::nullopt, where));
  call.run([&](team::Team& team, api::RankGraph& rank) {
    work(team, {rank.shard, rank.order ? *rank.order : same});
  });
}

Vertex busiest_vertex(const Graph& graph, const WhereOptions& where) {
  if (is_in_memory(graph) || graph.file() != nullptr) return busiest_vertex(graph);
  Vertex busiest = 0;
  on_ranks(graph, where, [&](team::Team& team, const RankPart& part) {
    const Vertex found =
        traverse::busiest_vertex(team, part.shard, [&](Vertex v) { return part.order.to_old(v); });
    if (team.reports()) busiest = found;
  });
  return busiest;
}

std::vector<Vertex> random_sources(const Graph& graph, std::uint64_t count, std::uint64_t seed,
                                   const WhereOptions& where, const std::string& name) {
  if (const auto file = graph.file(); file != nullptr)
    return traverse::random_sources(*file, count, seed, name);
  if (is_in_memory(graph)) return traverse::random_sources(graph.csr(), count, seed, name);
  std::vector<Vertex> sources;
  on_ranks(graph, where, [&](team::Team& team, const RankPart& part) {
    std::vector<Vertex> found = traverse::random_sources(
        team, part.shard, count, seed, [&](Vertex v) { return part.order.to_new(v); }, name);
    if (team.reports()) sources = std::move(found);
  });
  return sources;
}

}  // namespace warren
