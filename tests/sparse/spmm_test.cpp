// SPDX-License-Identifier: Apache-2.0
// The sparse-dense product against the reference: every shape, width, type, normalisation, stride;
// transposes, plans, and what is refused.
#include "warren/sparse/spmm.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"

#include "reference/sparse.hpp"
#include "sparse/dense.hpp"
#include "sparse/graphs.hpp"

namespace warren::sparse {
namespace {

using testing_support::near;
using testing_support::on_device;
using testing_support::random_dense;
using testing_support::strided;
using Kind = Normalization::Kind;

struct Case {
  std::uint64_t k = 8;
  std::uint64_t pad_b = 0, pad_c = 0;  // Stride beyond k.
  float alpha = 1.0f, beta = 0.0f;
  std::uint32_t entries = 0;
};

template <class T>
void check(const exec::Stream& stream, const Matrix& matrix,
           const std::vector<reference::Entry3>& entries, const Case& c) {
  SCOPED_TRACE("k " + std::to_string(c.k) + ", alpha " + std::to_string(c.alpha) + ", beta " +
               std::to_string(c.beta) + ", task of " + std::to_string(c.entries));
  const std::uint64_t n = matrix.rows();
  const std::vector<double> b = random_dense(n * c.k, 5);
  const std::vector<double> old = random_dense(n * c.k, 6);
  reference::Product expected = reference::multiply(entries, n, c.k, b);
  for (std::uint64_t i = 0; i < old.size(); ++i) {
    expected.sum[i] =
        static_cast<double>(c.alpha) * expected.sum[i] + static_cast<double>(c.beta) * old[i];
    expected.size[i] = std::abs(static_cast<double>(c.alpha)) * expected.size[i] +
                       std::abs(static_cast<double>(c.beta) * old[i]);
  }
  const auto b_buffer = on_device(stream, strided<T>(b, c.k, c.k + c.pad_b));
  // What is not read may be anything.
  const float gap = c.beta == 0.0f ? std::numeric_limits<float>::quiet_NaN() : 77.0f;
  auto before = strided<T>(old, c.k, c.k + c.pad_c, 77.0f);
  if (c.beta == 0.0f) {
    for (std::uint64_t i = 0; i < old.size(); ++i)
      before[i / c.k * (c.k + c.pad_c) + i % c.k] = from_float<T>(gap);
  }
  const SpmmPlan plan(stream, matrix.offsets(), {c.entries});
  std::vector<T> first;
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto c_buffer = on_device(stream, before);
    spmm(stream, matrix.view(), plan, RowTable<T>(b_buffer.data(), c.k + c.pad_b), c_buffer.data(),
         c.k + c.pad_c, c.k, {.alpha = c.alpha, .beta = c.beta});
    const std::vector<T> result = c_buffer.to_host(stream);
    ASSERT_TRUE(near(result, c.k + c.pad_c, expected, c.k));
    for (std::uint64_t i = 0; i < result.size(); ++i) {
      if (i % (c.k + c.pad_c) >= c.k) {
        ASSERT_EQ(to_float(result[i]), to_float(before[i])) << "beyond the columns";
      }
    }
    if (repeat == 0) first = result;
    ASSERT_EQ(std::memcmp(first.data(), result.data(), result.size() * sizeof(T)), 0);
  }
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {{1},
                                        {2, 1, 2},
                                        {3},
                                        {4},
                                        {5, 3, 0},
                                        {7},
                                        {8, 0, 8},
                                        {13},
                                        {16},
                                        {17, 3, 3},
                                        {32, 4, 4},
                                        {33},
                                        {47},
                                        {64},
                                        {100},
                                        {128},
                                        {129},
                                        {256, 8, 0},
                                        {300},
                                        {8, 0, 0, 2.0f, 0.0f},
                                        {20, 0, 0, 0.5f, 1.0f},
                                        {5, 0, 3, -1.0f, 0.25f},
                                        {18, 0, 0, 1.0f, 1.0f, 3},
                                        {64, 0, 0, 1.0f, 0.5f, 1},
                                        {6, 0, 0, 1.0f, 0.0f, 7}};
  static const std::vector<Case> few = {
      {1}, {5, 3, 0}, {8, 0, 8}, {33}, {129}, {20, 0, 0, 0.5f, 1.0f}, {64, 0, 0, 1.0f, 0.5f, 1}};
  return testing_support::sees_few() ? few : all;
}

void check_shapes(const exec::Stream& stream) {
  for (const auto& named : fixtures::matrices()) {
    SCOPED_TRACE(named.name);
    const Matrix matrix(stream, named.graph);
    const auto entries = reference::entries_of(named.graph);
    for (const Case& c : cases()) check<float>(stream, matrix, entries, c);
    check<float>(stream, matrix.transposed(stream), reference::transposed(entries), {24});
    check<float>(stream, matrix.transposed(stream), reference::transposed(entries), {5});
  }
}

void check_types(const exec::Stream& stream) {
  for (const auto& named : fixtures::matrices()) {
    SCOPED_TRACE(named.name);
    if (named.name.find("star") != std::string::npos) continue;  // Sums that Half does not hold.
    const Matrix matrix(stream, named.graph);
    const auto entries = reference::entries_of(named.graph);
    for (const Case& c : cases()) {
      if (c.entries != 0 && c.k > 32) continue;
      check<Half>(stream, matrix, entries, c);
      check<BFloat16>(stream, matrix, entries, c);
    }
  }
}

/// Wider than most tiles of columns together.
template <class T>
void check_widest(const exec::Stream& stream) {
  const graph::Graph graph = fixtures::weighted(fixtures::generated("kron:6,4", true), 2);
  graph::Graph plain = graph;
  graph::drop_weights(plain);
  const Matrix weighted(stream, graph);
  const Matrix pattern(stream, plain);
  const std::vector<Case> widths = {{1024},
                                    {1025},
                                    {1500},
                                    {1024, 0, 0, 2.0f, 0.5f, 3},
                                    {1025, 7, 7, 1.0f, 1.0f},
                                    {1500, 4, 4, 1.0f, 0.0f, 5}};
  for (const Case& c : widths) {
    check<T>(stream, weighted, reference::entries_of(graph), c);
    check<T>(stream, pattern, reference::entries_of(plain), c);
  }
}

/// Rows of 16 bits that fill warps, also in pieces.
template <class T>
void check_wide(const exec::Stream& stream) {
  std::vector<Case> wide = {{40},
                            {64},
                            {72, 8, 8},
                            {128},
                            {136, 0, 8},
                            {192},
                            {256, 8, 0},
                            {64, 0, 0, 1.0f, 0.0f, 1},
                            {128, 0, 0, 0.5f, 0.0f, 3},
                            {64, 0, 0, 2.0f, 0.5f, 17},
                            {128, 0, 0, -1.0f, 1.0f, 64}};
  if (testing_support::sees_few()) wide = {{40}, {136, 0, 8}, {64, 0, 0, 2.0f, 0.5f, 17}};
  for (const auto& named : fixtures::matrices()) {
    if (named.name.find("star") != std::string::npos && std::is_same_v<T, Half>) continue;
    SCOPED_TRACE(named.name);
    const Matrix matrix(stream, named.graph, {}, false);
    graph::Graph plain = named.graph;
    graph::drop_weights(plain);
    for (const Case& c : wide) check<T>(stream, matrix, reference::entries_of(plain), c);
    for (const Kind kind : {Kind::row_mean, Kind::symmetric}) {
      const auto norm =
          kind == Kind::row_mean ? reference::Norm::row_mean : reference::Norm::symmetric;
      const auto entries = reference::entries_of(plain, norm, true);
      const Matrix scaled(stream, plain, {kind, true});
      check<T>(stream, scaled, entries, {.k = 64});
      check<T>(stream, scaled, entries, {128, 0, 0, 2.0f, 0.5f, 5});
    }
  }
}

/// Every sum is what IEEE 754 says of its entries' numbers, whatever stands beside them.
template <class T>
void check_non_finite(const exec::Stream& stream) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const std::uint32_t entries : {0u, 5u}) {
    for (const std::uint64_t k : {8u, 64u, 128u}) {
      SCOPED_TRACE("k " + std::to_string(k) + ", task of " + std::to_string(entries));
      const graph::Graph graph = fixtures::generated("kron:7,4", true);
      const std::uint64_t n = graph.vertices;
      std::vector<double> values = random_dense(n * k, 3);
      for (std::uint64_t i = 0; i < 6; ++i)
        values[i * 997 % n * k + i * 31 % k] = i % 3 == 0 ? -infinity : infinity;
      values[n / 2 * k + 1] = std::nan("");
      const std::vector<T> b = strided<T>(values, k, k);
      const Matrix matrix(stream, graph, {}, false);
      const SpmmPlan plan(stream, matrix.offsets(), {entries});
      const auto b_buffer = on_device(stream, b);
      const auto c_buffer = on_device(stream, std::vector<T>(n * k));
      spmm(stream, matrix.view(), plan, RowTable<T>(b_buffer.data(), k), c_buffer.data(), k, k);
      const std::vector<T> result = c_buffer.to_host(stream);
      for (std::uint64_t i = 0; i < n * k; ++i) {
        float sum = 0.0f;
        for (EdgeOffset e = graph.offsets[i / k]; e < graph.offsets[i / k + 1]; ++e)
          sum += to_float(b[std::uint64_t{graph.targets[e]} * k + i % k]);
        const float found = to_float(result[i]);
        if (std::isfinite(sum)) {
          ASSERT_TRUE(std::isfinite(found)) << "row " << i / k << ", column " << i % k;
        } else if (std::isnan(sum)) {
          ASSERT_TRUE(std::isnan(found)) << "row " << i / k << ", column " << i % k;
        } else {
          ASSERT_EQ(found, sum) << "row " << i / k << ", column " << i % k;
        }
      }
    }
  }
}

void check_normalizations(const exec::Stream& stream) {
  for (const auto& named : fixtures::matrices()) {
    if (named.name.find("float") != std::string::npos) continue;  // Degrees near zero.
    for (const bool self_loops : {false, true}) {
      for (const auto& [kind, norm] : {std::pair{Kind::none, reference::Norm::none},
                                       {Kind::row_mean, reference::Norm::row_mean},
                                       {Kind::symmetric, reference::Norm::symmetric}}) {
        SCOPED_TRACE(named.name + (self_loops ? ", self-loops" : ""));
        const Matrix matrix(stream, named.graph, {kind, self_loops});
        const auto entries = reference::entries_of(named.graph, norm, self_loops);
        check<float>(stream, matrix, entries, {12});
        check<float>(stream, matrix, entries, {33, 0, 0, 2.0f, 0.5f, 5});
        check<float>(stream, matrix.transposed(stream), reference::transposed(entries), {20});
      }
    }
  }
}

class SpmmOnThreads : public testing::TestWithParam<int> {
 protected:
  exec::Stream stream_{exec::Device::cpu(GetParam())};
};

TEST_P(SpmmOnThreads, MatchesReferenceOnEveryShapeAndWidth) { check_shapes(stream_); }
TEST_P(SpmmOnThreads, Normalizations) { check_normalizations(stream_); }
INSTANTIATE_TEST_SUITE_P(Threads, SpmmOnThreads, testing::Values(1, 3));

TEST(Spmm, SixteenBitTypes) { check_types(exec::Stream(exec::Device::cpu(2))); }
TEST(Spmm, SixteenBitRowsThatAreWide) {
  const exec::Stream stream(exec::Device::cpu(2));
  check_wide<Half>(stream);
  check_wide<BFloat16>(stream);
}

TEST(Spmm, WidestRows) {
  const exec::Stream stream(exec::Device::cpu(2));
  check_widest<float>(stream);
  check_widest<Half>(stream);
  check_widest<BFloat16>(stream);
}

TEST(Spmm, UnweightedWhereAsked) {
  const exec::Stream stream(exec::Device::cpu(1));
  const graph::Graph graph = fixtures::weighted(fixtures::generated("urand:6,4", false), 1);
  graph::Graph plain = graph;
  graph::drop_weights(plain);
  check<float>(stream, Matrix(stream, graph, {}, false), reference::entries_of(plain), {8});
}

TEST(Spmm, NonFiniteValuesAreCarriedThrough) {
  const exec::Stream stream(exec::Device::cpu(1));
  const Matrix matrix(stream, fixtures::from_list(4, {{0, 1}, {0, 2}, {1, 2}, {3, 3}}));
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> b = {1.0f, infinity, -infinity, std::nanf("")};
  std::vector<float> c(4);
  const SpmmPlan plan(stream, matrix.offsets());
  spmm(stream, matrix.view(), plan, RowTable<float>(b.data(), 1), c.data(), 1, 1);
  EXPECT_TRUE(std::isnan(c[0]));
  EXPECT_EQ(c[1], -infinity);
  EXPECT_EQ(c[2], 0.0f);
  EXPECT_TRUE(std::isnan(c[3]));
}

TEST(Spmm, NonFiniteValuesStayInTheirSums) {
  const exec::Stream stream(exec::Device::cpu(2));
  check_non_finite<float>(stream);
  check_non_finite<Half>(stream);
  check_non_finite<BFloat16>(stream);
}

TEST(Spmm, RefusesWhatMakesNoSense) {
  const exec::Stream stream(exec::Device::cpu(1));
  const Matrix matrix(stream, fixtures::path(4));
  const SpmmPlan plan(stream, matrix.offsets());
  std::vector<float> b(16), c(16);
  const auto run = [&](std::uint64_t stride_b, std::uint64_t stride_c, std::uint64_t k) {
    spmm(stream, matrix.view(), plan, RowTable<float>(b.data(), stride_b), c.data(), stride_c, k);
  };
  run(4, 4, 4);
  EXPECT_THROW(run(4, 4, 0), UsageError);
  EXPECT_THROW(run(3, 4, 4), UsageError);
  EXPECT_THROW(run(4, 3, 4), UsageError);
  graph::Graph broken = fixtures::path(4);
  broken.targets = memory::HostArray<Vertex>(3, 9);
  EXPECT_THROW(Matrix(stream, broken), Error);
  graph::Graph negative = fixtures::float_weighted(fixtures::path(4));
  EXPECT_THROW(Matrix(stream, negative, {Kind::symmetric, false}), UsageError);
  EXPECT_NO_THROW(Matrix(stream, negative, {Kind::symmetric, true}));
  negative.weights_float[0] = std::nanf("");
  negative.weights_float[1] = 1.0f;
  negative.weights_float[2] = 1.0f;
  EXPECT_NO_THROW(Matrix(stream, negative, {Kind::symmetric, false}));
  graph::Graph heavy = fixtures::path(3);
  heavy.weight_type = graph::WeightType::int32;
  heavy.weights_int = memory::HostArray<std::int32_t>(2, (1 << 24) + 1);
  EXPECT_THROW(Matrix(stream, heavy), UsageError);
}

/// Sizes whose products pass 2^32 and 2^40, by the plan alone: nothing is multiplied.
TEST(Spmm, PlansOfHugeOffsetsAreSixtyFourBit) {
  const exec::Stream stream(exec::Device::cpu(1));
  const EdgeOffset huge = std::uint64_t{1} << 40;
  const std::vector<EdgeOffset> offsets = {0, 5, huge, huge, huge + 7};
  const SpmmPlan plan(stream, offsets, {1u << 31});
  EXPECT_EQ(plan.splits(), 1u);
  EXPECT_EQ(plan.pieces(), 512u);
  EdgeOffset covered = 0;
  for (std::uint64_t i = 0; i < plan.tasks(); ++i) {
    EXPECT_EQ(plan.task_data()[i].begin, covered);
    covered = plan.task_data()[i].end;
  }
  EXPECT_EQ(covered, huge + 7);
  EXPECT_THROW(SpmmPlan(stream, offsets, {16}), UsageError);
}

TEST(Spmm, PlansCoverEveryRowOnce) {
  const exec::Stream stream(exec::Device::cpu(3));
  for (const auto& named : fixtures::matrices()) {
    const std::span<const EdgeOffset> offsets = named.graph.offsets.span();
    for (const std::uint32_t entries : {1u, 2u, 10u, 512u}) {
      const SpmmPlan plan(stream, offsets, {entries});
      std::vector<int> seen(named.graph.vertices, 0);
      for (std::uint64_t i = 0; i < plan.tasks(); ++i) {
        const SpmmTask& task = plan.task_data()[i];
        EXPECT_LE(task.end - task.begin, entries);
        if (task.partial != SpmmTask::kWhole) continue;
        EXPECT_EQ(task.begin, offsets[task.row]);
        EXPECT_EQ(task.end, offsets[task.row + std::uint64_t{task.rows}]);
        for (std::uint32_t r = 0; r < task.rows; ++r) ++seen[task.row + r];
      }
      std::uint64_t pieces = 0;
      for (std::uint64_t i = 0; i < plan.splits(); ++i) {
        const SplitRow& split = plan.split_data()[i];
        ++seen[split.row];
        EXPECT_EQ(split.first, pieces);
        pieces += split.count;
      }
      EXPECT_EQ(pieces, plan.pieces());
      EXPECT_THAT(seen, testing::Each(1)) << named.name;
    }
  }
}

TEST(SpmmCuda, MatchesReference) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  const exec::Stream stream(exec::Device::cuda(0));
  check_shapes(stream);
  check_types(stream);
  check_normalizations(stream);
  check_wide<Half>(stream);
  check_wide<BFloat16>(stream);
  check_widest<float>(stream);
  check_widest<Half>(stream);
  check_widest<BFloat16>(stream);
  check_non_finite<float>(stream);
  check_non_finite<Half>(stream);
  check_non_finite<BFloat16>(stream);
}

}  // namespace
}  // namespace warren::sparse
