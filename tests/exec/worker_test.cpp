// SPDX-License-Identifier: Apache-2.0
// Workers on the CPU: serial, and blocks of one to five threads.
#include <gtest/gtest.h>

#include "warren/exec/cpu_block.hpp"

#include "exec/worker_kernels.hpp"

namespace warren::exec {
namespace {

constexpr std::uint64_t kTasks = 50;
constexpr std::uint64_t kLoop = 37;

/// Runs `launch(tasks, kernel)`, with workers of `lanes`, and compares all results.
template <class Launch>
void check_worker(std::uint32_t lanes, Launch&& launch) {
  std::vector<reference::LaneResults> results(kTasks * lanes);
  std::vector<std::uint32_t> loops(kLoop);
  launch(kTasks, WorkerKernel{results.data(), loops.data(), kLoop});
  for (std::uint64_t task = 0; task < kTasks; ++task) {
    std::vector<std::uint32_t> values;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) values.push_back(lane_value(task, lane));
    const auto expected = reference::worker_results(values);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      EXPECT_EQ(results[task * lanes + lane], expected[lane])
          << "task " << task << ", lane " << lane;
    }
  }
  EXPECT_EQ(loops, std::vector<std::uint32_t>(kLoop, 2 * kTasks));
}

template <class Launch>
void check_expand(std::uint32_t lanes, Launch&& launch) {
  std::vector<std::uint32_t> visits(kTasks * lanes * ExpandKernel::kMostItems);
  std::uint32_t mismatches = 0;
  launch(kTasks, ExpandKernel{visits.data(), &mismatches});
  EXPECT_EQ(mismatches, 0u);
  for (std::uint64_t i = 0; i < visits.size(); ++i) {
    const std::uint64_t owner = i / ExpandKernel::kMostItems;
    const bool is_item = i % ExpandKernel::kMostItems <
                         expand_count(owner / lanes, static_cast<std::uint32_t>(owner % lanes));
    ASSERT_EQ(visits[i], is_item ? 1u : 0u)
        << "task " << owner / lanes << ", lane " << owner % lanes << ", item "
        << i % ExpandKernel::kMostItems;
  }
}

TEST(Worker, Serial) {
  const Stream stream(Device::cpu(3));
  check_worker(1, [&](std::uint64_t tasks, const WorkerKernel& kernel) {
    launch<Cpu, Warp>(stream, tasks, kernel, {.scratch_bytes = 4});
  });
  check_expand(1, [&](std::uint64_t tasks, const ExpandKernel& kernel) {
    launch<Cpu, Warp>(stream, tasks, kernel);
  });
}

TEST(Worker, CpuBlock) {
  for (int lanes = 1; lanes <= 5; ++lanes) {
    SCOPED_TRACE(lanes);
    ThreadPool pool(lanes);
    check_worker(static_cast<std::uint32_t>(lanes),
                 [&](std::uint64_t tasks, const WorkerKernel& kernel) {
                   launch_cpu_block(pool, tasks, kernel, static_cast<std::uint32_t>(lanes) * 4);
                 });
    check_expand(static_cast<std::uint32_t>(lanes),
                 [&](std::uint64_t tasks, const ExpandKernel& kernel) {
                   launch_cpu_block(pool, tasks, kernel);
                 });
  }
}

template <class T>
void check_products() {
  using Of = Products<T>;
  std::vector<T> a, b;
  std::vector<float> d;
  for (std::uint64_t i = 0; i < Of::kTasks * 256; ++i) a.push_back(Of::of_a(i));
  for (std::uint64_t i = 0; i < Of::kTasks * 128; ++i) {
    b.push_back(Of::of_b(i));
    d.push_back(Of::before(i));
  }
  ThreadPool pool(32);
  using Staged = StagedProductKernel<T>;
  const auto expect = [&](const char* what) {
    for (std::uint64_t i = 0; i < d.size(); ++i)
      ASSERT_EQ(d[i], Of::expected(i)) << what << " at " << i;
  };
  launch_cpu_block(pool, Of::kTasks, ProductKernel<T>{a.data(), b.data(), d.data()});
  expect("from registers");
  for (std::uint64_t i = 0; i < d.size(); ++i) d[i] = Of::before(i);
  launch_cpu_block(pool, Of::kTasks, Staged{a.data(), b.data(), d.data()},
                   sizeof(typename Staged::Shared));
  expect("from shared memory");
}
TEST(Worker, ProductsOfTensorCores) {
  check_products<Half>();
  check_products<BFloat16>();
}

}  // namespace
}  // namespace warren::exec
