// SPDX-License-Identifier: Apache-2.0
// The access patterns find the same depths, and their requests are those that can be told from the
// lists.
#include "warren/baselines/pattern_bfs.hpp"

#include <set>

#include <gtest/gtest.h>

#include "warren/exec/managed.hpp"

#include "reference/traverse.hpp"
#include "traverse/fixtures.hpp"

namespace warren {
namespace {

using baselines::AccessPattern;
using baselines::ListMemory;

constexpr AccessPattern kPatterns[] = {AccessPattern::strided, AccessPattern::merged,
                                       AccessPattern::aligned};

void check(const team::TeamOptions& options, const fixtures::Named& named,
           ListMemory lists = ListMemory::shard) {
  SCOPED_TRACE(named.name);
  const graph::ShardSource source = fixtures::shard_source(named.graph, 1);
  const Vertex from = named.graph.vertices / 2;
  const std::vector<Vertex> expected = reference::bfs_depths(named.graph, from);
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard =
        graph::make_shard(team, source, {graph::EdgesPlacement::host, std::uint64_t{0}});
    baselines::PatternBfs bfs(team, shard, lists);
    std::uint64_t reached = 0, edges = 0;
    for (Vertex v = 0; v < named.graph.vertices; ++v) {
      if (expected[v] == kNoVertex) continue;
      ++reached;
      edges += named.graph.degree(v);
    }
    for (const AccessPattern pattern : kPatterns) {
      for (const bool counts : {false, true}) {
        const auto result = bfs.run(from, pattern, counts);
        ASSERT_EQ(bfs.depth(), expected);
        EXPECT_EQ(result.reached, reached);
        if (!counts) {
          EXPECT_EQ(result.request_count(), 0u);
        } else {
          EXPECT_GE(result.bytes(), edges * sizeof(Vertex));
          EXPECT_LE(result.bytes(), edges * 32);  // At worst a sector an edge.
        }
      }
    }
  });
}

TEST(PatternBfs, FindsTheDepthsOnEveryShape) {
  for (const auto& named : fixtures::shapes()) {
    for (const int threads : {1, 3}) {
      team::TeamOptions options;
      options.threads = threads;
      check(options, named);
    }
  }
}

/// The blocks of `block` bytes in which the reached vertices' lists stand, one by one.
std::uint64_t bytes_in_blocks(const graph::Graph& graph, const std::vector<Vertex>& depths,
                              std::uint64_t block) {
  std::set<std::uintptr_t> blocks;
  for (Vertex v = 0; v < graph.vertices; ++v) {
    if (depths[v] == kNoVertex) continue;
    for (EdgeOffset e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e)
      blocks.insert(reinterpret_cast<std::uintptr_t>(graph.targets.data() + e) / block);
  }
  return blocks.size() * block;
}

TEST(PatternBfs, CountsTheBlocksOfTheListsThatWereRead) {
  for (const auto& named : fixtures::shapes()) {
    SCOPED_TRACE(named.name);
    const graph::ShardSource source = fixtures::shard_source(named.graph, 1);
    team::run_team({}, [&](team::Team& team) {
      const graph::Shard shard = graph::make_shard(team, source);
      baselines::PatternBfs bfs(team, shard);
      (void)bfs.run(0, AccessPattern::merged, false);
      const std::vector<Vertex> depths = bfs.depth();
      for (const std::uint64_t block : {4u, 32u, 128u, 4096u})
        EXPECT_EQ(bfs.bytes_in_blocks(block), bytes_in_blocks(*source.out, depths, block));
      EXPECT_THROW((void)bfs.bytes_in_blocks(0), UsageError);
    });
  }
}

TEST(PatternBfs, CachedListsAreInNoBlock) {
  const graph::ShardSource source = fixtures::shard_source(fixtures::star(1025, false), 1);
  team::run_team({}, [&](team::Team& team) {
    const graph::Shard shard =
        graph::make_shard(team, source, {graph::EdgesPlacement::host, std::uint64_t{1} << 20});
    baselines::PatternBfs bfs(team, shard);
    (void)bfs.run(0, AccessPattern::merged, false);
    EXPECT_EQ(bfs.bytes_in_blocks(32), 0u);
  });
}

TEST(PatternBfs, ManagedListsNeedAGpu) {
  const graph::ShardSource source = fixtures::shard_source(fixtures::path(10), 1);
  team::run_team({}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    EXPECT_THROW(baselines::PatternBfs(team, shard, ListMemory::managed), UsageError);
  });
}

TEST(PatternBfs, RefusesTeamsAndWhatIsNoSource) {
  const graph::ShardSource source = fixtures::shard_source(fixtures::path(10), 1);
  team::run_team({}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    baselines::PatternBfs bfs(team, shard);
    EXPECT_THROW((void)bfs.run(10, AccessPattern::merged, false), UsageError);
    EXPECT_GE(bfs.sequential_rate(), 0.0);
  });
  team::TeamOptions two;
  two.ranks = 2;
  const graph::ShardSource halves = fixtures::shard_source(fixtures::path(10), 2);
  EXPECT_THROW(team::run_team(two,
                              [&](team::Team& team) {
                                const graph::Shard shard = graph::make_shard(team, halves);
                                baselines::PatternBfs bfs(team, shard);
                              }),
               UsageError);
}

TEST(PatternBfsCuda, CountsTheRequestsOfAStar) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  team::TeamOptions options;
  options.kind = exec::DeviceKind::cuda;
  // One list of 1,024 edges that begins where the buffer does, and lists of one.
  const graph::ShardSource source = fixtures::shard_source(fixtures::star(1025, false), 1);
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard =
        graph::make_shard(team, source, {graph::EdgesPlacement::host, std::uint64_t{0}});
    baselines::PatternBfs bfs(team, shard);
    for (const AccessPattern pattern : {AccessPattern::merged, AccessPattern::aligned}) {
      const auto result = bfs.run(0, pattern, true);
      EXPECT_EQ(result.requests, (std::array<std::uint64_t, 4>{0, 0, 0, 32}));
    }
    EXPECT_EQ(bfs.run(0, AccessPattern::strided, true).requests,
              (std::array<std::uint64_t, 4>{128, 0, 0, 0}));
  });
}

TEST(PatternBfsCuda, FindsTheDepthsOnEveryShape) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  team::TeamOptions options;
  options.kind = exec::DeviceKind::cuda;
  for (const auto& named : fixtures::shapes()) check(options, named);
}

TEST(PatternBfsCuda, ManagedListsGiveTheSameDepths) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  const exec::Device device = exec::Device::cuda(0);
  if (exec::managed_room(device) == 0) GTEST_SKIP() << "a GPU without managed memory";
  team::TeamOptions options;
  options.kind = exec::DeviceKind::cuda;
  for (const auto& named : fixtures::shapes()) check(options, named, ListMemory::managed);
  EXPECT_EQ(exec::managed_use(device), 0u);
}

}  // namespace
}  // namespace warren
