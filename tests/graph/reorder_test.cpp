// SPDX-License-Identifier: Apache-2.0
// Orders are permutations, the same for every number of threads; Rabbit order finds communities
// that were shuffled away.
#include "warren/graph/reorder.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/graph/transform.hpp"

#include "traverse/fixtures.hpp"

namespace warren::graph {
namespace {

std::vector<Vertex> listed(const memory::HostArray<Vertex>& order) {
  return {order.begin(), order.end()};
}

void expect_permutation(const Graph& graph, const memory::HostArray<Vertex>& order) {
  ASSERT_EQ(order.size(), graph.vertices);
  std::vector<Vertex> ids = listed(order);
  std::sort(ids.begin(), ids.end());
  for (Vertex v = 0; v < graph.vertices; ++v) ASSERT_EQ(ids[v], v);
}

TEST(Reorder, OrdersArePermutationsWhateverTheThreads) {
  exec::ThreadPool one(1);
  exec::ThreadPool three(3);
  auto graphs = fixtures::shapes();
  graphs.push_back({"no vertices", fixtures::from_list(0, {})});
  for (const auto& named : graphs) {
    SCOPED_TRACE(named.name);
    for (const char* name : {"rabbit", "degree", "random"}) {
      SCOPED_TRACE(name);
      const auto order = make_order(named.graph, name, 3, one);
      expect_permutation(named.graph, order);
      EXPECT_EQ(listed(order), listed(make_order(named.graph, name, 3, three)));
    }
    EXPECT_TRUE(make_order(named.graph, "none", 1, one).empty());
  }
  EXPECT_THROW((void)make_order(graphs[0].graph, "hilbert", 1, one), UsageError);
}

TEST(Reorder, DegreesDescend) {
  const Graph graph = fixtures::generated("kron:9", true);
  const auto old_id = inverse(degree_order(graph).span());
  for (Vertex i = 0; i + 1 < graph.vertices; ++i)
    EXPECT_GE(graph.degree(old_id[i]), graph.degree(old_id[i + 1]));
}

TEST(Reorder, RabbitKeepsTheHaloOfAShuffledCommunityGraph) {
  exec::ThreadPool pool(2);
  const Graph graph = fixtures::generated("community:60000,8", true);
  const Graph shuffled = relabel(graph, random_order(graph, 5).span(), pool);
  const auto halo = [&](const Graph& of, const Partition& partition) {
    return partition_quality(of, partition, pool, {0, false}).halo_rows;
  };
  const std::uint64_t natural = halo(graph, partition_ranges(graph, 4));
  const std::uint64_t lost = halo(shuffled, partition_ranges(shuffled, 4));
  const Partition partition = partition_rabbit(shuffled, 4, pool);
  const std::uint64_t found = halo(shuffled, partition);
  EXPECT_GT(lost, natural * 2);
  EXPECT_LT(found, natural * 3 / 2);
  const auto quality = partition_quality(shuffled, partition, pool, {0, false});
  EXPECT_LT(quality.imbalance, 1.01);
}

TEST(Reorder, AfterAnOrderComesThePartition) {
  exec::ThreadPool pool(2);
  const Graph graph = fixtures::generated("urand:8,6", true);
  const auto order = random_order(graph, 7);
  const Graph ordered = relabel(graph, order.span(), pool);
  for (const char* method : {"ranges", "random", "degree", "rabbit"}) {
    const Partition cut = make_partition(ordered, method, 3, 1);
    const Partition whole = after_order(order, cut);
    for (Vertex v = 0; v < graph.vertices; ++v) {
      EXPECT_EQ(whole.to_new(v), cut.to_new(order[v]));
      EXPECT_EQ(whole.to_old(whole.to_new(v)), v);
    }
    const auto expected = partition_quality(ordered, cut, pool);
    const auto found = partition_quality(graph, whole, pool);
    EXPECT_EQ(found.halo_rows, expected.halo_rows);
    EXPECT_EQ(found.moved.cover, expected.moved.cover);
  }
}

}  // namespace
}  // namespace warren::graph
