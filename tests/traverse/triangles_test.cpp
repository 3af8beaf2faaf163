// SPDX-License-Identifier: Apache-2.0
// Triangles against a look at all three of its edges, on every shape and team.
#include "warren/traverse/triangles.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "warren/traverse/verify.hpp"

#include "support/size.hpp"
#include "traverse/fixtures.hpp"

namespace warren {
namespace {

/// Of each vertex u < v < w with all three edges.
std::vector<std::uint64_t> counted(const graph::Graph& graph) {
  std::vector<std::set<Vertex>> after(graph.vertices);
  for (Vertex u = 0; u < graph.vertices; ++u)
    for (const Vertex v : graph.neighbours(u))
      if (u != v) after[std::min(u, v)].insert(std::max(u, v));
  std::vector<std::uint64_t> counts(graph.vertices, 0);
  for (Vertex u = 0; u < graph.vertices; ++u) {
    for (const Vertex v : after[u]) {
      for (const Vertex w : after[v]) {
        if (!after[u].contains(w)) continue;
        ++counts[u];
        ++counts[v];
        ++counts[w];
      }
    }
  }
  return counts;
}

void check(const team::TeamOptions& options, const std::string& name, const graph::Graph& given,
           const graph::EdgesOptions& placement = {}) {
  SCOPED_TRACE(name + ", " + std::to_string(options.ranks) + " ranks");
  exec::ThreadPool pool(2);
  const graph::Graph graph = graph::symmetrize(given, true, pool);
  const std::vector<std::uint64_t> expected = counted(graph);
  EXPECT_TRUE(traverse::verify_triangles(graph, expected, pool).correct);
  const graph::ShardSource source = fixtures::shard_source(graph, options.ranks);
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source, placement);
    traverse::Triangles triangles(team, shard);
    for (int run = 0; run < 2; ++run) {
      const traverse::TrianglesResult result = triangles.run();
      EXPECT_EQ(triangles.all_counts(), expected);
      EXPECT_EQ(result.triangles * 3,
                std::accumulate(expected.begin(), expected.end(), std::uint64_t{0}));
    }
  });
}

TEST(Triangles, AreCountedOnEveryShapeAndTeam) {
  for (const auto& named : fixtures::shapes()) {
    for (const auto& options : fixtures::cpu_teams()) check(options, named.name, named.graph);
  }
}

TEST(Triangles, OfListsInHostMemory) {
  for (const auto& named : fixtures::placed_shapes())
    check(fixtures::cpu_teams().back(), named.name, named.graph,
          {graph::EdgesPlacement::host, 4000});
}

TEST(Triangles, OfACliqueAreAllTriples) {
  std::vector<graph::Edge> edges;
  for (Vertex u = 0; u < 40; ++u)
    for (Vertex v = 0; v <= u; ++v) edges.push_back({u, v});  // With self-loops.
  graph::BuildOptions options;
  options.symmetrize = true;
  const graph::ShardSource source =
      fixtures::shard_source(fixtures::from_list(40, edges, options), 3);
  team::run_team({exec::DeviceKind::cpu, 3, 3}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::Triangles triangles(team, shard);
    EXPECT_EQ(triangles.run().triangles, 40u * 39 * 38 / 6);
    for (const std::uint64_t count : triangles.all_counts()) EXPECT_EQ(count, 39u * 38 / 2);
  });
}

TEST(Triangles, WrongOnesAreFound) {
  exec::ThreadPool pool(3);
  const graph::Graph graph = fixtures::generated("kron:8", true);
  std::vector<std::uint64_t> counts = counted(graph);
  counts[17] += 1;
  counts[200] += 1;
  const traverse::Verdict verdict = traverse::verify_triangles(graph, counts, pool);
  EXPECT_FALSE(verdict.correct);
  EXPECT_NE(verdict.message.find("vertex 17 has"), std::string::npos) << verdict.message;
  counts.pop_back();
  EXPECT_THROW((void)traverse::verify_triangles(graph, counts, pool), UsageError);
}

TEST(Triangles, RefusesWhatItCannotCount) {
  const graph::ShardSource directed = fixtures::shard_source(fixtures::star(10, false), 1);
  const graph::ShardSource source = fixtures::shard_source(fixtures::star(10, true), 1);
  team::run_team({}, [&](team::Team& team) {
    const graph::Shard one_way = graph::make_shard(team, directed);
    EXPECT_THROW(traverse::Triangles(team, one_way), UsageError);
    const graph::Shard packed =
        graph::make_shard(team, source, {graph::EdgesPlacement::compressed_host, 0});
    EXPECT_THROW(traverse::Triangles(team, packed), UsageError);
  });
}

TEST(TrianglesCuda, AreCountedOnEveryShapeAndTeam) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const auto& named : fixtures::shapes()) {
    for (const auto& options : fixtures::cuda_teams_of_waiting_kernels())
      check(options, named.name, named.graph);
  }
}

}  // namespace
}  // namespace warren
