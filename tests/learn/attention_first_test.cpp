// SPDX-License-Identifier: Apache-2.0
// Attention over narrow rows on tensor cores against the walk by one lane: lanes are threads, which
// meet in every collective.
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "warren/exec/cpu_block.hpp"

#include "learn/attention_first_walk.hpp"

namespace warren::learn::detail {
namespace {

struct Problem {
  std::uint64_t heads;
  std::uint32_t columns;
  bool drops;
  std::uint32_t entries = 30;  ///< Of a task.
};

/// A random matrix with empty rows and long ones, columns of two parts, and all that walks read.
template <class T>
struct Inputs {
  static constexpr std::uint64_t kRows = 24;
  static constexpr std::uint64_t kOwn = 17;
  static constexpr std::uint64_t kWorkers = 3;
  Problem p;
  std::vector<EdgeOffset> offsets{0};
  std::vector<Vertex> ids;
  std::vector<T> own, pulled, gradients;
  std::vector<float> r;
  std::vector<std::uint32_t> keys;
  exec::Stream stream{exec::Device::cpu(1)};
  sparse::SpmmPlan plan;

  explicit Inputs(const Problem& problem) : p(problem), plan(make_plan()) {
    std::mt19937_64 draw(p.columns);
    std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
    const auto fill = [&](std::vector<T>& values, std::uint64_t size) {
      for (std::uint64_t i = 0; i < size; ++i) values.push_back(from_float<T>(uniform(draw)));
    };
    fill(own, kOwn * p.columns);
    fill(pulled, (kRows - kOwn) * p.columns);
    fill(gradients, kRows * p.heads * p.columns);
    for (std::uint64_t i = 0; i < kRows * p.heads; ++i) r.push_back(uniform(draw));
    for (std::uint64_t i = 0; i < kRows; ++i) keys.push_back(static_cast<std::uint32_t>(draw()));
  }
  sparse::SpmmPlan make_plan() {
    std::mt19937_64 draw(p.heads);
    for (std::uint64_t row = 0; row < kRows; ++row) {
      const std::uint64_t degree = row % 7 == 3 ? 0 : row == 5 ? 75 : draw() % 13;
      for (std::uint64_t e = 0; e < degree; ++e) ids.push_back(static_cast<Vertex>(draw() % kRows));
      offsets.push_back(ids.size());
    }
    return {stream, offsets, {.entries = p.entries}};
  }
};

/// What walks write.
template <class T>
struct Outputs {
  std::vector<float> statistics, partials;
  std::vector<T> sums;

  explicit Outputs(const Inputs<T>& in)
      : statistics(in.kRows * in.p.heads * kStatistics), sums(in.gradients.size()) {
    std::mt19937_64 draw(7);
    std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
    for (float& value : statistics) value = uniform(draw);
    for (std::size_t at = kLargest; at < statistics.size(); at += kStatistics)
      statistics[at] = 2.0f + uniform(draw);
  }
};

template <class T>
FirstJob<T> job_of(const Inputs<T>& in, Outputs<T>& out, bool is_backward) {
  FirstJob<T> job{};
  job.a.rows = in.kRows;
  job.a.offsets = in.offsets.data();
  job.a.column_ids = in.ids.data();
  job.tasks = in.plan.task_data();
  job.task_count = in.plan.tasks();
  job.splits = in.plan.split_data();
  job.split_count = in.plan.splits();
  job.heads = in.p.heads;
  job.columns = in.p.columns;
  job.slope = 0.2f;
  if (in.p.drops) job.dropout = {in.keys.data(), 0.4f};
  job.x = {in.own.data(), in.pulled.data(), in.kOwn, in.p.columns};
  job.r = in.r.data();
  job.statistics = out.statistics.data();
  job.sums = out.sums.data();
  job.gradients = in.gradients.data();
  job.workers = is_backward ? in.kWorkers : 0;
  const std::uint64_t of_workers = in.kWorkers * 2 * in.p.heads * in.p.columns;
  out.partials.assign(is_backward ? of_workers : in.plan.pieces() * job.piece_stride(), 0.0f);
  job.partials = out.partials.data();
  return job;
}

void expect_near(const std::vector<float>& found, const std::vector<float>& expected,
                 float tolerance, const char* what) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], expected[i], tolerance * (1.0f + std::abs(expected[i])))
        << what << " at " << i;
}
template <class T>
std::vector<float> floats(const std::vector<T>& values) {
  std::vector<float> result;
  for (const T value : values) result.push_back(to_float(value));
  return result;
}

template <class T, std::uint32_t kTiles>
void check(const Problem& p, float rounding) {
  SCOPED_TRACE(std::to_string(p.heads) + " heads, " + std::to_string(p.columns) + " columns");
  const Inputs<T> in(p);
  ASSERT_EQ(in.plan.splits() > 0, p.entries < 75);
  exec::ThreadPool pool(32);
  Outputs<T> expected(in), found(in);
  const std::uint64_t groups = p.heads / 4;
  FirstJob<T> job = job_of(in, expected, false);
  exec::launch<exec::Cpu, exec::Serial>(in.stream, job.task_count * groups,
                                        FirstForward<T, 4>{job});
  job = job_of(in, found, false);
  using Forward = FirstTensorForward<T, kTiles>;
  exec::launch_cpu_block(pool, job.task_count * groups, Forward{job},
                         sizeof(typename Forward::Shared));
  expect_near(found.statistics, expected.statistics, 1e-4f, "statistics");
  expect_near(floats(found.sums), floats(expected.sums), 2.0f * rounding, "sums");
  expect_near(found.partials, expected.partials, 1e-4f, "pieces");

  found.sums = expected.sums;
  found.statistics = expected.statistics;
  job = job_of(in, expected, true);
  exec::launch<exec::Cpu, exec::Serial>(in.stream, job.workers * groups, FirstBackward<T, 4>{job});
  job = job_of(in, found, true);
  using Backward = FirstTensorBackward<T, kTiles>;
  exec::launch_cpu_block(pool, job.workers * groups, Backward{job},
                         sizeof(typename Backward::Shared));
  expect_near(found.partials, expected.partials, 2e-4f, "gradients");
}

TEST(AttentionFirstOnTensorCores, EqualsTheWalkOfOneLane) {
  check<Half, 2>({4, 4, true}, 1e-3f);
  check<BFloat16, 2>({4, 32, false}, 8e-3f);
  check<Half, 4>({8, 36, true}, 1e-3f);
  check<BFloat16, 7>({4, 92, true}, 8e-3f);
  check<Half, 7>({4, 100, false}, 1e-3f);
  check<BFloat16, 8>({8, 128, true}, 8e-3f);
  check<BFloat16, 4>({4, 60, true, 100}, 8e-3f);
}

}  // namespace
}  // namespace warren::learn::detail
