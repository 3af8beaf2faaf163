// SPDX-License-Identifier: Apache-2.0
// SSSP against Dijkstra's algorithm, on every shape, with every team, with integer and real
// weights, and with bins from narrow to wider than the graph.
#include "warren/traverse/sssp.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/traverse.hpp"
#include "support/size.hpp"
#include "traverse/fixtures.hpp"
#include "traverse/sssp/sssp_scan_state.hpp"
#include "traverse/sssp/sssp_totals.hpp"

namespace warren {
namespace {

using testing::HasSubstr;

graph::Graph with_integers(graph::Graph graph, std::int64_t low, std::int64_t high,
                           std::uint64_t seed = 1) {
  exec::ThreadPool pool(2);
  graph::set_uniform_weights(graph, low, high, seed, pool);
  return graph;
}

/// Weights of many sizes: 2^-20 to 2^4, one in eight of them 0.
graph::Graph with_reals(graph::Graph graph) {
  graph = with_integers(std::move(graph), 0, 65535);
  graph.weights_float = memory::HostArray<float>(graph.edges());
  for (EdgeOffset e = 0; e < graph.edges(); ++e) {
    const auto bits = static_cast<std::uint32_t>(graph.weights_int[e]);
    graph.weights_float[e] = bits % 8 == 0 ? 0.0f
                                           : std::ldexp(static_cast<float>(1 + bits / 8 % 256),
                                                        static_cast<int>(bits / 2048 % 24) - 28);
  }
  graph.weights_int = {};
  graph.weight_type = graph::WeightType::float32;
  return graph;
}

template <class Distance>
void expect_totals(const graph::Graph& graph, const traverse::SsspResult& result,
                   const std::vector<Distance>& expected, Distance unreached) {
  std::uint64_t reached = 0, edges = 0, leaves = 0;
  Distance sum = 0, largest = 0;
  for (Vertex v = 0; v < graph.vertices; ++v) {
    if (expected[v] == unreached) continue;
    ++reached;
    edges += graph.degree(v);
    leaves += graph.degree(v) == 1 ? 1 : 0;  // May be left out where they lead nowhere else.
    sum += expected[v];
    largest = std::max(largest, expected[v]);
  }
  EXPECT_EQ(result.reached, reached);
  EXPECT_EQ(result.edges, edges);
  EXPECT_GE(result.relaxed_edges + leaves, edges);
  EXPECT_EQ(result.max_real_distance, static_cast<double>(largest));
  EXPECT_DOUBLE_EQ(result.sum_real_distance, static_cast<double>(sum));
  if constexpr (std::is_same_v<Distance, std::uint64_t>) {
    EXPECT_EQ(result.max_distance, largest);
    EXPECT_EQ(result.sum_distance, sum);
  }
}

/// A graph with the reference's distances from a few sources.
struct Case {
  std::string name;
  graph::Graph graph;
  std::vector<Vertex> sources;
  std::vector<std::vector<std::uint64_t>> integers;  ///< By source; empty for real weights.
  std::vector<std::vector<double>> reals;

  Case(std::string called, graph::Graph of, std::vector<Vertex> from)
      : name(std::move(called)), graph(std::move(of)), sources(std::move(from)) {
    for (const Vertex source : sources) {
      if (graph.weight_type == graph::WeightType::float32) {
        reals.push_back(reference::real_distances(graph, source));
      } else {
        integers.push_back(reference::integer_distances(graph, source));
      }
    }
  }
  Case(const std::string& called, const graph::Graph& of)
      : Case(called, of, {0, of.vertices / 2, of.vertices - 1}) {}
};

void check_sources(team::Team& team, traverse::Sssp& sssp, const Case& the) {
  for (std::size_t i = 0; i < the.sources.size(); i += testing_support::step_under_threads(2)) {
    SCOPED_TRACE("source " + std::to_string(the.sources[i]));
    const traverse::SsspResult result = sssp.run(the.sources[i]);
    if (the.reals.empty()) {
      const auto distance = sssp.all_distances();
      if (team.rank() != 0) continue;
      ASSERT_EQ(distance, the.integers[i]);
      expect_totals(the.graph, result, the.integers[i], traverse::kUnreachedDistance);
    } else {
      const auto distance = sssp.all_real_distances();
      if (team.rank() != 0) continue;
      ASSERT_EQ(distance, the.reals[i]);
      expect_totals(the.graph, result, the.reals[i], std::numeric_limits<double>::infinity());
    }
  }
}

void check(const team::TeamOptions& options, const Case& the,
           std::initializer_list<double> deltas = {0.0}, const graph::EdgesOptions& edges = {}) {
  const graph::ShardSource source = fixtures::shard_source(the.graph, options.ranks);
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source, edges);
    for (const auto frontier : {traverse::SsspFrontier::queues, traverse::SsspFrontier::scan}) {
      for (const double delta : deltas) {
        SCOPED_TRACE(the.name + ", " + std::to_string(options.ranks) + " ranks, delta " +
                     std::to_string(delta) +
                     (frontier == traverse::SsspFrontier::scan ? ", scans" : ", queues"));
        traverse::Sssp sssp(team, shard, {delta, frontier});
        check_sources(team, sssp, the);
      }
    }
  });
}

/// Every shape, with integer and real weights, and with compressed lists.
void check_all(const std::vector<team::TeamOptions>& teams,
               const std::vector<fixtures::Named>& shapes) {
  for (const auto& named : shapes) {
    const Case integers(named.name, with_integers(named.graph, 1, 64));
    for (const auto& options : teams) check(options, integers);
    check(teams.front(), integers, {0.0}, fixtures::host_edges().back());
    // Weights of many sizes make a search of a large grid long.
    if (named.graph.vertices > 100000) continue;
    const Case reals(named.name + ", real weights", with_reals(named.graph));
    for (const auto& options : teams) check(options, reals);
  }
}

TEST(Sssp, MatchesDijkstraOnEveryShapeAndTeam) {
  check_all(fixtures::cpu_teams(), fixtures::shapes());
}

TEST(Sssp, OfRanksApart) { check_all(fixtures::cpu_teams_apart(), fixtures::shapes()); }

TEST(Sssp, DistancesDoNotDependOnDelta) {
  const graph::Graph graph = fixtures::generated("kron:9", true);
  const Case integers("kron", with_integers(graph, 0, 40));
  const Case reals("kron, real weights", with_reals(graph));
  for (const auto& options : fixtures::cpu_teams()) {
    check(options, integers, {1e-60, 0.5, 1.0, 3.0, 100.0, 1e300});
    check(options, reals, {1e-3, 0.1, 1.0, 1e300});
    for (const auto& edges : fixtures::host_edges()) {
      check(options, integers, {0.0}, edges);
      check(options, reals, {0.0}, edges);
    }
  }
}

/// Bins of thousands of vertices, which are worked off in the order of their edges' addresses.
void check_large_bins(const team::TeamOptions& options) {
  const graph::Graph graph = fixtures::generated("kron:14", true);
  const Case integers("kron", with_integers(graph, 1, 64));
  const Case reals("kron, real weights", with_reals(graph));
  for (const auto& edges : fixtures::host_edges()) {
    check(options, integers, {0.0, 30.0}, edges);
    check(options, reals, {1e300}, edges);
    // The source's list alone is as many pieces as make a push by address.
    const Case hub("out-star", with_integers(fixtures::star(1 << 19, false), 1, 64), {0});
    check(options, hub, {0.0}, edges);
  }
}

TEST(Sssp, SweepsLargeBinsOfFarEdges) {
  const auto teams = fixtures::cpu_teams();
  if (testing_support::is_small()) return check_large_bins(teams[2]);
  for (const std::size_t i : {1u, 4u}) check_large_bins(teams[i]);
}

TEST(Sssp, SweepsLargeBinsOfRanksApart) { check_large_bins(fixtures::cpu_teams_apart().front()); }

/// So many updates that their distances go beside their ids, of vertices that are improved several
/// times.
void check_many_updates(const std::vector<team::TeamOptions>& teams) {
  const Case star("out-star", with_integers(fixtures::star(1 << 19, false), 1, 64), {0});
  const Case reals("out-star, real weights", with_reals(fixtures::star(1 << 18, false)), {0});
  for (const auto& options : teams) {
    check(options, star);
    check(options, reals);
  }
  if (testing_support::is_small()) return;
  const Case random("urand", with_integers(fixtures::generated("urand:18", true), 1, 64), {0});
  for (const auto& options : teams) check(options, random, {1e300});
}

TEST(Sssp, OnlyManyUpdatesTakeTheirDistancesAlong) {
  using traverse::SsspScanPhase;
  traverse::SsspScanState state;
  state.phase = SsspScanPhase::scan;
  state.ranks = 2;
  state.may_publish = true;
  const auto after = [](traverse::SsspScanState from, std::uint64_t sent) {
    team::Sums sums;
    sums.value[traverse::kScanSent] = sent;
    return traverse::next_scan(from, sums);
  };
  EXPECT_EQ(after(state, 2 * traverse::kManyUpdates - 1).phase, SsspScanPhase::receive);
  const traverse::SsspScanState told = after(state, 2 * traverse::kManyUpdates);
  EXPECT_EQ(told.phase, SsspScanPhase::publish);
  EXPECT_EQ(after(told, 0).phase, SsspScanPhase::receive);
  EXPECT_TRUE(after(told, 0).has_published);
  state.may_publish = false;  // Windows bring distances with all updates.
  EXPECT_EQ(after(state, 2 * traverse::kManyUpdates).phase, SsspScanPhase::receive);
  state.may_publish = true;
  state.phase = SsspScanPhase::again_by_address;
  EXPECT_EQ(after(after(state, 2 * traverse::kManyUpdates), 0).phase, SsspScanPhase::publish);
}

TEST(Sssp, ManyUpdatesGoWithTheirDistances) {
  const auto teams = fixtures::cpu_teams();
  check_many_updates({teams[2], teams[4]});
}

TEST(Sssp, WeightsOfZeroEverywhere) {
  const Case zeros("zeros", with_integers(fixtures::generated("kron:8", true), 0, 0));
  for (const auto& options : fixtures::cpu_teams()) check(options, zeros, {0.0, 1.0});
}

TEST(Sssp, DistancesOfMoreThan32Bits) {
  const Case path("path", with_integers(fixtures::path(9), 2147483600, 2147483647));
  // Up to 2^32 - 2 they are held in 32 bits.
  graph::Graph one_more = with_integers(fixtures::path(4), 2147483647, 2147483647);
  one_more.weights_int[2] = 1;
  const Case above("2^32 - 1", one_more);
  const Case below("2^32 - 2", with_integers(fixtures::path(3), 2147483647, 2147483647));
  const Case grid("grid", with_integers(fixtures::generated("grid:12x9", true), 1 << 30, 1 << 30));
  for (const auto& options : fixtures::cpu_teams()) {
    for (const Case* the : {&path, &above, &below, &grid}) check(options, *the);
  }
}

TEST(Sssp, LooksAtEachEdgeAboutOnceWhereBinsAreNarrow) {
  const graph::Graph graph = with_integers(fixtures::generated("kron:12", true), 1, 64);
  const graph::ShardSource source = fixtures::shard_source(graph, 1);
  team::run_team({}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::Sssp sssp(team, shard, {1.0, traverse::SsspFrontier::queues});
    const auto result = sssp.run(graph.targets[0]);
    EXPECT_EQ(result.relaxed_edges, result.edges);
    traverse::Sssp scans(team, shard, {1.0, traverse::SsspFrontier::scan});
    EXPECT_LE(scans.run(graph.targets[0]).relaxed_edges, result.edges + result.edges / 8);
  });
}

TEST(Sssp, RepeatsOnTheSameMemory) {
  std::vector<Vertex> sources;
  for (Vertex i = 0; i < 20; ++i) sources.push_back(i * 24);
  const Case the("random", with_integers(fixtures::random_graph(500, 3000, 3, true), 1, 9),
                 sources);
  for (const auto& options : fixtures::cpu_teams()) check(options, the);
}

class SsspRefusal : public testing::Test {
 protected:
  void expect_refused(const graph::Graph& graph, double delta, const std::string& message,
                      const graph::EdgesOptions& edges = {}) {
    for (const int ranks : {1, 3}) {
      const graph::ShardSource source = fixtures::shard_source(graph, ranks);
      team::TeamOptions options;
      options.ranks = ranks;
      try {
        team::run_team(options, [&](team::Team& team) {
          const graph::Shard shard = graph::make_shard(team, source, edges);
          (void)traverse::Sssp(team, shard, {delta});
        });
        FAIL() << "not refused: " << message;
      } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), HasSubstr(message));
      }
    }
  }
  graph::Graph path_ = with_integers(fixtures::path(10), 5, 5);
};

TEST(Sssp, SumsOfDistancesCarry) {
  for (const team::TeamOptions& options : fixtures::cpu_teams()) {
    team::run_team(options, [&](team::Team& team) {
      traverse::SsspResult part, result;
      traverse::add_to_sum(part, std::uint64_t{1} << 63);
      traverse::add_to_sum(part, (std::uint64_t{1} << 63) - 1);
      EXPECT_EQ(part.sum_distance_high, 0u);
      traverse::add_to_sum(part, 3);
      EXPECT_EQ(part.sum_distance_high, 1u);
      EXPECT_EQ(part.sum_distance, 2u);
      part.sum_distance -= 3;  // 2^65 - 1 and no more.
      traverse::add_distances_of_ranks(team, part, result);
      const auto ranks = static_cast<std::uint64_t>(team.size());
      EXPECT_EQ(result.sum_distance, 0 - ranks);
      EXPECT_EQ(result.sum_distance_high, 2 * ranks - 1);
    });
  }
}

TEST_F(SsspRefusal, NegativeWeightsByTheirEdge) {
  path_.weights_int[7] = -3;
  for (const auto& edges : fixtures::host_edges())
    expect_refused(path_, 0.0, "the edge from 7 to 8 has the weight -3;", edges);
}

TEST_F(SsspRefusal, WeightsThatAreNoNumbers) {
  for (const float weight :
       {-1.5f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    graph::Graph graph = with_reals(fixtures::path(10));
    graph.weights_float[4] = weight;
    expect_refused(graph, 0.0, "the edge from 4 to 5 has the weight");
  }
}

TEST_F(SsspRefusal, MissingWeights) {
  expect_refused(fixtures::path(10), 0.0, "need a shard with weights");
}

TEST_F(SsspRefusal, DeltaOutOfRange) {
  expect_refused(path_, -1.0, "delta -1");
  expect_refused(path_, std::numeric_limits<double>::quiet_NaN(), "delta nan");
  expect_refused(path_, std::numeric_limits<double>::infinity(), "delta inf");
}

TEST_F(SsspRefusal, ASourceThatIsNoVertex) {
  const graph::ShardSource source = fixtures::shard_source(path_, 1);
  team::run_team({}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::Sssp sssp(team, shard);
    EXPECT_THROW((void)sssp.run(10), UsageError);
  });
}

TEST_F(SsspRefusal, IntegerDistancesOfRealWeights) {
  const graph::ShardSource source = fixtures::shard_source(with_reals(fixtures::path(10)), 1);
  team::run_team({}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    const traverse::Sssp sssp(team, shard);
    EXPECT_FALSE(sssp.has_integer_distances());
    EXPECT_THROW((void)sssp.distance(), UsageError);
  });
}

TEST(SsspCuda, MatchesDijkstraOnEveryShapeAndTeam) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  check_all(fixtures::cuda_teams_of_waiting_kernels(), fixtures::shapes_and_wide_levels());
}

TEST(SsspCuda, OfRanksApart) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  check_all(fixtures::cuda_teams_apart(), fixtures::shapes());
  for (const auto& options : fixtures::cuda_teams_apart()) check_large_bins(options);
}

TEST(SsspCuda, SweepsLargeBinsOfFarEdges) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const auto& options : fixtures::cuda_teams_of_waiting_kernels()) check_large_bins(options);
}

TEST(SsspCuda, ManyUpdatesGoWithTheirDistances) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  check_many_updates(fixtures::cuda_teams_of_waiting_kernels());
}

TEST(SsspCuda, DistancesDoNotDependOnDelta) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  const Case kron("kron", with_integers(fixtures::generated("kron:9", true), 0, 40));
  const Case path("path of 64 bits", with_integers(fixtures::path(9), 2147483600, 2147483647));
  for (const auto& options : fixtures::cuda_teams_of_waiting_kernels()) {
    check(options, kron, {0.5, 3.0, 100.0, 1e300});
    check(options, path);
  }
}

}  // namespace
}  // namespace warren
