// SPDX-License-Identifier: Apache-2.0
// PageRank against the sequential reference, in both precisions, on every shape, with every team.
#include "warren/traverse/pagerank.hpp"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "warren/traverse/verify.hpp"

#include "reference/traverse.hpp"
#include "support/size.hpp"
#include "traverse/common/row_classes.hpp"
#include "traverse/fixtures.hpp"

namespace warren {
namespace {

void check(const team::TeamOptions& options, const fixtures::Named& named,
           const std::vector<double>& expected, double tolerance,
           const graph::EdgesOptions& placement = {}) {
  const graph::Graph& graph = named.graph;
  SCOPED_TRACE(named.name + ", " + std::to_string(options.ranks) + " ranks, tolerance " +
               std::to_string(tolerance));
  const graph::ShardSource source = fixtures::shard_source(graph, options.ranks);
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source, placement);
    traverse::PageRankOptions rank_options;
    rank_options.tolerance = tolerance;
    rank_options.max_iterations = 500;
    traverse::PageRank pagerank(team, shard, rank_options);
    const traverse::PageRankResult result = pagerank.run();
    const std::vector<double> ranks = pagerank.all_ranks();
    EXPECT_TRUE(result.converged);
    EXPECT_LE(result.residual, tolerance);
    ASSERT_EQ(ranks.size(), expected.size());
    const double difference = reference::l1_distance(ranks, expected);
    // The distance to the limit is at most d / (1 - d) times the last change; float32 adds its own
    // rounding.
    EXPECT_LE(difference, 6.0 * tolerance + (tolerance >= 1e-6 ? 2e-6 : 1e-13));
    EXPECT_NEAR(std::accumulate(ranks.begin(), ranks.end(), 0.0), 1.0,
                tolerance >= 1e-6 ? 1e-5 : 1e-9);

    EXPECT_EQ(pagerank.run().iterations, result.iterations);
    EXPECT_EQ(pagerank.all_ranks(), ranks) << "a second run differs";
  });
}

TEST(PageRank, MatchesReferenceOnEveryShapeAndTeam) {
  for (const auto& named : fixtures::shapes()) {
    const std::vector<double> expected = reference::pagerank(named.graph, 0.85, 1e-13, 1000);
    for (const auto& options : fixtures::cpu_teams()) {
      check(options, named, expected, 1e-6);
      check(options, named, expected, 1e-11);
    }
  }
}

TEST(PageRank, OfRanksApart) {
  for (const auto& named : fixtures::shapes()) {
    const std::vector<double> expected = reference::pagerank(named.graph, 0.85, 1e-13, 1000);
    for (const auto& options : fixtures::cpu_teams_apart()) {
      check(options, named, expected, 1e-6);
      check(options, named, expected, 1e-11);
      check(options, named, expected, 1e-6, fixtures::host_edges().back());
    }
  }
}

TEST(PageRank, SweepsOfSeveralPartsMatchReferenceAndEachOther) {
  for (const auto& named : std::vector<fixtures::Named>{
           {"kronecker", fixtures::generated("kron:15", true)},
           {"uniform, directed", fixtures::generated("urand:14,6", false)}}) {
    const std::vector<double> expected = reference::pagerank(named.graph, 0.85, 1e-13, 1000);
    for (const auto& options : fixtures::cpu_teams()) check(options, named, expected, 1e-6);
    for (const auto& edges : fixtures::host_edges())
      check(fixtures::cpu_teams()[2], named, expected, 1e-5, edges);
  }
}

/// What a sweep says that one more iteration would change at most, against that iteration.
TEST(PageRank, ResidualBoundsWhatOneMoreIterationWouldChange) {
  const graph::Graph graph = fixtures::generated("kron:13", true);
  const graph::ShardSource source = fixtures::shard_source(graph, 1);
  team::run_team({}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    for (std::uint32_t sweeps = 1; sweeps <= 6; ++sweeps) {
      traverse::PageRankOptions options;
      options.max_iterations = sweeps;
      traverse::PageRank pagerank(team, shard, options);
      const traverse::PageRankResult result = pagerank.run();
      const std::vector<double> ranks = pagerank.all_ranks();
      const double change =
          reference::l1_distance(reference::pagerank_step(graph, 0.85, ranks), ranks);
      EXPECT_LE(change, result.residual * (1.0 + 1e-6) + 1e-7) << sweeps << " sweeps";
      EXPECT_GE(change, result.residual / 20.0) << sweeps << " sweeps";
    }
  });
}

TEST(PageRank, MatchesReferenceWithEdgesInHostMemory) {
  for (const auto& named : fixtures::shapes()) {
    const std::vector<double> expected = reference::pagerank(named.graph, 0.85, 1e-13, 1000);
    for (const auto& edges : fixtures::host_edges())
      check(fixtures::cpu_teams().back(), named, expected, 1e-6, edges);
  }
}

/// Weights, or their absence, per edge: integers from 0 on, or real numbers.
graph::Graph with_weights(graph::Graph graph, bool are_real, std::int64_t low, std::int64_t high) {
  exec::ThreadPool pool(2);
  graph::set_uniform_weights(graph, low, high, 3, pool);
  if (!are_real) return graph;
  graph.weights_float = memory::HostArray<float>(graph.edges());
  for (EdgeOffset e = 0; e < graph.edges(); ++e)
    graph.weights_float[e] = 0.37f * static_cast<float>(graph.weights_int[e]);
  graph.weights_int = {};
  graph.weight_type = graph::WeightType::float32;
  return graph;
}

/// Where everything takes ten times as long: one kind of weights a call, another one each time.
void check_weighted(const team::TeamOptions& options, const fixtures::Named& named,
                    const graph::EdgesOptions& placement = {}) {
  std::vector<std::pair<bool, int>> kinds = {{false, 2}, {false, 1000000}, {true, 2}};
  if (testing_support::is_small()) {
    static std::size_t next = 0;
    kinds = {kinds[next++ % kinds.size()]};
  }
  for (const auto& [are_real, high] : kinds) {
    const graph::Graph graph = with_weights(named.graph, are_real, 0, high);
    SCOPED_TRACE(named.name + ", " + std::to_string(options.ranks) + " ranks, weights to " +
                 std::to_string(high) + (are_real ? ", real" : ""));
    const std::vector<double> expected = reference::pagerank(graph, 0.85, 1e-13, 1000, true);
    const graph::ShardSource source = fixtures::shard_source(graph, options.ranks);
    team::run_team(options, [&](team::Team& team) {
      const graph::Shard shard = graph::make_shard(team, source, placement);
      traverse::PageRank pagerank(team, shard, {0.85, 1e-11, 1000, true});
      const traverse::PageRankResult result = pagerank.run();
      const std::vector<double> ranks = pagerank.all_ranks();
      EXPECT_TRUE(result.converged);
      ASSERT_EQ(ranks.size(), expected.size());
      EXPECT_LE(reference::l1_distance(ranks, expected), 1e-10);
      EXPECT_EQ(pagerank.run().iterations, result.iterations);
      EXPECT_EQ(pagerank.all_ranks(), ranks) << "a second run differs";
      if (placement.placement == graph::EdgesPlacement::host && graph.edges() > 0) {
        EXPECT_GE(result.far_bytes, (result.iterations + 1) * graph.edges() * sizeof(float));
      }
    });
  }
}

TEST(PageRank, FollowsWeightsOnEveryShapeAndTeam) {
  for (const auto& named : fixtures::shapes()) {
    for (const auto& options : fixtures::cpu_teams()) check_weighted(options, named);
  }
}

TEST(PageRank, FollowsWeightsOfRanksApart) {
  for (const auto& named : fixtures::shapes())
    check_weighted(fixtures::cpu_teams_apart()[1], named);
}

TEST(PageRank, FollowsWeightsInHostMemory) {
  for (const auto& named : fixtures::placed_shapes()) {
    for (const auto& edges : fixtures::host_edges()) {
      if (edges.placement == graph::EdgesPlacement::host)
        check_weighted(fixtures::cpu_teams().back(), named, edges);
    }
  }
}

/// Random shares, most of them 0.
std::vector<double> random_shares(std::uint64_t vertices, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> shares(vertices);
  for (double& share : shares) share = random() % 4 == 0 ? static_cast<double>(random() % 5) : 0.0;
  if (vertices > 0) shares[random() % vertices] = 3.0;
  return shares;
}

/// With and without weights; of a graph that has some in either case.
void check_personalized(const team::TeamOptions& options, const fixtures::Named& named,
                        const graph::EdgesOptions& placement = {}) {
  if (named.graph.vertices == 0) return;
  exec::ThreadPool pool(2);
  for (const bool weighted : {false, true}) {
    const graph::Graph graph = with_weights(named.graph, weighted, 0, 3);
    SCOPED_TRACE(named.name + ", " + std::to_string(options.ranks) + " ranks");
    const std::vector<double> shares = random_shares(graph.vertices, graph.edges());
    const double sum = std::reduce(shares.begin(), shares.end());
    std::vector<double> unit = shares;
    for (double& share : unit) share /= sum;
    const graph::ShardSource source = fixtures::shard_source(graph, options.ranks);
    team::run_team(options, [&](team::Team& team) {
      const graph::Shard shard = graph::make_shard(team, source, placement);
      traverse::PageRankOptions wanted{0.85, 1e-11, 1000, weighted};
      wanted.personalization = shares;
      wanted.max_iterations = 1;
      traverse::PageRank one(team, shard, wanted);
      one.run();
      const std::vector<double> uniform(graph.vertices, 1.0 / graph.vertices);
      const auto first = reference::personalized_step(graph, 0.85, uniform, unit, weighted);
      EXPECT_LE(reference::l1_distance(one.all_ranks(), first), 1e-12);
      wanted.max_iterations = 1000;
      traverse::PageRank pagerank(team, shard, wanted);
      EXPECT_TRUE(pagerank.run().converged);
      const std::vector<double> ranks = pagerank.all_ranks();
      const auto next = reference::personalized_step(graph, 0.85, ranks, unit, weighted);
      EXPECT_LE(reference::l1_distance(ranks, next), 1e-10);
      if (team.rank() != 0) return;
      EXPECT_TRUE(
          traverse::verify_pagerank(graph, 0.85, ranks, 1e-10, pool, weighted, shares).correct);
      if (graph.vertices > 2 && graph.edges() > 0) {
        EXPECT_FALSE(traverse::verify_pagerank(graph, 0.85, ranks, 1e-10, pool, weighted).correct);
      }
    });
  }
}

TEST(PageRank, StartsAnewWhereItIsTold) {
  for (const auto& named : fixtures::shapes()) {
    for (const auto& options : fixtures::cpu_teams()) check_personalized(options, named);
  }
  check_personalized(fixtures::cpu_teams().back(), fixtures::placed_shapes().front(),
                     {graph::EdgesPlacement::host, 4000});
}

/// Where the rank of vertices without out-edges goes, and where ranks start: an iteration by hand.
void check_vectors(const team::TeamOptions& options, const graph::EdgesOptions& placement = {}) {
  // 0 -> 1, 0 -> 2, 1 -> 2; 2 and 3 lead nowhere.
  const graph::Graph graph = fixtures::from_list(4, {{0, 1}, {0, 2}, {1, 2}});
  const graph::ShardSource source = fixtures::shard_source(graph, options.ranks);
  const std::vector<double> start{4, 2, 1, 1}, dangling{0, 0, 1, 3}, anew{1, 0, 0, 1};
  exec::ThreadPool pool(2);
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source, placement);
    traverse::PageRankOptions wanted{0.5, 1e-12, 0};
    wanted.start = start;
    traverse::PageRank none(team, shard, wanted);
    none.run();
    EXPECT_LE(reference::l1_distance(none.all_ranks(), {0.5, 0.25, 0.125, 0.125}), 1e-15);
    wanted.max_iterations = 1;
    wanted.dangling = dangling;
    traverse::PageRank one(team, shard, wanted);
    one.run();
    // D is 0.25; each starts anew with 0.5 / 4.
    EXPECT_LE(reference::l1_distance(one.all_ranks(), {0.125, 0.25, 0.40625, 0.21875}), 1e-15);
    wanted.personalization = anew;
    traverse::PageRank both(team, shard, wanted);
    both.run();
    EXPECT_LE(reference::l1_distance(both.all_ranks(), {0.25, 0.125, 0.28125, 0.34375}), 1e-15);
    wanted.max_iterations = 1000;
    traverse::PageRank all(team, shard, wanted);
    EXPECT_TRUE(all.run().converged);
    const std::vector<double> ranks = all.all_ranks();
    if (team.rank() != 0) return;
    EXPECT_TRUE(
        traverse::verify_pagerank(graph, 0.5, ranks, 1e-11, pool, false, anew, dangling).correct);
    EXPECT_FALSE(traverse::verify_pagerank(graph, 0.5, ranks, 1e-11, pool, false, anew).correct);
  });
}

TEST(PageRank, TakesWhereRanksStartAndWhereDanglingOnesGo) {
  for (const auto& options : fixtures::cpu_teams()) check_vectors(options);
  check_vectors(fixtures::cpu_teams().back(), {graph::EdgesPlacement::host, 0});
}

TEST(PageRankCuda, TakesWhereRanksStartAndWhereDanglingOnesGo) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const auto& options : fixtures::cuda_teams_of_waiting_kernels()) check_vectors(options);
}

/// All the same is none.
TEST(PageRank, EqualSharesArePlainRanks) {
  const graph::Graph graph = fixtures::generated("kron:9", false);
  const std::vector<double> equal(graph.vertices, 7.0);
  const graph::ShardSource source = fixtures::shard_source(graph, 2);
  team::TeamOptions options;
  options.ranks = 2;
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::PageRank plain(team, shard, {0.85, 1e-12, 1000});
    traverse::PageRankOptions wanted{0.85, 1e-12, 1000};
    wanted.personalization = equal;
    traverse::PageRank same(team, shard, wanted);
    plain.run();
    same.run();
    EXPECT_LE(reference::l1_distance(plain.all_ranks(), same.all_ranks()), 1e-11);
  });
}

TEST(PageRank, RefusesSharesThatAreNone) {
  const graph::ShardSource source = fixtures::shard_source(fixtures::path(3), 1);
  team::run_team({}, [&](team::Team& team) {
    const auto message = [&](std::vector<double> shares, const graph::EdgesOptions& edges = {}) {
      const graph::Shard shard = graph::make_shard(team, source, edges);
      traverse::PageRankOptions options;
      options.personalization = shares;
      try {
        const traverse::PageRank pagerank(team, shard, options);
      } catch (const UsageError& error) {
        return std::string(error.what());
      }
      return std::string("nothing was thrown");
    };
    EXPECT_EQ(message({1, 2}),
              "personalization: got 2 numbers, expected one for each of 3 vertices");
    EXPECT_EQ(message({1, -1, 0}),
              "personalization: got -1 for vertex 1, expected a number of 0 or more");
    EXPECT_NE(message({0, 0, NAN}).find("got nan for vertex 2"), std::string::npos);
    EXPECT_EQ(message({0, 0, 0}), "personalization: got a sum of 0, expected one above 0");
    EXPECT_NE(message({1, 1, 1}, {graph::EdgesPlacement::compressed_host, 0}).find("compressed"),
              std::string::npos);
  });
}

/// Equal weights are none.
TEST(PageRank, EqualWeightsAreNoWeights) {
  const graph::Graph graph = with_weights(fixtures::generated("kron:9", false), true, 5, 5);
  const graph::ShardSource source = fixtures::shard_source(graph, 2);
  team::TeamOptions options;
  options.ranks = 2;
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::PageRank plain(team, shard, {0.85, 1e-12, 1000});
    traverse::PageRank weighted(team, shard, {0.85, 1e-12, 1000, true});
    plain.run();
    weighted.run();
    EXPECT_LE(reference::l1_distance(plain.all_ranks(), weighted.all_ranks()), 1e-12);
  });
}

TEST(PageRank, RefusesWeightsThatPassOnNoPart) {
  graph::Graph graph = with_weights(fixtures::path(10), false, 1, 1);
  const auto expect_refused = [&](const std::string& text, const graph::EdgesOptions& edges = {}) {
    const graph::ShardSource source = fixtures::shard_source(graph, 2);
    team::TeamOptions options;
    options.ranks = 2;
    team::run_team(options, [&](team::Team& team) {
      const graph::Shard shard = graph::make_shard(team, source, edges);
      try {
        const traverse::PageRank pagerank(team, shard, {0.85, 1e-6, 100, true});
        FAIL() << "no exception";
      } catch (const UsageError& error) {
        EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
      }
    });
  };
  expect_refused("compressed lists", {graph::EdgesPlacement::compressed_host, 0});
  graph.weights_int[7] = -3;
  expect_refused("the edge from 7 to 8 has the weight -3; weighted ranks need");
  graph = fixtures::path(10);
  expect_refused("need a shard with weights");
}

/// A damping near 1 lets the rounding of float32 ranks keep the change above the tolerance.
TEST(PageRank, ConvergesWithADampingNearOne) {
  const graph::ShardSource source = fixtures::shard_source(fixtures::path(5), 1);
  team::run_team({}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    for (const double damping : {0.85, 0.95, 0.99, 0.998})
      EXPECT_TRUE(traverse::PageRank(team, shard, {damping, 1e-6, 20000}).run().converged)
          << damping;
  });
}

TEST(PageRank, StopsAtTheIterationLimit) {
  const graph::ShardSource source = fixtures::shard_source(fixtures::generated("kron:10", true), 1);
  team::run_team({}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::PageRankOptions options;
    options.max_iterations = 3;
    options.tolerance = 0.0;
    const traverse::PageRankResult result = traverse::PageRank(team, shard, options).run();
    EXPECT_EQ(result.iterations, 3u);
    EXPECT_FALSE(result.converged);
  });
}

TEST(PageRank, RefusesOptionsOutOfRange) {
  const graph::ShardSource source = fixtures::shard_source(fixtures::path(10), 1);
  team::run_team({}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    EXPECT_THROW(traverse::PageRank(team, shard, {1.0, 1e-6, 10}), UsageError);
    EXPECT_THROW(traverse::PageRank(team, shard, {-0.1, 1e-6, 10}), UsageError);
    EXPECT_THROW(traverse::PageRank(team, shard, {0.85, -1.0, 10}), UsageError);
  });
}

/// Every row is in the class of its degree, ascending within it.
TEST(RowClasses, HoldEveryRowOnce) {
  const exec::Device device = exec::Device::cpu(1);
  const exec::Stream stream(device);
  for (const std::vector<EdgeOffset>& bounds :
       {std::vector<EdgeOffset>{20, 5, 2}, {20, 5, 5}, {1}, {}}) {
    const std::vector<EdgeOffset> degrees{0, 3, 25, 1, 5, 4, 20, 19, 2, 0, 100};
    std::vector<EdgeOffset> offsets{0};
    for (const EdgeOffset degree : degrees) offsets.push_back(offsets.back() + degree);
    graph::CsrView csr;
    csr.offsets = offsets.data();
    csr.count = static_cast<Vertex>(degrees.size());
    memory::Buffer<Vertex> rows;
    const traverse::RowClasses classes = traverse::classify_rows(stream, csr, bounds, rows);
    std::vector<int> seen(degrees.size(), 0);
    for (std::size_t c = 0; c <= bounds.size(); ++c) {
      for (std::uint64_t i = 0; i < classes.count(c); ++i) {
        const Vertex row = classes.begin(c)[i];
        ++seen.at(row);
        EXPECT_TRUE(c == bounds.size() || degrees[row] >= bounds[c]) << row;
        EXPECT_TRUE(c == 0 || degrees[row] < bounds[c - 1]) << row;
        EXPECT_TRUE(i == 0 || classes.begin(c)[i - 1] < row) << row;
      }
    }
    for (const int times : seen) EXPECT_EQ(times, 1);
  }
}

TEST(RowClasses, RefusesBoundsThatRise) {
  const exec::Device device = exec::Device::cpu(1);
  const exec::Stream stream(device);
  memory::Buffer<Vertex> rows;
  for (const std::vector<EdgeOffset>& bounds : {std::vector<EdgeOffset>{2, 5}, {50, 40, 30, 20}})
    EXPECT_THROW((void)traverse::classify_rows(stream, {}, bounds, rows), UsageError);
}

TEST(PageRankCuda, MatchesReferenceOnEveryShapeAndTeam) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const auto& named : fixtures::shapes()) {
    const std::vector<double> expected = reference::pagerank(named.graph, 0.85, 1e-13, 1000);
    for (const auto& options : fixtures::cuda_teams_of_waiting_kernels()) {
      check(options, named, expected, 1e-6);
      check(options, named, expected, 1e-11);
    }
  }
}

TEST(PageRankCuda, OfRanksApart) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const auto& named : fixtures::shapes()) {
    const std::vector<double> expected = reference::pagerank(named.graph, 0.85, 1e-13, 1000);
    for (const auto& options : fixtures::cuda_teams_apart()) {
      check(options, named, expected, 1e-6);
      check(options, named, expected, 1e-11);
      for (const auto& edges : fixtures::host_edges()) check(options, named, expected, 1e-6, edges);
      check_weighted(options, named);
      check_personalized(options, named);
    }
  }
}

TEST(PageRankCuda, FollowsWeightsOnEveryShapeAndTeam) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const auto& named : fixtures::shapes()) {
    for (const auto& options : fixtures::cuda_teams_of_waiting_kernels()) {
      check_weighted(options, named);
      check_weighted(options, named, {graph::EdgesPlacement::host, 4000});
      check_personalized(options, named);
    }
  }
}

}  // namespace
}  // namespace warren
