// SPDX-License-Identifier: Apache-2.0
// A function an algorithm: against sequential references, for every shape, number of ranks, mode
// and placement; limits; bad input.
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/traverse/verify.hpp"

#include "graphs.hpp"
#include "reference/traverse.hpp"
#include "support/message_of.hpp"

namespace warren {
namespace {

using fixtures::graph_of;
using fixtures::with_small_weights;
using ::testing::HasSubstr;
using testing_support::message_of;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check_parents(const Graph& graph, Vertex source, const BfsResult& found) {
  for (Vertex v = 0; v < graph.vertices(); ++v) {
    const Vertex parent = found.parent[v];
    if (found.depth[v] == kNoVertex) {
      EXPECT_EQ(parent, kNoVertex);
    } else if (v == source) {
      EXPECT_EQ(parent, source);
    } else {
      ASSERT_LT(parent, graph.vertices());
      EXPECT_EQ(found.depth[parent] + 1, found.depth[v]);
      EXPECT_TRUE(std::ranges::binary_search(graph.csr().neighbours(parent), v));
    }
  }
}

/// Every shape, directed and not, with 1 to 5 ranks.
void for_graphs(const std::function<reference::EdgeList(reference::EdgeList)>& weighted,
                const std::function<void(const Graph&, int)>& check) {
  for (const auto& [name, list] : reference::awkward_lists()) {
    for (const bool symmetrize : {false, true}) {
      ArrayOptions options;
      options.symmetrize = symmetrize;
      const Graph graph = graph_of(weighted(list), options);
      if (graph.vertices() == 0) continue;
      for (const int devices : {1, 2, 5}) {
        SCOPED_TRACE(name + (symmetrize ? ", both ways, " : ", ") + std::to_string(devices) +
                     " ranks");
        check(graph, devices);
      }
    }
  }
}

reference::EdgeList as_is(reference::EdgeList list) { return list; }

/// On the CPU, and on GPUs, which several ranks share where there are too few.
class ApiSearch : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    if (GetParam() == DeviceKind::cuda && exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
    session = started();
  }
  [[nodiscard]] static Session started() {
    return Session({.device = GetParam(), .share_devices = true});
  }
  std::optional<Session> session;
};

TEST_P(ApiSearch, DepthsAreThoseOfAQueue) {
  for_graphs(as_is, [&](const Graph& graph, int devices) {
    for (const Vertex source : {Vertex{0}, static_cast<Vertex>(graph.vertices() - 1)}) {
      const BfsResult found =
          bfs(graph, {.source = source, .devices = devices, .session = session});
      EXPECT_EQ(found.depth, reference::bfs_depths(graph.csr(), source));
      check_parents(graph, source, found);
      EXPECT_EQ(found.reached, static_cast<std::uint64_t>(std::ranges::count_if(
                                   found.depth, [](Vertex depth) { return depth != kNoVertex; })));
      EXPECT_EQ(found.info.devices, devices);
    }
  });
}

TEST_P(ApiSearch, EveryModeAndPlacementFindsTheSame) {
  const Graph graph = graph_of(with_small_weights(reference::random_list(800, 3000, 4), false));
  const auto depths = reference::bfs_depths(graph.csr(), 3);
  const auto distances = reference::integer_distances(graph.csr(), 3);
  for (const Mode mode : {Mode::automatic, Mode::synchronous, Mode::asynchronous}) {
    for (const Edges edges : {Edges::device, Edges::host, Edges::compressed_host}) {
      if (mode == Mode::asynchronous && edges == Edges::compressed_host) continue;
      for (int time = 0; time < 3; ++time) {
        const BfsResult found = bfs(
            graph, {.source = 3, .mode = mode, .edges = edges, .devices = 2, .session = session});
        EXPECT_EQ(found.depth, depths);
        EXPECT_EQ(found.info.edges, edges);
        const SsspResult far =
            sssp(graph, {.source = 3, .mode = mode, .edges = edges, .session = session});
        // Not reached: -1, which has the bits of the reference's mark.
        for (std::size_t v = 0; v < distances.size(); ++v)
          EXPECT_EQ(static_cast<std::uint64_t>(far.distance[v]), distances[v]);
      }
    }
  }
}

TEST_P(ApiSearch, DistancesAreDijkstras) {
  for (const bool are_floats : {false, true}) {
    for_graphs([&](reference::EdgeList list) { return with_small_weights(list, are_floats); },
               [&](const Graph& graph, int devices) {
                 const SsspResult found = sssp(graph, {.devices = devices, .session = session});
                 const bool is_integer = !are_floats || graph.edges() == 0;
                 ASSERT_EQ(found.is_integer, is_integer);
                 std::uint64_t reached = 0;
                 if (is_integer) {
                   const auto right = reference::integer_distances(graph.csr(), 0);
                   ASSERT_EQ(found.distance.size(), right.size());
                   for (std::size_t v = 0; v < right.size(); ++v) {
                     EXPECT_EQ(static_cast<std::uint64_t>(found.distance[v]), right[v]);
                     reached += found.distance[v] >= 0 ? 1 : 0;
                   }
                 } else {
                   EXPECT_EQ(found.real_distance, reference::real_distances(graph.csr(), 0));
                   for (const double value : found.real_distance)
                     reached += value != kInfinity ? 1 : 0;
                 }
                 EXPECT_EQ(found.reached, reached);
               });
  }
}

TEST_P(ApiSearch, LimitsCutOff) {
  const Graph path = read("grid:10x1", {.weights = "uniform:2:2"});
  const BfsResult near = bfs(path, {.source = 0, .depth_limit = 3, .session = session});
  EXPECT_EQ(near.reached, 4u);
  EXPECT_EQ(near.max_depth, 3u);
  EXPECT_EQ(near.depth[3], 3u);
  EXPECT_EQ(near.depth[4], kNoVertex);
  EXPECT_EQ(near.parent[4], kNoVertex);
  EXPECT_EQ(bfs(path, {.source = 0, .depth_limit = 9, .session = session}).reached, 10u);
  EXPECT_EQ(bfs(path, {.source = 0, .depth_limit = 0, .session = session}).reached, 1u);
  const SsspResult cheap = sssp(path, {.source = 0, .cutoff = 6.0, .session = session});
  EXPECT_EQ(cheap.reached, 4u);
  EXPECT_EQ(cheap.distance[3], 6);
  EXPECT_EQ(cheap.distance[4], -1);
}

TEST_P(ApiSearch, TargetsEndASearchAndSourcesShareOne) {
  const Graph path = read("grid:10x1", {.weights = "uniform:2:2"});
  for (const Mode mode : {Mode::automatic, Mode::synchronous, Mode::asynchronous}) {
    for (const int devices : {1, 2}) {
      const BfsResult near = bfs(
          path,
          {.source = 4, .targets = {6, 3}, .mode = mode, .devices = devices, .session = session});
      EXPECT_EQ(near.reached, 5u);
      EXPECT_EQ(near.max_depth, 2u);
      EXPECT_EQ(near.depth[1], kNoVertex);
      const SsspResult cheap = sssp(path, {.source = 4,
                                           .cutoff = 9.0,
                                           .targets = {2},
                                           .mode = mode,
                                           .devices = devices,
                                           .session = session});
      EXPECT_EQ(cheap.reached, 5u);
      EXPECT_EQ(cheap.distance[7], -1);
      if (mode == Mode::asynchronous) continue;
      EXPECT_EQ(near.info.mode, Mode::synchronous);
      EXPECT_EQ(near.info.mode_reason.empty(), mode != Mode::automatic);
      const BfsResult both =
          bfs(path, {.sources = {9, 0}, .mode = mode, .devices = devices, .session = session});
      EXPECT_EQ(both.depth, (std::vector<Vertex>{0, 1, 2, 3, 4, 4, 3, 2, 1, 0}));
      EXPECT_EQ(both.parent[9], 9u);
      EXPECT_EQ(both.reached, 10u);
      const SsspResult nearest = sssp(path, {.sources = {9, 0},
                                             .mode = mode,
                                             .run = {.verify = true},
                                             .devices = devices,
                                             .session = session});
      EXPECT_EQ(nearest.sources, (std::vector<Vertex>{9, 0}));
      EXPECT_EQ(nearest.reached, 10u);
      EXPECT_EQ(nearest.distance[0], 0);
      EXPECT_EQ(nearest.distance[9], 0);
      EXPECT_TRUE(nearest.info.verdict.has_value() && nearest.info.verdict->correct);
    }
  }
  EXPECT_THAT(
      message_of([&] { (void)bfs(path, {.source = 1, .sources = {2}, .session = session}); }),
      HasSubstr("one or the other"));
  EXPECT_THROW((void)bfs(path, {.targets = {10}, .session = session}), VertexError);
  EXPECT_THROW((void)bfs(path, {.sources = {10}, .session = session}), VertexError);
  EXPECT_THROW((void)sssp(path, {.targets = {10}, .session = session}), VertexError);
  EXPECT_THROW((void)sssp(path, {.sources = {10}, .session = session}), VertexError);
  EXPECT_THROW((void)sssp(path, {.source = 1, .sources = {2}, .session = session}), UsageError);
  EXPECT_THROW(
      (void)sssp(path, {.sources = {1, 2}, .mode = Mode::asynchronous, .session = session}),
      UsageError);
  EXPECT_THROW((void)bfs(path, {.sources = {1, 2}, .mode = Mode::asynchronous, .session = session}),
               UsageError);
}

TEST_P(ApiSearch, ComponentsAreLabelledByTheirSmallest) {
  for_graphs(as_is, [&](const Graph& graph, int devices) {
    const ComponentsResult found =
        connected_components(graph, {.devices = devices, .session = session});
    const auto right = reference::component_labels(graph.csr());
    EXPECT_EQ(found.label, right);
    std::uint64_t components = 0;
    for (std::size_t v = 0; v < right.size(); ++v) components += right[v] == v ? 1 : 0;
    EXPECT_EQ(found.components, components);
    const auto by = [&](ComponentsForm form) {
      return connected_components(graph, {.form = form, .devices = devices, .session = session});
    };
    EXPECT_EQ(by(ComponentsForm::forest).label, right);
    EXPECT_EQ(by(ComponentsForm::forest).form, ComponentsForm::forest);
    if (graph.is_symmetric() || graph.vertices() == 0) {
      const ComponentsResult searched = by(ComponentsForm::search);
      EXPECT_EQ(searched.label, right);
      EXPECT_EQ(searched.components, components);
      EXPECT_EQ(searched.form, ComponentsForm::search);
    } else {
      EXPECT_THROW((void)by(ComponentsForm::search), UsageError);
    }
  });
}

TEST_P(ApiSearch, RanksAreThoseOfThePowerIteration) {
  for_graphs(
      [](reference::EdgeList list) { return with_small_weights(list, false); },
      [&](const Graph& graph, int devices) {
        const PageRankResult found = pagerank(
            graph,
            {.tolerance = 1e-10, .max_iterations = 500, .devices = devices, .session = session});
        EXPECT_TRUE(found.converged);
        const auto next = reference::pagerank_step(graph.csr(), 0.85, found.rank.to_vector());
        EXPECT_LT(reference::l1_distance(found.rank.to_vector(), next), 1e-9);
        const PageRankResult weighted = pagerank(graph, {.tolerance = 1e-10,
                                                         .max_iterations = 500,
                                                         .weighted = true,
                                                         .devices = devices,
                                                         .session = session});
        const auto then =
            reference::weighted_pagerank_step(graph.csr(), 0.85, weighted.rank.to_vector());
        EXPECT_LT(reference::l1_distance(weighted.rank.to_vector(), then), 1e-9);
      });
  const Graph star = graph_of({4, {{0, 1}, {0, 2}, {0, 3}}, {}, {}});
  const PageRankResult own = pagerank(star, {.tolerance = 1e-12,
                                             .max_iterations = 1000,
                                             .personalization = {2, 0, 0, 0},
                                             .session = session});
  EXPECT_NEAR(own.rank[0], 1.0 / 1.85, 1e-9);
  EXPECT_NEAR(own.rank[1], 0.85 / 1.85 / 3, 1e-9);
  const PageRankResult still =
      pagerank(star, {.max_iterations = 0, .start = {0, 3, 1, 0}, .session = session});
  EXPECT_EQ(still.rank[1], 0.75);
  const PageRankResult kept = pagerank(star, {.tolerance = 1e-12,
                                              .max_iterations = 1000,
                                              .personalization = {2, 0, 0, 0},
                                              .dangling = {0, 0, 0, 1},
                                              .run = {.verify = true},
                                              .session = session});
  EXPECT_NEAR(kept.rank[0], 0.15, 1e-9);
  EXPECT_NEAR(kept.rank[3], 1.0 - 0.15 - 2 * 0.85 * 0.05, 1e-9);
  EXPECT_TRUE(kept.info.verdict->correct);
  for (const auto& options :
       {PageRankOptions{.dangling = {1, 2}}, PageRankOptions{.start = {1, 2, -3, 0}},
        PageRankOptions{.start = {0, 0, 0, 0}},
        PageRankOptions{.dangling = {1, 1, 1, 1}, .mode = Mode::asynchronous}})
    EXPECT_THROW((void)pagerank(star, options), UsageError);
  EXPECT_THROW((void)pagerank(star, {.personalization = {1, 2}, .session = session}), UsageError);
  EXPECT_THROW((void)pagerank(star, {.personalization = {1, 2, -3, 0}, .session = session}),
               UsageError);
  const PageRankResult tasks =
      pagerank(graph_of(reference::random_list(500, 2500, 1)),
               {.mode = Mode::asynchronous, .devices = 2, .session = session});
  EXPECT_TRUE(tasks.converged);
}

TEST_P(ApiSearch, BetweennessIsVerified) {
  exec::ThreadPool pool(2);
  for_graphs(as_is, [&](const Graph& graph, int devices) {
    const BetweennessResult found =
        betweenness(graph, {.sample = 2, .devices = devices, .session = session});
    EXPECT_LE(found.sources.size(), 2u);
    EXPECT_TRUE(
        traverse::verify_betweenness(graph.csr(), found.sources, found.score, found.scale, pool)
            .correct);
  });
  // A path of five: of the ordered pairs the middle lies between eight, its neighbours between six.
  const Graph path = read("grid:5x1");
  EXPECT_EQ(betweenness(path, {.normalized = false, .session = session}).score,
            (std::vector<double>{0, 3, 4, 3, 0}));
  EXPECT_NEAR(betweenness(path, {.session = session}).score[2], 8.0 / 12.0, 1e-15);
  EXPECT_NEAR(betweenness(path, {.sources = {0}, .session = session}).score[2], 5.0 * 2.0 / 12.0,
              1e-15);
  EXPECT_THROW((void)betweenness(path, {.sources = {5}, .session = session}), VertexError);
  EXPECT_THROW((void)betweenness(path, {.sources = {1}, .sample = 2, .session = session}),
               UsageError);
  EXPECT_TRUE(betweenness(graph_of({}), {.session = session}).score.empty());
}

TEST_P(ApiSearch, CoresAndTrianglesAreVerified) {
  exec::ThreadPool pool(2);
  for_graphs(as_is, [&](const Graph& graph, int devices) {
    const CoreNumbersResult cores = core_numbers(graph, {.devices = devices, .session = session});
    EXPECT_TRUE(traverse::verify_cores(graph.csr(), cores.core).correct);
    EXPECT_EQ(cores.largest, *std::ranges::max_element(cores.core));
    if (!graph.without_weights().is_symmetric()) {
      EXPECT_THROW((void)triangles(graph, {.devices = devices, .session = session}), UsageError);
      return;
    }
    const TrianglesResult found = triangles(graph, {.devices = devices, .session = session});
    EXPECT_TRUE(traverse::verify_triangles(graph.csr(), found.count, pool).correct);
  });
  EXPECT_EQ(triangles(graph_of({3, {{0, 1}, {1, 0}, {0, 2}, {2, 0}, {1, 2}, {2, 1}}, {}, {}}),
                      {.session = session})
                .triangles,
            1u);
  // Weights that differ by direction.
  const Graph both =
      from_edges(std::vector<Vertex>{0, 1, 1, 2, 2, 0}, std::vector<Vertex>{1, 0, 2, 1, 0, 2},
                 std::vector<std::int32_t>{1, 2, 1, 1, 1, 1});
  EXPECT_FALSE(both.is_symmetric());
  EXPECT_EQ(triangles(both, {.session = session}).triangles, 1u);
  EXPECT_EQ(betweenness(both, {.normalized = false, .session = session}).scale, 0.5);
  EXPECT_THROW(
      (void)core_numbers(read("grid:2x2"), {.edges = Edges::compressed_host, .session = session}),
      UsageError);
}

TEST_P(ApiSearch, ChangedOptionsMakeTheAlgorithmAnew) {
  const Graph graph = graph_of(with_small_weights(reference::random_list(300, 900, 2), true));
  const auto right = reference::real_distances(graph.csr(), 1);
  for (const double delta : {0.0, 0.5, 8.0, 0.5}) {
    const SsspResult found = sssp(graph, {.source = 1, .delta = delta, .session = session});
    EXPECT_EQ(found.real_distance, right);
  }
  EXPECT_EQ(pagerank(graph, {.max_iterations = 1, .session = session}).iterations, 1u);
  EXPECT_GT(pagerank(graph, {.max_iterations = 50, .session = session}).iterations, 1u);
  EXPECT_NE(pagerank(graph, {.damping = 0.1, .session = session}).rank,
            pagerank(graph, {.damping = 0.9, .session = session}).rank);
}

TEST_P(ApiSearch, NothingIsFoundInNothing) {
  const Graph nothing = graph_of({});
  EXPECT_THROW((void)bfs(nothing, {.source = 0, .session = session}), VertexError);
  EXPECT_THROW((void)sssp(nothing, {.source = 0, .session = session}), VertexError);
  EXPECT_EQ(connected_components(nothing, {.session = session}).components, 0u);
  EXPECT_TRUE(core_numbers(nothing, {.session = session}).core.empty());
  EXPECT_EQ(triangles(nothing, {.session = session}).triangles, 0u);
  EXPECT_TRUE(pagerank(nothing, {.session = session}).rank.empty());
}

TEST_P(ApiSearch, BadArgumentsAreRefusedByName) {
  const Graph graph = read("grid:3x3");
  EXPECT_THAT(message_of([&] { (void)bfs(graph, {.source = 9, .session = session}); }),
              HasSubstr("source: got 9, expected a vertex, 0 to 8"));
  EXPECT_THAT(
      message_of([&] { (void)bfs(graph, {.source = 0, .devices = -1, .session = session}); }),
      HasSubstr("devices: got -1"));
  EXPECT_THROW((void)bfs(graph, {.source = 0, .devices = 33, .session = session}), UsageError);
  EXPECT_THROW((void)bfs(graph, {.source = 0,
                                 .mode = Mode::asynchronous,
                                 .edges = Edges::compressed_host,
                                 .session = session}),
               UsageError);
  EXPECT_THAT(message_of([&] { (void)sssp(graph, {.source = 0, .session = session}); }),
              HasSubstr("no weights"));
  const Graph negative = graph_of({2, {{0, 1}}, {-1}, {}});
  EXPECT_THROW((void)sssp(negative, {.source = 0, .session = session}), UsageError);
  const Graph weighted = read("grid:3x3", {.weights = "uniform:1:2"});
  EXPECT_THAT(
      message_of([&] { (void)sssp(weighted, {.source = 0, .delta = -1.0, .session = session}); }),
      HasSubstr("delta: got -1"));
  EXPECT_THAT(
      message_of([&] { (void)sssp(weighted, {.source = 0, .cutoff = -1.0, .session = session}); }),
      HasSubstr("cutoff: got -1"));
  EXPECT_THAT(message_of([&] { (void)pagerank(graph, {.damping = 1.0, .session = session}); }),
              HasSubstr("damping"));
  EXPECT_THAT(message_of([&] { (void)pagerank(graph, {.tolerance = NAN, .session = session}); }),
              HasSubstr("tolerance"));
  EXPECT_THAT(message_of([&] { (void)pagerank(graph, {.weighted = true, .session = session}); }),
              HasSubstr("no weights"));
  // None of these ended the session's team.
  EXPECT_EQ(bfs(graph, {.source = 0, .session = session}).reached, 9u);
}

/// `count` vertices around vertex 0.
Graph star(Vertex count) {
  reference::EdgeList list{count + std::uint64_t{1}, {}, {}, {}};
  for (Vertex v = 1; v <= count; ++v) list.edges.push_back({0, v});
  ArrayOptions options;
  options.symmetrize = true;
  return graph_of(list, options);
}

TEST_P(ApiSearch, ArraysShareTheirElementsAndOutliveTheSession) {
  const Graph graph = star(9);
  Array<Vertex> kept;
  std::vector<Vertex> depths;
  {
    const Session own = started();
    const BfsResult found = bfs(graph, {.session = own});
    depths = reference::bfs_depths(graph.csr(), 0);
    kept = found.depth;
    EXPECT_EQ(kept.data(), found.depth.data());
    // On a GPU they are there, and in host memory since they were read.
    EXPECT_EQ(kept.gpu() >= 0, found.info.device == DeviceKind::cuda);
    EXPECT_EQ(kept.gpu_data() != nullptr, kept.gpu() >= 0);
  }
  const BfsResult other = bfs(graph, {.source = 1, .session = session});  // In memory of its own.
  EXPECT_EQ(kept, depths);
  EXPECT_EQ(kept.to_vector(), depths);
  EXPECT_NE(kept.data(), other.depth.data());
  EXPECT_FALSE(kept == std::vector<Vertex>(3));
  const Array<double> nothing;
  EXPECT_TRUE(nothing.empty());
  EXPECT_TRUE(nothing.host().empty());
  EXPECT_EQ(nothing.begin(), nothing.end());
  EXPECT_EQ(nothing.gpu(), -1);
  EXPECT_EQ(nothing.gpu_data(), nullptr);
}

TEST_P(ApiSearch, ArraysAreReadByManyThreadsAtOnce) {
  const Graph graph = star(2000);
  const ComponentsResult found = connected_components(graph, {.session = session});
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, label = found.label] {
      right += std::ranges::count(label, Vertex{0}) == static_cast<std::int64_t>(label.size());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 4);
}

INSTANTIATE_TEST_SUITE_P(Cpu, ApiSearch, testing::Values(DeviceKind::cpu));
INSTANTIATE_TEST_SUITE_P(Cuda, ApiSearch, testing::Values(DeviceKind::cuda));

}  // namespace
}  // namespace warren
