// SPDX-License-Identifier: Apache-2.0
// Every traversal on teams of every size up to the largest, against the sequential references:
// what a step does once for each rank must not run out of anything. Ranks are threads, and, of a
// few sizes, processes.
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "warren/traverse/asynchronous.hpp"
#include "warren/traverse/bfs.hpp"
#include "warren/traverse/components.hpp"
#include "warren/traverse/many_source_bfs.hpp"
#include "warren/traverse/pagerank.hpp"
#include "warren/traverse/sssp.hpp"

#include "reference/traverse.hpp"
#include "support/processes.hpp"
#include "traverse/fixtures.hpp"

namespace warren {
namespace {

constexpr double kTolerance = 1e-6;

/// A graph with integer weights, and what the references say of it.
struct Case {
  explicit Case(const std::string& called, graph::Graph of) : name(called), graph(std::move(of)) {
    exec::ThreadPool pool(2);
    graph::set_uniform_weights(graph, 1, 9, 1, pool);
    for (Vertex s = 0; s < 8; ++s) sources.push_back(s * 37 % graph.vertices);
    from = sources[1];
    depth = reference::bfs_depths(graph, from);
    distance = reference::integer_distances(graph, from);
    label = reference::component_labels(graph);
    rank = reference::pagerank(graph, 0.85, 1e-13, 1000);
  }

  std::string name;
  graph::Graph graph;
  std::vector<Vertex> sources;
  Vertex from = 0;
  std::vector<Vertex> depth, label;
  std::vector<std::uint64_t> distance;
  std::vector<double> rank;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  all.emplace_back("grid", fixtures::generated("grid:20x20", true));
  all.emplace_back("kronecker, directed", fixtures::generated("kron:7", false));
  all.emplace_back("fewer vertices than ranks", fixtures::path(5));
  return all;
}

/// A case's shards on every team.
class TeamSizes : public testing::Test {
 protected:
  template <class Body>
  static void on_every_team(Body&& body) {
    for (const Case& the : cases()) {
      const std::vector<int> sizes{1, 2, 3, 4, 7, 15, 16, 17, kMaxRanks};
      for (std::size_t i = 0; i < sizes.size(); i += testing_support::step_under_threads(3)) {
        SCOPED_TRACE(the.name + ", " + std::to_string(sizes[i]) + " ranks");
        on_team(the, sizes[i], body);
      }
    }
    if (!testing_support::kSeesProcesses) return;
    for (const int size : {2, 3, 4}) {
      SCOPED_TRACE(std::to_string(size) + " processes");
      testing_support::in_processes(size, [&] {
        for (const Case& the : cases()) {
          SCOPED_TRACE(the.name);
          on_team(the, size, body);
        }
      });
    }
  }
  template <class Body>
  static void on_team(const Case& the, int size, Body&& body) {
    const graph::ShardSource source = fixtures::shard_source(the.graph, size);
    team::run_team({exec::DeviceKind::cpu, size, size}, [&](team::Team& team) {
      const graph::Shard shard = graph::make_shard(team, source);
      body(the, team, shard);
    });
  }
  /// Both are as near to the limit as their tolerance says; float32 rounds besides.
  static void expect_ranks(const Case& the, const std::vector<double>& ranks) {
    EXPECT_LE(reference::l1_distance(ranks, the.rank), 10 * kTolerance);
  }
};

TEST_F(TeamSizes, Bfs) {
  on_every_team([](const Case& the, team::Team& team, const graph::Shard& shard) {
    for (const bool optimized : {true, false}) {
      traverse::Bfs bfs(team, shard, {.direction_optimizing = optimized});
      (void)bfs.run(the.from);
      EXPECT_EQ(bfs.all_depths(), the.depth);
    }
  });
}

TEST_F(TeamSizes, AsyncBfs) {
  on_every_team([](const Case& the, team::Team& team, const graph::Shard& shard) {
    traverse::AsyncBfs bfs(team, shard);
    (void)bfs.run(the.from);
    EXPECT_EQ(bfs.all_depths(), the.depth);
  });
}

TEST_F(TeamSizes, ManySourceBfs) {
  on_every_team([](const Case& the, team::Team& team, const graph::Shard& shard) {
    const auto result = traverse::ManySourceBfs(team, shard).run(the.sources);
    std::uint64_t reached = 0, sum = 0;
    for (const Vertex depth : the.depth) {
      reached += depth == kNoVertex ? 0 : 1;
      sum += depth == kNoVertex ? 0 : depth;
    }
    EXPECT_EQ(result.sources[1].reached, reached);
    EXPECT_EQ(result.sources[1].sum_depth, sum);
  });
}

TEST_F(TeamSizes, Sssp) {
  on_every_team([](const Case& the, team::Team& team, const graph::Shard& shard) {
    for (const auto frontier : {traverse::SsspFrontier::queues, traverse::SsspFrontier::scan}) {
      traverse::Sssp sssp(team, shard, {0.0, frontier});
      (void)sssp.run(the.from);
      EXPECT_EQ(sssp.all_distances(), the.distance);
    }
  });
}

TEST_F(TeamSizes, AsyncSssp) {
  on_every_team([](const Case& the, team::Team& team, const graph::Shard& shard) {
    traverse::AsyncSssp sssp(team, shard);
    (void)sssp.run(the.from);
    EXPECT_EQ(sssp.all_distances(), the.distance);
  });
}

TEST_F(TeamSizes, Components) {
  on_every_team([](const Case& the, team::Team& team, const graph::Shard& shard) {
    traverse::Components components(team, shard);
    const auto result = components.run();
    EXPECT_EQ(components.all_labels(), the.label);
    EXPECT_EQ(result.components, std::set<Vertex>(the.label.begin(), the.label.end()).size());
  });
}

TEST_F(TeamSizes, PageRank) {
  on_every_team([](const Case& the, team::Team& team, const graph::Shard& shard) {
    for (const double tolerance : {kTolerance, kTolerance * 1e-4}) {
      traverse::PageRank pagerank(team, shard, {.tolerance = tolerance, .max_iterations = 1000});
      EXPECT_TRUE(pagerank.run().converged);
      expect_ranks(the, pagerank.all_ranks());
    }
  });
}

TEST_F(TeamSizes, AsyncPageRank) {
  on_every_team([](const Case& the, team::Team& team, const graph::Shard& shard) {
    traverse::AsyncPageRank pagerank(team, shard,
                                     {.tolerance = kTolerance, .max_iterations = 1000});
    EXPECT_TRUE(pagerank.run().converged);
    expect_ranks(the, pagerank.all_ranks());
  });
}

}  // namespace
}  // namespace warren
