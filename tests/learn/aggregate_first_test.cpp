// SPDX-License-Identifier: Apache-2.0
// Attention over narrow rows: on tensor cores against the walk by one lane, logits against their
// definition. Lanes are threads, which meet in every collective.
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "warren/exec/cpu_block.hpp"
#include "warren/memory/buffer.hpp"

#include "learn/attention/narrow/aggregate_first_logits.hpp"
#include "learn/attention/narrow/aggregate_first_walk.hpp"
#include "support/size.hpp"

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

TEST(AggregateFirstOnTensorCores, EqualsTheWalkOfOneLane) {
  check<Half, 2>({4, 4, true}, 1e-3f);
  check<BFloat16, 7>({4, 92, true}, 8e-3f);
  check<BFloat16, 4>({4, 60, true, 100}, 8e-3f);
  if (testing_support::is_small()) return;  // 32 threads meet all the time.
  check<BFloat16, 2>({4, 32, false}, 8e-3f);
  check<Half, 4>({8, 36, true}, 1e-3f);
  check<Half, 7>({4, 100, false}, 1e-3f);
  check<BFloat16, 8>({8, 128, true}, 8e-3f);
}

struct LogitsProblem {
  std::uint64_t heads, columns, rows, count;
};

/// x, u, and l and r as what is not set stays.
template <class T>
struct Logits {
  static constexpr float kUnset = 77.0f;
  std::vector<T> x;
  std::vector<float> u, l, r;

  explicit Logits(const LogitsProblem& p)
      : l(p.count * p.heads, kUnset), r(p.count * p.heads, kUnset) {
    std::mt19937_64 draw(p.columns + p.count);
    std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
    for (std::uint64_t i = 0; i < p.count * p.columns; ++i)
      x.push_back(from_float<T>(uniform(draw)));
    for (std::uint64_t i = 0; i < 2 * p.heads * p.columns; ++i) u.push_back(uniform(draw));
  }
  [[nodiscard]] FirstLogits<T> kernel(const LogitsProblem& p) {
    return {p.heads, p.columns, p.rows, p.count, x.data(), u.data(), l.data(), r.data()};
  }
  void define(const LogitsProblem& p) {
    for (std::uint64_t at = 0; at < r.size(); ++at) {
      double sums[2] = {};
      for (std::uint64_t c = 0; c < p.columns; ++c) {
        const double value = to_float(x[at / p.heads * p.columns + c]);
        for (const std::uint64_t side : {0u, 1u})
          sums[side] += value * u[(side * p.heads + at % p.heads) * p.columns + c];
      }
      if (at / p.heads < p.rows) l[at] = static_cast<float>(sums[0]);
      r[at] = static_cast<float>(sums[1]);
    }
  }
};

void expect_logits(const std::vector<float>& l, const std::vector<float>& r,
                   const std::vector<float>& expected_l, const std::vector<float>& expected_r) {
  expect_near(l, expected_l, 1e-5f, "l");
  expect_near(r, expected_r, 1e-5f, "r");
}

template <class T>
void check_logits(const LogitsProblem& p) {
  SCOPED_TRACE(std::to_string(p.heads) + " heads, " + std::to_string(p.columns) + " columns, " +
               std::to_string(p.rows) + " of " + std::to_string(p.count) + " rows");
  Logits<T> expected(p), alone(p), together(p);
  expected.define(p);
  const FirstLogits<T> kernel = alone.kernel(p);
  run_kernel<exec::Cpu>(exec::Stream{exec::Device::cpu(2)}, kernel.tasks(), kernel);
  expect_logits(alone.l, alone.r, expected.l, expected.r);
  exec::ThreadPool pool(32);
  exec::launch_cpu_block(pool, kernel.tasks(), together.kernel(p));
  expect_logits(together.l, together.r, expected.l, expected.r);
}

TEST(AggregateFirstLogits, AreInnerProducts) {
  check_logits<float>({4, 100, 70, 70});
  check_logits<float>({1, 4, 3, 5});
  check_logits<float>({3, 128, 2, 3});
  check_logits<Half>({5, 100, 33, 66});
  check_logits<Half>({8, 4, 0, 17});
  check_logits<BFloat16>({4, 128, 70, 75});
  check_logits<BFloat16>({3, 100, 64, 64});
  check_logits<BFloat16>({1, 36, 7, 7});
}

#if WARREN_HAS_CUDA
template <class T>
void check_logits_on_gpu(const LogitsProblem& p) {
  SCOPED_TRACE(std::to_string(p.heads) + " heads, " + std::to_string(p.columns) + " columns, " +
               std::to_string(p.rows) + " of " + std::to_string(p.count) + " rows");
  Logits<T> expected(p), given(p);
  expected.define(p);
  const exec::Device device = exec::Device::cuda(0);
  const exec::Stream stream(device);
  memory::Buffer<T> x(device, given.x.size());
  memory::Buffer<float> u(device, given.u.size()), l(device, given.l.size()),
      r(device, given.r.size());
  x.upload(stream, given.x);
  u.upload(stream, given.u);
  l.upload(stream, given.l);
  r.upload(stream, given.r);
  const FirstLogits<T> kernel{p.heads,  p.columns, p.rows,   p.count,
                              x.data(), u.data(),  l.data(), r.data()};
  run_kernel<exec::Cuda>(stream, kernel.tasks(), kernel);
  expect_logits(l.to_host(stream), r.to_host(stream), expected.l, expected.r);
}

TEST(AggregateFirstLogitsCuda, AreInnerProducts) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  for (const std::uint64_t heads : {1u, 3u, 4u, 5u, 8u}) {
    for (const std::uint64_t columns : {4u, 100u, 128u}) {
      for (const auto& [rows, count] : {std::pair<std::uint64_t, std::uint64_t>{3, 3},
                                        {0, 7},
                                        {8, 65},
                                        {1000, 1000},
                                        {12345, 70003}}) {
        check_logits_on_gpu<float>({heads, columns, rows, count});
        check_logits_on_gpu<Half>({heads, columns, rows, count});
        check_logits_on_gpu<BFloat16>({heads, columns, rows, count});
      }
    }
  }
}
#endif

}  // namespace
}  // namespace warren::learn::detail
