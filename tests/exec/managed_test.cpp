// SPDX-License-Identifier: Apache-2.0
// Managed memory: who has it, its account, what is refused, and that values survive every move.
#include "warren/exec/managed.hpp"

#include <cstring>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/exec/memory.hpp"

namespace warren::exec {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

TEST(Managed, TheCpuHasNone) {
  const Device device = Device::cpu(1);
  EXPECT_EQ(managed_room(device), 0u);
  EXPECT_EQ(managed_use(device), 0u);
  EXPECT_THAT([&] { (void)allocate_managed(device, 100); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("cpu"), HasSubstr("pinned"))));
  EXPECT_THROW((void)allocate_managed(device, 0), UsageError);
  deallocate_managed(device, nullptr, 0);
  copy_pages_on_read(device, nullptr, 0);
  return_to_host(Stream(device), nullptr, 0);
}

class ManagedCuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
    if (managed_room(Device::cuda(0)) == 0) GTEST_SKIP() << "this GPU has no managed memory";
  }
};

TEST_F(ManagedCuda, Account) {
  const Device device = Device::cuda(0);
  const std::uint64_t room = managed_room(device);
  EXPECT_LE(room, free_memory(device) / 2 + kMebibyte);
  void* memory = allocate_managed(device, 8 * kMebibyte);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 4096, 0u);
  EXPECT_EQ(managed_use(device), 8 * kMebibyte);
  EXPECT_LT(managed_room(device), room);
  deallocate_managed(device, memory, 8 * kMebibyte);
  EXPECT_EQ(managed_use(device), 0u);
  EXPECT_EQ(allocate_managed(device, 0), nullptr);
}

TEST_F(ManagedCuda, MoreThanHalfOfWhatIsFreeIsRefused) {
  const Device device = Device::cuda(0);
  set_memory_limit(device, memory_use(device).current + 8 * kMebibyte);
  EXPECT_EQ(managed_room(device), 4 * kMebibyte);
  EXPECT_THAT(
      [&] { (void)allocate_managed(device, 4 * kMebibyte + 1); },
      ThrowsMessage<MemoryError>(AllOf(HasSubstr("cuda:0"), HasSubstr("4194305 bytes asked"),
                                       HasSubstr("4194304 bytes free"))));
  EXPECT_THROW((void)allocate_managed(device, ~std::uint64_t{0}), MemoryError);
  void* most = allocate_managed(device, 4 * kMebibyte);
  EXPECT_EQ(managed_room(device), 0u);
  EXPECT_THROW((void)allocate_managed(device, 1), MemoryError);
  EXPECT_EQ(managed_use(device), 4 * kMebibyte) << "a refusal takes nothing";
  deallocate_managed(device, most, 4 * kMebibyte);
  set_memory_limit(device, 0);
}

TEST_F(ManagedCuda, ValuesMoveWithTheirPages) {
  const Device device = Device::cuda(0);
  const Stream stream(device);
  constexpr std::uint64_t kBytes = 3 * kMebibyte + 100;
  auto* memory = static_cast<unsigned char*>(allocate_managed(device, kBytes));
  const std::vector<unsigned char> sevens(kBytes, 7), eights(kBytes, 8);
  std::vector<unsigned char> seen(kBytes);
  for (const bool is_copied : {false, true}) {
    std::memset(memory, 7, kBytes);
    return_to_host(stream, memory, kBytes);
    if (is_copied) copy_pages_on_read(device, memory, kBytes);
    for (int round = 0; round < 3; ++round) {
      copy(stream, seen.data(), memory, kBytes);
      stream.synchronize();
      EXPECT_EQ(seen, sevens);
      return_to_host(stream, memory, kBytes);
      EXPECT_EQ(memory[kBytes - 1], 7);
    }
    fill_bytes(stream, memory, 8, kBytes);
    return_to_host(stream, memory, kBytes);
    EXPECT_EQ(std::memcmp(memory, eights.data(), kBytes), 0);
  }
  deallocate_managed(device, memory, kBytes);
}

}  // namespace
}  // namespace warren::exec
