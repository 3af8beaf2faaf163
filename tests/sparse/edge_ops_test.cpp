// SPDX-License-Identifier: Apache-2.0
// Sampled products, softmax over edges and largest of segments, with their gradients, against plain
// loops in double precision.
#include "warren/sparse/edge_ops.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/sparse/sddmm.hpp"

#include "reference/sparse.hpp"
#include "sparse/dense.hpp"
#include "sparse/graphs.hpp"

namespace warren::sparse {
namespace {

using testing_support::on_device;
using testing_support::random_dense;
using testing_support::strided;

/// The shapes, and rows long enough for a block.
std::vector<fixtures::Named> graphs() {
  auto all = fixtures::matrices();
  all.push_back({"long star", fixtures::star(testing_support::is_tiny() ? 2200 : 5000, true)});
  return all;
}

template <class T>
void check_sddmm(const exec::Stream& stream, const graph::Graph& graph, std::uint64_t k,
                 std::uint64_t pad) {
  SCOPED_TRACE("k " + std::to_string(k));
  const std::uint64_t n = graph.vertices;
  const auto x = random_dense(n * k, 1);
  const auto y = random_dense(n * k, 2);
  const Matrix matrix(stream, graph);
  const SpmmPlan plan(stream, matrix.offsets());
  const auto x_buffer = on_device(stream, strided<T>(x, k, k + pad));
  const auto y_buffer = on_device(stream, strided<T>(y, k, k + pad));
  memory::Buffer<float> out(stream.device(), graph.edges());
  sddmm<T>(stream, matrix.view(), plan, x_buffer.data(), k + pad, y_buffer.data(), k + pad, k,
           out.data());
  const std::vector<float> found = out.to_host(stream);
  const auto entries = reference::entries_of(graph);
  for (EdgeOffset e = 0; e < entries.size(); ++e) {
    double sum = 0.0;
    double size = 0.0;
    for (std::uint64_t c = 0; c < k; ++c) {
      const double term =
          entries[e].value * x[entries[e].row * k + c] * y[entries[e].column * k + c];
      sum += term;
      size += std::abs(term);
    }
    ASSERT_NEAR(static_cast<double>(found[e]), sum, 2e-6 * size + 1e-30) << "entry " << e;
  }
}

void check_sddmm(const exec::Stream& stream) {
  for (const auto& named : graphs()) {
    SCOPED_TRACE(named.name);
    for (const std::uint64_t k : {1, 3, 8, 16, 31, 64, 100, 200}) {
      if (testing_support::is_tiny() && k % 3 != 1) continue;  // 1, 16, 31, 64, 100.
      check_sddmm<float>(stream, named.graph, k, k % 3);
    }
    // Rows that begin at multiples of 16 bytes: for groups of lanes of each size, and wider ones.
    for (const std::uint64_t k : {12, 24, 64, 100, 128, 200, 256, 260}) {
      if (testing_support::is_tiny() && k % 100 != 0) continue;
      check_sddmm<float>(stream, named.graph, k, 8);
    }
    for (const std::uint64_t k : {40, 200, 512}) check_sddmm<Half>(stream, named.graph, k, 0);
    check_sddmm<BFloat16>(stream, named.graph, 17, 1);
  }
  const graph::Graph wide = fixtures::weighted(fixtures::generated("kron:6,4", true), 2);
  for (const std::uint64_t k : {1024, 1025, 1500}) {
    check_sddmm<float>(stream, wide, k, k % 3);
    check_sddmm<Half>(stream, wide, k, 0);
    check_sddmm<BFloat16>(stream, wide, k, 4);
  }
}

void check_softmax(const exec::Stream& stream, const graph::Graph& graph, std::uint64_t heads) {
  const std::uint64_t m = graph.edges();
  const Matrix matrix(stream, graph);
  const RowPlan plan(stream, matrix.offsets());
  auto x = random_dense(m * heads, 3);
  for (double& value : x) value *= 30.0;  // Powers that overflow unless the largest is taken off.
  const auto dy = random_dense(m * heads, 4);
  const auto x_buffer = on_device(stream, strided<float>(x, 1, 1));
  const auto dy_buffer = on_device(stream, strided<float>(dy, 1, 1));
  memory::Buffer<float> y(stream.device(), m * heads), dx(stream.device(), m * heads);
  edge_softmax(stream, matrix.view(), plan, heads, x_buffer.data(), y.data());
  edge_softmax_backward(stream, matrix.view(), plan, heads, y.data(), dy_buffer.data(), dx.data());
  const auto found = y.to_host(stream);
  const auto gradient = dx.to_host(stream);
  for (Vertex v = 0; v < graph.vertices; ++v) {
    for (std::uint64_t h = 0; h < heads; ++h) {
      double largest = -1e300;
      double sum = 0.0;
      double weighted = 0.0;
      const auto each = [&](auto&& f) {
        for (EdgeOffset e = graph.offsets[v]; e < graph.offsets[v + 1ull]; ++e) f(e * heads + h);
      };
      each([&](EdgeOffset i) { largest = std::max(largest, x[i]); });
      each([&](EdgeOffset i) { sum += std::exp(x[i] - largest); });
      each([&](EdgeOffset i) { weighted += std::exp(x[i] - largest) / sum * dy[i]; });
      each([&](EdgeOffset i) {
        const double expected = std::exp(x[i] - largest) / sum;
        ASSERT_NEAR(static_cast<double>(found[i]), expected, 1e-6 + 1e-5 * expected);
        ASSERT_NEAR(static_cast<double>(gradient[i]), expected * (dy[i] - weighted), 2e-6);
      });
    }
  }
}

void check_segment_max(const exec::Stream& stream, const graph::Graph& graph, std::uint64_t k) {
  const std::uint64_t n = graph.vertices;
  const Matrix matrix(stream, graph);
  const RowPlan plan(stream, matrix.offsets());
  const auto b = random_dense(n * k, 7);
  const auto dc = random_dense(n * k, 8);
  const auto b_buffer = on_device(stream, strided<float>(b, 1, 1));
  const auto dc_buffer = on_device(stream, strided<float>(dc, 1, 1));
  memory::Buffer<float> c(stream.device(), n * k), db(stream.device(), n * k);
  memory::Buffer<Vertex> arg(stream.device(), n * k);
  segment_max(stream, matrix.view(), plan, k, b_buffer.data(), c.data(), arg.data());
  const Matrix& back = matrix.transposed(stream);
  segment_max_backward(stream, back.view(), RowPlan(stream, back.offsets()), k, dc_buffer.data(),
                       arg.data(), db.data());
  std::vector<double> gradient(n * k, 0.0);
  const auto found = c.to_host(stream);
  const auto found_arg = arg.to_host(stream);
  for (Vertex v = 0; v < n; ++v) {
    for (std::uint64_t j = 0; j < k; ++j) {
      double largest = 0.0;
      Vertex of = kNoVertex;
      for (const Vertex u : graph.neighbours(v)) {
        if (of != kNoVertex && b[u * k + j] <= largest) continue;
        largest = b[u * k + j];
        of = u;
      }
      ASSERT_EQ(static_cast<double>(found[v * k + j]), largest);
      ASSERT_EQ(found_arg[v * k + j], of);
      if (of != kNoVertex) gradient[of * k + j] += dc[v * k + j];
    }
  }
  const auto found_gradient = db.to_host(stream);
  for (std::uint64_t i = 0; i < n * k; ++i)
    ASSERT_NEAR(static_cast<double>(found_gradient[i]), gradient[i], 1e-3);
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// NaN is less than anything, in every order of a row's entries.
void check_segment_max_of_nan(const exec::Stream& stream) {
  const graph::Graph graph = fixtures::from_list(5, {{0, 1}, {0, 2}, {0, 3}, {3, 4}});
  const Matrix matrix(stream, graph);
  const RowPlan plan(stream, matrix.offsets());
  std::vector<std::size_t> order{0, 1, 2};
  do {
    for (const float number : {-5.0f, -kInfinity, kInfinity}) {
      const float values[] = {number, kNaN, kNaN};
      std::vector<float> b{0.0f, values[order[0]], values[order[1]], values[order[2]], kNaN};
      const auto b_buffer = on_device(stream, b);
      memory::Buffer<float> c(stream.device(), 5);
      memory::Buffer<Vertex> arg(stream.device(), 5);
      segment_max(stream, matrix.view(), plan, 1, b_buffer.data(), c.data(), arg.data());
      const auto found = c.to_host(stream);
      const auto found_arg = arg.to_host(stream);
      EXPECT_EQ(found[0], number);
      EXPECT_EQ(b[found_arg[0]], number);
      EXPECT_TRUE(std::isnan(found[3]));
      EXPECT_EQ(found_arg[3], 4u);
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

/// What is no number spoils its row and head, and no other.
void check_softmax_of_non_finite(const exec::Stream& stream) {
  constexpr std::uint64_t kHeads = 2;
  const graph::Graph graph =
      fixtures::from_list(4, {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {2, 0}, {3, 1}, {3, 2}});
  const Matrix matrix(stream, graph);
  const RowPlan plan(stream, matrix.offsets());
  std::vector<float> x(graph.edges() * kHeads, 1.0f);
  x[1 * kHeads] = kNaN;           // Row 0, head 0.
  x[3 * kHeads + 1] = kInfinity;  // Row 1, head 1.
  x[5 * kHeads] = -kInfinity;     // All of row 2, head 0.
  x[6 * kHeads] = -kInfinity;     // One of two of row 3, head 0.
  const auto x_buffer = on_device(stream, x);
  memory::Buffer<float> y(stream.device(), x.size());
  edge_softmax(stream, matrix.view(), plan, kHeads, x_buffer.data(), y.data());
  const auto found = y.to_host(stream);
  const float third = 1.0f / 3;
  const std::vector<float> expected = {kNaN, third, kNaN, third, kNaN, third, 0.5f, kNaN,
                                       0.5f, kNaN,  kNaN, 1.0f,  0.0f, 0.5f,  1.0f, 0.5f};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(found[i])) << i;
    } else {
      EXPECT_NEAR(found[i], expected[i], 1e-6f) << i;
    }
  }
}

/// The products of rows with infinities and NaN are what IEEE 754 says.
template <class T>
void check_sddmm_of_non_finite(const exec::Stream& stream) {
  const graph::Graph graph = fixtures::generated("kron:6,4", true);
  for (const std::uint64_t k : {3u, 8u, 70u}) {
    const std::uint64_t n = graph.vertices;
    std::vector<double> values = random_dense(n * k, 3);
    for (std::uint64_t i = 0; i < 6; ++i)
      values[i * 97 % n * k + i * 31 % k] = i % 3 == 0 ? -1.0 / 0.0 : 1.0 / 0.0;
    values[n / 2 * k + 1] = std::nan("");
    const auto x = on_device(stream, strided<T>(values, k, k));
    const Matrix matrix(stream, graph);
    const SpmmPlan plan(stream, matrix.offsets());
    memory::Buffer<float> out(stream.device(), graph.edges());
    sddmm<T>(stream, matrix.view(), plan, x.data(), k, x.data(), k, k, out.data());
    const auto found = out.to_host(stream);
    for (Vertex v = 0; v < n; ++v) {
      for (EdgeOffset e = graph.offsets[v]; e < graph.offsets[v + 1ull]; ++e) {
        double sum = 0.0;
        for (std::uint64_t c = 0; c < k; ++c)
          sum += values[v * k + c] * values[graph.targets[e] * k + c];
        if (std::isnan(sum)) {
          ASSERT_TRUE(std::isnan(found[e])) << "entry " << e;
        } else if (std::isinf(sum)) {
          ASSERT_EQ(static_cast<double>(found[e]), sum) << "entry " << e;
        } else {
          ASSERT_TRUE(std::isfinite(found[e])) << "entry " << e;
        }
      }
    }
  }
}

void check_non_finite(const exec::Stream& stream) {
  check_segment_max_of_nan(stream);
  check_softmax_of_non_finite(stream);
  check_sddmm_of_non_finite<float>(stream);
  check_sddmm_of_non_finite<Half>(stream);
  check_sddmm_of_non_finite<BFloat16>(stream);
}

void check_edges(const exec::Stream& stream) {
  for (const auto& named : graphs()) {
    SCOPED_TRACE(named.name);
    for (const std::uint64_t heads : {1, 4}) check_softmax(stream, named.graph, heads);
    for (const std::uint64_t k : {1, 5, 40}) check_segment_max(stream, named.graph, k);
  }
}

/// Sums and means of segments are products with the offsets alone.
void check_segment_mean(const exec::Stream& stream) {
  const std::vector<EdgeOffset> offsets = {0, 3, 3, 4, 1000};
  const std::vector<float> scale = {1.0f / 3, 0.0f, 1.0f, 1.0f / 996};
  const std::uint64_t k = 6;
  const auto b = random_dense(1000 * k, 9);
  const auto offsets_buffer = on_device(stream, offsets);
  const auto scale_buffer = on_device(stream, scale);
  const auto b_buffer = on_device(stream, strided<float>(b, 1, 1));
  memory::Buffer<float> c(stream.device(), 4 * k);
  MatrixView segments;
  segments.rows = 4;
  segments.offsets = offsets_buffer.data();
  segments.row_scale = scale_buffer.data();
  spmm(stream, segments, SpmmPlan(stream, offsets), RowTable<float>(b_buffer.data(), k), c.data(),
       k, k);
  const auto found = c.to_host(stream);
  for (std::uint64_t r = 0; r < 4; ++r) {
    for (std::uint64_t j = 0; j < k; ++j) {
      double sum = 0.0;
      for (EdgeOffset e = offsets[r]; e < offsets[r + 1]; ++e) sum += b[e * k + j];
      const auto count = static_cast<double>(offsets[r + 1] - offsets[r]);
      EXPECT_NEAR(static_cast<double>(found[r * k + j]), count == 0.0 ? 0.0 : sum / count, 1e-5);
    }
  }
}

TEST(Sddmm, MatchesReference) {
  for (const int threads : {1, 3}) check_sddmm(exec::Stream(exec::Device::cpu(threads)));
}

TEST(Sddmm, AppliesScales) {
  const exec::Stream stream(exec::Device::cpu(2));
  const graph::Graph graph = fixtures::generated("urand:6,6", true);
  const Matrix matrix(stream, graph, {Normalization::Kind::symmetric, false});
  const SpmmPlan plan(stream, matrix.offsets());
  const std::vector<float> ones(graph.vertices, 1.0f);
  std::vector<float> out(graph.edges());
  sddmm<float>(stream, matrix.view(), plan, ones.data(), 1, ones.data(), 1, 1, out.data());
  const auto entries = reference::entries_of(graph, reference::Norm::symmetric);
  for (EdgeOffset e = 0; e < out.size(); ++e)
    EXPECT_NEAR(static_cast<double>(out[e]), entries[e].value, 1e-6);
  EXPECT_THROW(
      sddmm<float>(stream, matrix.view(), plan, ones.data(), 1, ones.data(), 1, 0, out.data()),
      UsageError);
}

TEST(EdgeOps, MatchReference) {
  for (const int threads : {1, 3}) check_edges(exec::Stream(exec::Device::cpu(threads)));
}
TEST(EdgeOps, SegmentMeansAreProducts) { check_segment_mean(exec::Stream(exec::Device::cpu(2))); }
TEST(EdgeOps, NonFiniteValues) { check_non_finite(exec::Stream(exec::Device::cpu(2))); }
TEST(EdgeOps, RefuseNoColumns) {
  const exec::Stream stream(exec::Device::cpu(1));
  EXPECT_THROW(edge_softmax(stream, {}, {}, 0, nullptr, nullptr), UsageError);
  EXPECT_THROW(segment_max(stream, {}, {}, 0, nullptr, nullptr, nullptr), UsageError);
}

TEST(EdgeOpsCuda, MatchReference) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  const exec::Stream stream(exec::Device::cuda(0));
  check_sddmm(stream);
  check_edges(stream);
  check_segment_mean(stream);
  check_non_finite(stream);
}

}  // namespace
}  // namespace warren::sparse
