// SPDX-License-Identifier: Apache-2.0
// Workers on a GPU: threads, tiles, warps, blocks.
#include <cstring>

#include <gtest/gtest.h>

#include "warren/exec/memory.hpp"

#include "exec/worker_kernels.hpp"

namespace warren::exec {
namespace {

constexpr std::uint64_t kTasks = 50;
constexpr std::uint64_t kLoop = 37;

/// Pinned host memory, zero: kernels and the test read and write it alike.
template <class T>
struct Pinned {
  Pinned(const Device& on, std::uint64_t count)
      : device(on),
        size(count),
        data(static_cast<T*>(allocate(on, MemoryKind::pinned, count * sizeof(T)))) {
    std::memset(static_cast<void*>(data), 0, size * sizeof(T));
  }
  ~Pinned() { deallocate(device, MemoryKind::pinned, data, size * sizeof(T)); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  Device device;
  std::uint64_t size;
  T* data;
};

template <class W>
void check(std::uint32_t lanes, std::uint32_t threads_per_block = 128) {
  if (cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  const Device device = Device::cuda(0);
  const Stream stream(device);
  const Pinned<reference::LaneResults> results(device, kTasks * lanes);
  const Pinned<std::uint32_t> loops(device, kLoop);
  launch<Cuda, W>(stream, kTasks, WorkerKernel{results.data, loops.data, kLoop},
                  {.scratch_bytes = lanes * 4, .threads_per_block = threads_per_block});
  stream.synchronize();
  for (std::uint64_t task = 0; task < kTasks; ++task) {
    std::vector<std::uint32_t> values;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) values.push_back(lane_value(task, lane));
    const auto expected = reference::worker_results(values);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      EXPECT_TRUE(results.data[task * lanes + lane] == expected[lane])
          << "task " << task << ", lane " << lane;
    }
  }
  for (std::uint64_t i = 0; i < kLoop; ++i) EXPECT_EQ(loops.data[i], 2 * kTasks);

  const Pinned<std::uint32_t> visits(device, kTasks * lanes * ExpandKernel::kMostItems);
  const Pinned<std::uint32_t> mismatches(device, 1);
  launch<Cuda, W>(stream, kTasks, ExpandKernel{visits.data, mismatches.data},
                  {.threads_per_block = threads_per_block});
  stream.synchronize();
  EXPECT_EQ(*mismatches.data, 0u);
  for (std::uint64_t i = 0; i < visits.size; ++i) {
    const std::uint64_t owner = i / ExpandKernel::kMostItems;
    const bool is_item = i % ExpandKernel::kMostItems <
                         expand_count(owner / lanes, static_cast<std::uint32_t>(owner % lanes));
    ASSERT_EQ(visits.data[i], is_item ? 1u : 0u)
        << "task " << owner / lanes << ", lane " << owner % lanes;
  }
}

TEST(WorkerCuda, Thread) { check<Thread>(1); }
TEST(WorkerCuda, Tile4) { check<Tile<4>>(4); }
TEST(WorkerCuda, Tile8) { check<Tile<8>>(8); }
TEST(WorkerCuda, Tile16) { check<Tile<16>>(16); }
TEST(WorkerCuda, Warp) { check<Warp>(32); }
TEST(WorkerCuda, Block) {
  for (const std::uint32_t threads : {32, 64, 96, 256, 1024}) {
    SCOPED_TRACE(threads);
    check<Block>(threads, threads);
  }
}

template <class T>
void check_products() {
  if (cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  using Of = Products<T>;
  const Device device = Device::cuda(0);
  const Stream stream(device);
  const Pinned<T> a(device, Of::kTasks * 256), b(device, Of::kTasks * 128);
  const Pinned<float> d(device, Of::kTasks * 128);
  for (std::uint64_t i = 0; i < a.size; ++i) a.data[i] = Of::of_a(i);
  for (std::uint64_t i = 0; i < d.size; ++i) {
    b.data[i] = Of::of_b(i);
    d.data[i] = Of::before(i);
  }
  using Staged = StagedProductKernel<T>;
  const auto expect = [&](const char* what) {
    stream.synchronize();
    for (std::uint64_t i = 0; i < d.size; ++i)
      ASSERT_EQ(d.data[i], Of::expected(i)) << what << " at " << i;
  };
  launch<Cuda, Warp>(stream, Of::kTasks, ProductKernel<T>{a.data, b.data, d.data});
  expect("from registers");
  for (std::uint64_t i = 0; i < d.size; ++i) d.data[i] = Of::before(i);
  launch<Cuda, Warp>(stream, Of::kTasks, Staged{a.data, b.data, d.data},
                     {.scratch_bytes = sizeof(typename Staged::Shared)});
  expect("from shared memory");
}
TEST(WorkerCuda, ProductsOfTensorCores) {
  check_products<Half>();
  check_products<BFloat16>();
}

}  // namespace
}  // namespace warren::exec
