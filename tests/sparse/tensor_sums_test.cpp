// SPDX-License-Identifier: Apache-2.0
// Sums on tensor cores against the reference: lanes are threads, which meet in every collective and
// do together what tensor cores do.
#include "sparse/tensor_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "warren/exec/cpu_block.hpp"
#include "warren/sparse/matrix.hpp"

#include "reference/sparse.hpp"
#include "sparse/dense.hpp"
#include "sparse/graphs.hpp"

namespace warren::sparse::detail {
namespace {

using testing_support::near;
using testing_support::random_dense;
using testing_support::strided;

struct Problem {
  std::uint64_t k;
  std::uint32_t entries;  ///< Of a task, at most.
  float alpha, beta;
  std::uint64_t pad = 0;  ///< Of B's rows.
};

/// Rows of none, one and many entries; offsets that do not begin at 0 are those of a part.
graph::Graph graph_of(std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  std::vector<graph::Edge> edges;
  constexpr Vertex kVertices = 23;
  for (Vertex v = 0; v < kVertices; ++v) {
    const std::uint64_t degree = v % 5 == 3 ? 0 : v == 7 ? 90 : draw() % 12;
    for (std::uint64_t e = 0; e < degree; ++e)
      edges.push_back({v, static_cast<Vertex>(draw() % kVertices)});
  }
  graph::BuildOptions keep;
  keep.keep_duplicates = true;
  return fixtures::from_list(kVertices, edges, keep);
}

/// C, where it was `old` before.
template <class T, std::uint32_t kLanes, bool kPlain>
std::vector<T> multiply(const graph::Graph& graph, const Problem& p, const std::vector<T>& b,
                        std::vector<T> c) {
  const exec::Stream stream(exec::Device::cpu(1));
  const Matrix matrix(stream, graph, {}, false);
  const SpmmPlan plan(stream, matrix.offsets(), {p.entries});
  SpmmJob<T> job;
  job.a = matrix.view();
  job.b = RowTable<T>(b.data(), p.k + p.pad);
  job.c = c.data();
  job.c_stride = job.k = p.k;
  job.tasks = plan.task_data();
  job.task_count = plan.tasks();
  job.splits = plan.split_data();
  job.split_count = plan.splits();
  job.partial_stride = p.k;
  job.partials = plan.partials(stream, p.k);
  job.pieces = plan.pieces();
  const std::uint64_t places = plan.pieces() * (p.k / 32 + 1);
  job.arrivals = plan.zeros(stream, places);
  job.alpha = p.alpha;
  job.beta = p.beta;
  job.is_plain = kPlain;
  using Kernel = TensorSums<T, kLanes, kPlain>;
  EXPECT_TRUE(Kernel::allows(job));
  exec::ThreadPool pool(32);
  exec::launch_cpu_block(pool, Kernel::tasks(job), Kernel{job});
  EXPECT_TRUE(std::all_of(job.arrivals, job.arrivals + places,
                          [](std::uint32_t count) { return count == 0; }));
  return c;
}

template <class T, std::uint32_t kLanes, bool kPlain>
void check(const Problem& p) {
  SCOPED_TRACE("k " + std::to_string(p.k) + ", task of " + std::to_string(p.entries));
  const graph::Graph graph = graph_of(p.k);
  const std::uint64_t n = graph.vertices;
  const std::vector<double> b = random_dense(n * p.k, 5), old = random_dense(n * p.k, 6);
  reference::Product expected = reference::multiply(reference::entries_of(graph), n, p.k, b);
  const auto alpha = static_cast<double>(p.alpha), beta = static_cast<double>(p.beta);
  for (std::uint64_t i = 0; i < old.size(); ++i) {
    expected.sum[i] = alpha * expected.sum[i] + beta * old[i];
    expected.size[i] = std::abs(alpha) * expected.size[i] + std::abs(beta * old[i]);
  }
  const auto found = multiply<T, kLanes, kPlain>(graph, p, strided<T>(b, p.k, p.k + p.pad),
                                                 strided<T>(old, p.k, p.k));
  EXPECT_TRUE(near(found, p.k, expected, p.k));
}

TEST(TensorSums, EqualReference) {
  for (const std::uint32_t entries : {7u, 40u, 200u}) {
    check<Half, 8, true>({64, entries, 1.0f, 0.0f});
    check<BFloat16, 8, true>({40, entries, 1.0f, 0.0f, 8});
    check<BFloat16, 8, false>({40, entries, 0.5f, 0.0f, 8});
    check<BFloat16, 32, false>({200, entries, 2.0f, 1.0f});
    check<Half, 16, false>({128, entries, 1.0f, 0.5f, 16});
    check<BFloat16, 32, true>({256, entries, 1.0f, 0.0f});
    check<BFloat16, 32, false>({256, entries, -1.0f, 0.0f});
  }
}

/// Products with zeros do not show where numbers are not finite.
TEST(TensorSums, KeepWhatIsNotFiniteInItsSums) {
  const float infinity = std::numeric_limits<float>::infinity();
  const graph::Graph graph = graph_of(1);
  const std::uint64_t n = graph.vertices;
  constexpr std::uint64_t kColumns = 64;
  std::vector<double> values = random_dense(n * kColumns, 5);
  values[3 * kColumns + 8] = static_cast<double>(infinity);
  values[9 * kColumns + 9] = -static_cast<double>(infinity);
  values[11 * kColumns + 60] = std::nan("");
  const auto b = strided<BFloat16>(values, kColumns, kColumns);
  // A row that is left for later is not written before: it would be added to itself.
  const std::vector<BFloat16> ones(b.size(), from_float<BFloat16>(1.0f));
  for (const std::uint32_t entries : {7u, 200u}) {
    const auto found =
        multiply<BFloat16, 8, false>(graph, {kColumns, entries, 1.0f, 2.0f}, b, ones);
    for (std::uint64_t i = 0; i < found.size(); ++i) {
      float sum = 2.0f;
      for (EdgeOffset e = graph.offsets[i / kColumns]; e < graph.offsets[i / kColumns + 1]; ++e)
        sum += to_float(b[std::uint64_t{graph.targets[e]} * kColumns + i % kColumns]);
      const float here = to_float(found[i]);
      SCOPED_TRACE("row " + std::to_string(i / kColumns) + ", column " +
                   std::to_string(i % kColumns));
      ASSERT_EQ(std::isnan(here), std::isnan(sum));
      if (std::isinf(sum)) {
        ASSERT_EQ(here, sum);
      } else if (!std::isnan(sum)) {
        ASSERT_NEAR(here, sum, 0.01f * (1.0f + std::abs(sum)));
      }
    }
  }
}

}  // namespace
}  // namespace warren::sparse::detail
