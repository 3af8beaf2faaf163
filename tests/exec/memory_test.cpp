// SPDX-License-Identifier: Apache-2.0
// Devices, and raw memory: what an error says, the account, limits, shrinking; on the CPU and on a
// GPU.
#include "warren/exec/memory.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"

#include "support/counting_resource.hpp"

namespace warren::exec {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using testing_support::CountingResource;

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

void check_errors(const Device& device, const std::string& name) {
  constexpr std::uint64_t kTooMuch = std::uint64_t{1} << 50;
  try {
    (void)allocate(device, MemoryKind::device, kTooMuch);
    FAIL() << "a pebibyte of memory";
  } catch (const MemoryError& error) {
    EXPECT_EQ(error.bytes_asked(), kTooMuch);
    EXPECT_GT(error.bytes_free(), 0u);
    EXPECT_LT(error.bytes_free(), kTooMuch);
    EXPECT_THAT(error.what(), AllOf(HasSubstr(name), HasSubstr(std::to_string(kTooMuch)),
                                    HasSubstr(std::to_string(error.bytes_free()))));
  }
  EXPECT_THROW((void)allocate(device, MemoryKind::device, bytes_of(~std::uint64_t{0} / 4, 8)),
               MemoryError);
}

void check_account(const Device& device, MemoryKind kind) {
  const MemoryUse before = memory_use(device);
  reset_peak(device);
  void* first = allocate(device, kind, 8 * kMebibyte);
  void* second = allocate(device, kind, 1000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 256, 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second) % 256, 0u);
  EXPECT_EQ(memory_use(device).current, before.current + 8 * kMebibyte + 1000);
  deallocate(device, kind, first, 8 * kMebibyte);
  EXPECT_EQ(memory_use(device).current, before.current + 1000);
  EXPECT_EQ(memory_use(device).peak, before.current + 8 * kMebibyte + 1000);
  deallocate(device, kind, second, 1000);
  EXPECT_EQ(memory_use(device).current, before.current);
  EXPECT_EQ(allocate(device, kind, 0), nullptr);
  deallocate(device, kind, nullptr, 0);
}

void check_limit(const Device& device) {
  const std::uint64_t used = memory_use(device).current;
  set_memory_limit(device, used + kMebibyte);
  EXPECT_THAT(
      [&] { (void)allocate(device, MemoryKind::device, kMebibyte + 1); },
      ThrowsMessage<MemoryError>(AllOf(HasSubstr("1048577 bytes asked"),
                                       HasSubstr("1048576 bytes free"), HasSubstr("limit"))));
  void* all = allocate(device, MemoryKind::device, kMebibyte);
  EXPECT_THROW((void)allocate(device, MemoryKind::device, 1), MemoryError);
  EXPECT_EQ(memory_use(device).current, used + kMebibyte) << "a refusal takes nothing";
  deallocate(device, MemoryKind::device, all, kMebibyte);
  set_memory_limit(device, 0);
}

void check_copies(const Device& device) {
  const Stream stream(device);
  std::vector<std::uint8_t> source(100'000), target(100'000, 1);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::uint8_t>(i * 7);
  void* memory = allocate(device, MemoryKind::device, source.size());
  void* pinned = allocate(device, MemoryKind::pinned, source.size());
  copy(stream, memory, source.data(), source.size());
  copy(stream, pinned, memory, source.size());
  fill_bytes(stream, memory, 0xab, 100);
  copy(stream, target.data(), memory, 100);
  stream.synchronize();
  EXPECT_EQ(std::memcmp(pinned, source.data(), source.size()), 0);
  EXPECT_EQ(target[0], 0xab);
  EXPECT_EQ(target[99], 0xab);
  EXPECT_EQ(target[100], 1);
  copy(stream, nullptr, nullptr, 0);
  fill_bytes(stream, nullptr, 0, 0);
  deallocate(device, MemoryKind::device, memory, source.size());
  deallocate(device, MemoryKind::pinned, pinned, source.size());
}

TEST(Memory, ErrorsSayWhereHowMuchAndWhatIsFree) { check_errors(Device::cpu(1), "the host"); }
TEST(Memory, Account) {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::pinned, MemoryKind::host})
    check_account(Device::cpu(1), kind);
}
TEST(Memory, Limit) { check_limit(Device::cpu(1)); }
TEST(Memory, Copies) { check_copies(Device::cpu(1)); }

TEST(Memory, LimitHoldsUnderRaces) {
  const Device device = Device::cpu(1);
  const std::uint64_t used = memory_use(device).current;
  set_memory_limit(device, used + 10 * 1000);
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        try {
          void* memory = allocate(device, MemoryKind::device, 4000);
          EXPECT_LE(taken.fetch_add(1), 1) << "three times 4000 bytes do not fit";
          taken.fetch_sub(1);
          deallocate(device, MemoryKind::device, memory, 4000);
        } catch (const MemoryError&) {
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  set_memory_limit(device, 0);
  EXPECT_EQ(memory_use(device).current, used);
}

TEST(Memory, ShrunkBlocksKeepWhatIsLeft) {
  const Device device = Device::cpu(1);
  const std::uint64_t before = memory_use(device).current;
  constexpr std::uint64_t kBytes = 16 * kMebibyte;
  constexpr std::uint64_t kKept = 5 * kMebibyte + 123;
  auto* memory = static_cast<unsigned char*>(allocate(device, MemoryKind::host, kBytes));
  std::memset(memory, 7, kBytes);
  shrink(device, MemoryKind::host, memory, kBytes, kBytes, kKept);
  EXPECT_EQ(memory_use(device).current, before + kKept);
  for (std::uint64_t i = 0; i < kKept; ++i) ASSERT_EQ(memory[i], 7);
  shrink(device, MemoryKind::host, memory, kBytes, kKept, 10);
  EXPECT_EQ(memory_use(device).current, before + 10);
  EXPECT_EQ(memory[9], 7);
  deallocate(device, MemoryKind::host, memory, kBytes, 10);
  EXPECT_EQ(memory_use(device).current, before);
}

TEST(Device, Cpu) {
  const Device device = Device::cpu(3);
  EXPECT_EQ(device.name(), "cpu");
  EXPECT_EQ(device.processors(), 3);
  EXPECT_EQ(device.pool().size(), 3);
  EXPECT_FALSE(device.model().empty());
  EXPECT_GT(device.memory().total, device.memory().free);
  EXPECT_GE(Device::cpu().processors(), 1);
  EXPECT_THROW((void)Device::cpu(-1), UsageError);
  device.activate();
  device.synchronize();
}

TEST(Device, GpusThatAreNotThere) {
  EXPECT_THAT([] { (void)Device::cuda(99); }, ThrowsMessage<UsageError>(HasSubstr("cuda:99")));
  EXPECT_THROW((void)Device::cuda(-1), UsageError);
}

class MemoryCuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  }
};

TEST_F(MemoryCuda, ErrorsSayWhereHowMuchAndWhatIsFree) { check_errors(Device::cuda(0), "cuda:0"); }
TEST_F(MemoryCuda, Account) { check_account(Device::cuda(0), MemoryKind::device); }
TEST_F(MemoryCuda, Limit) { check_limit(Device::cuda(0)); }
TEST_F(MemoryCuda, Copies) {
  for (int i = 0; i < cuda_device_count(); ++i) check_copies(Device::cuda(i));
}
TEST_F(MemoryCuda, PinnedMemoryIsTheHosts) {
  const std::uint64_t before = memory_use(Device::cpu(1)).current;
  void* memory = allocate(Device::cuda(0), MemoryKind::pinned, 5000);
  EXPECT_EQ(memory_use(Device::cpu(1)).current, before + 5000);
  deallocate(Device::cuda(0), MemoryKind::pinned, memory, 5000);
}
TEST_F(MemoryCuda, Device) {
  const exec::Device device = Device::cuda(0);
  EXPECT_EQ(device.name(), "cuda:0");
  EXPECT_TRUE(device.is_cuda());
  EXPECT_GT(device.processors(), 0);
  EXPECT_FALSE(device.model().empty());
  EXPECT_FALSE(cuda_runtime_version().empty());
  EXPECT_FALSE(cuda_driver_version().empty());
  device.synchronize();
}

/// As teams of processes have it.
class AllResource final : public CountingResource {
 public:
  [[nodiscard]] bool gives(MemoryKind kind) const override { return kind != MemoryKind::host; }
};

TEST(Memory, AResourceMayGiveWhatIsPinnedElsewhere) {
  const Device cpu = Device::cpu(1);
  const auto resource = std::make_shared<AllResource>();
  set_memory_resource(DeviceKind::cpu, resource);
  void* const pinned = allocate(cpu, MemoryKind::pinned, 1000);
  void* const host = allocate(cpu, MemoryKind::host, 300);
  EXPECT_EQ(resource->given, 1);
  // Pages that the block ends in may be another one's.
  shrink(cpu, MemoryKind::pinned, pinned, 1000, 1000, 10);
  deallocate(cpu, MemoryKind::pinned, pinned, 1000, 10);
  deallocate(cpu, MemoryKind::host, host, 300);
  EXPECT_EQ(resource->back, 1);
  set_memory_resource(DeviceKind::cpu, nullptr);
}

TEST(Memory, BlocksGoBackToTheResourceThatGaveThem) {
  const Device cpu = Device::cpu(1);
  const auto first = std::make_shared<CountingResource>(kMebibyte);
  const auto second = std::make_shared<CountingResource>();
  const MemoryUse before = memory_use(cpu);
  void* const plain = allocate(cpu, MemoryKind::device, 100);
  set_memory_resource(DeviceKind::cpu, first);
  void* const firsts = allocate(cpu, MemoryKind::device, 200);
  void* const host = allocate(cpu, MemoryKind::host, 300);
  EXPECT_EQ(first->given, 1);
  EXPECT_THAT([&] { (void)allocate(cpu, MemoryKind::device, 2 * kMebibyte); },
              ThrowsMessage<MemoryError>(HasSubstr("the allocator that was set has none")));
  set_memory_resource(DeviceKind::cpu, second);
  void* const seconds = allocate(cpu, MemoryKind::device, 400);
  deallocate(cpu, MemoryKind::device, firsts, 200);
  set_memory_resource(DeviceKind::cpu, nullptr);
  deallocate(cpu, MemoryKind::device, seconds, 400);
  deallocate(cpu, MemoryKind::device, plain, 100);
  deallocate(cpu, MemoryKind::host, host, 300);
  EXPECT_EQ((std::vector<int>{first->given, first->back, second->given, second->back}),
            (std::vector{1, 1, 1, 1}));
  EXPECT_EQ((std::vector<std::uint64_t>{first->last, second->last}),
            (std::vector<std::uint64_t>{200, 400}));
  EXPECT_EQ(memory_use(cpu).current, before.current);
}

TEST(Memory, ADeviceCarriesWhereItsMemoryComesFrom) {
  const Device cpu = Device::cpu(1);
  const auto own = std::make_shared<CountingResource>(kMebibyte);
  const auto all = std::make_shared<CountingResource>();
  const Device device = cpu.with_memory(own);
  EXPECT_EQ(device, cpu) << "where memory comes from does not make another device";
  EXPECT_EQ(device.memory_resource(), own);
  EXPECT_EQ(cpu.memory_resource(), nullptr);
  EXPECT_EQ(Stream(device).device().memory_resource(), own) << "what is made of it keeps it";
  const MemoryUse before = memory_use(cpu);
  set_memory_resource(DeviceKind::cpu, all);
  void* const owns = allocate(device, MemoryKind::device, 200);
  void* const alls = allocate(cpu, MemoryKind::device, 400);
  // It gives device memory alone, and so does the process's resource.
  void* const pinned = allocate(device, MemoryKind::pinned, 100);
  void* const host = allocate(device, MemoryKind::host, 100);
  EXPECT_EQ((std::vector<int>{own->given, all->given}), (std::vector{1, 1}));
  EXPECT_EQ(memory_use(cpu).current, before.current + 800) << "whoever gives it, it is held";
  // A block goes back to who gave it, whatever the device says by then.
  deallocate(device.with_memory(nullptr), MemoryKind::device, owns, 200);
  deallocate(device, MemoryKind::device, alls, 400);
  deallocate(device, MemoryKind::pinned, pinned, 100);
  deallocate(device, MemoryKind::host, host, 100);
  EXPECT_EQ((std::vector<int>{own->back, all->back}), (std::vector{1, 1}));
  EXPECT_EQ((std::vector<std::uint64_t>{own->last, all->last}),
            (std::vector<std::uint64_t>{200, 400}));
  EXPECT_EQ(memory_use(cpu).current, before.current);
  // One that has too little is not stepped over: the session was to take no other memory.
  EXPECT_THAT([&] { (void)allocate(device, MemoryKind::device, 2 * kMebibyte); },
              ThrowsMessage<MemoryError>(AllOf(HasSubstr("the memory resource of the session"),
                                               HasSubstr("make the session without it"))));
  set_memory_resource(DeviceKind::cpu, nullptr);
  EXPECT_EQ(memory_use(cpu).current, before.current);
}

/// Holds more than it has given.
class HoardingResource final : public CountingResource {
 public:
  [[nodiscard]] std::uint64_t unused(const Device& /*device*/) override { return 3 * kMebibyte; }
};

TEST(Memory, WhatAResourceHoldsUnusedIsFree) {
  const Device cpu = Device::cpu(1);
  const Device device = cpu.with_memory(std::make_shared<HoardingResource>());
  set_memory_limit(cpu, memory_use(cpu).current + kMebibyte);
  EXPECT_EQ(free_memory(device), kMebibyte) << "within the limit all the same";
  set_memory_limit(cpu, 0);
  // Others take memory meanwhile.
  constexpr std::uint64_t kNoise = 512 * kMebibyte;
  EXPECT_GT(free_memory(device) + kNoise, cpu.memory().free + 3 * kMebibyte);
}

TEST(Memory, APoolNeedsAGpu) {
  if (cuda_device_count() > 0) GTEST_SKIP() << "there is a GPU here";
  EXPECT_THAT([] { (void)pool_resource(); },
              ThrowsMessage<UsageError>(HasSubstr("a pool of GPU memory was asked for, but")));
}

TEST_F(MemoryCuda, APoolKeepsWhatComesBack) {
  for (int gpu = 0; gpu < cuda_device_count(); ++gpu) {
    const std::shared_ptr<MemoryResource> pool = pool_resource();
    const Device device = Device::cuda(gpu).with_memory(pool);
    const Stream first(device), second(device);
    const MemoryUse before = memory_use(device);
    constexpr std::uint64_t kBytes = 64 * kMebibyte;
    std::vector<unsigned char> seen(kBytes);
    for (int round = 0; round < 4; ++round) {
      // Used by two streams that have nothing to do with the pool's, one at once.
      void* const block = allocate(device, MemoryKind::device, kBytes);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 256, 0u);
      EXPECT_EQ(gpu_of(block), gpu);
      fill_bytes(round % 2 == 0 ? first : second, block, round + 1, kBytes);
      copy(round % 2 == 0 ? first : second, seen.data(), block, kBytes);
      (round % 2 == 0 ? first : second).synchronize();
      EXPECT_EQ(seen.front(), round + 1);
      EXPECT_EQ(seen.back(), round + 1);
      EXPECT_EQ(memory_use(device).current, before.current + kBytes);
      // Work that is still under way is waited for before another one has the block.
      for (int i = 0; i < 50; ++i) fill_bytes(first, block, 9, kBytes);
      deallocate(device, MemoryKind::device, block, kBytes);
      EXPECT_GE(pool->unused(device), kBytes);
      EXPECT_GE(free_memory(device), device.memory().free + kBytes);
    }
    EXPECT_EQ(memory_use(device).current, before.current);
    EXPECT_THROW((void)allocate(device, MemoryKind::device, std::uint64_t{1} << 50), MemoryError);
    EXPECT_EQ(pool->unused(device), 0u) << "what is short is looked for everywhere";
  }
  const std::shared_ptr<MemoryResource> keeps_none = pool_resource(0);
  const Device device = Device::cuda(0).with_memory(keeps_none);
  deallocate(device, MemoryKind::device, allocate(device, MemoryKind::device, 64 * kMebibyte),
             64 * kMebibyte);
  EXPECT_EQ(keeps_none->unused(device), 0u);
  EXPECT_THROW((void)keeps_none->allocate(Device::cpu(1), 100), UsageError);
}

}  // namespace
}  // namespace warren::exec
