// SPDX-License-Identifier: Apache-2.0
// Connected components against the sequential reference, on every shape, with every team, with and
// without in-edges.
#include "warren/traverse/components.hpp"

#include <map>

#include <gtest/gtest.h>

#include "reference/traverse.hpp"
#include "traverse/fixtures.hpp"

namespace warren {
namespace {

void check(const team::TeamOptions& options, const std::string& name,
           const graph::ShardSource& source, const std::vector<Vertex>& expected,
           const graph::EdgesOptions& edges = {}) {
  std::map<Vertex, std::uint64_t> members;
  for (const Vertex label : expected) ++members[label];
  std::uint64_t largest = 0;
  for (const auto& [label, count] : members) largest = std::max(largest, count);
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source, edges);
    using Sampling = traverse::ComponentsSampling;
    for (const traverse::ComponentsOptions& choice : {traverse::ComponentsOptions{},
                                                      {0, Sampling::link},
                                                      {1, Sampling::link},
                                                      {2, Sampling::link},
                                                      {5, Sampling::link},
                                                      {0, Sampling::hook},
                                                      {1, Sampling::hook},
                                                      {3, Sampling::hook}}) {
      SCOPED_TRACE(name + ", " + std::to_string(options.ranks) + " ranks, " +
                   (choice.sampled_edges ? std::to_string(*choice.sampled_edges) : "some") +
                   (choice.sampling == Sampling::hook ? " hooked" : " linked") + " edges" +
                   (source.in ? "" : ", no in-edges"));
      traverse::Components components(team, shard, choice);
      for (int repeat = 0; repeat < 2; ++repeat) {
        const traverse::ComponentsResult result = components.run();
        ASSERT_EQ(components.all_labels(), expected);
        EXPECT_EQ(result.components, members.size());
        EXPECT_EQ(result.largest, largest);
      }
    }
  });
}

/// Two halves that each rank's own edges leave apart, joined by edges into the one of them only.
graph::Graph bridged_halves() {
  std::vector<graph::Edge> edges;
  constexpr Vertex kHalf = 400;
  for (Vertex v = 0; v + 1 < kHalf; ++v) {
    edges.push_back({v, v + 1});
    edges.push_back({kHalf + v, kHalf + v + 1});
    edges.push_back({v, (v + 7) % kHalf});
    edges.push_back({kHalf + v, kHalf + (v + 7) % kHalf});
  }
  edges.push_back({kHalf - 1, 2 * kHalf - 1});
  return fixtures::from_list(2 * kHalf + 5, std::move(edges));
}

/// Chains whose ids run against the edges, and stars that hang under their largest vertex.
graph::Graph backwards() {
  std::vector<graph::Edge> edges;
  for (Vertex v = 1; v < 1000; ++v) edges.push_back({v, v - 1});
  for (Vertex v = 1000; v < 1999; ++v) edges.push_back({1999, v});
  for (Vertex v = 2000; v < 2999; ++v) edges.push_back({v, 2999});
  return fixtures::from_list(3000, std::move(edges));
}

std::vector<fixtures::Named> graphs() {
  auto all = fixtures::shapes();
  all.push_back({"bridged halves", bridged_halves()});
  all.push_back({"backwards", backwards()});
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    all.push_back({"about to connect " + std::to_string(seed),
                   fixtures::random_graph(3000, 1100 + 250 * seed, 50 + seed, seed % 2 == 0)});
  }
  return all;
}

void check_all(const std::vector<team::TeamOptions>& teams) {
  for (const auto& named : graphs()) {
    const std::vector<Vertex> expected = reference::component_labels(named.graph);
    for (const auto& options : teams) {
      graph::ShardSource source = fixtures::shard_source(named.graph, options.ranks);
      check(options, named.name, source, expected);
      const graph::ShardSource both = source;
      source.in = nullptr;
      check(options, named.name, source, expected);
      if (options.ranks % 2 != 0) continue;
      check(options, named.name, both, expected, fixtures::host_edges()[0]);
      check(options, named.name, source, expected, fixtures::host_edges()[1]);
      check(options, named.name, both, expected, fixtures::host_edges()[3]);
      check(options, named.name, source, expected, fixtures::host_edges()[3]);
    }
  }
}

TEST(Components, MatchReferenceOnEveryShapeAndTeam) { check_all(fixtures::cpu_teams()); }

TEST(Components, OfRanksApart) { check_all(fixtures::cpu_teams_apart()); }

TEST(Components, ReadASectorOfEachFarListAndLittleMore) {
  const graph::Graph graph = fixtures::generated("kron:14", true);
  const graph::ShardSource source = fixtures::shard_source(graph, 1);
  std::uint64_t lists = 0;
  for (Vertex v = 0; v < graph.vertices; ++v) lists += graph.degree(v) > 0 ? 1 : 0;
  team::run_team({}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source, fixtures::host_edges()[0]);
    traverse::Components components(team, shard);
    const std::uint64_t bytes = components.run().far_bytes;
    EXPECT_GE(bytes, 32 * lists);
    EXPECT_LT(bytes, 40 * lists);
    const graph::Shard packed = graph::make_shard(team, source, fixtures::host_edges()[3]);
    const std::uint64_t packed_bytes = traverse::Components(team, packed).run().far_bytes;
    EXPECT_GE(packed_bytes, 32 * lists);
    EXPECT_LT(packed_bytes, 40 * lists);
  });
}

TEST(Components, OfNoVertices) {
  const graph::ShardSource source = fixtures::shard_source(fixtures::from_list(0, {}), 2);
  team::TeamOptions options;
  options.ranks = 2;
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::Components components(team, shard);
    EXPECT_EQ(components.run().components, 0u);
    EXPECT_EQ(components.run().largest, 0u);
  });
}

TEST(ComponentsCuda, MatchReferenceOnEveryShapeAndTeam) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  check_all(fixtures::cuda_teams_of_waiting_kernels());
}

TEST(ComponentsCuda, OfRanksApart) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  check_all(fixtures::cuda_teams_apart());
}

}  // namespace
}  // namespace warren
