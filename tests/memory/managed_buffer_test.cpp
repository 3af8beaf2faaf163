// SPDX-License-Identifier: Apache-2.0
// Arrays in managed memory: what they own, moving them, and their values after every return.
#include "warren/memory/managed_buffer.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "warren/exec/memory.hpp"

namespace warren::memory {
namespace {

TEST(ManagedBuffer, IsEmptyOnTheCpu) {
  ManagedBuffer<int> none;
  EXPECT_EQ(none.size(), 0u);
  EXPECT_EQ(none.data(), nullptr);
  none.return_to_host(exec::Stream(exec::Device::cpu(1)));
  ManagedBuffer<int> moved = std::move(none);
  none = std::move(moved);
  EXPECT_EQ(none.bytes(), 0u);
  EXPECT_THROW(ManagedBuffer<int>(exec::Device::cpu(1), 3), UsageError);
}

TEST(ManagedBufferCuda, OwnsItsPages) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  const exec::Device device = exec::Device::cuda(0);
  if (exec::managed_room(device) == 0) GTEST_SKIP() << "a GPU without managed memory";
  const exec::Stream stream(device);
  EXPECT_THROW(ManagedBuffer<double>(device, ~std::uint64_t{0} / 4), MemoryError);
  for (const ManagedPages pages : {ManagedPages::move, ManagedPages::copy}) {
    ManagedBuffer<std::uint32_t> buffer(device, 100'000, pages);
    EXPECT_EQ(exec::managed_use(device), buffer.bytes());
    std::fill(buffer.data(), buffer.data() + buffer.size(), 5u);
    std::vector<std::uint32_t> seen(buffer.size());
    for (int round = 0; round < 3; ++round) {
      buffer.return_to_host(stream);
      exec::copy(stream, seen.data(), buffer.data(), buffer.bytes());
      stream.synchronize();
      EXPECT_EQ(std::count(seen.begin(), seen.end(), 5u), 100'000);
    }
    ManagedBuffer<std::uint32_t> moved = std::move(buffer);
    EXPECT_EQ(moved.data()[99'999], 5u);
    buffer = std::move(moved);
    EXPECT_EQ(buffer.size(), 100'000u);
    EXPECT_EQ(exec::managed_use(device), buffer.bytes());
  }
  EXPECT_EQ(exec::managed_use(device), 0u);
}

}  // namespace
}  // namespace warren::memory
