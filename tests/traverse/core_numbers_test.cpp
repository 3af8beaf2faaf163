// SPDX-License-Identifier: Apache-2.0
// Core numbers against peeling one vertex at a time, on every shape and team.
#include "warren/traverse/core_numbers.hpp"

#include <set>

#include <gtest/gtest.h>

#include "warren/traverse/verify.hpp"

#include "support/size.hpp"
#include "traverse/fixtures.hpp"

namespace warren {
namespace {

/// By the definition: as long as a vertex has fewer than k edges left, it goes.
std::vector<std::uint32_t> peeled(const graph::Graph& graph) {
  std::vector<std::set<Vertex>> neighbours(graph.vertices);
  for (Vertex u = 0; u < graph.vertices; ++u) {
    for (const Vertex v : graph.neighbours(u)) {
      if (u == v) continue;
      neighbours[u].insert(v);
      neighbours[v].insert(u);
    }
  }
  std::vector<std::uint32_t> core(graph.vertices, 0);
  std::vector<bool> is_left(graph.vertices, true);
  std::uint64_t left = graph.vertices;
  for (std::uint32_t k = 1; left > 0; ++k) {
    std::vector<std::size_t> edges(graph.vertices, 0);
    std::vector<Vertex> waiting;
    for (Vertex v = 0; v < graph.vertices; ++v) {
      for (const Vertex u : neighbours[v]) edges[v] += is_left[u] ? 1 : 0;
      if (is_left[v] && edges[v] < k) waiting.push_back(v);
    }
    while (!waiting.empty()) {
      const Vertex v = waiting.back();
      waiting.pop_back();
      if (!is_left[v]) continue;
      is_left[v] = false;
      core[v] = k - 1;
      --left;
      for (const Vertex u : neighbours[v])
        if (is_left[u] && --edges[u] < k) waiting.push_back(u);
    }
  }
  return core;
}

void check(const team::TeamOptions& options, const fixtures::Named& named,
           const graph::EdgesOptions& placement = {}) {
  SCOPED_TRACE(named.name + ", " + std::to_string(options.ranks) + " ranks");
  const graph::Graph& graph = named.graph;
  const std::vector<std::uint32_t> expected = peeled(graph);
  const std::uint32_t largest =
      expected.empty() ? 0 : *std::max_element(expected.begin(), expected.end());
  EXPECT_TRUE(traverse::verify_cores(graph, expected).correct);
  const graph::ShardSource source = fixtures::shard_source(graph, options.ranks);
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source, placement);
    traverse::CoreNumbers cores(team, shard);
    for (int run = 0; run < 2; ++run) {
      const traverse::CoreNumbersResult result = cores.run();
      EXPECT_EQ(cores.all_cores(), expected);
      EXPECT_EQ(result.largest, largest);
      EXPECT_EQ(result.innermost,
                static_cast<std::uint64_t>(std::count(expected.begin(), expected.end(), largest)));
    }
  });
}

TEST(CoreNumbers, ArePeeledOnEveryShapeAndTeam) {
  for (const auto& named : fixtures::shapes()) {
    for (const auto& options : fixtures::cpu_teams()) check(options, named);
  }
}

TEST(CoreNumbers, OfListsInHostMemory) {
  for (const auto& named : fixtures::placed_shapes())
    check(fixtures::cpu_teams().back(), named, {graph::EdgesPlacement::host, 4000});
}

TEST(CoreNumbers, OfKnownGraphs) {
  // Every vertex of a clique of 30 has 29, and of a path 1; a bridge between them changes neither.
  std::vector<graph::Edge> edges;
  for (Vertex u = 0; u < 30; ++u)
    for (Vertex v = 0; v < u; ++v) edges.push_back({u, v});
  for (Vertex v = 30; v < 60; ++v) edges.push_back({v - 1, v});
  graph::BuildOptions options;
  options.symmetrize = true;
  const graph::Graph graph = fixtures::from_list(61, edges, options);
  const graph::ShardSource source = fixtures::shard_source(graph, 3);
  team::run_team({exec::DeviceKind::cpu, 3, 3}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::CoreNumbers cores(team, shard);
    EXPECT_EQ(cores.run().largest, 29u);
    const auto all = cores.all_cores();
    for (Vertex v = 0; v < 61; ++v) EXPECT_EQ(all[v], v < 30 ? 29u : v < 60 ? 1u : 0u);
  });
}

TEST(CoreNumbers, WrongOnesAreFound) {
  const graph::Graph graph = fixtures::generated("kron:8", true);
  std::vector<std::uint32_t> cores = peeled(graph);
  const auto at =
      static_cast<std::size_t>(std::max_element(cores.begin(), cores.end()) - cores.begin());
  ++cores[at];
  const traverse::Verdict verdict = traverse::verify_cores(graph, cores);
  EXPECT_FALSE(verdict.correct);
  EXPECT_NE(verdict.message.find("the core number of vertex " + std::to_string(at)),
            std::string::npos);
  cores.pop_back();
  EXPECT_THROW((void)traverse::verify_cores(graph, cores), UsageError);
}

TEST(CoreNumbers, RefusesWhatItCannotRead) {
  const graph::ShardSource source = fixtures::shard_source(fixtures::path(10), 1);
  team::run_team({}, [&](team::Team& team) {
    const graph::Shard packed =
        graph::make_shard(team, source, {graph::EdgesPlacement::compressed_host, 0});
    EXPECT_THROW(traverse::CoreNumbers(team, packed), UsageError);
    graph::Shard outward = graph::make_shard(team, source);
    outward.in = {};
    EXPECT_THROW(traverse::CoreNumbers(team, outward), UsageError);
  });
}

TEST(CoreNumbersCuda, ArePeeledOnEveryShapeAndTeam) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const auto& named : fixtures::shapes()) {
    for (const auto& options : fixtures::cuda_teams_of_waiting_kernels()) check(options, named);
  }
  for (const auto& named : fixtures::placed_shapes())
    check({exec::DeviceKind::cuda, 1, 1}, named, {graph::EdgesPlacement::host, 4000});
}

}  // namespace
}  // namespace warren
