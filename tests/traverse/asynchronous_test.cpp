// SPDX-License-Identifier: Apache-2.0
// The asynchronous traversals against the sequential references, on every shape, with every team,
// in both forms, with tiny queues and random pauses.
#include "warren/traverse/asynchronous.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/traverse.hpp"
#include "traverse/fixtures.hpp"
#include "traverse/ranking_work.hpp"

namespace warren {
namespace {

using testing::HasSubstr;
using testing_support::random_runs;
using traverse::AsyncOptions;

AsyncOptions tiny_queues() {
  AsyncOptions options;
  options.capacity = 3;
  options.batch = 2;
  options.gather = schedule::Gather::always;
  options.wait = 2;
  return options;
}

/// Workers that go on by themselves for some levels.
AsyncOptions leaping() {
  AsyncOptions options;
  options.leap = 12.0;
  return options;
}

AsyncOptions in_rounds() {
  AsyncOptions options;
  options.form = schedule::Form::discrete;
  options.levels = 1;
  return options;
}

/// Options from a seed, with pauses.
AsyncOptions random_options(std::mt19937_64& random) {
  AsyncOptions options;
  if (random() % 4 == 0) options.form = schedule::Form::discrete;
  if (random() % 2 == 0) options.capacity = std::uint64_t{1} << random() % 8;
  options.levels = 1 + static_cast<std::uint32_t>(random() % 8);
  options.delta = random() % 2 == 0 ? 0.0 : 3.0;
  options.leap = random() % 2 == 0 ? -1.0 : static_cast<double>(random() % 20);
  if (random() % 2 == 0) options.workers = traverse::SearchWorkers::blocks;
  if (random() % 2 == 0) options.keep = 1u << random() % 11;
  options.gather = random() % 2 == 0 ? schedule::Gather::never : schedule::Gather::always;
  const std::uint64_t most = options.capacity != 0 ? options.capacity : 200;
  options.batch = 1 + static_cast<std::uint32_t>(random() % most);
  options.wait = static_cast<std::uint32_t>(random() % 20);
  options.slow_nanoseconds = random() % 4 == 0 ? 3000 : 0;
  options.stumble_nanoseconds = 1u << random() % 12;
  return options;
}

graph::Graph with_integers(graph::Graph graph, std::int64_t low, std::int64_t high) {
  exec::ThreadPool pool(2);
  graph::set_uniform_weights(graph, low, high, 1, pool);
  return graph;
}

graph::Graph with_reals(graph::Graph graph) {
  graph = with_integers(std::move(graph), 0, 1000);
  graph.weights_float = memory::HostArray<float>(graph.edges());
  for (EdgeOffset e = 0; e < graph.edges(); ++e)
    graph.weights_float[e] = static_cast<float>(graph.weights_int[e]) * 0.37f;
  graph.weights_int = {};
  graph.weight_type = graph::WeightType::float32;
  return graph;
}

void expect_bfs(const graph::Graph& graph, Vertex source, const traverse::BfsResult& result,
                const std::vector<Vertex>& depth, const std::vector<Vertex>& parent) {
  const std::vector<Vertex> expected = reference::bfs_depths(graph, source);
  ASSERT_EQ(depth, expected);
  std::uint64_t reached = 0, sum = 0, edges = 0;
  Vertex deepest = 0;
  for (Vertex v = 0; v < graph.vertices; ++v) {
    if (expected[v] == kNoVertex) {
      ASSERT_EQ(parent[v], kNoVertex);
      continue;
    }
    ++reached;
    sum += expected[v];
    edges += graph.degree(v);
    deepest = std::max(deepest, expected[v]);
    if (v == source) {
      ASSERT_EQ(parent[v], source);
      continue;
    }
    ASSERT_EQ(expected[parent[v]] + 1, expected[v]);
    const auto list = graph.neighbours(parent[v]);
    ASSERT_TRUE(std::binary_search(list.begin(), list.end(), v));
  }
  EXPECT_EQ(result.reached, reached);
  EXPECT_EQ(result.sum_depth, sum);
  EXPECT_EQ(result.max_depth, deepest);
  EXPECT_EQ(result.edges, edges);
}

void check_bfs(const fixtures::Named& named, const team::TeamOptions& team_options,
               const AsyncOptions& options, const std::vector<Vertex>& sources) {
  SCOPED_TRACE(named.name + ", " + std::to_string(team_options.ranks) + " ranks");
  const graph::ShardSource source = fixtures::shard_source(named.graph, team_options.ranks);
  team::run_team(team_options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::AsyncBfs bfs(team, shard, options);
    for (const Vertex from : sources) {
      const traverse::BfsResult result = bfs.run(from);
      const auto depth = bfs.all_depths();
      const auto parent = bfs.all_parents();
      if (team.rank() == 0) {
        expect_bfs(named.graph, from, result, depth, parent);
        EXPECT_GE(bfs.report().expanded, result.reached);
        EXPECT_GE(bfs.report().queue.tasks, result.reached);
        EXPECT_GE(bfs.report().edges, result.edges);
      }
      team.barrier();
    }
  });
}

void check_sssp(const std::string& name, const graph::Graph& graph,
                const team::TeamOptions& team_options, const AsyncOptions& options, Vertex from) {
  SCOPED_TRACE(name + ", " + std::to_string(team_options.ranks) + " ranks");
  const graph::ShardSource source = fixtures::shard_source(graph, team_options.ranks);
  team::run_team(team_options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::AsyncSssp sssp(team, shard, options);
    const traverse::SsspResult result = sssp.run(from);
    const auto real = sssp.all_real_distances();
    std::uint64_t reached = 0;
    if (graph.weight_type == graph::WeightType::float32) {
      const auto expected = reference::real_distances(graph, from);
      if (team.rank() == 0) {
        ASSERT_EQ(real, expected);
        for (const double d : expected) reached += std::isfinite(d) ? 1 : 0;
        if (graph.edges() > 0) {
          EXPECT_FALSE(sssp.has_integer_distances());
          EXPECT_THROW((void)sssp.distance(), UsageError);
        }
      }
    } else {
      const auto whole = sssp.all_distances();
      const auto expected = reference::integer_distances(graph, from);
      if (team.rank() == 0) {
        ASSERT_EQ(whole, expected);
        std::uint64_t sum = 0, largest = 0;
        for (const std::uint64_t d : expected) {
          if (d == traverse::kUnreachedDistance) continue;
          ++reached;
          sum += d;
          largest = std::max(largest, d);
        }
        EXPECT_EQ(result.sum_distance, sum);
        EXPECT_EQ(result.max_distance, largest);
      }
    }
    if (team.rank() == 0) {
      EXPECT_EQ(result.reached, reached);
    }
    team.barrier();
  });
}

/// What one more synchronous iteration changes, in L1.
double change_of_an_iteration(const graph::Graph& graph, const std::vector<double>& ranks) {
  const auto n = static_cast<double>(graph.vertices);
  double dangling = 0.0;
  for (Vertex v = 0; v < graph.vertices; ++v) dangling += graph.degree(v) == 0 ? ranks[v] : 0.0;
  std::vector<double> next(ranks.size(), (1.0 - 0.85 + 0.85 * dangling) / n);
  for (Vertex v = 0; v < graph.vertices; ++v) {
    for (const Vertex to : graph.neighbours(v))
      next[to] += 0.85 * ranks[v] / static_cast<double>(graph.degree(v));
  }
  double change = 0.0;
  for (std::size_t v = 0; v < ranks.size(); ++v) change += std::abs(next[v] - ranks[v]);
  return change;
}

/// Every contribution that a rank makes is stored at each other one.
void expect_stores(const graph::Graph& graph, const traverse::AsyncReport& report,
                   std::uint64_t contribution_bytes) {
  std::uint64_t sources = 0;
  for (Vertex v = 0; v < graph.vertices; ++v) sources += graph.degree(v) > 0 ? 1 : 0;
  const schedule::QueueReport& queue = report.queue;
  const std::size_t ranks = queue.rank_tasks.size();
  std::uint64_t stored = 0, messages = 0;
  for (std::size_t p = 0; p < ranks; ++p) {
    const std::size_t other = p == 0 ? 1 : 0;
    for (std::size_t q = 0; q < ranks; ++q) {
      const std::uint64_t here = queue.messages[p * ranks + q];
      EXPECT_EQ(queue.bytes[p * ranks + q], here * contribution_bytes);
      if (p == q) {
        EXPECT_EQ(here, 0u);
        continue;
      }
      EXPECT_EQ(here, queue.messages[p * ranks + other]);
      stored += q == other ? here : 0;
      messages += here;
    }
  }
  EXPECT_EQ(queue.messages_sent, messages);
  EXPECT_EQ(queue.bytes_sent, messages * contribution_bytes);
  if (ranks > 1) {
    // The first ones, and no more than one of each row that was worked on.
    EXPECT_GE(stored, sources);
    EXPECT_LE(stored, sources + report.expanded);
  }
}

void check_pagerank(const fixtures::Named& named, const team::TeamOptions& team_options,
                    const AsyncOptions& options, double tolerance) {
  SCOPED_TRACE(named.name + ", " + std::to_string(team_options.ranks) + " ranks");
  const graph::ShardSource source = fixtures::shard_source(named.graph, team_options.ranks);
  const std::vector<double> expected = reference::pagerank(named.graph, 0.85, 1e-14, 1000);
  team::run_team(team_options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::PageRankOptions pagerank_options;
    pagerank_options.tolerance = tolerance;
    pagerank_options.max_iterations = 1000;
    traverse::AsyncPageRank pagerank(team, shard, pagerank_options, options);
    for (int run = 0; run < 2; ++run) {
      const traverse::PageRankResult result = pagerank.run();
      const std::vector<double> ranks = pagerank.all_ranks();
      if (team.rank() != 0) continue;
      EXPECT_TRUE(result.converged);
      EXPECT_LE(result.residual, tolerance);
      double sum = 0.0, error = 0.0;
      for (std::size_t v = 0; v < ranks.size(); ++v) {
        sum += ranks[v];
        error += std::abs(ranks[v] - expected[v]);
      }
      EXPECT_NEAR(sum, 1.0, 1e-12 + 1e-16 * static_cast<double>(ranks.size()));
      EXPECT_LE(change_of_an_iteration(named.graph, ranks), result.residual + 1e-12);
      EXPECT_GE(pagerank.report().expanded, named.graph.vertices);
      EXPECT_GE(pagerank.report().edges, named.graph.edges());
      EXPECT_GE(pagerank.report().queue.tasks, 1u);
      expect_stores(named.graph, pagerank.report(), tolerance >= 1e-6 ? 4 : 8);
      // An iteration contracts by the damping: the error is at most its last change over 1 - d.
      EXPECT_LE(error, tolerance / (1.0 - 0.85) + 1e-12);
    }
    team.barrier();
  });
}

std::vector<fixtures::Named> shapes() {
  std::vector<fixtures::Named> all = fixtures::shapes();
  const Vertex most = testing_support::is_small() ? 3000 : 100'000;
  std::erase_if(all, [&](const auto& named) { return named.graph.vertices > most; });
  // The wide one's centre's list is a tree of many tasks.
  if (testing_support::is_small())
    all.push_back({"star", fixtures::star(1001, true)});
  else
    all.push_back({"wide star", fixtures::star(70'001, true)});
  return all;
}

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
    for (const std::size_t team : {0u, 2u, 4u})
      check_pagerank({"star", fixtures::star(n, true)}, fixtures::cpu_teams()[team], {},
                     kUsualTolerance);
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

TEST(AsyncTraversals, RandomRunsWithPauses) {
  std::mt19937_64 random(7);
  for (int run = 0; run < random_runs(testing_support::is_small() ? 160 : 1000); ++run) {
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
