// SPDX-License-Identifier: Apache-2.0
// Asynchronous PageRank against the synchronous one and its own residuals, and the plan of its
// chunks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/traverse/asynchronous.hpp"

#include "support/size.hpp"
#include "traverse/asynchronous_cases.hpp"
#include "traverse/tasks/ranking_work.hpp"
#include "traverse/tasks/shared_ranking.hpp"

namespace warren {
namespace {

using namespace asynchronous_cases;

/// Under sanitizers every run is long.
const double kUsualTolerance = testing_support::is_small() ? 1e-3 : 1e-6;

TEST(AsyncPageRank, IsWithinTheTolerance) {
  for (const auto& named : shapes()) {
    if (named.graph.vertices > 10'000) continue;
    for (const auto& team : fixtures::cpu_teams()) {
      check_pagerank(named, team, {}, kUsualTolerance);
      if (team.ranks == 3) check_pagerank(named, team, {}, kUsualTolerance * 1e-3);
    }
    check_pagerank(named, fixtures::cpu_teams()[2], in_rounds(), kUsualTolerance);
    check_pagerank(named, fixtures::cpu_teams()[3], tiny_queues(), 1e-4);
  }
}

/// Both are as near to the solution as their residuals say, over 1 - d; what is held in float32 is
/// rounded, by no more than 2^-24 of all ranks in an iteration.
TEST(AsyncPageRank, IsNearTheSynchronousOne) {
  for (const auto& named : shapes()) {
    if (named.graph.vertices > 10'000) continue;
    const graph::Graph& graph = named.graph;
    for (const double tolerance : {1e-3, 1e-6, 1e-9}) {
      for (const std::size_t team_index : {0u, 2u, 3u}) {
        const team::TeamOptions team_options = fixtures::cpu_teams()[team_index];
        SCOPED_TRACE(named.name + ", " + std::to_string(team_options.ranks) + " ranks");
        const graph::ShardSource source = fixtures::shard_source(graph, team_options.ranks);
        team::run_team(team_options, [&](team::Team& team) {
          const graph::Shard shard = graph::make_shard(team, source);
          traverse::PageRankOptions options;
          options.tolerance = tolerance;
          options.max_iterations = 2000;
          traverse::PageRank iterated(team, shard, options);
          traverse::AsyncPageRank asynchronous(team, shard, options);
          const double residuals = iterated.run().residual + asynchronous.run().residual;
          EXPECT_LE(residuals, 2.0 * tolerance);
          const double apart =
              reference::l1_distance(iterated.all_ranks(), asynchronous.all_ranks());
          const double rounding = tolerance >= 1e-6 ? 2.0 * 0x1p-24 : 1e-14;
          EXPECT_LE(apart, (residuals + rounding) / (1.0 - options.damping));
        });
      }
    }
  }
}

/// Rings that are full as soon as all chunks wait.
TEST(AsyncPageRank, QueuesOfThreeChunks) {
  const fixtures::Named named{"kronecker", fixtures::generated("kron:14", true)};
  for (const std::size_t team_index : {0u, 1u, 3u}) {
    const team::TeamOptions team_options = fixtures::cpu_teams()[team_index];
    for (const auto form : {schedule::Form::automatic, schedule::Form::discrete}) {
      AsyncOptions options = tiny_queues();
      options.form = form;
      check_pagerank(named, team_options, options, 1e-4);
    }
  }
}

/// A centre whose list is cut into pieces, and one whose list is just as long as one piece.
TEST(AsyncPageRank, RowsOfManyPieces) {
  for (const Vertex n : {8193u, 20'001u}) {
    for (const std::size_t team : {0u, 2u, 4u}) {
      if (testing_support::sees_few() && (n > 10'000) != (team == 2)) continue;
      check_pagerank({"star", fixtures::star(n, true)}, fixtures::cpu_teams()[team], {},
                     kUsualTolerance);
    }
  }
  check_pagerank({"one way", fixtures::star(20'001, false)}, fixtures::cpu_teams()[2], in_rounds(),
                 kUsualTolerance);
}

TEST(AsyncPageRank, TakesFewerSweepsThanPlainIterations) {
  const graph::Graph graph = fixtures::generated("kron:13", true);
  std::vector<double> ranks(graph.vertices, 1.0 / static_cast<double>(graph.vertices));
  std::uint32_t iterations = 0;
  for (double change = 1.0; change > traverse::PageRankOptions{}.tolerance; ++iterations) {
    std::vector<double> next = reference::pagerank_step(graph, 0.85, ranks);
    change = reference::l1_distance(next, ranks);
    ranks = std::move(next);
  }
  const graph::ShardSource source = fixtures::shard_source(graph, 1);
  team::run_team({exec::DeviceKind::cpu, 1, 1}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::AsyncPageRank asynchronous(team, shard);
    EXPECT_LT(asynchronous.run().iterations, iterations);
  });
}

/// Symmetric graphs whose values spread slowly: without weights 22 sweeps and more, by one worker,
/// whose order is always the same.
TEST(AsyncPageRank, WeightsSaveSweeps) {
  if (testing_support::is_small()) GTEST_SKIP() << "too long under sanitizers";
  for (const char* name : {"community:60000,25", "grid:250x240"}) {
    const graph::ShardSource source = fixtures::shard_source(fixtures::generated(name, false), 1);
    team::run_team({exec::DeviceKind::cpu, 1, 1}, [&](team::Team& team) {
      const graph::Shard shard = graph::make_shard(team, source);
      ASSERT_TRUE(shard.is_symmetric) << name;
      traverse::AsyncPageRank pagerank(team, shard);
      const std::uint32_t sweeps = pagerank.run().iterations;
      EXPECT_LE(sweeps, 18u) << name;
      EXPECT_EQ(pagerank.run().iterations, sweeps) << "the same again";
    });
  }
}

/// Residuals that go down by `ratio` a sweep, whatever the weight.
double weight_after(traverse::SharedRanking::Choice& choice, double ratio, int sweeps,
                    double bound) {
  double weight = 1.0;
  for (int i = 0; i < sweeps; ++i)
    weight = choice.after(choice.sweeps == 0 ? 1.0 : choice.distance * ratio, bound, 0.85);
  return weight;
}

TEST(RankingChoice, RaisesTheWeightWhereSweepsAreSlow) {
  traverse::SharedRanking::Choice choice{};
  EXPECT_EQ(weight_after(choice, 0.5, 3, 1e4), 1.0) << "the start's own errors";
  const double first = weight_after(choice, 0.5, 1, 1e4);
  EXPECT_NEAR(first, 2.0 / (1.0 + std::sqrt(1.0 - 0.25)), 1e-12);
  EXPECT_GT(weight_after(choice, 0.6, 1, 1e4), first);
  EXPECT_NEAR(weight_after(choice, 0.7, 3, 1e4), 2.0 / 1.8, 1e-12) << "a radius of 0.6 at most";
}
TEST(RankingChoice, LeavesTheWeightWhereSweepsAreFast) {
  traverse::SharedRanking::Choice choice{};
  EXPECT_LT(weight_after(choice, 0.1, 8, 1e4), 1.01);
}
TEST(RankingChoice, TheLastSweepsArePlain) {
  traverse::SharedRanking::Choice choice{};
  const double before = weight_after(choice, 0.5, 5, 1e4);
  EXPECT_EQ(weight_after(choice, 0.55, 1, 8.0), before) << "near the end it stays as it is";
  EXPECT_EQ(weight_after(choice, 0.55, 1, 5.0), 1.0);
}
TEST(RankingChoice, GivesUpWhereTwoSweepsGainNothing) {
  traverse::SharedRanking::Choice choice{};
  EXPECT_GT(weight_after(choice, 0.5, 5, 1e4), 1.0);
  EXPECT_GT(weight_after(choice, 1.1, 1, 1e4), 1.0);
  EXPECT_EQ(weight_after(choice, 0.9, 1, 1e4), 1.0);
  EXPECT_EQ(weight_after(choice, 0.5, 5, 1e4), 1.0) << "for good";
}
TEST(RankingChoice, NothingMoves) {
  traverse::SharedRanking::Choice choice{};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(choice.after(0.0, 0.0, 0.85), 1.0);
}

TEST(AsyncPageRank, GivesUpAfterTheIterationsAllowed) {
  const graph::Graph graph = fixtures::generated("kron:10", true);
  for (const auto& team_options : fixtures::cpu_teams()) {
    const graph::ShardSource source = fixtures::shard_source(graph, team_options.ranks);
    team::run_team(team_options, [&](team::Team& team) {
      const graph::Shard shard = graph::make_shard(team, source);
      traverse::PageRankOptions options;
      options.tolerance = 1e-9;
      options.max_iterations = 2;
      traverse::AsyncPageRank pagerank(team, shard, options);
      const traverse::PageRankResult result = pagerank.run();
      EXPECT_FALSE(result.converged);
      EXPECT_LE(result.iterations, 5u);
      EXPECT_GT(result.residual, options.tolerance);
      EXPECT_LT(result.residual, 2.0);
    });
  }
}

TEST(AsyncPageRank, IterationsOfAGraphWithoutEdgesAreFew) {
  const graph::Graph graph = fixtures::from_list(5, {});
  for (const auto& team_options : fixtures::cpu_teams()) {
    const graph::ShardSource source = fixtures::shard_source(graph, team_options.ranks);
    team::run_team(team_options, [&](team::Team& team) {
      const graph::Shard shard = graph::make_shard(team, source);
      const traverse::PageRankResult result = traverse::AsyncPageRank(team, shard, {}).run();
      EXPECT_TRUE(result.converged);
      EXPECT_GE(result.iterations, 1u);
      EXPECT_LE(result.iterations, 4u);
    });
  }
}

/// Every row and every edge is in one batch, and every batch in one chunk.
TEST(AsyncPageRank, ThePlanCoversEveryRow) {
  using traverse::RankingBatch;
  std::mt19937_64 random(3);
  for (int run = 0; run < 200; ++run) {
    std::vector<EdgeOffset> offsets{0};
    const std::uint64_t rows = random() % 3000;
    const std::uint64_t kind = random() % 4;
    for (std::uint64_t row = 0; row < rows; ++row) {
      const std::uint64_t degree = kind == 0              ? 0
                                   : random() % 50 == 0   ? random() % (kind * 15000)
                                   : random() % kind == 0 ? random() % 600
                                                          : random() % 4;
      offsets.push_back(offsets.back() + degree);
    }
    const EdgeOffset cached_end = offsets[random() % offsets.size()];
    const traverse::RankingPlan plan =
        traverse::plan_ranking(offsets, cached_end, 1 + random() % 1000);
    std::vector<int> row_seen(rows, 0), piece_seen(plan.pieces, 0), added(plan.pieces, 0);
    std::vector<EdgeOffset> piece_begin(plan.pieces), piece_end(plan.pieces);
    for (const RankingBatch& batch : plan.batches) {
      if (batch.kind == RankingBatch::piece) {
        ++piece_seen[batch.first];
        piece_begin[batch.first] = batch.begin;
        piece_end[batch.first] = batch.begin + batch.count;
        ASSERT_LE(batch.count, RankingBatch::kLongestRow);
        continue;
      }
      for (Vertex i = 0; i < batch.row_count; ++i) ++row_seen[batch.first + i];
      if (batch.kind == RankingBatch::sum) {
        ASSERT_EQ(batch.row_count, 1u);
        EdgeOffset at = offsets[batch.first];
        for (std::uint64_t k = 0; k < batch.count; ++k) {
          ++added[batch.begin + k];
          ASSERT_EQ(piece_begin[batch.begin + k], at);
          at = piece_end[batch.begin + k];
        }
        ASSERT_EQ(at, offsets[batch.first + 1]);
        continue;
      }
      ASSERT_EQ(batch.begin, offsets[batch.first]);
      ASSERT_EQ(batch.begin + batch.count, offsets[batch.first + batch.row_count]);
      if (batch.kind == RankingBatch::row) continue;
      ASSERT_LE(batch.count, RankingBatch::kMostEdges);
      ASSERT_LE(batch.row_count, RankingBatch::kMostRows);
      // A list that is read as one lies in one memory.
      ASSERT_TRUE(batch.count == 0 || batch.begin >= cached_end ||
                  batch.begin + batch.count <= cached_end);
    }
    EXPECT_THAT(row_seen, testing::Each(1));
    EXPECT_THAT(piece_seen, testing::Each(1));
    EXPECT_THAT(added, testing::Each(1));
    ASSERT_EQ(plan.chunks.front(), 0u);
    ASSERT_EQ(plan.chunks.back(), plan.batches.size());
    ASSERT_TRUE(std::is_sorted(plan.chunks.begin(), plan.chunks.end()));
    ASSERT_EQ(std::adjacent_find(plan.chunks.begin(), plan.chunks.end()), plan.chunks.end());
  }
}

}  // namespace
}  // namespace warren
