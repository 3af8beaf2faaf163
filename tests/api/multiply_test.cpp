// SPDX-License-Identifier: Apache-2.0
// Products against sums in float64, for every shape, number of ranks, normalisation and strategy.
#include "warren/api/multiply.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/sparse/distributed.hpp"

#include "api/graph_state.hpp"
#include "graphs.hpp"
#include "support/message_of.hpp"

namespace warren {
namespace {

using fixtures::graph_of;
using fixtures::with_small_weights;
using Kind = sparse::Normalization::Kind;
using testing_support::message_of;

double weight_of(const graph::Graph& graph, EdgeOffset e, bool weighted) {
  if (!weighted || graph.weight_type == graph::WeightType::none) return 1.0;
  return graph.weight_type == graph::WeightType::int32
             ? graph.weights_int[e]
             : static_cast<double>(graph.weights_float[e]);
}

/// A as a dense matrix, A + I, normalised.
std::vector<double> dense_matrix(const graph::Graph& graph, const SpmmOptions& options) {
  const std::size_t n = graph.vertices;
  std::vector<double> a(n * n, 0.0);
  for (Vertex v = 0; v < n; ++v) {
    for (EdgeOffset e = graph.offsets[v]; e < graph.offsets[std::uint64_t{v} + 1]; ++e) {
      const std::size_t row = options.transpose ? graph.targets[e] : v;
      const std::size_t column = options.transpose ? v : graph.targets[e];
      a[row * n + column] += weight_of(graph, e, options.weighted);
    }
    if (options.self_loops) a[v * n + v] += 1.0;
  }
  std::vector<double> degree(n, 0.0);
  for (std::size_t v = 0; v < n; ++v)
    for (std::size_t u = 0; u < n; ++u) degree[v] += a[v * n + u];
  for (std::size_t v = 0; v < n; ++v) {
    for (std::size_t u = 0; u < n; ++u) {
      double scale = 1.0;
      if (options.normalize == Kind::row_mean) scale = degree[v] > 0 ? 1 / degree[v] : 0.0;
      if (options.normalize == Kind::symmetric)
        scale = degree[v] > 0 && degree[u] > 0 ? 1 / std::sqrt(degree[v] * degree[u]) : 0.0;
      a[v * n + u] *= scale;
    }
  }
  return a;
}

std::vector<float> some_numbers(std::size_t count, std::uint32_t salt) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i)
    numbers[i] = static_cast<float>((i * 2654435761u + salt) % 17) * 0.25f - 2.0f;
  return numbers;
}

void check(const Graph& graph, std::uint64_t k, const SpmmOptions& options) {
  const std::size_t n = graph.vertices();
  const std::vector<double> a = dense_matrix(graph.csr(), options);
  for (const std::uint32_t salt : {1u, 2u}) {  // The second time with what is kept.
    const std::vector<float> b = some_numbers(n * k, salt);
    const SpmmResult found = spmm(graph, b, k, options);
    ASSERT_EQ(found.values.size(), n * k);
    for (std::size_t v = 0; v < n; ++v) {
      for (std::size_t j = 0; j < k; ++j) {
        double sum = 0.0, size = 0.0;
        for (std::size_t u = 0; u < n; ++u) {
          sum += a[v * n + u] * static_cast<double>(b[u * k + j]);
          size += std::abs(a[v * n + u] * static_cast<double>(b[u * k + j]));
        }
        ASSERT_NEAR(found.values[v * k + j], sum, 1e-5 * (1.0 + size)) << v << ", " << j;
      }
    }
  }
}

TEST(ApiMultiply, ProductsAreSumsOfRows) {
  for (const auto& [name, list] : reference::awkward_lists()) {
    if (list.vertices == 0 || list.vertices > 300) continue;
    for (const int devices : {1, 3}) {
      for (const bool transpose : {false, true}) {
        for (const Kind kind : {Kind::none, Kind::row_mean, Kind::symmetric}) {
          SCOPED_TRACE(name + ", " + std::to_string(devices) + " ranks");
          SpmmOptions options;
          options.devices = devices;
          options.transpose = transpose;
          options.normalize = kind;
          options.self_loops = kind == Kind::symmetric;
          options.strategy = "staged";
          check(graph_of(with_small_weights(list, true)), 5, options);
          options.weighted = false;
          check(graph_of(with_small_weights(list, false)), 1, options);
        }
      }
    }
  }
}

TEST(ApiMultiply, EveryStrategyFindsTheSame) {
  const Graph graph = graph_of(with_small_weights(reference::random_list(120, 700, 3), true));
  for (const sparse::Strategy strategy : sparse::all_strategies()) {
    SpmmOptions options;
    options.devices = 4;
    options.strategy = sparse::name_of(strategy);
    check(graph, 9, options);
    EXPECT_EQ(spmm(graph, some_numbers(120 * 9, 1), 9, options).strategy, options.strategy);
  }
}

TEST(ApiMultiply, OneRankKeepsItsMatrixForEveryWidth) {
  const Graph graph = graph_of(with_small_weights(reference::random_list(50, 300, 5), true));
  SpmmOptions options;
  for (const std::uint64_t k : {3, 8, 3}) check(graph, k, options);
  const std::vector<float> b = some_numbers(50 * 4, 1);
  const SpmmResult once = spmm(graph, b, 4, options);
  // A result is an operand where it is.
  const SpmmResult twice = spmm(graph, once.values, 4, options);
  EXPECT_EQ(twice.values, spmm(graph, once.values.to_vector(), 4, options).values.host());
}

TEST(ApiMultiply, OperandsStayOnTheirGpu) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "needs a GPU";
  const Graph graph = graph_of(with_small_weights(reference::random_list(50, 300, 5), true));
  const std::uint64_t k = 6;
  const std::vector<float> b = some_numbers(50 * k, 1), y = some_numbers(50 * k, 2);
  for (int gpu = 0; gpu < exec::cuda_device_count(); ++gpu) {
    const exec::Stream stream(exec::Device::cuda(gpu));
    memory::Buffer<float> near(stream.device(), b.size() + 1);
    // At the beginning, and where no 16 bytes begin.
    for (const std::uint64_t first : {0, 1}) {
      near.upload(stream, b, first);
      const ArrayView<float> view(near.data() + first, b.size(), gpu, stream.native());
      const SpmmResult there = spmm(graph, view, k, {.device = DeviceKind::cuda});
      EXPECT_EQ(there.values.gpu(), gpu);
      const SpmmResult from_host = spmm(graph, b, k, {.device = DeviceKind::cuda});
      EXPECT_EQ(from_host.values.gpu(), -1);
      EXPECT_EQ(there.values, from_host.values.host());
      EXPECT_EQ(spmm(graph, view, k, {.device = DeviceKind::cpu}).values,
                spmm(graph, b, k, {.device = DeviceKind::cpu}).values.host());
      const SddmmResult entries = sddmm(graph, view, y, k, {.device = DeviceKind::cuda});
      EXPECT_EQ(entries.values.gpu(), gpu);
      EXPECT_EQ(entries.values, sddmm(graph, b, y, k, {.device = DeviceKind::cuda}).values.host());
    }
  }
}

TEST(ApiMultiply, EntriesAreProductsOfRows) {
  for (const auto& [name, list] : reference::awkward_lists()) {
    if (list.vertices > 5000) continue;
    for (const int devices : {1, 4}) {
      SCOPED_TRACE(name + ", " + std::to_string(devices) + " ranks");
      const Graph graph = graph_of(with_small_weights(list, true));
      constexpr std::uint64_t k = 3;
      const auto x = some_numbers(graph.vertices() * k, 5),
                 y = some_numbers(graph.vertices() * k, 6);
      const SddmmResult found = sddmm(graph, x, y, k, {.devices = devices});
      ASSERT_EQ(found.values.size(), graph.edges());
      for (Vertex v = 0; v < graph.vertices(); ++v) {
        for (EdgeOffset e = graph.csr().offsets[v]; e < graph.csr().offsets[std::uint64_t{v} + 1];
             ++e) {
          double sum = 0.0;
          for (std::uint64_t j = 0; j < k; ++j)
            sum += static_cast<double>(x[v * k + j]) *
                   static_cast<double>(y[graph.csr().targets[e] * k + j]);
          ASSERT_NEAR(found.values[e], weight_of(graph.csr(), e, true) * sum, 1e-4);
        }
      }
    }
  }
}

TEST(ApiMultiply, ReversedGraphs) {
  const Graph graph = graph_of({3, {{0, 1}, {0, 2}}, {5, 7}, {}});
  const Graph turned = graph.reversed();
  EXPECT_EQ(turned.csr().targets.size(), 2u);
  EXPECT_EQ(turned.csr().neighbours(1)[0], 0u);
  EXPECT_EQ(turned.csr().weights_int[1], 7);
  EXPECT_EQ(&graph.reversed().csr(), &turned.csr());
  // What is there already is not made again.
  const auto teams = Session::standard().teams();
  const auto out = graph.state()->source(1, Edges::device, api::GraphState::InEdges::host, teams);
  const auto in = turned.state()->source(1, Edges::device, api::GraphState::InEdges::host, teams);
  EXPECT_EQ(in->out, out->in);
  EXPECT_EQ(in->in, out->out);
  const Graph grid = read("grid:3x3");
  EXPECT_EQ(&grid.reversed().csr(), &grid.csr());
}

TEST(ApiMultiply, BadArgumentsAreRefusedByName) {
  const Graph graph = read("grid:3x3");
  const std::vector<float> b(18, 1.0f);
  EXPECT_EQ(message_of<UsageError>([&] { (void)spmm(graph, b, 3); }),
            "b: got 18 numbers, expected 9 x 3, a row for each vertex");
  EXPECT_EQ(message_of<UsageError>([&] { (void)spmm(graph, {}, 0); }),
            "k: got 0, expected one column or more");
  EXPECT_THAT(message_of<UsageError>([&] { (void)spmm(graph, b, 2, {.strategy = "stagd"}); }),
              ::testing::HasSubstr("stagd"));
  EXPECT_THAT(message_of<UsageError>([&] { (void)sddmm(graph, b, std::vector<float>(9), 2); }),
              ::testing::HasSubstr("y: got 9"));
  EXPECT_TRUE(spmm(graph_of({}), {}, 4).values.empty());
  EXPECT_TRUE(sddmm(graph_of({}), {}, {}, 4).values.empty());
}

}  // namespace
}  // namespace warren
