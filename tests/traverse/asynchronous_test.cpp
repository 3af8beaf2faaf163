// SPDX-License-Identifier: Apache-2.0
// The asynchronous searches against the sequential references, on every shape, with every team, in
// both forms, with tiny queues and random pauses; and what all asynchronous traversals share.
#include "warren/traverse/asynchronous.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/traverse/bfs.hpp"
#include "warren/traverse/components.hpp"
#include "warren/traverse/pagerank.hpp"

#include "support/size.hpp"
#include "traverse/asynchronous_cases.hpp"

namespace warren {
namespace {

using namespace asynchronous_cases;
using testing::HasSubstr;
using testing_support::random_runs;

TEST(AsyncBfs, MatchesTheReferenceOnEveryShapeAndTeam) {
  for (const auto& named : shapes()) {
    const Vertex n = named.graph.vertices;
    for (const auto& team : fixtures::cpu_teams()) check_bfs(named, team, {}, {0, n / 2, n - 1});
    check_bfs(named, fixtures::cpu_teams()[3], in_rounds(), {n / 2});
    for (const std::size_t team : {1u, 4u})
      check_bfs(named, fixtures::cpu_teams()[team], leaping(), {0, n / 2});
  }
}

TEST(AsyncBfs, QueuesOfThreeTasks) {
  for (const auto& named : shapes()) {
    if (named.graph.vertices > 10'000) continue;
    for (const std::size_t team : {1u, 4u})
      check_bfs(named, fixtures::cpu_teams()[team], tiny_queues(), {0});
  }
}

TEST(AsyncBfs, PrioritiesSaveWork) {
  const fixtures::Named grid{"grid", fixtures::generated("grid:100x90", true)};
  const graph::ShardSource source = fixtures::shard_source(grid.graph, 1);
  team::run_team({exec::DeviceKind::cpu, 1, 1}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    AsyncOptions options;
    options.levels = 4;
    traverse::AsyncBfs bfs(team, shard, options);
    bfs.run(0);
    // One thread takes the vertices in the order of their depths.
    EXPECT_EQ(bfs.report().redundancy, 1.0);
  });
}

TEST(AsyncSssp, MatchesDijkstraOnEveryShapeAndTeam) {
  for (const auto& named : shapes()) {
    const graph::Graph whole = with_integers(named.graph, 1, 64);
    const graph::Graph reals = with_reals(named.graph);
    for (const auto& team : fixtures::cpu_teams()) {
      check_sssp(named.name, whole, team, {}, 0);
      check_sssp(named.name + ", real weights", reals, team, {}, named.graph.vertices / 2);
    }
    if (named.graph.vertices > 10'000) continue;
    check_sssp(named.name, whole, fixtures::cpu_teams()[4], tiny_queues(), 0);
    check_sssp(named.name, reals, fixtures::cpu_teams()[2], in_rounds(), 0);
    check_sssp(named.name, whole, fixtures::cpu_teams()[4], leaping(), 0);
    check_sssp(named.name, reals, fixtures::cpu_teams()[1], leaping(), 0);
  }
}

TEST(AsyncSssp, DistancesOfMoreThan32Bits) {
  const graph::Graph path = with_integers(fixtures::path(9), 2147483600, 2147483647);
  for (const auto& team : fixtures::cpu_teams()) check_sssp("path", path, team, {}, 0);
}

TEST(AsyncSssp, WeightsOfZero) {
  const graph::Graph zeros = with_integers(fixtures::generated("kron:8", true), 0, 0);
  for (const auto& team : fixtures::cpu_teams()) check_sssp("zeros", zeros, team, {}, 1);
}

/// With what the sanitized builds add, about three hundred runs.
TEST(AsyncTraversals, RandomRunsWithPauses) {
  std::mt19937_64 random(testing_support::random_seed(7));
  for (int run = 0; run < random_runs(testing_support::sees_few()   ? 96
                                      : testing_support::is_small() ? 160
                                                                    : 240);
       ++run) {
    SCOPED_TRACE("run " + std::to_string(run));
    // One in eight is large enough for several chunks and full rings.
    const std::uint64_t size = random() % 8 == 0 ? 3000 : 120;
    const auto n = static_cast<Vertex>(1 + random() % size);
    const fixtures::Named named{
        "random", fixtures::random_graph(n, random() % (4 * size), random(), random() % 2 == 0)};
    const int ranks = 1 + static_cast<int>(random() % 4);
    const team::TeamOptions team{exec::DeviceKind::cpu, ranks,
                                 ranks * (1 + static_cast<int>(random() % 2))};
    const auto from = static_cast<Vertex>(random() % n);
    check_bfs(named, team, random_options(random), {from});
    check_sssp("random", with_integers(named.graph, 0, 9), team, random_options(random), from);
    check_pagerank(named, team, random_options(random), 1e-5);
  }
}

/// Searches need no path between the ranks' memories; ranks by tasks do, and are refused.
TEST(AsyncTraversals, OnRanksApart) {
  for (const auto& named : shapes()) {
    if (named.graph.vertices > 3000) continue;
    team::TeamOptions team{exec::DeviceKind::cpu, 2, 2};
    team.are_apart = true;
    check_bfs(named, team, tiny_queues(), {named.graph.vertices / 2});
    check_sssp(named.name, with_integers(named.graph, 1, 64), team, {}, 0);
    team.ranks = 5;
    check_bfs(named, team, {}, {0});
  }
  const graph::Graph graph = fixtures::path(40);
  const graph::ShardSource source = fixtures::shard_source(graph, 2);
  team::TeamOptions apart{exec::DeviceKind::cpu, 2, 2};
  apart.are_apart = true;
  const auto is_refused = [&](auto&& make) {
    try {
      team::run_team(apart, [&](team::Team& team) { make(team, graph::make_shard(team, source)); });
      return false;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("cannot address the memory of rank"));
      return true;
    }
  };
  EXPECT_TRUE(is_refused([](auto& team, auto shard) { traverse::AsyncPageRank(team, shard); }));
}

TEST(AsyncTraversals, GraphsWithoutVertices) {
  const graph::Graph graph = fixtures::from_list(0, {});
  for (const auto& options : fixtures::cpu_teams()) {
    const graph::ShardSource source = fixtures::shard_source(graph, options.ranks);
    team::run_team(options, [&](team::Team& team) {
      const graph::Shard shard = graph::make_shard(team, source);
      traverse::AsyncPageRank pagerank(team, shard);
      EXPECT_TRUE(pagerank.run().converged);
      EXPECT_TRUE(pagerank.all_ranks().empty());
      traverse::AsyncBfs bfs(team, shard);
      EXPECT_THROW(bfs.run(0), UsageError);
      traverse::AsyncSssp sssp(team, shard);
      EXPECT_THROW(sssp.run(0), UsageError);
    });
  }
}

TEST(AsyncTraversals, BadInput) {
  const graph::Graph graph = fixtures::path(4);
  const graph::ShardSource source = fixtures::shard_source(graph, 1);
  team::run_team({exec::DeviceKind::cpu, 1, 1}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::AsyncBfs bfs(team, shard);
    EXPECT_THROW(bfs.run(4), UsageError);
    EXPECT_THROW(traverse::AsyncSssp(team, shard), UsageError);
    traverse::PageRankOptions options;
    options.tolerance = 0.0;
    EXPECT_THROW(traverse::AsyncPageRank(team, shard, options), UsageError);
    options = {};
    options.damping = 1.0;
    EXPECT_THROW(traverse::AsyncPageRank(team, shard, options), UsageError);
    AsyncOptions none;
    none.levels = schedule::kMaxLevels + 1;
    EXPECT_THROW(traverse::AsyncBfs(team, shard, none), UsageError);
    AsyncOptions large_batch;
    large_batch.capacity = 100;
    large_batch.batch = 101;
    EXPECT_THAT([&] { traverse::AsyncBfs(team, shard, large_batch); },
                testing::ThrowsMessage<UsageError>(HasSubstr("batch of 101")));
    large_batch.batch = 0;  // As many as the queue holds.
    EXPECT_NO_THROW(traverse::AsyncBfs(team, shard, large_batch));
    graph::EdgesOptions edges;
    edges.placement = graph::EdgesPlacement::compressed_host;
    const graph::Shard packed = graph::make_shard(team, source, edges);
    EXPECT_THROW(traverse::AsyncBfs(team, packed), UsageError);
  });
}

TEST(AsyncTraversals, TheModeIsChosenByLevels) {
  traverse::ModeEvidence road{true, 1'000'000, 3000, 2.5, 9, true};
  EXPECT_TRUE(traverse::choose_mode(road).is_async);
  EXPECT_THAT(traverse::choose_mode(road).reason, HasSubstr("3000 levels"));
  road.is_weighted = false;
  EXPECT_TRUE(traverse::choose_mode(road).is_async);
  EXPECT_TRUE(traverse::choose_mode({true, 4'000'000, 4000, 4.0, 4}).is_async);
  road.levels = 20;
  EXPECT_FALSE(traverse::choose_mode(road).is_async);
  EXPECT_FALSE(traverse::choose_mode({true, 1'000'000'000, 3000, 2.5, 9}).is_async);
  EXPECT_FALSE(traverse::choose_mode({true, 1'000'000, 3000, 2.5, 5000}).is_async);
  EXPECT_FALSE(traverse::choose_mode({false, 1'000'000, 3000, 2.5, 9}).is_async);
  EXPECT_FALSE(traverse::choose_mode({true, 0, 0, 0.0, 0}).is_async);
}

void check_on_gpus(const AsyncOptions& options) {
  constexpr std::uint64_t kFewTasks = 1000;
  for (const auto& named : shapes()) {
    const Vertex n = named.graph.vertices;
    if (n > 10'000 && options.capacity != 0 && options.capacity < kFewTasks) continue;
    for (const auto& team : fixtures::cuda_teams_of_waiting_kernels()) {
      check_bfs(named, team, options, {0, n / 2});
      check_sssp(named.name, with_integers(named.graph, 1, 64), team, options, 0);
      check_sssp(named.name, with_reals(named.graph), team, options, 0);
      if (n <= 10'000) check_pagerank(named, team, options, 1e-7);
    }
  }
}

TEST(AsyncTraversalsCuda, MatchTheReferences) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  check_on_gpus({});
}

TEST(AsyncTraversalsCuda, MatchTheReferencesByWorkersOfEverySize) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  for (const auto workers : {traverse::SearchWorkers::warps, traverse::SearchWorkers::blocks}) {
    for (const std::uint32_t keep : {0u, 5u}) {
      AsyncOptions options = leaping();
      options.workers = workers;
      options.keep = keep;
      check_on_gpus(options);
    }
  }
}

TEST(AsyncTraversalsCuda, MatchTheReferencesInRounds) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  check_on_gpus(in_rounds());
}

TEST(AsyncTraversalsCuda, MatchTheReferencesWithQueuesOfThreeTasks) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  check_on_gpus(tiny_queues());
}

}  // namespace
}  // namespace warren
