// SPDX-License-Identifier: Apache-2.0
// Options and checks of the asynchronous traversals' tests.
#pragma once

#include <random>

#include <gtest/gtest.h>

#include "warren/traverse/asynchronous.hpp"

#include "reference/traverse.hpp"
#include "traverse/fixtures.hpp"

namespace warren::asynchronous_cases {

using traverse::AsyncOptions;

inline AsyncOptions tiny_queues() {
  AsyncOptions options;
  options.capacity = 3;
  options.batch = 2;
  options.gather = schedule::Gather::always;
  options.wait = 2;
  return options;
}

/// Workers that go on by themselves for some levels.
inline AsyncOptions leaping() {
  AsyncOptions options;
  options.leap = 12.0;
  return options;
}

inline AsyncOptions in_rounds() {
  AsyncOptions options;
  options.form = schedule::Form::discrete;
  options.levels = 1;
  return options;
}

/// Options from a seed, with pauses.
inline AsyncOptions random_options(std::mt19937_64& random) {
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
  options.link_delay_nanoseconds = random() % 4 == 0 ? 3000 : 0;
  options.injected_delay_nanoseconds = 1u << random() % 12;
  return options;
}

inline graph::Graph with_integers(graph::Graph graph, std::int64_t low, std::int64_t high) {
  exec::ThreadPool pool(2);
  graph::set_uniform_weights(graph, low, high, 1, pool);
  return graph;
}

inline graph::Graph with_reals(graph::Graph graph) {
  graph = with_integers(std::move(graph), 0, 1000);
  graph.weights_float = memory::HostArray<float>(graph.edges());
  for (EdgeOffset e = 0; e < graph.edges(); ++e)
    graph.weights_float[e] = static_cast<float>(graph.weights_int[e]) * 0.37f;
  graph.weights_int = {};
  graph.weight_type = graph::WeightType::float32;
  return graph;
}

inline void expect_bfs(const graph::Graph& graph, Vertex source, const traverse::BfsResult& result,
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

inline void check_bfs(const fixtures::Named& named, const team::TeamOptions& team_options,
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

inline void check_sssp(const std::string& name, const graph::Graph& graph,
                       const team::TeamOptions& team_options, const AsyncOptions& options,
                       Vertex from) {
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
inline double change_of_an_iteration(const graph::Graph& graph, const std::vector<double>& ranks) {
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
inline void expect_stores(const graph::Graph& graph, const traverse::AsyncReport& report,
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

inline void check_pagerank(const fixtures::Named& named, const team::TeamOptions& team_options,
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

inline std::vector<fixtures::Named> shapes() {
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

}  // namespace warren::asynchronous_cases
