// SPDX-License-Identifier: Apache-2.0
// Scratch memory by scopes.
#include "warren/learn/workspace.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/exec/memory.hpp"
#include "warren/learn/context.hpp"

namespace warren::learn {
namespace {

/// Addresses of a pass that takes and gives back in nested scopes, with sizes of its own.
std::vector<const void*> pass(Workspace& workspace, std::uint64_t size) {
  std::vector<const void*> addresses;
  const auto outer = workspace.take<float>(size);
  addresses.push_back(outer.data());
  {
    const auto inner = workspace.take<double>(3 * size);
    addresses.push_back(inner.data());
  }
  const auto after = workspace.take<std::uint8_t>(size);
  addresses.push_back(after.data());
  const auto last = workspace.take<float>(2 * size);
  addresses.push_back(last.data());
  return addresses;
}

TEST(Workspace, WhatIsHeldTogetherIsApart) {
  Workspace workspace(exec::Device::cpu(1));
  std::vector<Workspace::Taken<std::uint32_t>> held;
  std::set<std::uint32_t*> addresses;
  constexpr std::uint32_t kBlocks = 20, kSize = 100;
  for (std::uint32_t i = 0; i < kBlocks; ++i) {
    held.push_back(workspace.take<std::uint32_t>(kSize));
    addresses.insert(held.back().data());
    std::fill_n(held.back().data(), kSize, i);
  }
  EXPECT_EQ(addresses.size(), kBlocks);
  for (std::uint32_t i = 0; i < kBlocks; ++i) {
    for (std::uint32_t j = 0; j < kSize; ++j) ASSERT_EQ(held[i].data()[j], i);
  }
  EXPECT_EQ(workspace.bytes(), kBlocks * kSize * sizeof(std::uint32_t));
}

TEST(Workspace, TheSamePassHasTheSameMemoryFromItsSecondTimeOn) {
  const exec::Device device = exec::Device::cpu(1);
  Workspace workspace(device);
  (void)pass(workspace, 50);
  (void)pass(workspace, 1000);
  const auto expected = pass(workspace, 1000);
  const std::uint64_t bytes = workspace.bytes();
  const std::uint64_t held = exec::memory_use(device).current;
  exec::reset_peak(device);
  for (int again = 0; again < 3; ++again) {
    EXPECT_EQ(pass(workspace, 1000), expected);
    (void)pass(workspace, 20);  // A smaller one in between changes nothing.
  }
  EXPECT_EQ(workspace.bytes(), bytes);
  EXPECT_EQ(exec::memory_use(device).peak, held);
}

TEST(Workspace, TakesBackInAnyOrder) {
  Workspace workspace(exec::Device::cpu(1));
  std::optional<Workspace::Taken<float>> first = workspace.take<float>(8);
  std::optional<Workspace::Taken<float>> second = workspace.take<float>(8);
  float* const address = first->data();
  Workspace::Taken<float> moved = std::move(*first);
  first.reset();  // What was moved from gives nothing back.
  EXPECT_EQ(moved.data(), address);
  const auto third = workspace.take<float>(8);
  EXPECT_NE(third.data(), address);
  moved = std::move(*second);
  second.reset();
  const auto fourth = workspace.take<float>(8);
  EXPECT_EQ(fourth.data(), address);
}

TEST(Workspace, GrowsByMoreWhereSizesChange) {
  Workspace workspace(exec::Device::cpu(1));
  workspace.grow_by_more();
  { const auto taken = workspace.take<std::uint8_t>(8000); }
  EXPECT_EQ(workspace.bytes(), 9000u);
  { const auto taken = workspace.take<std::uint8_t>(9000); }
  EXPECT_EQ(workspace.bytes(), 9000u);
  { const auto taken = workspace.take<std::uint8_t>(9001); }
  EXPECT_EQ(workspace.bytes(), 9001u + 9001 / 8);
}

TEST(Workspace, ADeviceThatIsFullLosesNothing) {
  const exec::Device device = exec::Device::cpu(1);
  Workspace workspace(device);
  const auto held = workspace.take<std::uint8_t>(1000);
  exec::set_memory_limit(device, exec::memory_use(device).current + 5000);
  EXPECT_THROW((void)workspace.take<std::uint8_t>(100'000), MemoryError);
  EXPECT_THROW((void)workspace.take<double>(~std::uint64_t{0} / 2), MemoryError);
  const auto next = workspace.take<std::uint8_t>(4000);
  exec::set_memory_limit(device, 0);
  EXPECT_NE(next.data(), nullptr);
  EXPECT_NE(next.data(), held.data());
  EXPECT_EQ(workspace.bytes(), 5000u);
}

TEST(Workspace, RowsMayLieInSpareMemory) {
  team::run_team({exec::DeviceKind::cpu, 1, 1}, [](team::Team& team) {
    for (const NumberType type : {NumberType::float32, NumberType::bfloat16}) {
      Context context(team, {}, type);
      const NumberBuffer buffer(team.device(), type, 100);
      const SpareRows spare{buffer.data(), buffer.size()};
      const TakenRows fits = context.take_rows(100, spare);
      EXPECT_TRUE(fits.data() == buffer.data());
      EXPECT_EQ(context.workspace().bytes(), 0u);
      const TakenRows larger = context.take_rows(101, spare);
      EXPECT_FALSE(larger.data() == buffer.data());
      EXPECT_EQ(larger.data().type(), type);
      EXPECT_EQ(context.workspace().bytes(), 101 * size_of(type));
    }
  });
}

}  // namespace
}  // namespace warren::learn
