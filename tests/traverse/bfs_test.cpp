// SPDX-License-Identifier: Apache-2.0
// BFS against the sequential reference, on every shape, with every team, pushing only and
// direction-optimising, by all ranks and by the first one.
#include "warren/traverse/bfs.hpp"

#include <gtest/gtest.h>

#include "warren/graph/generate_shard.hpp"

#include "reference/traverse.hpp"
#include "traverse/fixtures.hpp"

namespace warren {
namespace {

void expect_tree(const graph::Graph& graph, Vertex source, const std::vector<Vertex>& depth,
                 const std::vector<Vertex>& parent) {
  for (Vertex v = 0; v < graph.vertices; ++v) {
    if (depth[v] == kNoVertex) {
      ASSERT_EQ(parent[v], kNoVertex) << "vertex " << v;
      continue;
    }
    const Vertex from = parent[v];
    ASSERT_LT(from, graph.vertices) << "vertex " << v;
    if (v == source) {
      ASSERT_EQ(from, source);
      continue;
    }
    ASSERT_EQ(depth[from] + 1, depth[v]) << "vertex " << v;
    const auto neighbours = graph.neighbours(from);
    ASSERT_TRUE(std::find(neighbours.begin(), neighbours.end(), v) != neighbours.end())
        << from << " -> " << v << " is no edge";
  }
}

void check(const team::TeamOptions& options, const fixtures::Named& named,
           const graph::EdgesOptions& placement = {}) {
  const graph::Graph& graph = named.graph;
  const graph::ShardSource source = fixtures::shard_source(graph, options.ranks);
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source, placement);
    using traverse::BfsRanks;
    const bool first_can =
        placement.placement == graph::EdgesPlacement::device && !team.needs_windows();
    for (const auto& [optimized, ranks] : {std::pair{true, BfsRanks::all},
                                           {false, BfsRanks::all},
                                           {true, BfsRanks::first},
                                           {true, BfsRanks::automatic}}) {
      if (ranks == BfsRanks::first && (!first_can || team.size() == 1)) continue;
      traverse::BfsOptions bfs_options;
      bfs_options.direction_optimizing = optimized;
      bfs_options.ranks = ranks;
      traverse::Bfs bfs(team, shard, bfs_options);
      for (const Vertex from : {Vertex{0}, graph.vertices / 2, graph.vertices - 1}) {
        if (testing_support::is_tiny() && from != 0) break;
        SCOPED_TRACE(named.name + ", " + std::to_string(options.ranks) + " ranks, source " +
                     std::to_string(from) + (optimized ? "" : ", push only") +
                     (ranks == BfsRanks::first ? ", by the first rank" : ""));
        const traverse::BfsResult result = bfs.run(from);
        const std::vector<Vertex> depth = bfs.all_depths();
        const std::vector<Vertex> parent = bfs.all_parents();
        const std::vector<Vertex> expected = reference::bfs_depths(graph, from);
        ASSERT_EQ(depth, expected);
        expect_tree(graph, from, depth, parent);
        std::uint64_t reached = 0, sum = 0, edges = 0;
        std::uint32_t deepest = 0;
        for (Vertex v = 0; v < graph.vertices; ++v) {
          if (expected[v] == kNoVertex) continue;
          ++reached;
          sum += expected[v];
          edges += graph.degree(v);
          deepest = std::max(deepest, expected[v]);
        }
        EXPECT_EQ(result.reached, reached);
        EXPECT_EQ(result.sum_depth, sum);
        EXPECT_EQ(result.edges, edges);
        EXPECT_EQ(result.max_depth, deepest);
      }
    }
  });
}

TEST(Bfs, MatchesReferenceOnEveryShapeAndTeam) {
  for (const auto& named : fixtures::shapes_and_wide_levels()) {
    for (const auto& options : fixtures::cpu_teams()) check(options, named);
  }
}

TEST(Bfs, OfRanksApart) {
  for (const auto& named : fixtures::shapes()) {
    for (const auto& options : fixtures::cpu_teams_apart()) check(options, named);
  }
  for (const auto& named : fixtures::placed_shapes()) {
    for (const auto& edges : fixtures::host_edges())
      check(fixtures::cpu_teams_apart()[1], named, edges);
  }
}

TEST(Bfs, PullsOnDenseLevels) {
  const graph::Graph graph = fixtures::generated("kron:14", true);
  const graph::ShardSource source = fixtures::shard_source(graph, 1);
  team::run_team({}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::Bfs bfs(team, shard);
    EXPECT_GT(bfs.run(source.out->targets[0]).pull_levels, 0u);
  });
}

TEST(Bfs, RefusesASourceThatIsNoVertex) {
  const graph::ShardSource source = fixtures::shard_source(fixtures::path(10), 1);
  team::run_team({}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::Bfs bfs(team, shard);
    EXPECT_THROW((void)bfs.run(10), UsageError);
    EXPECT_THROW((void)traverse::Bfs(team, shard, {true, 0.0, 1.0}), UsageError);
  });
}

TEST(Bfs, TheFirstRankRunsListsThatItReachesAlone) {
  const graph::ShardSource source = fixtures::shard_source(fixtures::path(10), 2);
  team::TeamOptions apart;
  apart.ranks = 2;
  apart.are_apart = true;
  team::run_team(apart, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    EXPECT_THROW((void)traverse::Bfs(team, shard, {.ranks = traverse::BfsRanks::first}),
                 UsageError);
  });
  team::TeamOptions together;
  together.ranks = 2;
  team::run_team(together, [&](team::Team& team) {
    const graph::Shard shard =
        graph::make_shard(team, source, {.placement = graph::EdgesPlacement::host});
    EXPECT_THROW((void)traverse::Bfs(team, shard, {.ranks = traverse::BfsRanks::first}),
                 UsageError);
  });
}

TEST(Bfs, SearchesOfTheFirstRankTakeSourcesAndLimits) {
  const graph::ShardSource source =
      fixtures::shard_source(fixtures::generated("grid:100x1", true), 3);
  team::TeamOptions options;
  options.ranks = 3;
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::Bfs bfs(team, shard, {.ranks = traverse::BfsRanks::first});
    const std::vector<Vertex> sources = {0, 99};
    const traverse::BfsResult two = bfs.run(sources);
    EXPECT_EQ(two.reached, 100u);
    EXPECT_EQ(two.max_depth, 49u);
    EXPECT_EQ(bfs.all_depths()[60], 39u);
    EXPECT_EQ(bfs.run(0, {.depth = 10}).reached, 11u);
    EXPECT_EQ(bfs.all_depths()[11], kNoVertex);
    EXPECT_THROW((void)bfs.run(100), UsageError);
    const traverse::BfsResult to_target = bfs.run(0, {.targets = {30}});
    EXPECT_EQ(bfs.all_depths()[30], 30u);
    EXPECT_LT(to_target.reached, 100u);
  });
}

TEST(Bfs, MatchesReferenceWithEdgesInHostMemory) {
  for (const auto& named : fixtures::shapes()) {
    for (const auto& edges : fixtures::host_edges()) {
      check(fixtures::cpu_teams()[1], named, edges);
      check(fixtures::cpu_teams()[4], named, edges);
    }
  }
}

TEST(Bfs, CountsWhatItReadsOfFarEdges) {
  const graph::Graph graph = fixtures::generated("kron:14", true);
  const graph::ShardSource source = fixtures::shard_source(graph, 1);
  const std::uint64_t all = graph.edges() * sizeof(Vertex);
  const auto far_bytes = [&](std::uint64_t cache_bytes, bool optimized) {
    std::uint64_t bytes = 0;
    team::run_team({}, [&](team::Team& team) {
      const graph::EdgesOptions edges{graph::EdgesPlacement::host, cache_bytes};
      const graph::Shard shard = graph::make_shard(team, source, edges);
      traverse::BfsOptions options;
      options.direction_optimizing = optimized;
      bytes = traverse::Bfs(team, shard, options).run(graph.targets[0]).far_bytes;
    });
    return bytes;
  };
  // Pushing reads every reached list once, in whole sectors.
  EXPECT_GE(far_bytes(0, false), all * 9 / 10);
  EXPECT_LE(far_bytes(0, false), all * 3 / 2);
  EXPECT_LT(far_bytes(0, true), far_bytes(0, false) / 2);
  EXPECT_LT(far_bytes(all / 2, false), far_bytes(0, false) * 3 / 4);
  EXPECT_EQ(far_bytes(all, false), 0u);
}

void check_moved_edges(const team::TeamOptions& options) {
  const auto spec = graph::parse_generator("kron:11", 1);
  graph::BuildOptions build;
  build.symmetrize = true;
  const graph::Graph graph = fixtures::generated("kron:11", true);
  const std::vector<Vertex> expected = reference::bfs_depths(graph, graph.targets[0]);
  for (const auto& edges : fixtures::host_edges()) {
    team::run_team(options, [&](team::Team& team) {
      graph::Shard shard = graph::generate_shard(team, *spec, build, true);
      graph::place_edges(team, shard, edges);
      traverse::Bfs bfs(team, shard);
      (void)bfs.run(graph.targets[0]);
      EXPECT_EQ(bfs.all_depths(), expected) << options.ranks << " ranks";
      const graph::Graph fetched = graph::download(team, shard);
      if (team.rank() != 0) return;
      EXPECT_TRUE(std::equal(fetched.targets.begin(), fetched.targets.end(), graph.targets.begin(),
                             graph.targets.end()));
    });
  }
}

TEST(Bfs, TraversesShardsWhoseEdgesWereMoved) {
  for (const auto& options : fixtures::cpu_teams()) check_moved_edges(options);
}

TEST(BfsCuda, TraversesShardsWhoseEdgesWereMoved) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const auto& options : fixtures::cuda_teams_of_waiting_kernels()) check_moved_edges(options);
}

TEST(Bfs, RefusesACacheLargerThanTheDevice) {
  const graph::ShardSource source = fixtures::shard_source(fixtures::path(10), 1);
  team::run_team({}, [&](team::Team& team) {
    const graph::EdgesOptions edges{graph::EdgesPlacement::host, std::uint64_t{1} << 60};
    EXPECT_THROW((void)graph::make_shard(team, source, edges), UsageError);
  });
}

TEST(BfsCuda, MatchesReferenceOnEveryShapeAndTeam) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const auto& named : fixtures::shapes_and_wide_levels()) {
    for (const auto& options : fixtures::cuda_teams_of_waiting_kernels()) check(options, named);
  }
}

TEST(BfsCuda, OfRanksApart) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const auto& options : fixtures::cuda_teams_apart()) {
    for (const auto& named : fixtures::shapes()) check(options, named);
    for (const auto& named : fixtures::placed_shapes()) {
      for (const auto& edges : fixtures::host_edges()) check(options, named, edges);
    }
  }
}

TEST(BfsCuda, MatchesReferenceWithEdgesInHostMemory) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const auto& named : fixtures::placed_shapes()) {
    for (const auto& options : fixtures::cuda_teams_of_waiting_kernels()) {
      for (const auto& edges : fixtures::host_edges()) check(options, named, edges);
    }
  }
}

}  // namespace
}  // namespace warren
