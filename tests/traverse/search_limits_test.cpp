// SPDX-License-Identifier: Apache-2.0
// Searches that end early, at a depth, a distance or at targets, and from several sources: against
// the reference's whole search, cut off; and that they take fewer steps.
#include <algorithm>
#include <limits>
#include <queue>
#include <span>

#include <gtest/gtest.h>

#include "warren/traverse/bfs.hpp"
#include "warren/traverse/sssp.hpp"
#include "warren/traverse/verify.hpp"

#include "reference/traverse.hpp"
#include "traverse/fixtures.hpp"

namespace warren {
namespace {

constexpr Vertex kEverywhere = traverse::BfsLimits::kNoDepth;

/// From the nearest of the sources.
std::vector<Vertex> nearest_depths(const graph::Graph& graph, const std::vector<Vertex>& sources) {
  std::vector<Vertex> nearest(graph.vertices, kNoVertex);
  for (const Vertex source : sources) {
    const auto depth = reference::bfs_depths(graph, source);
    for (std::size_t v = 0; v < depth.size(); ++v) nearest[v] = std::min(nearest[v], depth[v]);
  }
  return nearest;
}

template <class T>
std::vector<T> cut(std::vector<T> values, T limit, T unreached) {
  for (T& value : values) value = value > limit ? unreached : value;
  return values;
}

/// The largest value of the targets', if all are reached.
template <class T>
T limit_of(const std::vector<T>& values, const std::vector<Vertex>& targets, T unreached) {
  T limit = targets.empty() ? unreached : T{0};
  for (const Vertex target : targets) limit = std::max(limit, values[target]);
  return limit;
}

struct Request {
  std::vector<Vertex> sources;
  std::vector<Vertex> targets;
  std::uint32_t depth = kEverywhere;
};

std::vector<Request> requests(Vertex n) {
  const Vertex last = n - 1, middle = n / 2;
  return {{{0}, {}, 0},
          {{0}, {}, 3},
          {{middle}, {}, 1},
          {{0}, {0}},
          {{0}, {middle, middle / 2, middle}},
          {{middle}, {last, 0}, 4},
          {{last, 0, middle, 0}, {}},
          {{last, 0}, {middle}},
          {{0, middle}, {}, 2}};
}

void check_bfs(const team::TeamOptions& options, const fixtures::Named& named,
               const graph::EdgesOptions& placement = {}) {
  const graph::ShardSource source = fixtures::shard_source(named.graph, options.ranks);
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source, placement);
    traverse::Bfs bfs(team, shard);
    int number = 0;
    for (const Request& request : requests(named.graph.vertices)) {
      SCOPED_TRACE(named.name + ", " + std::to_string(options.ranks) + " ranks, request " +
                   std::to_string(number++));
      const auto whole = nearest_depths(named.graph, request.sources);
      const Vertex limit = std::min(request.depth, limit_of(whole, request.targets, kNoVertex));
      const auto expected = cut(whole, limit, kNoVertex);
      const auto found = bfs.run(request.sources, {request.depth, request.targets});
      const auto depth = bfs.all_depths();
      const auto parent = bfs.all_parents();
      ASSERT_EQ(depth, expected);
      std::uint64_t reached = 0, edges = 0;
      Vertex deepest = 0;
      for (Vertex v = 0; v < named.graph.vertices; ++v) {
        ASSERT_EQ(parent[v] == kNoVertex, depth[v] == kNoVertex);
        if (depth[v] == kNoVertex) continue;
        ++reached;
        edges += named.graph.degree(v);
        deepest = std::max(deepest, depth[v]);
        ASSERT_EQ(depth[parent[v]] + (depth[v] > 0 ? 1 : 0), depth[v]);
      }
      EXPECT_EQ(found.reached, reached);
      EXPECT_EQ(found.edges, edges);
      EXPECT_EQ(found.max_depth, deepest);
      EXPECT_LE(found.levels, limit);
    }
  });
}

graph::Graph weighted(graph::Graph graph, bool are_reals) {
  exec::ThreadPool pool(2);
  graph::set_uniform_weights(graph, 0, 20, 3, pool);
  if (!are_reals) return graph;
  graph.weights_float = memory::HostArray<float>(graph.edges());
  for (EdgeOffset e = 0; e < graph.edges(); ++e)
    graph.weights_float[e] = static_cast<float>(graph.weights_int[e]) * 0.37f;
  graph.weights_int = {};
  graph.weight_type = graph::WeightType::float32;
  return graph;
}

void check_sssp(const team::TeamOptions& options, const fixtures::Named& named, bool are_reals,
                const graph::EdgesOptions& placement = {}) {
  const graph::Graph graph = weighted(named.graph, are_reals);
  const graph::ShardSource source = fixtures::shard_source(graph, options.ranks);
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> whole =
      are_reals ? reference::real_distances(graph, 0) : std::vector<double>();
  if (!are_reals) {
    for (const std::uint64_t value : reference::integer_distances(graph, 0))
      whole.push_back(value == traverse::kUnreachedDistance ? infinity
                                                            : static_cast<double>(value));
  }
  const Vertex last = graph.vertices - 1;
  const std::vector<std::vector<Vertex>> targets{{}, {0}, {last / 3, last / 2, last / 3}, {last}};
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source, placement);
    for (const auto frontier : {traverse::SsspFrontier::queues, traverse::SsspFrontier::scan}) {
      traverse::Sssp sssp(team, shard, {5.0, frontier});
      for (const double cutoff : {infinity, 0.0, 13.0, 14.79, 1e12}) {
        for (const auto& wanted : targets) {
          SCOPED_TRACE(named.name + ", " + std::to_string(options.ranks) + " ranks, cutoff " +
                       std::to_string(cutoff) + ", " + std::to_string(wanted.size()) + " targets" +
                       (frontier == traverse::SsspFrontier::scan ? ", scans" : ", queues"));
          const double nearest = limit_of(cut(whole, cutoff, infinity), wanted, infinity);
          const auto expected = cut(whole, std::min(cutoff, nearest), infinity);
          const auto found = sssp.run(0, {cutoff, wanted});
          ASSERT_EQ(sssp.all_real_distances(), expected);
          std::uint64_t reached = 0;
          double farthest = 0.0;
          for (const double value : expected) {
            if (value == infinity) continue;
            ++reached;
            farthest = std::max(farthest, value);
          }
          EXPECT_EQ(found.reached, reached);
          EXPECT_EQ(found.max_real_distance, farthest);
        }
      }
    }
  });
}

/// From several sources: the smallest of the distances from each.
void check_sssp_of_several(const team::TeamOptions& options, const fixtures::Named& named,
                           bool are_reals, const graph::EdgesOptions& placement = {}) {
  const graph::Graph graph = weighted(named.graph, are_reals);
  const graph::ShardSource shards = fixtures::shard_source(graph, options.ranks);
  const double infinity = std::numeric_limits<double>::infinity();
  const Vertex last = graph.vertices - 1;
  exec::ThreadPool pool(2);
  for (const std::vector<Vertex>& sources :
       {std::vector<Vertex>{last}, {last, 0, last / 2, 0}, {last / 3, last / 2}}) {
    std::vector<double> whole(graph.vertices, infinity);
    for (const Vertex source : sources) {
      std::vector<double> own =
          are_reals ? reference::real_distances(graph, source) : std::vector<double>();
      if (!are_reals) {
        for (const std::uint64_t value : reference::integer_distances(graph, source))
          own.push_back(value == traverse::kUnreachedDistance ? infinity
                                                              : static_cast<double>(value));
      }
      for (std::size_t v = 0; v < own.size(); ++v) whole[v] = std::min(whole[v], own[v]);
    }
    team::run_team(options, [&](team::Team& team) {
      const graph::Shard shard = graph::make_shard(team, shards, placement);
      for (const auto frontier : {traverse::SsspFrontier::queues, traverse::SsspFrontier::scan}) {
        SCOPED_TRACE(named.name + ", " + std::to_string(options.ranks) + " ranks, " +
                     std::to_string(sources.size()) + " sources" +
                     (frontier == traverse::SsspFrontier::scan ? ", scans" : ", queues"));
        traverse::Sssp sssp(team, shard, {5.0, frontier});
        (void)sssp.run(sources);
        ASSERT_EQ(sssp.all_real_distances(), whole);
        (void)sssp.run(sources, {13.0, {}});
        ASSERT_EQ(sssp.all_real_distances(), cut(whole, 13.0, infinity));
        // One source again.
        (void)sssp.run(sources.front());
        ASSERT_EQ(sssp.all_real_distances()[sources.front()], 0.0);
      }
    });
    if (are_reals) {
      EXPECT_TRUE(
          traverse::verify_sssp(graph, sources, std::span<const double>(whole), pool).correct);
      std::vector<double> wrong = whole;
      wrong[sources.back()] = 1.0;
      EXPECT_FALSE(
          traverse::verify_sssp(graph, sources, std::span<const double>(wrong), pool).correct);
    }
  }
}

std::vector<fixtures::Named> some_shapes() {
  std::vector<fixtures::Named> all;
  all.push_back({"one vertex", fixtures::from_list(1, {{0, 0}})});
  all.push_back({"out-star", fixtures::star(1500, false)});
  all.push_back({"grid", fixtures::generated("grid:20x15", true)});
  all.push_back({"kronecker", fixtures::generated("kron:9", true)});
  all.push_back({"kronecker, directed", fixtures::generated("kron:8", false)});
  all.push_back({"random", fixtures::random_graph(187, 340, 1, false)});
  return all;
}

/// One rank of several threads, and several ranks.
std::vector<team::TeamOptions> some_teams() {
  const auto all = fixtures::cpu_teams();
  return {all[1], all[2]};
}

TEST(SearchLimits, DepthsAreThoseOfAWholeSearchCutOff) {
  for (const auto& named : some_shapes()) {
    for (const auto& options : some_teams()) {
      check_bfs(options, named);
      check_bfs(options, named, {graph::EdgesPlacement::host, 4000});
      check_bfs(options, named, {graph::EdgesPlacement::compressed_host, 0});
    }
  }
}

TEST(SearchLimits, DistancesAreThoseOfAWholeSearchCutOff) {
  for (const auto& named : some_shapes()) {
    for (const auto& options : some_teams()) check_sssp(options, named, options.ranks == 1);
    check_sssp(some_teams().back(), named, false, {graph::EdgesPlacement::host, 0});
    check_sssp(some_teams().front(), named, false, {graph::EdgesPlacement::compressed_host, 0});
  }
}

TEST(SearchLimits, DistancesFromSeveralSourcesAreThoseFromTheNearest) {
  for (const auto& named : some_shapes()) {
    for (const auto& options : some_teams()) {
      check_sssp_of_several(options, named, false);
      check_sssp_of_several(options, named, true);
    }
    check_sssp_of_several(some_teams().back(), named, false, {graph::EdgesPlacement::host, 0});
    check_sssp_of_several(some_teams().front(), named, false,
                          {graph::EdgesPlacement::compressed_host, 0});
  }
}

void check_steps(const team::TeamOptions& options) {
  const graph::Graph graph = weighted(fixtures::generated("grid:90x80", true), false);
  const graph::ShardSource source = fixtures::shard_source(graph, options.ranks);
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::Bfs bfs(team, shard);
    EXPECT_GE(bfs.run(0).levels, 168u);
    EXPECT_EQ(bfs.run(0, {20, {}}).levels, 20u);
    const auto near = bfs.run(0, {kEverywhere, {7, 95}});  // Seven levels away, and six.
    EXPECT_EQ(near.levels, 7u);
    EXPECT_EQ(near.reached, 36u);
    for (const auto frontier : {traverse::SsspFrontier::queues, traverse::SsspFrontier::scan}) {
      traverse::Sssp sssp(team, shard, {5.0, frontier});
      const auto all = sssp.run(0);
      for (const traverse::SsspLimits& limits :
           {traverse::SsspLimits{40.0, {}}, traverse::SsspLimits{1e9, {7, 95}}}) {
        const auto some = sssp.run(0, limits);
        EXPECT_LT(some.steps, all.steps / 2);
        EXPECT_LT(some.relaxed_edges, all.relaxed_edges / 4);
      }
    }
  });
}

TEST(SearchLimits, MakeFewerSteps) {
  for (const auto& options : some_teams()) check_steps(options);
}

// Words of 32 bits hold what lies within the cutoff, whatever sums lie beyond.
TEST(SearchLimits, SumsBeyondTheWordsAreBeyondTheCutoff) {
  graph::Graph graph = fixtures::path(10);
  exec::ThreadPool pool(2);
  graph::set_uniform_weights(graph, 2000000000, 2000000000, 1, pool);
  const graph::ShardSource source = fixtures::shard_source(graph, 1);
  team::run_team({}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::Sssp sssp(team, shard);
    EXPECT_EQ(sssp.run(0, {4000000000.0, {}}).reached, 3u);
    EXPECT_EQ(sssp.run(0, {6000000000.0, {}}).max_distance, 6000000000u);
    EXPECT_EQ(sssp.run(0, {traverse::SsspLimits::kNoCutoff, {4}}).max_distance, 8000000000u);
    EXPECT_EQ(sssp.run(0).reached, 10u);
  });
}

TEST(SearchLimits, WhatIsNoLimitIsRefused) {
  const graph::Graph graph = weighted(fixtures::path(10), false);
  const graph::ShardSource source = fixtures::shard_source(graph, 1);
  team::run_team({}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::Bfs bfs(team, shard);
    EXPECT_THROW((void)bfs.run(0, {kEverywhere, {10}}), UsageError);
    EXPECT_THROW((void)bfs.run(std::span<const Vertex>()), UsageError);
    traverse::Sssp sssp(team, shard);
    EXPECT_THROW((void)sssp.run(std::span<const Vertex>()), UsageError);
    EXPECT_THROW((void)sssp.run(std::vector<Vertex>{0, 10}), UsageError);
    EXPECT_THROW((void)sssp.run(0, {1.0, {10}}), UsageError);
    EXPECT_THROW((void)sssp.run(0, {-1.0, {}}), UsageError);
    EXPECT_THROW((void)sssp.run(0, {std::numeric_limits<double>::quiet_NaN(), {}}), UsageError);
  });
}

TEST(SearchLimitsCuda, AreThoseOfAWholeSearchCutOff) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const auto& options : fixtures::cuda_teams_of_waiting_kernels()) {
    check_steps(options);
    for (const auto& named : fixtures::placed_shapes()) {
      check_bfs(options, named);
      check_sssp(options, named, false);
      check_sssp(options, named, true);
      check_sssp_of_several(options, named, false);
      check_sssp_of_several(options, named, true);
    }
  }
}

}  // namespace
}  // namespace warren
