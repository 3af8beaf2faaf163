// SPDX-License-Identifier: Apache-2.0
// Partitions cover the graph and cut it where they say; their cost is what counting edge by edge
// gives.
#include "warren/graph/partition.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/graph/generate.hpp"
#include "warren/graph/partition_metis.hpp"
#include "warren/graph/vertex_cover.hpp"

#include "reference/graph_csr.hpp"

namespace warren::graph {
namespace {

using reference::ListSource;

Graph built(const reference::EdgeList& list, exec::ThreadPool& pool) {
  ListSource source(list);
  return build(source, {false, false, true}, pool);
}

void expect_covers(const Graph& graph, const Partition& partition, int parts) {
  ASSERT_EQ(partition.parts(), parts);
  EXPECT_EQ(partition.cuts.front(), 0u);
  EXPECT_EQ(partition.cuts.back(), graph.vertices);
  EXPECT_TRUE(std::is_sorted(partition.cuts.begin(), partition.cuts.end()));
  std::vector<Vertex> ids;
  for (Vertex v = 0; v < graph.vertices; ++v) {
    ids.push_back(partition.to_new(v));
    EXPECT_EQ(partition.to_old(partition.to_new(v)), v);
  }
  std::sort(ids.begin(), ids.end());
  for (Vertex v = 0; v < graph.vertices; ++v) ASSERT_EQ(ids[v], v);
}

PartitionQuality brute_force(const Graph& graph, const Partition& partition) {
  const auto owner = [&](Vertex v) {
    std::size_t rank = 0;
    while (partition.to_new(v) >= partition.cuts[rank + 1]) ++rank;
    return rank;
  };
  const auto parts = static_cast<std::uint64_t>(partition.parts());
  PartitionQuality quality;
  std::set<std::pair<std::size_t, Vertex>> halo;
  std::vector<std::uint64_t> edges(parts, 0);
  for (const reference::Entry& entry : reference::entries(graph)) {
    const std::size_t rank = owner(entry.source);
    ++edges[rank];
    if (owner(entry.target) == rank) continue;
    ++quality.cut_edges;
    halo.emplace(rank, entry.target);
  }
  quality.halo_rows = halo.size();
  const std::uint64_t m = graph.edges();
  const std::uint64_t fullest = *std::max_element(edges.begin(), edges.end());
  if (m > 0)
    quality.imbalance =
        static_cast<double>(fullest) / (static_cast<double>(m) / static_cast<double>(parts));
  quality.moved.broadcast = graph.vertices * (parts - 1);
  quality.moved.per_edge = quality.cut_edges;
  quality.moved.once = quality.halo_rows;
  return quality;
}

class PartitionOnThreads : public testing::TestWithParam<int> {
 protected:
  exec::ThreadPool pool_{GetParam()};
};

TEST_P(PartitionOnThreads, CoversAndCostsWhatCountingGives) {
  for (const auto& [name, list] : reference::awkward_lists()) {
    const Graph graph = built(list, pool_);
    for (const char* method : {"ranges", "random"}) {
      for (const int parts : {1, 2, 3, 8, 32, 40, kMaxParts}) {
        if (parts > 32 && GetParam() != 3) continue;
        SCOPED_TRACE(name + " " + method + " " + std::to_string(parts));
        const Partition partition = make_partition(graph, method, parts, 5);
        expect_covers(graph, partition, parts);
        const PartitionQuality quality = partition_quality(graph, partition, pool_);
        const PartitionQuality expected = brute_force(graph, partition);
        EXPECT_EQ(quality.cut_edges, expected.cut_edges);
        EXPECT_EQ(quality.halo_rows, expected.halo_rows);
        EXPECT_DOUBLE_EQ(quality.imbalance, expected.imbalance);
        EXPECT_EQ(quality.moved.broadcast, expected.moved.broadcast);
        EXPECT_EQ(quality.moved.per_edge, expected.moved.per_edge);
        EXPECT_EQ(quality.moved.once, expected.moved.once);
        EXPECT_EQ(quality.moved.fused, expected.moved.once);
        EXPECT_LE(quality.moved.cover, quality.moved.once);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, PartitionOnThreads, testing::Values(1, 2, 3, 4));

/// What the definitions of MovedRows give for workgroups, rank by rank and vertex by vertex.
PartitionQuality with_workgroups(const Graph& graph, const Partition& partition, int workgroup) {
  const auto owner = [&](Vertex v) {
    const auto after =
        std::upper_bound(partition.cuts.begin(), partition.cuts.end(), partition.to_new(v));
    return static_cast<int>(after - partition.cuts.begin()) - 1;
  };
  std::set<std::pair<int, Vertex>> needs;
  std::map<std::pair<int, int>, std::map<Vertex, std::vector<Vertex>>> blocks;
  PartitionQuality quality;
  for (const reference::Entry& entry : reference::entries(graph)) {
    const int p = owner(entry.source), q = owner(entry.target);
    if (p == q) continue;
    needs.emplace(p, entry.target);
    blocks[{p, q}][entry.source].push_back(entry.target);
    if (p / workgroup != q / workgroup) ++quality.between.per_edge;
  }
  std::set<std::pair<int, Vertex>> fetched;
  for (const auto& [p, v] : needs) {
    const int q = owner(v), group = p / workgroup;
    if (group == q / workgroup) {
      ++quality.moved.fused;
      continue;
    }
    ++quality.between.once;
    if (fetched.emplace(group, v).second) {
      ++quality.between.fused;
      ++quality.moved.fused;
    }
    if (p % workgroup != q % workgroup) ++quality.moved.fused;
  }
  for (const auto& [ranks, rows] : blocks) {
    std::map<Vertex, Vertex> number;
    SparseBlock block;
    for (const auto& [row, columns] : rows) {
      for (const Vertex column : columns)
        block.columns.push_back(
            number.emplace(column, static_cast<Vertex>(number.size())).first->second);
      block.offsets.push_back(block.columns.size());
    }
    block.column_count = static_cast<Vertex>(number.size());
    const std::uint64_t size = smallest_vertex_cover(block).size;
    quality.moved.cover += size;
    if (ranks.first / workgroup != ranks.second / workgroup) quality.between.cover += size;
  }
  return quality;
}

TEST(Partition, WorkgroupsOfManyPartsCostWhatCountingGives) {
  exec::ThreadPool pool(3);
  const Graph graph = built(reference::random_list(1500, 9000, 4), pool);
  for (const auto& [parts, workgroup] :
       {std::pair{8, 2}, {32, 4}, {32, 32}, {33, 11}, {40, 8}, {64, 64}, {kMaxParts, 8}}) {
    for (const char* method : {"ranges", "random", "degree"}) {
      SCOPED_TRACE(std::to_string(parts) + " by " + std::to_string(workgroup) + ", " + method);
      const Partition partition = make_partition(graph, method, parts, 5);
      const PartitionQuality found = partition_quality(graph, partition, pool, {workgroup, true});
      const PartitionQuality expected = with_workgroups(graph, partition, workgroup);
      EXPECT_EQ(found.moved.fused, expected.moved.fused);
      EXPECT_EQ(found.moved.cover, expected.moved.cover);
      EXPECT_EQ(found.between.per_edge, expected.between.per_edge);
      EXPECT_EQ(found.between.once, expected.between.once);
      EXPECT_EQ(found.between.fused, expected.between.fused);
      EXPECT_EQ(found.between.cover, expected.between.cover);
      EXPECT_EQ(found.between.broadcast,
                graph.vertices * static_cast<std::uint64_t>(parts - workgroup));
    }
  }
}

TEST(Partition, RangesAreLowerBounds) {
  exec::ThreadPool pool(1);
  for (const auto& [name, list] : reference::awkward_lists()) {
    const Graph graph = built(list, pool);
    for (const std::uint64_t parts : {1, 2, 5, 32}) {
      const std::vector<std::uint64_t> cuts =
          edge_balanced_cuts(graph.offsets.span(), static_cast<int>(parts));
      ASSERT_EQ(cuts.size(), parts + 1);
      for (std::uint64_t p = 0; p < parts; ++p) {
        std::uint64_t expected = 0;
        while (graph.offsets[expected] < p * graph.edges() / parts) ++expected;
        EXPECT_EQ(cuts[p], expected) << name << " part " << p << " of " << parts;
      }
      EXPECT_EQ(cuts[parts], graph.vertices);
    }
  }
}

TEST(Partition, RangesOfHugeOffsetsDoNotOverflow) {
  const std::vector<EdgeOffset> offsets{0, std::uint64_t{1} << 62, std::uint64_t{1} << 63};
  EXPECT_EQ(edge_balanced_cuts(offsets, 32),
            (std::vector<std::uint64_t>{0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                        2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}));
}

TEST(Partition, RandomIsFixedByItsSeedAndBalanced) {
  exec::ThreadPool pool(1);
  const Graph graph = built(reference::random_list(1000, 5000, 1), pool);
  const Partition a = partition_random(graph, 3, 9);
  const Partition b = partition_random(graph, 3, 9);
  const Partition c = partition_random(graph, 3, 10);
  EXPECT_TRUE(std::equal(a.new_id.begin(), a.new_id.end(), b.new_id.begin()));
  EXPECT_FALSE(std::equal(a.new_id.begin(), a.new_id.end(), c.new_id.begin()));
  EXPECT_EQ(a.cuts, (std::vector<std::uint64_t>{0, 333, 666, 1000}));
}

TEST(Partition, RandomGivesEveryPermutationAboutAsOften) {
  exec::ThreadPool pool(1);
  const Graph graph = built(reference::random_list(4, 4, 1), pool);
  std::map<std::vector<Vertex>, int> seen;
  for (std::uint64_t seed = 0; seed < 24000; ++seed) {
    const Partition partition = partition_random(graph, 1, seed);
    ++seen[{partition.new_id.begin(), partition.new_id.end()}];
  }
  EXPECT_EQ(seen.size(), 24u);
  for (const auto& [ids, count] : seen) EXPECT_NEAR(count, 1000, 160);  // Five standard deviations.
}

// A fixture, so that METIS' absence is seen.
class PartitionMetis : public testing::Test {
 protected:
  void SetUp() override {
    if (!metis_missing().empty()) GTEST_SKIP() << metis_missing();
  }
  exec::ThreadPool pool_{2};
};

/// Eight cliques of 40, each joined with the next by one edge, vertices shuffled: how they should
/// be cut is known.
reference::EdgeList cliques() {
  constexpr Vertex kSize = 40;
  constexpr Vertex kCount = 8;
  std::vector<Vertex> id(std::size_t{kSize} * kCount);
  std::iota(id.begin(), id.end(), Vertex{0});
  std::shuffle(id.begin(), id.end(), std::mt19937_64(5));
  reference::EdgeList list;
  list.vertices = id.size();
  for (Vertex c = 0; c < kCount; ++c) {
    for (Vertex a = 0; a < kSize; ++a) {
      for (Vertex b = 0; b < a; ++b) list.edges.push_back({id[c * kSize + a], id[c * kSize + b]});
    }
    if (c + 1 < kCount) list.edges.push_back({id[c * kSize], id[(c + 1) * kSize]});
  }
  return list;
}

TEST_F(PartitionMetis, CutsBetweenCommunities) {
  // One direction of each edge: the graph is directed.
  const Graph graph = built(cliques(), pool_);
  for (const int parts : {2, 4, 8}) {
    const Partition partition = make_partition(graph, "metis", parts, 1);
    expect_covers(graph, partition, parts);
    const PartitionQuality quality = partition_quality(graph, partition, pool_);
    EXPECT_EQ(quality.cut_edges, static_cast<std::uint64_t>(parts) - 1);
    EXPECT_LT(quality.imbalance, 1.05);
    for (Vertex id = 0; id + 1 < graph.vertices; ++id) {
      const bool is_cut = std::binary_search(partition.cuts.begin(), partition.cuts.end(), id + 1);
      EXPECT_TRUE(is_cut || partition.to_old(id) < partition.to_old(id + 1));
    }
  }
}

TEST_F(PartitionMetis, CoversEveryShapeAndRepeats) {
  for (const auto& [name, list] : reference::awkward_lists()) {
    SCOPED_TRACE(name);
    const Graph graph = built(list, pool_);
    for (const int parts : {1, 2, 3, 7}) {
      const Partition partition = partition_metis(graph, parts, 3, pool_);
      expect_covers(graph, partition, parts);
      exec::ThreadPool other(1);
      const Partition again = partition_metis(graph, parts, 3, other);
      EXPECT_EQ(again.cuts, partition.cuts);
      EXPECT_TRUE(std::equal(again.new_id.begin(), again.new_id.end(), partition.new_id.begin(),
                             partition.new_id.end()));
    }
  }
}

TEST_F(PartitionMetis, BalancesEdgesOfHubs) {
  const auto spec = parse_generator("kron:11", 1);
  const Graph graph =
      build(*make_source(*spec), effective_options(*spec, {.symmetrize = true}), pool_);
  const Partition partition = partition_metis(graph, 4, 1, pool_);
  expect_covers(graph, partition, 4);
  const PartitionQuality cut = partition_quality(graph, partition, pool_);
  const PartitionQuality dealt = partition_quality(graph, partition_random(graph, 4, 1), pool_);
  EXPECT_LT(cut.imbalance, 1.15);
  EXPECT_LT(cut.cut_edges, dealt.cut_edges);
}

TEST_F(PartitionMetis, RefusesPartsOutOfRange) {
  const Graph graph = built(cliques(), pool_);
  for (const int parts : {-1, 0, kMaxParts + 1})
    EXPECT_THROW((void)partition_metis(graph, parts, 1, pool_), UsageError);
}

TEST(Partition, RefusesWhatItCannotDo) {
  exec::ThreadPool pool(1);
  const Graph graph = built(reference::random_list(10, 50, 1), pool);
  for (const int parts : {-1, 0, kMaxParts + 1}) {
    EXPECT_THROW((void)make_partition(graph, "ranges", parts, 1), UsageError);
    EXPECT_THROW((void)partition_ranges(graph, parts), UsageError);
    EXPECT_THROW((void)partition_random(graph, parts, 1), UsageError);
  }
  EXPECT_THAT([&] { (void)make_partition(graph, "spectral", 2, 1); },
              testing::ThrowsMessage<UsageError>(testing::HasSubstr("spectral")));
  EXPECT_THROW((void)edge_balanced_cuts({}, 2), UsageError);
  for (const std::vector<std::uint64_t>& cuts :
       {std::vector<std::uint64_t>{0, 7, 3, 10}, {1, 10}, {0, 9}, {0}}) {
    Partition partition;
    partition.cuts = cuts;
    EXPECT_THROW((void)partition_quality(graph, partition, pool), UsageError);
  }
  Partition other = partition_random(graph, 2, 1);
  other.new_id = memory::HostArray<Vertex>(9);
  EXPECT_THROW((void)partition_quality(graph, other, pool), UsageError);
}

}  // namespace
}  // namespace warren::graph
