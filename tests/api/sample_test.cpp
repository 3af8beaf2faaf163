// SPDX-License-Identifier: Apache-2.0
// Sampled neighbourhoods as calls: edges of the graph, as many as asked for, the same on every
// number of ranks; and arguments that are refused.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
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

/// Batch b of many is the sample that is numbered so.
void check_batches(const Graph& graph, const SampleBatchesOptions& options) {
  const SampleBatchesResult all = sample_batches(graph, options);
  const std::uint64_t seeds = options.seeds.size();
  ASSERT_EQ(all.batches(), (seeds + options.batch_size - 1) / options.batch_size);
  ASSERT_EQ(all.layers.size(), options.fanouts.size());
  for (std::uint64_t b = 0; b < all.batches(); ++b) {
    SCOPED_TRACE("batch " + std::to_string(b));
    const std::uint64_t first = b * options.batch_size;
    const auto begin = options.seeds.begin() + static_cast<std::ptrdiff_t>(first);
    SampleOptions one;
    one.seeds.assign(
        begin, begin + static_cast<std::ptrdiff_t>(std::min(options.batch_size, seeds - first)));
    one.fanouts = options.fanouts;
    one.replace = options.replace;
    one.disjoint = options.disjoint;
    one.seed = options.seed;
    one.batch = options.batch + b;
    one.device = options.device;
    const SampleResult alone = sample_neighbours(graph, one);
    const auto part = [&](const auto& array, const std::vector<std::uint64_t>& begins) {
      return array.host().subspan(begins[b], begins[b + 1] - begins[b]);
    };
    const auto same = [](const auto& x, const auto& y) { return std::ranges::equal(x, y); };
    EXPECT_TRUE(same(part(all.vertices, all.vertex_begins), alone.vertices));
    if (options.disjoint) {
      EXPECT_TRUE(same(part(all.trees, all.vertex_begins), alone.trees));
    }
    for (std::size_t h = 0; h < options.fanouts.size(); ++h) {
      const SampledLayers& layer = all.layers[h];
      EXPECT_TRUE(same(part(layer.offsets, layer.offset_begins), alone.layers[h].offsets));
      EXPECT_TRUE(same(part(layer.targets, layer.edge_begins), alone.layers[h].targets));
      if (options.edge_ids) {
        EXPECT_TRUE(same(part(layer.edge_ids, layer.edge_begins), alone.layers[h].edge_ids));
      } else {
        EXPECT_TRUE(layer.edge_ids.empty());
      }
    }
  }
}

class ApiSampleBatches : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    if (GetParam() == DeviceKind::cuda && exec::cuda_device_count() == 0)
      GTEST_SKIP() << "there is no GPU";
  }
};

TEST_P(ApiSampleBatches, AreTheBatchesThatAreSampledAlone) {
  const Graph graph = fixtures::graph_of(reference::random_list(300, 2000, 4));
  SampleBatchesOptions options;
  for (Vertex v = 0; v < 47; ++v) options.seeds.push_back(v * 31 % 300);
  options.device = GetParam();
  options.batch = 11;
  const bool on_gpu = GetParam() == DeviceKind::cuda;
  const std::vector<int> gpus{1, exec::cuda_device_count()};
  for (const int devices : on_gpu ? gpus : std::vector<int>{1, 2, 3, 4, 12}) {
    for (const std::uint64_t size : {1, 5, 40, 1000}) {
      for (const std::uint32_t in_flight : {0u, 3u}) {
        options.devices = devices;
        options.batch_size = size;
        options.in_flight = in_flight;
        options.fanouts =
            size == 5 ? std::vector<std::int64_t>{3} : std::vector<std::int64_t>{4, -1};
        options.replace = size == 40;
        options.disjoint = size == 5;
        options.edge_ids = in_flight == 3;
        SCOPED_TRACE(std::to_string(devices) + " ranks, batches of " + std::to_string(size));
        check_batches(graph, options);
      }
    }
  }
}

TEST_P(ApiSampleBatches, StayOnTheGpu) {
  const Graph graph = read("kron:8");
  SampleBatchesOptions options;
  options.seeds = {1, 2, 3};
  options.fanouts = {2};
  options.batch_size = 2;
  options.device = GetParam();
  const SampleBatchesResult all = sample_batches(graph, options);
  EXPECT_EQ(all.vertices.gpu() >= 0, GetParam() == DeviceKind::cuda);
  EXPECT_EQ(all.layers[0].targets.gpu_data() != nullptr, GetParam() == DeviceKind::cuda);
}

INSTANTIATE_TEST_SUITE_P(Cpu, ApiSampleBatches, testing::Values(DeviceKind::cpu));
INSTANTIATE_TEST_SUITE_P(Cuda, ApiSampleBatches, testing::Values(DeviceKind::cuda));

TEST(ApiSample, BatchesOfNoSize) {
  SampleBatchesOptions options;
  options.seeds = {0};
  options.fanouts = {1};
  options.batch_size = 0;
  EXPECT_THAT(
      [&] {
        (void)sample_batches(fixtures::graph_of({2, {{0, 1}}, {}, {}}), options);
      },
      ::testing::ThrowsMessage<UsageError>(HasSubstr("batch_size: got 0")));
  options.batch_size = 1;
  options.batch = std::uint64_t{1} << 48;
  EXPECT_THAT(
      [&] {
        (void)sample_batches(fixtures::graph_of({2, {{0, 1}}, {}, {}}), options);
      },
      ::testing::ThrowsMessage<UsageError>(HasSubstr("batch: got 281474976710656")));
  options.batch = 0;
  options.seeds = {2};
  EXPECT_THROW((void)sample_batches(fixtures::graph_of({2, {{0, 1}}, {}, {}}), options),
               VertexError);
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

TEST(ApiSample, SharedNeighboursAreTheSameOnAnyRanksAndInBatches) {
  const Graph graph =
      fixtures::graph_of(fixtures::with_small_weights(reference::random_list(200, 4000, 4), true));
  for (const bool weighted : {false, true}) {
    for (const bool dependent : {false, true}) {
      SampleOptions options;
      options.seeds = {5, 9, 5, 199};
      options.fanouts = {4, 3};
      options.labor = true;
      options.weighted = weighted;
      options.layer_dependency = dependent;
      options.device = DeviceKind::cpu;
      const SampleResult one = sample_neighbours(graph, options);
      if (!weighted) check(graph, options, one);
      // A seed that is repeated has the same neighbours.
      const auto row = [&](std::size_t i) {
        const SampledLayer& layer = one.layers[0];
        return std::vector<Vertex>(
            layer.targets.begin() + static_cast<std::ptrdiff_t>(layer.offsets[i]),
            layer.targets.begin() + static_cast<std::ptrdiff_t>(layer.offsets[i + 1]));
      };
      EXPECT_EQ(row(0), row(2));
      SampleBatchesOptions many;
      many.seeds = {1, 2, 3, 4, 5, 9, 5, 199};
      many.batch_size = 4;
      many.fanouts = options.fanouts;
      many.labor = true;
      many.weighted = weighted;
      many.layer_dependency = dependent;
      many.device = DeviceKind::cpu;
      options.batch = 1;
      const SampleResult second = sample_neighbours(graph, options);
      EXPECT_NE(second.vertices, one.vertices);
      for (const int devices : {1, 2, 3, 4}) {
        options.devices = many.devices = devices;
        EXPECT_EQ(sample_neighbours(graph, options).vertices, second.vertices);
        const SampleBatchesResult all = sample_batches(graph, many);
        EXPECT_TRUE(
            std::ranges::equal(all.vertices.host().subspan(all.vertex_begins[1]), second.vertices));
      }
    }
  }
}

TEST(ApiSample, ByTime) {
  // 0 has edges to 1, 2, 3, 4 of times 9, 2, 7, 2; each of these back to 0, of time 5.
  const Graph graph = fixtures::graph_of(
      {5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 0}, {2, 0}, {3, 0}, {4, 0}}, {}, {}});
  SampleOptions options;
  options.seeds = {0, 0, 2};
  options.fanouts = {-1};
  options.edge_times = std::make_shared<const std::vector<std::int64_t>>(
      std::vector<std::int64_t>{9, 2, 7, 2, 5, 5, 5, 5});
  options.seed_times = {1, 7, 5};
  const SampleResult all = sample_neighbours(graph, options);
  EXPECT_EQ(all.vertices, (std::vector<Vertex>{0, 0, 2, 2, 4, 3, 0}));
  EXPECT_EQ(all.trees, (std::vector<Vertex>{0, 1, 2, 1, 1, 1, 2}));
  EXPECT_EQ(all.layers[0].edge_ids, (std::vector<EdgeOffset>{1, 3, 2, 5}));
  options.fanouts = {2, 1};
  options.temporal_last = true;
  for (const int devices : {1, 2, 3}) {
    options.devices = devices;
    const SampleResult last = sample_neighbours(graph, options);
    EXPECT_EQ(last.layers[0].edge_ids, (std::vector<EdgeOffset>{3, 2, 5}));
    SampleBatchesOptions many;
    many.seeds = options.seeds;
    many.fanouts = options.fanouts;
    many.edge_times = options.edge_times;
    many.seed_times = options.seed_times;
    many.temporal_last = true;
    many.edge_ids = true;
    many.batch_size = 2;
    many.devices = devices;
    const SampleBatchesResult both = sample_batches(graph, many);
    EXPECT_TRUE(
        std::ranges::equal(both.layers[0].edge_ids.host(), std::vector<EdgeOffset>{3, 2, 5}));
    EXPECT_EQ(both.trees.size(), both.vertices.size());
  }
  // Other times are sampled by, be they in the same place.
  options.edge_times = std::make_shared<const std::vector<std::int64_t>>(8, 0);
  EXPECT_EQ(sample_neighbours(graph, options).layers[0].edge_ids,
            (std::vector<EdgeOffset>{2, 3, 2, 3, 5}));
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
  EXPECT_THAT(refused({.seeds = {1}, .fanouts = {2}, .replace = true, .labor = true}),
              HasSubstr("labor: takes different"));
  EXPECT_THAT(refused({.seeds = {1}, .fanouts = {2}, .labor = true, .disjoint = true}),
              HasSubstr("labor: vertices share"));
  EXPECT_THAT(refused({.seeds = {1}, .fanouts = {2}, .layer_dependency = true}),
              HasSubstr("layer_dependency: is for labor"));
  EXPECT_THAT(refused({.seeds = {1}, .fanouts = {2}, .temporal_last = true}),
              HasSubstr("temporal_last: is for edge_times"));
  EXPECT_THAT(refused({.seeds = {1}, .fanouts = {2}, .seed_times = {3}}),
              HasSubstr("seed_times: are for edge_times"));
  const auto times = [&](std::uint64_t count) {
    return std::make_shared<const std::vector<std::int64_t>>(count, 1);
  };
  EXPECT_THAT(refused({.seeds = {1}, .fanouts = {2}, .edge_times = times(3), .seed_times = {3}}),
              HasSubstr("edge_times: got 3 times"));
  const std::uint64_t m = graph.edges();
  EXPECT_THAT(refused({.seeds = {1}, .fanouts = {2}, .edge_times = times(m)}),
              HasSubstr("seed_times: got 0 times, expected one for each of 1 seeds"));
  EXPECT_THAT(refused({.seeds = {1}, .fanouts = {2}, .labor = true, .edge_times = times(m)}),
              HasSubstr("labor: vertices share"));
  EXPECT_THAT(refused({.seeds = {1},
                       .fanouts = {2},
                       .replace = true,
                       .edge_times = times(m),
                       .seed_times = {3},
                       .temporal_last = true}),
              HasSubstr("temporal_last: takes the latest"));
  EXPECT_THAT(refused({.seeds = {1}, .fanouts = {2}, .edges = Edges::compressed_host}),
              HasSubstr("edges: got compressed"));
}

TEST(SampleBatches, AnInterruptEndsThemBetweenBatchesAndHops) {
  // A draw by weights looks at all of the many neighbours.
  constexpr std::uint32_t kLeaves = 100'000;
  std::vector<Vertex> leaves(kLeaves);
  std::iota(leaves.begin(), leaves.end(), 1);
  const std::vector<Vertex> middle(kLeaves, 0);
  const std::vector<float> weights(kLeaves, 1.0f);
  const Graph graph = from_edges(middle, leaves, weights, kLeaves + 1, {.symmetrize = true});
  const Session session({.device = DeviceKind::cpu});
  struct Case {
    int devices;
    std::uint64_t seeds, batch_size;
    std::size_t hops;
  };
  for (const Case& one : {Case{1, 40'000, 16, 1}, Case{2, 40'000, 16, 1}, Case{1, 100, 100, 16}}) {
    SampleBatchesOptions options;
    options.session = session;
    options.devices = one.devices;
    options.weighted = true;
    options.seeds.assign(one.seeds, 0);
    options.fanouts.assign(one.hops, 1);
    options.batch_size = one.batch_size;
    const auto begin = std::chrono::steady_clock::now();
    std::atomic<bool> has_asked{false};
    set_interrupt_check([&] { return has_asked.exchange(true); });  // At the second look.
    EXPECT_THROW((void)sample_batches(graph, options), Interrupted);
    set_interrupt_check({});
    // All of them take far longer.
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(6));
    options.seeds.assign(10, 5);
    options.batch_size = 10;
    EXPECT_EQ(sample_batches(graph, options).batches(), 1u);
  }
}

}  // namespace
}  // namespace warren
