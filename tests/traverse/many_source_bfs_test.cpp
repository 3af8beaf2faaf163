// SPDX-License-Identifier: Apache-2.0
// BFS from many sources at once against the sequential reference, one source after the other.
#include "warren/traverse/many_source_bfs.hpp"

#include <random>

#include <gtest/gtest.h>

#include "reference/traverse.hpp"
#include "traverse/fixtures.hpp"

namespace warren {
namespace {

std::vector<Vertex> some_sources(const graph::Graph& graph, std::size_t count) {
  std::mt19937 random(7);
  std::vector<Vertex> sources;
  for (std::size_t s = 0; s < count; ++s)
    sources.push_back(static_cast<Vertex>(random() % graph.vertices));
  if (count > 1) sources[1] = sources[0];  // Repeats are legal.
  return sources;
}

traverse::SourceReach expected_reach(const graph::Graph& graph, Vertex source) {
  traverse::SourceReach reach{source, 0, 0, 0};
  for (const Vertex depth : reference::bfs_depths(graph, source)) {
    if (depth == kNoVertex) continue;
    ++reach.reached;
    reach.sum_depth += depth;
    reach.max_depth = std::max(reach.max_depth, depth);
  }
  return reach;
}

void check(const team::TeamOptions& options, const fixtures::Named& named, std::size_t count,
           const graph::EdgesOptions& placement = {}) {
  SCOPED_TRACE(named.name + ", " + std::to_string(options.ranks) + " ranks, " +
               std::to_string(count) + " sources");
  const std::vector<Vertex> sources = some_sources(named.graph, count);
  const graph::ShardSource source = fixtures::shard_source(named.graph, options.ranks);
  traverse::ManySourceBfsResult result;
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source, placement);
    traverse::ManySourceBfs bfs(team, shard);
    (void)bfs.run(sources);  // A second run finds a clean slate.
    const auto mine = bfs.run(sources);
    if (team.rank() == 0) result = mine;
  });
  ASSERT_EQ(result.sources.size(), count);
  for (std::size_t s = 0; s < count; ++s) {
    const traverse::SourceReach expected = expected_reach(named.graph, sources[s]);
    EXPECT_EQ(result.sources[s].source, sources[s]);
    EXPECT_EQ(result.sources[s].reached, expected.reached);
    EXPECT_EQ(result.sources[s].max_depth, expected.max_depth);
    EXPECT_EQ(result.sources[s].sum_depth, expected.sum_depth);
  }
}

/// A level reads all edges: long paths and wide grids would only take long.
std::vector<fixtures::Named> shallow_shapes() {
  std::vector<fixtures::Named> all;
  for (auto& named : fixtures::shapes()) {
    if (named.name != "path") all.push_back(std::move(named));
  }
  all.push_back({"short path", fixtures::path(100)});
  return all;
}

TEST(ManySourceBfs, MatchesReferenceOnEveryShapeAndTeam) {
  for (const auto& named : shallow_shapes()) {
    for (const auto& options : fixtures::cpu_teams()) {
      for (const std::size_t count : {std::size_t{1}, std::size_t{64}})
        check(options, named, count);
    }
  }
}

TEST(ManySourceBfs, OfRanksApart) {
  for (const auto& named : shallow_shapes()) {
    for (const auto& options : fixtures::cpu_teams_apart()) check(options, named, 64);
  }
}

TEST(ManySourceBfs, MatchesReferenceWithEdgesInHostMemory) {
  for (const auto& named : shallow_shapes()) {
    check(fixtures::cpu_teams().back(), named, 33, fixtures::host_edges()[1]);
    check(fixtures::cpu_teams()[1], named, 33, fixtures::host_edges()[3]);
  }
}

TEST(ManySourceBfs, RefusesWhatIsNoSource) {
  const graph::ShardSource source = fixtures::shard_source(fixtures::path(10), 1);
  team::run_team({}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::ManySourceBfs bfs(team, shard);
    EXPECT_THROW((void)bfs.run({}), UsageError);
    EXPECT_THROW((void)bfs.run(std::vector<Vertex>(65, 0)), UsageError);
    EXPECT_THROW((void)bfs.run(std::vector<Vertex>{0, 10}), UsageError);
  });
}

TEST(ManySourceBfsCuda, OfRanksApart) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const auto& named : shallow_shapes()) {
    for (const auto& options : fixtures::cuda_teams_apart()) {
      check(options, named, 64);
      check(options, named, 40, fixtures::host_edges()[3]);
    }
  }
}

TEST(ManySourceBfsCuda, MatchesReferenceOnEveryShapeAndTeam) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const auto& named : shallow_shapes()) {
    for (const auto& options : fixtures::cuda_teams()) {
      check(options, named, 64);
      check(options, named, 40, fixtures::host_edges()[1]);
      check(options, named, 40, fixtures::host_edges()[3]);
    }
  }
}

}  // namespace
}  // namespace warren
