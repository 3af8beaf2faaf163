// SPDX-License-Identifier: Apache-2.0
// Where and how calls run: partitions whose order no result shows, repeats, checks, what is told of
// a run, and algorithms of the program's own on the ranks' parts.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/graph/partition_metis.hpp"

#include "graphs.hpp"
#include "reference/traverse.hpp"

namespace warren {
namespace {

using fixtures::graph_of;
using fixtures::with_small_weights;
using ::testing::HasSubstr;

constexpr int kRanks = 3;

/// On the CPU, and on GPUs, which several ranks share where there are too few.
class ApiRun : public ::testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    if (GetParam() == DeviceKind::cuda && exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
    session = Session({.device = GetParam(), .threads = 2, .share_devices = true});
  }
  template <class Options>
  Options on(const std::string& method, Options options = {}) const {
    options.placement.method = method;
    options.placement.seed = 5;
    options.devices = kRanks;
    options.session = session;
    options.run.verify = true;
    return options;
  }

  std::optional<Session> session;
  const Graph graph = graph_of(with_small_weights(reference::random_list(300, 1200, 2), false),
                               {.symmetrize = true});
};

TEST_P(ApiRun, ResultsAreInTheGraphsOrderWhateverTheMethod) {
  std::vector<double> starts(graph.vertices(), 0.0);
  starts[7] = 1.0;
  for (const char* method : {"ranges", "random", "degree", "rabbit"}) {
    SCOPED_TRACE(method);
    for (const Mode mode : {Mode::synchronous, Mode::asynchronous}) {
      const BfsResult depths = bfs(graph, on<BfsOptions>(method, {.source = 7, .mode = mode}));
      EXPECT_EQ(depths.depth, reference::bfs_depths(graph.csr(), 7));
      EXPECT_TRUE(depths.info.verdict->correct) << depths.info.verdict->message;
      const SsspResult found = sssp(graph, on<SsspOptions>(method, {.source = 7, .mode = mode}));
      EXPECT_TRUE(found.info.verdict->correct) << found.info.verdict->message;
      EXPECT_EQ(found.info.report.has_value(), mode == Mode::asynchronous);
    }
    EXPECT_EQ(bfs(graph, on<BfsOptions>(method, {.source = 7, .targets = {9}})).depth[9],
              reference::bfs_depths(graph.csr(), 7)[9]);
    EXPECT_TRUE(connected_components(graph, on<ComponentsOptions>(method)).info.verdict->correct);
    EXPECT_TRUE(core_numbers(graph, on<CoreNumbersOptions>(method)).info.verdict->correct);
    EXPECT_TRUE(triangles(graph, on<TrianglesOptions>(method)).info.verdict->correct);
    EXPECT_TRUE(betweenness(graph, on<BetweennessOptions>(method, {.sources = {7, 9}}))
                    .info.verdict->correct);
    const PageRankResult ranks =
        pagerank(graph, on<PageRankOptions>(method, {.personalization = starts, .top = 3}));
    EXPECT_TRUE(ranks.info.verdict->correct) << ranks.info.verdict->message;
    ASSERT_EQ(ranks.top.size(), 3u);
    EXPECT_EQ(ranks.top[0].rank, std::ranges::max(ranks.rank));
    EXPECT_EQ(ranks.rank[ranks.top[2].vertex], ranks.top[2].rank);
  }
}

/// METIS leaves the order of a graph with one part as it is; the others do not.
TEST_P(ApiRun, OneRankTakesEveryMethod) {
  const auto expected = reference::bfs_depths(graph.csr(), 7);
  for (const char* method : {"ranges", "random", "degree", "rabbit", "metis"}) {
    SCOPED_TRACE(method);
    if (method == std::string("metis") && !graph::metis_missing().empty())
      GTEST_SKIP() << graph::metis_missing();  // The last one.
    for (const Edges edges : {Edges::device, Edges::compressed_host}) {
      auto options = on<BfsOptions>(method, {.source = 7});
      options.devices = 1;
      options.edges = edges;
      EXPECT_EQ(bfs(graph, options).depth, expected);
    }
  }
}

TEST_P(ApiRun, EveryTimedRunIsTold) {
  BfsOptions options{.source = 1, .session = session};
  EXPECT_EQ(bfs(graph, options).info.run_seconds.size(), 1u);
  options.run = {.repeat = 4, .arrays = ResultArrays::none};
  const BfsResult found = bfs(graph, options);
  EXPECT_EQ(found.info.run_seconds.size(), 4u);
  EXPECT_EQ(found.info.seconds, found.info.run_seconds.back());
  EXPECT_TRUE(found.depth.empty());
  EXPECT_FALSE(found.info.verdict);
}

TEST_P(ApiRun, FiguresAreTheDepthsOwn) {
  reference::EdgeList list{5, {{0, 1}, {1, 2}, {1, 1}, {3, 4}}, {}, {}};
  const Graph loops = graph_of(list, {.symmetrize = true});
  BfsOptions options{.source = 0, .figures = true, .levels = true, .session = session};
  options.run.arrays = ResultArrays::none;
  const BfsResult found = bfs(loops, options);
  EXPECT_EQ(found.figures.sum_depth, 3u);
  EXPECT_EQ(found.figures.traversed_edges, 3u);  // A self-loop among them, held once.
  EXPECT_EQ(found.levels, (std::vector<std::uint64_t>{1, 1, 1}));
}

TEST_P(ApiRun, SearchesTogetherReachWhatEachReachesAlone) {
  const BfsTogetherResult found =
      bfs_together(graph, on<BfsTogetherOptions>("random", {.sources = {3, 100, 3}}));
  EXPECT_TRUE(found.info.verdict->correct);
  ASSERT_EQ(found.reach.size(), 3u);
  const BfsResult alone = bfs(graph, {.source = 100, .session = session});
  EXPECT_EQ(found.reach[1].source, 100u);
  EXPECT_EQ(found.reach[1].reached, alone.reached);
  EXPECT_EQ(found.reach[1].max_depth, alone.max_depth);
}

TEST_P(ApiRun, RanksHaveTheirPartsOfTheGraph) {
  if (GetParam() == DeviceKind::cuda) GTEST_SKIP() << "rows are read on the host";
  WhereOptions where;
  where.placement.method = "random";
  where.devices = kRanks;
  where.session = session;
  std::mutex mutex;
  std::vector<std::uint64_t> degrees(graph.vertices(), 0);
  on_ranks(graph, where, [&](team::Team&, const RankPart& part) {
    const std::scoped_lock lock(mutex);
    for (Vertex row = 0; row < part.shard.out.count; ++row)
      degrees[part.order.to_old(part.shard.out.first + row)] += part.shard.out.degree(row);
  });
  for (Vertex v = 0; v < graph.vertices(); ++v)
    EXPECT_EQ(degrees[v], graph.csr().neighbours(v).size());
}

TEST_P(ApiRun, ALateDrawingIsTheSameGraph) {
  const Graph late = read("kron:8", {.symmetrize = true, .draws_late = true});
  const Graph now = read("kron:8", {.symmetrize = true});
  EXPECT_TRUE(late.is_symmetric());
  EXPECT_EQ(core_numbers(late, {.session = session}).core,
            core_numbers(now, {.session = session}).core);
  EXPECT_EQ(late.edges(), now.edges());
}

TEST_P(ApiRun, WeightsOfALateDrawingAreThoseOfTheSameGraph) {
  for (const char* weights : {"uniform:1:64", "uniform:0:1000"}) {
    const Graph now = read("kron:8", {.symmetrize = true, .weights = weights, .seed = 3});
    const SsspResult expected = sssp(now, {.source = 5, .session = session});
    for (const Edges edges : {Edges::device, Edges::host, Edges::compressed_host}) {
      for (const char* method : {"ranges", "degree", "random"}) {
        const Graph late =
            read("kron:8", {.symmetrize = true, .weights = weights, .seed = 3, .draws_late = true});
        EXPECT_TRUE(late.is_weighted());
        SsspOptions options{.source = 5, .session = session};
        options.edges = edges;
        options.placement.method = method;
        options.run.verify = true;
        const SsspResult found = sssp(late, options);
        EXPECT_TRUE(found.is_integer);
        ASSERT_TRUE(found.info.verdict.has_value());
        EXPECT_TRUE(found.info.verdict->correct) << found.info.verdict->message;
        EXPECT_EQ(found.distance.to_vector(), expected.distance.to_vector());
        // Fetched from the ranks, or built.
        const auto mine = late.csr().weights_int.span(), right = now.csr().weights_int.span();
        EXPECT_TRUE(std::ranges::equal(mine, right));
      }
    }
  }
}

TEST_P(ApiRun, ALateDrawingWithoutItsWeightsHasNone) {
  const Graph late =
      read("kron:8", {.symmetrize = true, .weights = "uniform:1:9", .draws_late = true});
  const Graph plain = late.without_weights();
  EXPECT_FALSE(plain.is_weighted());
  EXPECT_TRUE(late.is_weighted());
  EXPECT_EQ(plain.edges(), late.edges());
  EXPECT_THROW((void)sssp(plain, {.session = session}), UsageError);
  EXPECT_THROW((void)read("kron:8", {.weights = "file", .draws_late = true}), InputError);
  EXPECT_THROW((void)read("kron:8", {.weights = "uniform:9:1", .draws_late = true}), UsageError);
}

TEST_P(ApiRun, DecimalsOfAFileAreKeptExactly) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "decimals.wel";
  std::ofstream(path) << "0 1 0.29\n1 2 0.01\n2 3 0.5\n";
  const Graph decimals = read(path.string(), {.exact_decimals = true});
  std::filesystem::remove(path);
  const SsspResult found = sssp(decimals, {.source = 0, .cutoff = 0.29, .session = session});
  EXPECT_TRUE(found.is_integer);
  EXPECT_EQ(found.scale, 100);
  EXPECT_EQ(found.distance, (std::vector<std::int64_t>{0, 29, -1, -1}));
}

TEST_P(ApiRun, OptionsThatDoNotGoTogetherAreRefused) {
  const auto refused = [&](BfsOptions options) -> std::string {
    options.session = session;
    try {
      (void)bfs(graph, options);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_THAT(refused({.placement = {.method = "degrees"}}), HasSubstr("method \"degrees\""));
  EXPECT_THAT(refused({.placement = {.cache = 1}}), HasSubstr("cache is for lists"));
  EXPECT_THAT(refused({.edges = Edges::compressed_host, .placement = {.cache = 1}}),
              HasSubstr("cache holds plain lists"));
  EXPECT_THAT(refused({.run = {.repeat = -1}}), HasSubstr("repeat: got -1"));
}

INSTANTIATE_TEST_SUITE_P(Cpu, ApiRun, testing::Values(DeviceKind::cpu));
INSTANTIATE_TEST_SUITE_P(Cuda, ApiRun, testing::Values(DeviceKind::cuda));

}  // namespace
}  // namespace warren
