// SPDX-License-Identifier: Apache-2.0
// Random walks as calls: steps along edges as often as the equation says, the same on every number
// of ranks and device; and arguments that are refused.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs.hpp"

namespace warren {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// The edges (t, x) of a graph.
std::set<std::pair<Vertex, Vertex>> edges_of(const graph::Graph& csr) {
  std::set<std::pair<Vertex, Vertex>> edges;
  for (Vertex v = 0; v < csr.vertices; ++v)
    for (EdgeOffset e = csr.offsets[v]; e < csr.offsets[v + std::uint64_t{1}]; ++e)
      edges.emplace(v, csr.targets[e]);
  return edges;
}

double weight_of(const graph::Graph& csr, EdgeOffset e, bool weighted) {
  if (!weighted) return 1.0;
  return csr.weights_int.empty() ? static_cast<double>(csr.weights_float[e])
                                 : static_cast<double>(csr.weights_int[e]);
}

/// Each step is along an edge, or stays where none leads away.
void check_steps(const Graph& graph, const RandomWalksOptions& options,
                 const RandomWalksResult& found) {
  const graph::Graph& csr = graph.csr();
  const auto edges = edges_of(csr);
  const std::uint64_t row = options.length + std::uint64_t{1};
  ASSERT_EQ(found.length, options.length);
  ASSERT_EQ(found.walks.size(), options.starts.size() * row);
  for (std::size_t i = 0; i < options.starts.size(); ++i) {
    ASSERT_EQ(found.walks[i * row], options.starts[i]);
    for (std::uint64_t s = 1; s < row; ++s) {
      const Vertex v = found.walks[i * row + s - 1], x = found.walks[i * row + s];
      double all = 0.0;
      for (EdgeOffset e = csr.offsets[v]; e < csr.offsets[v + std::uint64_t{1}]; ++e)
        all += weight_of(csr, e, options.weighted);
      if (all > 0.0) {
        ASSERT_TRUE(edges.contains({v, x})) << v << " to " << x;
      } else {
        ASSERT_EQ(x, v);
      }
    }
  }
}

class ApiWalks : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    if (GetParam() == DeviceKind::cuda && exec::cuda_device_count() == 0)
      GTEST_SKIP() << "there is no GPU";
  }
  [[nodiscard]] static std::vector<int> team_sizes() {
    if (GetParam() == DeviceKind::cuda) return {exec::cuda_device_count()};
    return {2, 3, 4};
  }
};

TEST_P(ApiWalks, GoAlongEdgesAndAreTheSameOnAnyRanks) {
  const reference::EdgeList shapes[] = {reference::random_list(200, 1500, 4),
                                        reference::random_list(300, 200, 5),
                                        {1, {{0, 0}}, {}, {}},
                                        {3, {}, {}, {}},
                                        {6, {{0, 1}, {0, 1}, {1, 2}, {2, 0}, {4, 4}}, {}, {}}};
  for (const reference::EdgeList& shape : shapes) {
    for (const bool weighted : {false, true}) {
      // Without a weight above 0 it is refused.
      if (weighted && shape.edges.size() < 100) continue;
      const Graph graph =
          fixtures::graph_of(weighted ? fixtures::with_small_weights(shape, true) : shape);
      RandomWalksOptions options;
      for (Vertex v = 0; v < 300; ++v)
        options.starts.push_back(static_cast<Vertex>(v * 7 % shape.vertices));
      options.weighted = weighted;
      options.length = 13;
      options.device = DeviceKind::cpu;
      for (const double p : {1.0, 0.25, 4.0, 1e-9}) {
        options.p = p;
        options.q = p == 4.0 ? 0.5 : 1.0;
        options.device = DeviceKind::cpu;
        options.devices = 1;
        const RandomWalksResult one = random_walks(graph, options);
        check_steps(graph, options, one);
        options.device = GetParam();
        for (const int devices : team_sizes()) {
          options.devices = devices;
          const RandomWalksResult other = random_walks(graph, options);
          EXPECT_EQ(other.info.devices, devices);
          EXPECT_EQ(other.walks.gpu() >= 0, GetParam() == DeviceKind::cuda);
          EXPECT_TRUE(std::ranges::equal(other.walks.host(), one.walks.host()));
        }
      }
    }
  }
}

/// How often a step goes where, beside the equation: counts that are far from what is expected, in
/// standard deviations.
double largest_deviation(const Graph& graph, const RandomWalksOptions& options) {
  const graph::Graph& csr = graph.csr();
  const auto edges = edges_of(csr);
  const RandomWalksResult found = random_walks(graph, options);
  const std::uint64_t row = options.length + std::uint64_t{1};
  std::map<std::tuple<Vertex, Vertex>, std::map<Vertex, double>> counts;
  for (std::size_t i = 0; i < options.starts.size(); ++i)
    for (std::uint64_t s = 2; s < row; ++s)
      counts[{found.walks[i * row + s - 2], found.walks[i * row + s - 1]}]
            [found.walks[i * row + s]] += 1.0;
  double largest = 0.0;
  for (const auto& [from, to] : counts) {
    const auto [t, v] = from;
    std::map<Vertex, double> expected;
    double all = 0.0, steps = 0.0;
    for (EdgeOffset e = csr.offsets[v]; e < csr.offsets[v + std::uint64_t{1}]; ++e) {
      const Vertex x = csr.targets[e];
      const double bias = x == t ? 1.0 / options.p : edges.contains({t, x}) ? 1.0 : 1.0 / options.q;
      const double part = bias * weight_of(csr, e, options.weighted);
      expected[x] += part;
      all += part;
    }
    for (const auto& [x, count] : to) steps += count;
    for (const auto& [x, part] : expected) {
      const double share = part / all;
      const double count = to.contains(x) ? to.at(x) : 0.0;
      const double deviation = std::sqrt(std::max(steps * share * (1.0 - share), 1e-9));
      if (share > 0.0 && share < 1.0)
        largest = std::max(largest, std::abs(count - steps * share) / std::max(deviation, 1.0));
      if (share == 0.0) {
        EXPECT_EQ(count, 0.0);
      }
    }
  }
  return largest;
}

TEST_P(ApiWalks, StepsAreAsLikelyAsTheEquationSays) {
  // A directed graph with a star, parallel edges and a loop.
  reference::EdgeList list{9, {}, {}, {}};
  for (Vertex v = 1; v < 9; ++v) {
    list.edges.push_back({0, v});
    list.edges.push_back({v, 0});
    list.edges.push_back({v, static_cast<Vertex>(v % 8 + 1)});
  }
  list.edges.push_back({3, 4});
  list.edges.push_back({5, 5});
  list.edges.push_back({2, 7});
  RandomWalksOptions options;
  for (std::uint64_t i = 0; i < 4000; ++i) options.starts.push_back(static_cast<Vertex>(i % 9));
  options.length = 40;
  options.device = GetParam();
  for (const bool weighted : {false, true}) {
    const Graph graph =
        fixtures::graph_of(weighted ? fixtures::with_small_weights(list, true) : list);
    options.weighted = weighted;
    for (const auto& [p, q] :
         {std::pair(1.0, 1.0), {0.25, 4.0}, {4.0, 0.25}, {1e-4, 1.0}, {1.0, 1e-5}, {1e5, 1e5}}) {
      options.p = p;
      options.q = q;
      // About 700 counts: one in 100,000 such tests has one beyond five.
      EXPECT_LT(largest_deviation(graph, options), 5.5)
          << p << ", " << q << (weighted ? ", weighted" : "");
      options.seed += 1;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, ApiWalks, testing::Values(DeviceKind::cpu));
INSTANTIATE_TEST_SUITE_P(Cuda, ApiWalks, testing::Values(DeviceKind::cuda));

TEST(ApiWalksBadInput, IsNamed) {
  const Graph graph = fixtures::graph_of({2, {{0, 1}}, {}, {}});
  RandomWalksOptions good;
  good.starts = {0, 1};
  good.length = 3;
  good.device = DeviceKind::cpu;
  EXPECT_THAT(random_walks(graph, good).walks.host(),
              ::testing::ElementsAre(0, 1, 1, 1, 1, 1, 1, 1));
  const auto refuses = [&](auto&& change, const char* says) {
    RandomWalksOptions options = good;
    change(options);
    EXPECT_THAT([&] { (void)random_walks(graph, options); },
                ThrowsMessage<UsageError>(HasSubstr(says)));
  };
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  refuses([](auto& o) { o.starts.clear(); }, "starts: got none");
  refuses([](auto& o) { o.length = (1u << 18) + 1; }, "length: got 262145");
  // Before any memory is taken for them.
  refuses([](auto& o) { o.length = std::numeric_limits<std::uint32_t>::max(); },
          "length: got 4294967295");
  for (const double wrong :
       {0.0, -1.0, 1e-101, 1e101, kNan, std::numeric_limits<double>::infinity()}) {
    refuses([&](auto& o) { o.p = wrong; }, "p: got ");
    refuses([&](auto& o) { o.q = wrong; }, "q: got ");
  }
  refuses([](auto& o) { o.batch = std::uint64_t{1} << 48; }, "batch: got 281474976710656");
  refuses([](auto& o) { o.weighted = true; }, "weighted: the graph has no weights");
  refuses([](auto& o) { o.edges = Edges::compressed_host; }, "edges: got compressed lists");
  good.starts = {0, 2};
  EXPECT_THROW((void)random_walks(graph, good), VertexError);
  good.starts = {0};
  good.length = 0;
  EXPECT_THAT(random_walks(graph, good).walks.host(), ::testing::ElementsAre(0));
}

TEST(RandomWalks, AnInterruptEndsThemSoon) {
  // Back is likeliest by far, and among so many neighbours seldom drawn: a step takes long.
  constexpr std::uint32_t kVertices = 600;
  std::vector<Vertex> sources, targets;
  for (Vertex v = 0; v < kVertices; ++v) {
    for (Vertex u = 0; u < v; ++u) {
      sources.push_back(u);
      targets.push_back(v);
    }
  }
  const Graph graph = from_edges(sources, targets, {}, kVertices, {.symmetrize = true});
  const Session session({.device = DeviceKind::cpu});
  for (const int devices : {1, 2}) {
    RandomWalksOptions options;
    options.session = session;
    options.devices = devices;
    options.starts.assign(1000, 0);
    options.length = 1000;
    options.p = 1e-12;
    const auto begin = std::chrono::steady_clock::now();
    const auto seconds = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    set_interrupt_check([&] { return seconds() > 0.2; });
    EXPECT_THROW((void)random_walks(graph, options), Interrupted);
    set_interrupt_check({});
    EXPECT_LT(seconds(), 5.0);  // All of them take a minute and more.
    options.length = 1;
    EXPECT_EQ(random_walks(graph, options).walks.size(), 2000u);
  }
}

}  // namespace
}  // namespace warren
