// SPDX-License-Identifier: Apache-2.0
// Buffers and host arrays.
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/memory/buffer.hpp"
#include "warren/memory/host_array.hpp"

namespace warren::memory {
namespace {

void check_buffer(const exec::Device& device) {
  const exec::Stream stream(device);
  const std::uint64_t before = exec::memory_use(device).current;
  {
    Buffer<int> buffer(device, 100);
    EXPECT_EQ(exec::memory_use(device).current, before + 400);
    std::vector<int> values(100);
    std::iota(values.begin(), values.end(), 0);
    buffer.upload(stream, values);
    EXPECT_EQ(buffer.to_host(stream), values);
    const std::vector<int> two = {-1, -2};
    buffer.upload(stream, two, 98);
    std::vector<int> last(3);
    buffer.download(stream, last, 97);
    stream.synchronize();
    EXPECT_EQ(last, (std::vector<int>{97, -1, -2}));
    EXPECT_THROW(buffer.upload(stream, two, 99), UsageError);
    EXPECT_THROW(buffer.upload(stream, two, ~std::uint64_t{0}), UsageError);

    Buffer<int> moved(std::move(buffer));
    EXPECT_EQ(moved.size(), 100u);
    Buffer<int> other(device, 7);
    other = std::move(moved);
    EXPECT_EQ(other.size(), 100u);
    EXPECT_EQ(exec::memory_use(device).current, before + 400);
    other.reset();
    EXPECT_EQ(other.size(), 0u);
    const Buffer<int> empty(device, 0);
    EXPECT_TRUE(empty.to_host(stream).empty());
    EXPECT_THROW(Buffer<double>(device, std::uint64_t{1} << 62), MemoryError)
        << "the product of sizes does not fit 64 bits";
  }
  EXPECT_EQ(exec::memory_use(device).current, before);
}

TEST(Buffer, OnTheHost) { check_buffer(exec::Device::cpu(1)); }
TEST(Buffer, Cuda) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  check_buffer(exec::Device::cuda(0));
}

TEST(HostArray, OwnsAndShares) {
  const std::uint64_t before = exec::memory_use(exec::Device::cpu(1)).current;
  {
    HostArray<std::uint32_t> array(1000, 5);
    EXPECT_EQ(array.size(), 1000u);
    EXPECT_EQ(array[999], 5u);
    HostArray<std::uint32_t> same = array;
    same[3] = 8;
    EXPECT_EQ(array[3], 8u) << "copies share the elements";
    EXPECT_EQ(std::accumulate(array.begin(), array.end(), 0u), 5003u);
    EXPECT_EQ(array.span().size(), 1000u);
  }
  EXPECT_EQ(exec::memory_use(exec::Device::cpu(1)).current, before);
  const HostArray<int> none;
  EXPECT_TRUE(none.empty());
  EXPECT_TRUE(HostArray<int>(0).empty());
  EXPECT_THROW(HostArray<std::uint64_t>(std::uint64_t{1} << 62), MemoryError);
}

TEST(HostArray, Shrinks) {
  const std::uint64_t before = exec::memory_use(exec::Device::cpu(1)).current;
  HostArray<std::uint64_t> large(1 << 20, 9);
  large.shrink(100'000);
  EXPECT_EQ(large.size(), 100'000u);
  EXPECT_EQ(exec::memory_use(exec::Device::cpu(1)).current, before + 800'000);
  EXPECT_EQ(large[99'999], 9u);
  large.shrink(0);
  EXPECT_TRUE(large.empty());
  HostArray<int> small(10, 1);
  small.shrink(3);
  EXPECT_EQ(small[2], 1);
}

TEST(HostArray, AWindowKeepsItsOwner) {
  auto owner = std::make_shared<std::vector<int>>(std::vector<int>{1, 2, 3, 4});
  const std::weak_ptr<std::vector<int>> alive = owner;
  HostArray<int> window(owner->data() + 1, 3, owner);
  owner.reset();
  EXPECT_FALSE(alive.expired());
  window.shrink(2);
  EXPECT_EQ(window.size(), 2u);
  EXPECT_EQ(window[1], 3);
  window = {};
  EXPECT_TRUE(alive.expired());
}

}  // namespace
}  // namespace warren::memory
