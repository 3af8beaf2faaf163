// SPDX-License-Identifier: Apache-2.0
// Every traversal again and again in one process: answers, memory, open files and threads stay as
// they were. For some seconds; with WARREN_SOAK_ROUNDS as many rounds as it says.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "warren/traverse/asynchronous.hpp"
#include "warren/traverse/bfs.hpp"
#include "warren/traverse/components.hpp"
#include "warren/traverse/many_source_bfs.hpp"
#include "warren/traverse/pagerank.hpp"
#include "warren/traverse/pattern_bfs.hpp"
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
      traverse::PatternBfs pattern(team, shard);
      (void)pattern.run(the.kFrom, traverse::AccessPattern::aligned, false);
      EXPECT_EQ(pattern.depth(), the.depth);
    }
    EXPECT_TRUE(traverse::PageRank(team, shard, {.max_iterations = 1000}).run().converged);
    EXPECT_TRUE(traverse::AsyncPageRank(team, shard, {.max_iterations = 1000}).run().converged);
  });
}

/// What the process holds.
struct Held {
  std::uint64_t resident = 0, files = 0, threads = 0;

  static std::uint64_t entries(const char* folder) {
    std::uint64_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) count += entry.exists();
    return count;
  }
  static Held now() {
    constexpr std::uint64_t kPage = 4096;
    std::uint64_t size = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> size >> resident;
    return {resident * kPage, entries("/proc/self/fd"), entries("/proc/self/task")};
  }
};

TEST(Soak, EveryTraversalAgainAndAgain) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kTime = std::chrono::seconds(5);
  constexpr std::uint64_t kFirst = 10;  // Until pools and caches have what they keep.
  const char* wanted = std::getenv("WARREN_SOAK_ROUNDS");
  const std::uint64_t rounds = wanted == nullptr ? 0 : std::strtoull(wanted, nullptr, 10);
  const Case the("kron:8");
  const int ranks[] = {1, 2, 3};
  std::vector<graph::ShardSource> sources;
  for (const int count : ranks) sources.push_back(fixtures::shard_source(the.graph, count));
  Held before;
  std::uint64_t round = 0;
  const auto begin = Clock::now();
  for (; round < kFirst + 1 || (rounds == 0 ? Clock::now() - begin < kTime : round < rounds);
       ++round) {
    if (round == kFirst) before = Held::now();
    const std::size_t i = round % std::size(ranks);
    run_all(the, sources[i], ranks[i]);
    if (HasFailure()) break;
  }
  const Held after = Held::now();
  RecordProperty("rounds", std::to_string(round));
  EXPECT_EQ(after.files, before.files);
  EXPECT_EQ(after.threads, before.threads);
#ifndef WARREN_SANITIZED  // Sanitizers keep what was freed for a while, and find leaks themselves.
  constexpr std::uint64_t kSlack = std::uint64_t{32} << 20;
  EXPECT_LE(after.resident, before.resident + kSlack) << "after " << round << " rounds";
#endif
}

}  // namespace
}  // namespace warren
