// SPDX-License-Identifier: Apache-2.0
// Attention's walks by lanes that make weights together, and on tensor cores, against the walk in
// which each lane makes its own: lanes are threads, which meet in every collective.
#include "learn/attention/gat/attention_walk.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "warren/exec/cpu_block.hpp"

#include "support/size.hpp"

namespace warren::learn::detail {
namespace {

struct Problem {
  std::uint64_t rows, heads, width;
  std::uint64_t k;  ///< heads x width, padded to fours.
  bool drops;
  std::uint32_t entries = 40;  ///< Of a task.
  std::uint64_t most = 13;     ///< Rows are shorter, but for a long one.
};

/// A random matrix with empty rows and long ones, and all that a walk reads, on the CPU.
template <class T>
struct Inputs {
  Problem p;
  std::vector<EdgeOffset> offsets{0};
  std::vector<Vertex> columns;
  std::vector<T> x;
  std::vector<float> of_rows, statistics;
  std::vector<std::uint32_t> keys;

  explicit Inputs(const Problem& problem) : p(problem) {
    std::mt19937_64 draw(p.rows + p.width);
    std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
    for (std::uint64_t r = 0; r < p.rows; ++r) {
      const std::uint64_t degree = r % 11 == 3 ? 0 : r == 5 ? 150 : draw() % p.most;
      for (std::uint64_t e = 0; e < degree; ++e)
        columns.push_back(static_cast<Vertex>(draw() % p.rows));
      offsets.push_back(columns.size());
    }
    const auto fill = [&](std::vector<float>& values, std::uint64_t size) {
      values.resize(size);
      for (float& value : values) value = uniform(draw);
    };
    for (std::uint64_t i = 0; i < p.rows * p.k; ++i)
      x.push_back(from_float<T>(i % p.k < p.heads * p.width ? uniform(draw) : 0.0f));
    fill(of_rows, p.rows * p.heads);
    fill(statistics, p.rows * p.heads * kStatistics);
    for (std::uint64_t at = kInverse; at < statistics.size(); at += kStatistics)
      statistics[at] = std::abs(statistics[at]);
    for (std::uint64_t r = 0; r < p.rows; ++r) keys.push_back(static_cast<std::uint32_t>(draw()));
  }
  [[nodiscard]] EdgeDropout dropout() const {
    return p.drops ? EdgeDropout{keys.data(), 0.4f} : EdgeDropout{};
  }
};

/// What a walk writes.
template <class T>
struct Outputs {
  std::vector<T> all, positive, y;
  std::vector<float> statistics, shares;

  explicit Outputs(const Inputs<T>& in)
      : all(in.p.rows * in.p.k),
        positive(in.p.rows * in.p.k),
        y(in.p.rows * in.p.heads * in.p.width),
        statistics(in.statistics),
        shares(in.p.rows * in.p.heads) {}
};

template <class T>
ForwardSide<T> side_of(const Inputs<T>& in, Outputs<T>& out, ForwardSide<T>*) {
  const TwoParts<float> r{in.of_rows.data(), nullptr, in.p.rows, in.p.heads};
  return {in.p.heads,        0.2f,         in.dropout(),           r, out.statistics.data(),
          out.shares.data(), out.y.data(), in.p.heads * in.p.width};
}
template <class T>
BackwardSide<T> side_of(const Inputs<T>& in, Outputs<T>& out, BackwardSide<T>*) {
  const std::uint64_t many = in.p.heads * kStatistics;
  return {in.p.heads,
          0.2f,
          in.dropout(),
          in.of_rows.data(),
          {in.statistics.data(), nullptr, in.p.rows, many},
          out.shares.data()};
}

/// All tasks by run(job), then the pieces of long rows.
template <class Side, class Run>
auto walked(const Inputs<typename Side::Element>& in, const exec::Stream& stream,
            const sparse::SpmmPlan& plan, Run&& run) {
  Outputs<typename Side::Element> out(in);
  AttentionJob<Side> job{};
  job.side = side_of(in, out, static_cast<Side*>(nullptr));
  job.a.rows = in.p.rows;
  job.a.offsets = in.offsets.data();
  job.a.column_ids = in.columns.data();
  job.heads = in.p.heads;
  job.width = in.p.width;
  job.k = in.p.k;
  job.x = {in.x.data(), nullptr, in.p.rows, in.p.k};
  job.all = out.all.data();
  job.positive = out.positive.data();
  job.tasks = plan.task_data();
  job.task_count = plan.tasks();
  job.splits = plan.split_data();
  job.split_count = plan.splits();
  job.partial_stride = 2 * job.k + (2 * job.heads + 3) / 4 * 4;
  job.partials = plan.partials(stream, job.partial_stride);
  run(job);
  exec::LaunchOptions block;
  block.scratch_bytes = sizeof(AttentionSums<4>);
  exec::launch<exec::Cpu, exec::Block>(stream, job.split_count * (job.k / 4),
                                       AttentionCombine<Side, 4, true>{job, 1}, block);
  return out;
}

template <class T>
void expect_near(const std::vector<T>& found, const std::vector<T>& expected,
                 float tolerance = 1e-4f) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const float value = to_float(expected[i]);
    ASSERT_NEAR(to_float(found[i]), value, tolerance * (1.0f + std::abs(value))) << "at " << i;
  }
}
template <class T>
void expect_near(const Outputs<T>& found, const Outputs<T>& expected, float tolerance) {
  expect_near(found.all, expected.all, tolerance);
  expect_near(found.positive, expected.positive, tolerance);
  expect_near(found.y, expected.y, tolerance);
  expect_near(found.shares, expected.shares);
  expect_near(found.statistics, expected.statistics);
}

template <class Side>
void check(const Problem& problem, int lanes, std::uint32_t expected_together) {
  SCOPED_TRACE(std::to_string(problem.heads) + " heads of " + std::to_string(problem.width));
  const Inputs<float> in(problem);
  const exec::Stream stream(exec::Device::cpu(1));
  const sparse::SpmmPlan plan(stream, in.offsets, {.entries = 24});
  ASSERT_GT(plan.splits(), 0u);
  exec::ThreadPool pool(lanes);
  const auto expected = walked<Side>(in, stream, plan, [&](const AttentionJob<Side>& job) {
    exec::launch<exec::Cpu, exec::Serial>(stream, job.task_count * (job.k / 4),
                                          AttentionWalk<Side, 4, true>{job});
  });
  for (const bool is_whole : {true, false}) {
    const auto found = walked<Side>(in, stream, plan, [&](const AttentionJob<Side>& job) {
      const auto many = static_cast<std::uint32_t>(lanes);
      const std::uint32_t together = lanes_of_a_head(job, many, 4);
      ASSERT_EQ(together, expected_together);
      const std::uint64_t tasks = job.task_count * ((job.k / 4 + many - 1) / many);
      if (is_whole) {
        exec::launch_cpu_block(pool, tasks, AttentionSharedWalk<Side, 4, true>{job, together});
      } else {
        exec::launch_cpu_block(pool, tasks, AttentionSharedWalk<Side, 4, false>{job, together});
      }
    });
    expect_near(found, expected, 1e-4f);
  }
}

/// Of the walk on tensor cores, whose results are rounded once more where a row has two parts.
template <class Side>
void check_on_tensor_cores(const Problem& problem, float rounding) {
  SCOPED_TRACE(std::to_string(problem.heads) + " heads of " + std::to_string(problem.width));
  const Inputs<typename Side::Element> in(problem);
  const exec::Stream stream(exec::Device::cpu(1));
  const sparse::SpmmPlan plan(stream, in.offsets, {.entries = problem.entries});
  ASSERT_EQ(plan.splits() > 0, problem.entries < 150);
  exec::ThreadPool pool(32);
  const auto expected = walked<Side>(in, stream, plan, [&](const AttentionJob<Side>& job) {
    exec::launch<exec::Cpu, exec::Serial>(stream, job.task_count * (job.k / 4),
                                          AttentionWalk<Side, 4, true>{job});
  });
  const auto launch = [&]<bool kIsWhole>(const AttentionJob<Side>& job) {
    using Walk = AttentionTensorWalk<Side, kIsWhole>;
    ASSERT_TRUE(Walk::allows(job));
    exec::launch_cpu_block(pool, job.task_count * Walk::spans(job), Walk{job},
                           sizeof(typename Walk::Shared));
  };
  const auto whole = walked<Side>(in, stream, plan, [&](const AttentionJob<Side>& job) {
    launch.template operator()<true>(job);
  });
  expect_near(whole, expected, 2.0f * rounding);
  const auto parts = walked<Side>(in, stream, plan, [&](const AttentionJob<Side>& job) {
    launch.template operator()<false>(job);
  });
  expect_near(parts, expected, 2.0f * rounding);
}

TEST(AttentionSharedWalk, EqualsTheWalkOfOneLane) {
  for (const bool drops : {false, true}) {
    for (const auto& [p, lanes, together] :
         {std::tuple{Problem{60, 2, 16, 32, drops}, 8, 4u},     // Two heads to a group of lanes.
          std::tuple{Problem{40, 2, 32, 64, drops}, 8, 8u},     // Two tiles of columns.
          std::tuple{Problem{40, 1, 22, 24, drops}, 8, 8u},     // Lanes without columns.
          std::tuple{Problem{40, 3, 16, 48, drops}, 8, 4u}}) {  // Half of a tile without.
      check<ForwardSide<float>>(p, lanes, together);
      check<BackwardSide<float>>(p, lanes, together);
    }
  }
}

// 32 threads meet all the time: each problem has one or two of the four walks.
TEST(AttentionTensorWalk, EqualsTheWalkOfOneLane) {
  int turn = 0;
  const auto has_turn = [&] { return turn++ % (testing_support::is_small() ? 5 : 3) == 0; };
  for (const Problem& p : {Problem{30, 2, 64, 128, true}, Problem{30, 1, 47, 48, false},
                           Problem{20, 1, 200, 200, true}, Problem{20, 1, 128, 128, false},
                           Problem{8, 4, 128, 512, true, 160},  // Long rows, two spans of a head.
                           Problem{70, 1, 64, 64, false, 200, 3}}) {  // Many rows to a product.
    if (has_turn()) check_on_tensor_cores<ForwardSide<Half>>(p, 1e-3f);
    if (has_turn()) check_on_tensor_cores<BackwardSide<Half>>(p, 1e-3f);
    if (has_turn()) check_on_tensor_cores<ForwardSide<BFloat16>>(p, 8e-3f);
    if (has_turn()) check_on_tensor_cores<BackwardSide<BFloat16>>(p, 8e-3f);
  }
}

/// What the first part leaves is added to the rest's: the same entries twice.
TEST(AttentionTensorWalk, AddsPartsOfRows) {
  using Side = ForwardSide<BFloat16>;
  const Problem p{30, 2, 64, 128, true};
  const Inputs<BFloat16> in(p);
  const exec::Stream stream(exec::Device::cpu(1));
  const sparse::SpmmPlan plan(stream, in.offsets, {.entries = 256});
  ASSERT_EQ(plan.splits(), 0u);
  exec::ThreadPool pool(32);
  const auto walk_parts = [&](auto&& launch) {
    return walked<Side>(in, stream, plan, [&](AttentionJob<Side> job) {
      std::vector<float> sums(p.rows * p.heads * 2);
      job.sums = sums.data();
      job.x.pulled = job.x.own + p.rows * job.x.stride;  // Columns of a halo count from there on.
      for (const WalkPart part : {WalkPart::first, WalkPart::rest}) {
        job.part = part;
        launch(job);
      }
    });
  };
  const auto expected = walk_parts([&](const AttentionJob<Side>& job) {
    exec::launch<exec::Cpu, exec::Serial>(stream, job.task_count * (job.k / 4),
                                          AttentionWalk<Side, 4, false>{job});
  });
  const auto found = walk_parts([&](const AttentionJob<Side>& job) {
    using Walk = AttentionTensorWalk<Side, false>;
    exec::launch_cpu_block(pool, job.task_count * Walk::spans(job), Walk{job},
                           sizeof(typename Walk::Shared));
  });
  expect_near(found, expected, 3.0f * 8e-3f);
}

TEST(AttentionTensorWalk, IsForSpansOfOneHead) {
  using Side = ForwardSide<Half>;
  AttentionJob<Side> job{};
  const Vertex column = 0;
  job.a.column_ids = &column;
  const auto allows = [&](std::uint64_t heads, std::uint64_t width, std::uint64_t k) {
    job.heads = heads;
    job.width = width;
    job.k = job.x.stride = k;
    return AttentionTensorWalk<Side, true>::allows(job);
  };
  EXPECT_TRUE(allows(4, 64, 256));
  EXPECT_TRUE(allows(2, 192, 384));
  EXPECT_TRUE(allows(1, 47, 48));
  EXPECT_FALSE(allows(1, 32, 32));   // Half of the lanes would read nothing.
  EXPECT_FALSE(allows(8, 32, 256));  // A span of two heads.
  EXPECT_FALSE(allows(1, 42, 44));   // Not of 16 bytes.
}

TEST(AttentionSharedWalk, IsForLanesOfOneHead) {
  AttentionJob<ForwardSide<float>> job{};
  const auto lanes = [&](std::uint64_t heads, std::uint64_t width) {
    job.heads = heads;
    job.width = width;
    return lanes_of_a_head(job, 32, 4);
  };
  EXPECT_EQ(lanes(4, 64), 16u);
  EXPECT_EQ(lanes(2, 256), 32u);
  EXPECT_EQ(lanes(1, 12), 32u);
  EXPECT_EQ(lanes(8, 8), 0u);   // Two lanes to a head.
  EXPECT_EQ(lanes(4, 12), 0u);  // Three.
  EXPECT_EQ(lanes(4, 18), 0u);  // A lane with two heads' columns.
}

}  // namespace
}  // namespace warren::learn::detail
