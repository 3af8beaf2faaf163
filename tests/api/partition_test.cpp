// SPDX-License-Identifier: Apache-2.0
// Parts of vertices, and what they cost, against counts of every edge; orders, and graphs in them.
#include "warren/api/partition.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/graph/partition_metis.hpp"

#include "graphs.hpp"

namespace warren {
namespace {

using ::testing::HasSubstr;

/// Everything that a partition tells, edge by edge.
void expect_counts(const Graph& graph, const PartitionResult& found, int parts) {
  const graph::Graph& csr = graph.csr();
  ASSERT_EQ(found.part.size(), graph.vertices());
  ASSERT_EQ(found.cuts.size(), static_cast<std::size_t>(parts) + 1);
  std::uint64_t cut = 0;
  std::vector<std::uint64_t> edges(static_cast<std::size_t>(parts), 0);
  std::set<std::pair<int, Vertex>> halo;
  std::set<Vertex> ids;
  for (Vertex v = 0; v < graph.vertices(); ++v) {
    const int p = found.part[v];
    const auto at = static_cast<std::size_t>(p);
    ASSERT_TRUE(p >= 0 && p < parts);
    ASSERT_TRUE(found.new_id[v] >= found.cuts[at] && found.new_id[v] < found.cuts[at + 1]);
    ids.insert(found.new_id[v]);
    for (const Vertex u : csr.neighbours(v)) {
      ++edges[at];
      if (found.part[u] == p) continue;
      ++cut;
      halo.insert({p, u});
    }
  }
  EXPECT_EQ(ids.size(), graph.vertices());
  EXPECT_EQ(found.cut_edges, cut);
  EXPECT_EQ(found.halo_rows, halo.size());
  EXPECT_EQ(found.volume.per_edge, cut);
  EXPECT_EQ(found.volume.once, halo.size());
  EXPECT_EQ(found.volume.broadcast, graph.vertices() * (static_cast<std::uint64_t>(parts) - 1));
  if (graph.edges() == 0) return;
  const double mean = static_cast<double>(graph.edges()) / parts;
  EXPECT_NEAR(found.imbalance, static_cast<double>(*std::ranges::max_element(edges)) / mean, 1e-9);
}

TEST(ApiPartition, TellsWhatACountOfEveryEdgeTells) {
  std::vector<std::string> methods = {"ranges", "random", "degree", "rabbit"};
  if (graph::metis_missing().empty()) methods.emplace_back("metis");
  for (const auto& [name, list] : reference::awkward_lists()) {
    if (list.vertices > 3000) continue;
    const Graph graph = fixtures::graph_of(list);
    for (const std::string& method : methods) {
      for (const int parts : {1, 3, 4}) {
        SCOPED_TRACE(name + ", " + method + ", " + std::to_string(parts));
        PartitionOptions options;
        options.parts = parts;
        options.method = method;
        const PartitionResult found = partition(graph, options);
        expect_counts(graph, found, parts);
        EXPECT_EQ(partition(graph, options).part, found.part);
      }
    }
  }
}

TEST(ApiPartition, OptionsOfWhatIsCounted) {
  const Graph graph = read("grid:20x10");
  const PartitionResult all = partition(graph, {.parts = 4, .workgroup = 2});
  EXPECT_GT(all.volume.cover, 0u);
  EXPECT_LT(all.between.once, all.volume.once);
  EXPECT_GT(all.between.once, 0u);
  EXPECT_EQ(partition(graph, {.parts = 4, .with_cover = false}).volume.cover, 0u);
  EXPECT_NE(partition(graph, {.method = "random", .seed = 2}).part,
            partition(graph, {.method = "random", .seed = 3}).part);
}

TEST(ApiReorder, PermutesAndKeepsEdgesWeightsAndNames) {
  const reference::EdgeList list =
      fixtures::with_small_weights(reference::random_list(90, 500, 8), true);
  const Graph plain = fixtures::graph_of(list);
  std::vector<std::string> names;
  for (Vertex v = 0; v < plain.vertices(); ++v) names.push_back("v" + std::to_string(v));
  const Graph graph(plain.csr(), names);
  for (const std::string order : {"rabbit", "degree", "random"}) {
    SCOPED_TRACE(order);
    const ReorderResult found = reorder(graph, {.order = order, .with_graph = true});
    ASSERT_EQ(found.new_id.size(), graph.vertices());
    const graph::Graph& turned = found.graph->csr();
    ASSERT_EQ(turned.edges(), graph.edges());
    for (Vertex v = 0; v < graph.vertices(); ++v) {
      const Vertex to = found.new_id[v];
      ASSERT_EQ(found.old_id[to], v);
      EXPECT_EQ(found.graph->names()[to], names[v]);
      std::set<std::pair<Vertex, float>> before, after;
      for (EdgeOffset e = graph.csr().offsets[v]; e < graph.csr().offsets[v + 1ul]; ++e)
        before.insert({found.new_id[graph.csr().targets[e]], graph.csr().weights_float[e]});
      for (EdgeOffset e = turned.offsets[to]; e < turned.offsets[to + 1ul]; ++e)
        after.insert({turned.targets[e], turned.weights_float[e]});
      ASSERT_EQ(before, after);
    }
    EXPECT_EQ(found.graph->find("v7"), found.new_id[7]);
    if (order != "degree") continue;
    for (Vertex id = 1; id < graph.vertices(); ++id)
      EXPECT_GE(turned.degree(id - 1), turned.degree(id));
  }
  EXPECT_FALSE(reorder(graph).graph);
  EXPECT_NE(reorder(graph, {.order = "random", .seed = 1}).new_id,
            reorder(graph, {.order = "random", .seed = 2}).new_id);
  EXPECT_TRUE(reorder(fixtures::graph_of({}), {.with_graph = true}).new_id.empty());
}

TEST(ApiPartition, BadArgumentsAreRefusedByName) {
  const Graph graph = read("grid:3x3");
  const auto refused = [&](const PartitionOptions& options) -> std::string {
    try {
      (void)partition(graph, options);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_THAT(refused({.method = "rangs"}), HasSubstr("method \"rangs\" is unknown; did you mean"));
  EXPECT_EQ(refused({.parts = 0}), "parts: got 0, expected 1 to 1024");
  EXPECT_EQ(refused({.parts = 1025}), "parts: got 1025, expected 1 to 1024");
  EXPECT_EQ(refused({.parts = 4, .workgroup = 3}),
            "workgroup: got 3, expected a divisor of the number of parts, 4");
  EXPECT_THROW((void)reorder(graph, {.order = "none"}), UsageError);
  EXPECT_EQ(
      refused({.method = "degree", .seed = 3}),
      "seed: got 3, but method \"degree\" draws nothing: leave it out, or choose method random "
      "or metis");
  EXPECT_THROW((void)reorder(graph, {.order = "degree", .seed = 1}), UsageError);
  EXPECT_EQ(reorder(graph, {.order = "random"}).new_id,
            reorder(graph, {.order = "random", .seed = 1}).new_id);
}

TEST(Partition, RunsAreTimedAndPartsLeftOut) {
  const Graph graph = read("kron:6", {.symmetrize = true});
  const PartitionResult found = partition(graph, {.with_parts = false, .repeat = 2});
  EXPECT_EQ(found.run_seconds.size(), 2u);
  EXPECT_TRUE(found.part.empty());
  EXPECT_EQ(found.cut_edges, partition(graph).cut_edges);
  EXPECT_THROW((void)partition(graph, {.repeat = -1}), UsageError);
}

TEST(Statistics, CountWhatAGraphHas) {
  const Graph star =
      from_edges(std::vector<Vertex>{0, 0, 0, 3}, std::vector<Vertex>{1, 2, 3, 3}, {}, 5);
  const StatisticsResult found = statistics(star, {.repeat = 3});
  EXPECT_EQ(found.max_degree, 3u);
  EXPECT_EQ(found.isolated, 1u);
  EXPECT_EQ(found.self_loops, 1u);
  EXPECT_FALSE(found.is_symmetric);
  EXPECT_EQ(found.run_seconds.size(), 3u);
}

}  // namespace
}  // namespace warren
