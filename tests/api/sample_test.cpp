// SPDX-License-Identifier: Apache-2.0
// Sampled neighbourhoods as calls: edges of the graph, as many as asked for, the same on every
// number of ranks; and arguments that are refused.
#include <algorithm>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs.hpp"

namespace warren {
namespace {

using ::testing::HasSubstr;

/// What holds of every sample.
void check(const Graph& graph, const SampleOptions& options, const SampleResult& found) {
  const graph::Graph& csr = graph.csr();
  ASSERT_EQ(found.layers.size(), options.fanouts.size());
  ASSERT_TRUE(std::equal(options.seeds.begin(), options.seeds.end(), found.vertices.begin()));
  for (std::size_t h = 0; h < found.layers.size(); ++h) {
    const SampledLayer& layer = found.layers[h];
    ASSERT_EQ(layer.targets.size(), layer.offsets.back());
    ASSERT_EQ(layer.edge_ids.size(), layer.targets.size());
    for (std::size_t row = 0; row + 1 < layer.offsets.size(); ++row) {
      const Vertex v = found.vertices[row];
      const std::uint64_t degree = csr.offsets[v + std::uint64_t{1}] - csr.offsets[v];
      const auto fanout = static_cast<std::uint64_t>(options.fanouts[h]);
      std::set<EdgeOffset> different;
      for (EdgeOffset e = layer.offsets[row]; e < layer.offsets[row + 1]; ++e) {
        const EdgeOffset id = layer.edge_ids[e];
        ASSERT_TRUE(id >= csr.offsets[v] && id < csr.offsets[v + std::uint64_t{1}]);
        ASSERT_EQ(found.vertices[layer.targets[e]], csr.targets[id]);
        different.insert(id);
      }
      const std::uint64_t count = layer.offsets[row + 1] - layer.offsets[row];
      ASSERT_EQ(count, options.fanouts[h] < 0 ? degree
                       : options.replace      ? (degree == 0 ? 0 : fanout)
                                              : std::min(degree, fanout));
      if (!options.replace) {
        ASSERT_EQ(different.size(), count);
      }
    }
  }
}

TEST(ApiSample, EdgesAreOfTheGraphAndTheSameOnAnyRanks) {
  const Graph graph =
      fixtures::graph_of(fixtures::with_small_weights(reference::random_list(200, 1500, 4), true));
  for (const bool replace : {false, true}) {
    for (const bool disjoint : {false, true}) {
      SampleOptions options;
      options.seeds = {5, 9, 5, 199};
      options.fanouts = {4, 3};
      options.replace = replace;
      options.disjoint = disjoint;
      options.device = DeviceKind::cpu;
      const SampleResult one = sample_neighbours(graph, options);
      check(graph, options, one);
      EXPECT_EQ(one.trees.size(), disjoint ? one.vertices.size() : 0u);
      options.devices = 3;
      const SampleResult three = sample_neighbours(graph, options);
      EXPECT_EQ(three.info.devices, 3);
      EXPECT_EQ(three.vertices, one.vertices);
      for (std::size_t h = 0; h < 2; ++h) {
        EXPECT_EQ(three.layers[h].targets, one.layers[h].targets);
        EXPECT_EQ(three.layers[h].edge_ids, one.layers[h].edge_ids);
      }
      options.batch = 1;
      EXPECT_NE(sample_neighbours(graph, options).layers[0].edge_ids, one.layers[0].edge_ids);
    }
  }
}

TEST(ApiSample, AllNeighboursAndWeights) {
  const Graph graph = fixtures::graph_of({4, {{0, 1}, {0, 2}, {0, 3}, {1, 0}}, {0, 5, 0, 1}, {}});
  SampleOptions options;
  options.seeds = {0};
  options.fanouts = {-1, 2};
  const SampleResult all = sample_neighbours(graph, options);
  check(graph, options, all);
  EXPECT_EQ(all.vertices, (std::vector<Vertex>{0, 1, 2, 3}));
  // Edges of weight 0 are never drawn.
  options.weighted = true;
  options.fanouts = {2};
  EXPECT_EQ(sample_neighbours(graph, options).vertices, (std::vector<Vertex>{0, 2}));
}

TEST(ApiSample, BadArgumentsAreRefusedByName) {
  const Graph graph = read("grid:3x3");
  const auto refused = [&](const SampleOptions& options) -> std::string {
    try {
      (void)sample_neighbours(graph, options);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_EQ(refused({.fanouts = {1}}), "seeds: got none, expected one or more");
  EXPECT_EQ(refused({.seeds = {9}, .fanouts = {1}}), "seeds: got 9, expected a vertex, 0 to 8");
  EXPECT_THAT(refused({.seeds = {1}}), HasSubstr("fanout: got none"));
  EXPECT_THAT(refused({.seeds = {1}, .fanouts = {0}}), HasSubstr("fanout 0: a hop takes"));
  EXPECT_THAT(refused({.seeds = {1}, .fanouts = {2}, .weighted = true}),
              HasSubstr("weighted: the"));
  EXPECT_THAT(refused({.seeds = {1}, .fanouts = {2}, .edges = Edges::compressed_host}),
              HasSubstr("edges: got compressed"));
}

}  // namespace
}  // namespace warren
