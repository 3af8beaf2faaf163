// SPDX-License-Identifier: Apache-2.0
// Plans whose parts are multiplied as halo rows come: what each part may name, and that together
// they are the matrix.
#include "warren/sparse/pipelined_plan.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace warren::sparse {
namespace {

struct Matrix {
  std::vector<EdgeOffset> offsets{0};
  std::vector<Vertex> columns;
};

/// Rows of 0 to `most` entries, each a halo row's with probability `remote`, and one of 5,000.
Matrix random_matrix(std::uint64_t rows, const PipelineShape& shape, std::uint64_t most,
                     double remote, std::uint32_t seed) {
  std::mt19937 draw(seed);
  Matrix a;
  for (std::uint64_t r = 0; r < rows; ++r) {
    const std::uint64_t degree = r == rows / 3 ? 5000 : draw() % (most + 1);
    for (std::uint64_t e = 0; e < degree; ++e) {
      const bool is_halo_row =
          shape.halo_rows > 0 && draw() % 1000 < static_cast<std::uint64_t>(remote * 1000);
      a.columns.push_back(static_cast<Vertex>(is_halo_row ? shape.own + draw() % shape.halo_rows
                                                          : draw() % shape.own));
    }
    a.offsets.push_back(a.columns.size());
  }
  return a;
}

void check(const PipelineShape& shape, std::uint64_t rows, std::uint64_t most, double remote) {
  SCOPED_TRACE(std::to_string(shape.halo_rows) + " halo_rows in " + std::to_string(shape.parts) +
               ", remote " + std::to_string(remote));
  const exec::Stream stream(exec::Device::cpu(2));
  Matrix a = random_matrix(rows, shape, most, remote, 7);
  const std::vector<Vertex> before = a.columns;
  const PipelinedPlan plan(stream, a.offsets, a.columns, shape);

  // Halo rows are renumbered, and nothing else.
  std::vector<Vertex> order = plan.order();
  ASSERT_EQ(order.size(), shape.halo_rows);
  for (std::size_t e = 0; e < before.size(); ++e) {
    const bool is_halo_row = before[e] >= shape.own;
    const Vertex now = a.columns[e];
    ASSERT_EQ(before[e], is_halo_row ? shape.own + order.at(now - shape.own) : now);
  }
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) ASSERT_EQ(order[i], i);

  // Parts are all tasks, and name what has come by then alone.
  std::uint64_t next_task = 0, next_halo_row = 0;
  std::vector<int> seen(before.size(), 0);
  EXPECT_LE(plan.parts().size(), std::size_t{shape.parts} + 2);
  for (const PipelinedPlan::Part& part : plan.parts()) {
    EXPECT_FALSE(next_task > 0 && part.first_task == 0);
    ASSERT_EQ(part.first_task, next_task);
    ASSERT_EQ(part.first_halo_row, next_halo_row);
    const auto begin = plan.order().begin() + static_cast<std::ptrdiff_t>(part.first_halo_row);
    EXPECT_TRUE(std::is_sorted(begin, begin + static_cast<std::ptrdiff_t>(part.halo_rows)));
    next_task += part.tasks;
    next_halo_row += part.halo_rows;
    ASSERT_LE(next_task, plan.plan().tasks());
    const std::uint64_t end = shape.own + next_halo_row;
    for (std::uint64_t t = part.first_task; t < next_task; ++t) {
      const SpmmTask& task = plan.plan().task_data()[t];
      for (EdgeOffset e = task.begin; e < task.end; ++e) {
        ++seen[e];
        ASSERT_LT(a.columns[e], end);
      }
    }
  }
  EXPECT_EQ(next_task, plan.plan().tasks());
  EXPECT_EQ(next_halo_row, shape.halo_rows);
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
}

TEST(PipelinedPlan, PartsNameWhatHasCome) {
  for (const std::uint32_t parts : {1u, 2u, 6u, 40u}) {
    for (const double remote : {0.0, 0.002, 0.3, 1.0})
      check({.own = 700, .halo_rows = 900, .parts = parts}, 700, 12, remote);
    check({.own = 5, .halo_rows = 0, .parts = parts}, 40, 3, 0.0);
  }
}

TEST(PipelinedPlan, RowsWithoutHaloRowsComeFirst) {
  const exec::Stream stream(exec::Device::cpu(1));
  // A row in 500 names halo rows: its task alone waits for them.
  std::vector<EdgeOffset> offsets{0};
  std::vector<Vertex> columns;
  for (Vertex r = 0; r < 10000; ++r) {
    for (Vertex e = 0; e < 8; ++e) columns.push_back(r % 500 == 0 && e == 0 ? 10000 + r / 500 : r);
    offsets.push_back(columns.size());
  }
  const PipelinedPlan plan(stream, offsets, columns, {.own = 10000, .halo_rows = 20, .parts = 4});
  ASSERT_GE(plan.parts().size(), 2u);
  EXPECT_EQ(plan.parts()[0].halo_rows, 0u);
  EXPECT_EQ(plan.plan().tasks() - plan.parts()[0].tasks, 20u);
}

TEST(PipelinedPlan, NothingToMultiply) {
  const exec::Stream stream(exec::Device::cpu(1));
  std::vector<EdgeOffset> offsets{0};
  std::vector<Vertex> columns;
  const PipelinedPlan plan(stream, offsets, columns, {.own = 0, .halo_rows = 0, .parts = 6});
  EXPECT_TRUE(plan.parts().empty());
  EXPECT_EQ(plan.plan().tasks(), 0u);
}

}  // namespace
}  // namespace warren::sparse
