// SPDX-License-Identifier: Apache-2.0
// Captured work: that it is run when it is asked for and not before, on several streams, with its
// times, and what becomes of a stream whose capture is given up.
#include "warren/exec/captured_work.hpp"

#include <array>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/exec/memory.hpp"

namespace warren::exec {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::uint64_t kSize = 4096;

TEST(CapturedWork, TheCpuHasNone) {
  const Stream stream(Device::cpu(1));
  bool has_run = false;
  EXPECT_THAT([&] { (void)CapturedWork::capture(stream, [&] { has_run = true; }); },
              ThrowsMessage<UsageError>(HasSubstr("GPU")));
  EXPECT_FALSE(has_run);
  EXPECT_FALSE(CapturedWork());
  EXPECT_THROW(CapturedWork().run(stream), UsageError);
}

TEST(CapturedWork, TimesOfTheCpuAreRecordedAtOnce) {
  const Device device = Device::cpu(1);
  const Stream stream(device);
  Event begin(device);
  Event end(device);
  record_time(begin, stream);
  record_time(end, stream);
  EXPECT_GE(end.seconds_since(begin), 0.0);
}

TEST(CapturedWork, ChangesOfMemoryAreCounted) {
  const Device device = Device::cpu(1);
  const std::uint64_t before = memory_changes(device);
  void* memory = allocate(device, MemoryKind::device, kSize);
  EXPECT_EQ(memory_changes(device), before + 1);
  deallocate(device, MemoryKind::device, memory, kSize);
  EXPECT_EQ(memory_changes(device), before + 2);
}

class CapturedWorkCuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
    for (void*& memory : memory_) memory = allocate(device(), MemoryKind::device, kSize);
  }
  void TearDown() override {
    for (void* memory : memory_)
      if (memory != nullptr) deallocate(device(), MemoryKind::device, memory, kSize);
  }
  static Device device() { return Device::cuda(0); }
  static std::vector<std::uint8_t> bytes_of(const Stream& stream, const void* memory) {
    std::vector<std::uint8_t> bytes(kSize);
    copy(stream, bytes.data(), memory, kSize);
    stream.synchronize();
    return bytes;
  }
  std::array<void*, 2> memory_{};
};

TEST_F(CapturedWorkCuda, RunsAsOftenAsAskedFor) {
  const Stream stream(device());
  const Stream side(device(), Priority::high);
  Event forked(device());
  Event joined(device());
  fill_bytes(stream, memory_[0], 1, kSize);
  fill_bytes(stream, memory_[1], 2, kSize);
  const CapturedWork work = CapturedWork::capture(stream, [&] {
    forked.record(stream);
    side.wait(forked);
    copy(side, memory_[1], memory_[0], kSize);
    joined.record(side);
    stream.wait(joined);
    fill_bytes(stream, memory_[0], 3, kSize);
  });
  ASSERT_TRUE(work);
  EXPECT_THAT(bytes_of(stream, memory_[0]), Each(1));
  EXPECT_THAT(bytes_of(stream, memory_[1]), Each(2));
  work.run(stream);
  EXPECT_THAT(bytes_of(stream, memory_[0]), Each(3));
  EXPECT_THAT(bytes_of(stream, memory_[1]), Each(1));
  fill_bytes(stream, memory_[0], 4, kSize);
  work.run(stream);
  EXPECT_THAT(bytes_of(stream, memory_[1]), Each(4));
}

TEST_F(CapturedWorkCuda, RecordsTimesInEveryRun) {
  const Stream stream(device());
  Event begin(device());
  Event end(device());
  const CapturedWork work = CapturedWork::capture(stream, [&] {
    record_time(begin, stream);
    fill_bytes(stream, memory_[0], 3, kSize);
    record_time(end, stream);
  });
  Event before(device());
  for (int i = 0; i < 2; ++i) {
    before.record(stream);
    work.run(stream);
    stream.synchronize();
    EXPECT_GE(begin.seconds_since(before), 0.0);
    EXPECT_GE(end.seconds_since(begin), 0.0);
  }
}

TEST_F(CapturedWorkCuda, WhatThrowsLeavesTheStreamAsItWas) {
  const Stream stream(device());
  fill_bytes(stream, memory_[0], 1, kSize);
  const auto fails = [&] {
    (void)CapturedWork::capture(stream, [&] {
      fill_bytes(stream, memory_[0], 5, kSize);
      throw std::runtime_error("given up");
    });
  };
  EXPECT_THROW(fails(), std::runtime_error);
  EXPECT_THAT(bytes_of(stream, memory_[0]), Each(1));
  // Nor may it wait.
  EXPECT_THROW((void)CapturedWork::capture(stream, [&] { stream.synchronize(); }), DeviceError);
  fill_bytes(stream, memory_[0], 6, kSize);
  EXPECT_THAT(bytes_of(stream, memory_[0]), Each(6));
}

}  // namespace
}  // namespace warren::exec
