// SPDX-License-Identifier: Apache-2.0
// Every traversal again and again in one process: answers, memory, open files and threads stay as
// they were (support/soak.hpp).
#include "support/soak.hpp"

#include <gtest/gtest.h>

#include "warren/baselines/pattern_bfs.hpp"
#include "warren/traverse/asynchronous.hpp"
#include "warren/traverse/bfs.hpp"
#include "warren/traverse/components.hpp"
#include "warren/traverse/many_source_bfs.hpp"
#include "warren/traverse/pagerank.hpp"
#include "warren/traverse/sssp.hpp"

#include "reference/traverse.hpp"
#include "traverse/fixtures.hpp"

namespace warren {
namespace {

/// A graph with integer weights, and what the references say of it.
struct Case {
  explicit Case(const char* generator) : graph(fixtures::generated(generator, true)) {
    exec::ThreadPool pool(1);
    graph::set_uniform_weights(graph, 1, 9, 1, pool);
    depth = reference::bfs_depths(graph, kFrom);
    distance = reference::integer_distances(graph, kFrom);
    label = reference::component_labels(graph);
  }
  static constexpr Vertex kFrom = 3;
  graph::Graph graph;
  std::vector<Vertex> depth, label;
  std::vector<std::uint64_t> distance;
};

/// Every traversal once, each made anew.
void run_all(const Case& the, const graph::ShardSource& source, int ranks) {
  team::run_team({exec::DeviceKind::cpu, ranks, ranks}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::Bfs bfs(team, shard);
    (void)bfs.run(the.kFrom);
    EXPECT_EQ(bfs.all_depths(), the.depth);
    traverse::AsyncBfs async_bfs(team, shard);
    (void)async_bfs.run(the.kFrom);
    EXPECT_EQ(async_bfs.all_depths(), the.depth);
    const std::vector<Vertex> sources{0, 1, the.kFrom};
    (void)traverse::ManySourceBfs(team, shard).run(sources);
    traverse::Sssp sssp(team, shard);
    (void)sssp.run(the.kFrom);
    EXPECT_EQ(sssp.all_distances(), the.distance);
    traverse::AsyncSssp async_sssp(team, shard);
    (void)async_sssp.run(the.kFrom);
    EXPECT_EQ(async_sssp.all_distances(), the.distance);
    traverse::Components components(team, shard);
    (void)components.run();
    EXPECT_EQ(components.all_labels(), the.label);
    if (ranks == 1) {
      baselines::PatternBfs pattern(team, shard);
      (void)pattern.run(the.kFrom, baselines::AccessPattern::aligned, false);
      EXPECT_EQ(pattern.depth(), the.depth);
    }
    EXPECT_TRUE(traverse::PageRank(team, shard, {.max_iterations = 1000}).run().converged);
    EXPECT_TRUE(traverse::AsyncPageRank(team, shard, {.max_iterations = 1000}).run().converged);
  });
}

TEST(Soak, EveryTraversalAgainAndAgain) {
  constexpr std::uint64_t kFirst = 10;
  const Case the("kron:8");
  const int ranks[] = {1, 2, 3};
  std::vector<graph::ShardSource> sources;
  for (const int count : ranks) sources.push_back(fixtures::shard_source(the.graph, count));
  testing_support::soak(kFirst, [&](std::uint64_t round) {
    const std::size_t i = round % std::size(ranks);
    run_all(the, sources[i], ranks[i]);
  });
}

}  // namespace
}  // namespace warren
