// SPDX-License-Identifier: Apache-2.0
// Launches, atomics under contention, streams and events, on both backends.
#pragma once

#include <cstring>
#include <thread>

#include <gtest/gtest.h>

#include "warren/core/trace.hpp"
#include "warren/exec/atomic.hpp"
#include "warren/exec/beside.hpp"
#include "warren/exec/memory.hpp"
#include "warren/exec/row_address.hpp"

#include "support/backends.hpp"

namespace warren::exec {

using testing_support::some_device;

struct CountVisits {
  std::uint32_t* visits;
  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    if (worker.lane() == 0) atomic_add(visits[task], 1u);
  }
};

struct Contended {
  std::uint32_t* words;  // 0: a sum, 1: an or, 2: a minimum, 3: a sum by compare and exchange.
  std::uint64_t* wide;   // 0: a sum, 1: a minimum, 2: a maximum.
  std::int64_t* whole;   // The same, of numbers below and above 0.
  float* real;
  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t task) const {
    // Not of system scope: a GPU's link to pinned memory has no atomic operations.
    atomic_add<Order::acq_rel, Scope::device>(words[0], 3u);
    atomic_or(words[1], 1u << (task % 31));
    atomic_min(words[2], static_cast<std::uint32_t>(1'000'000 - task));
    std::uint32_t seen = atomic_load(words[3]);
    while (!atomic_compare_exchange(words[3], seen, seen + 1)) {
    }
    const std::uint64_t far = task + (std::uint64_t{1} << 63);
    atomic_add(wide[0], std::uint64_t{1} << 33);
    atomic_store_add(wide[0], std::uint64_t{1} << 34);
    atomic_store_add<Order::release>(wide[0], std::uint64_t{1} << 35);
    atomic_min<Order::acquire>(wide[1], far);
    atomic_max<Order::release>(wide[2], far);
    const std::int64_t odd = (task % 2 == 0 ? 1 : -1) * static_cast<std::int64_t>(task << 33);
    atomic_add<Order::acq_rel>(whole[0], odd);
    atomic_store_add<Order::release>(words[0], 2u);
    atomic_min(whole[1], odd);
    atomic_max(whole[2], odd);
    atomic_add(*real, 0.5f);
    atomic_store<Order::release>(words[4], 42u);
  }
};

/// Task t writes to row kFirst + t of a table that begins far before its memory.
struct WriteRows {
  static constexpr std::uint32_t kFirst = (1u << 31) + 5;
  static constexpr std::uint32_t kBytes = 60;
  unsigned char* rows;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t task) const {
    unsigned char* const first = kept_pointer(reinterpret_cast<unsigned char*>(
        reinterpret_cast<std::uintptr_t>(rows) - std::uint64_t{kFirst} * kBytes));
    unsigned char* const row =
        row_address(first, kFirst + static_cast<std::uint32_t>(task), kBytes);
    const bool is_odd = task % 2 == 1;
    *reinterpret_cast<std::uint32_t*>(row) = static_cast<std::uint32_t>(task) + 1;
    row[4] = any_beside(false) ? 1 : 2;
    // Who runs beside whom is not known, but a thread is beside itself.
    row[5] = any_beside(is_odd) || !is_odd ? 3 : 4;
  }
};

/// Pinned memory (host memory on the CPU), zero.
template <class T>
std::shared_ptr<T> pinned(const Device& device, std::uint64_t count) {
  const std::uint64_t bytes = count * sizeof(T);
  std::shared_ptr<T> memory(
      static_cast<T*>(allocate(device, MemoryKind::pinned, bytes)),
      [device, bytes](T* pointer) { deallocate(device, MemoryKind::pinned, pointer, bytes); });
  if (memory) std::memset(static_cast<void*>(memory.get()), 0, bytes);
  return memory;
}

template <class Backend>
class LaunchTest : public testing_support::OnBackend<Backend> {};
TYPED_TEST_SUITE_P(LaunchTest);

TYPED_TEST_P(LaunchTest, EveryTaskOnce) {
  const Device device = some_device<TypeParam>(3);
  const Stream stream(device);
  for (const std::uint64_t tasks : {0, 1, 2, 31, 32, 33, 1000, 3'000'001}) {
    SCOPED_TRACE(tasks);
    const auto visits = pinned<std::uint32_t>(device, tasks + 1);
    const auto check = [&](std::uint32_t times) {
      stream.synchronize();
      std::uint64_t wrong = 0;
      for (std::uint64_t i = 0; i < tasks; ++i) wrong += visits.get()[i] != times ? 1 : 0;
      EXPECT_EQ(wrong, 0u);
      EXPECT_EQ(visits.get()[tasks], 0u);
    };
    launch<TypeParam, Thread>(stream, tasks, CountVisits{visits.get()});
    check(1);
    launch<TypeParam, Warp>(stream, tasks, CountVisits{visits.get()}, {.grain = 7});
    check(2);
    if (tasks <= 1000) {
      launch<TypeParam, Block>(stream, tasks, CountVisits{visits.get()}, {.threads_per_block = 64});
      check(3);
    }
  }
}

TYPED_TEST_P(LaunchTest, AtomicsUnderContention) {
  const Device device = some_device<TypeParam>(4);
  const Stream stream(device);
  const auto words = pinned<std::uint32_t>(device, 5);
  const auto wide = pinned<std::uint64_t>(device, 3);
  const auto whole = pinned<std::int64_t>(device, 3);
  const auto real = pinned<float>(device, 1);
  words.get()[2] = ~0u;
  wide.get()[1] = ~std::uint64_t{0};
  // A GPU's take turns over its link to the host.
  constexpr std::uint64_t kTasks = std::is_same_v<TypeParam, Cpu> ? 20'000 : 2000;
  launch<TypeParam, Thread>(
      stream, kTasks, Contended{words.get(), wide.get(), whole.get(), real.get()}, {.grain = 1});
  stream.synchronize();
  EXPECT_EQ(words.get()[0], 5 * kTasks);
  EXPECT_EQ(words.get()[1], 0x7fffffffu);
  EXPECT_EQ(words.get()[2], 1'000'001 - kTasks);
  EXPECT_EQ(words.get()[3], kTasks);
  EXPECT_EQ(words.get()[4], 42u);
  EXPECT_EQ(wide.get()[0], (kTasks << 33) + (kTasks << 34) + (kTasks << 35));
  EXPECT_EQ(wide.get()[1], std::uint64_t{1} << 63);
  EXPECT_EQ(wide.get()[2], (std::uint64_t{1} << 63) + kTasks - 1);
  constexpr auto kLast = static_cast<std::int64_t>(kTasks) - 1;
  constexpr std::int64_t kUnit = std::int64_t{1} << 33;
  EXPECT_EQ(whole.get()[0], -(kLast + 1) / 2 * kUnit);
  EXPECT_EQ(whole.get()[1], -kLast * kUnit);
  EXPECT_EQ(whole.get()[2], (kLast - 1) * kUnit);
  EXPECT_EQ(*real, 0.5f * static_cast<float>(kTasks));
}

TYPED_TEST_P(LaunchTest, RowsOfTablesThatBeginBeforeTheirMemory) {
  const Device device = some_device<TypeParam>(2);
  const Stream stream(device);
  constexpr std::uint64_t kTasks = 1000;
  const auto rows = pinned<unsigned char>(device, kTasks * WriteRows::kBytes);
  launch<TypeParam, Thread>(stream, kTasks, WriteRows{rows.get()});
  stream.synchronize();
  for (std::uint64_t t = 0; t < kTasks; ++t) {
    const unsigned char* const row = rows.get() + t * WriteRows::kBytes;
    std::uint32_t number = 0;
    std::memcpy(&number, row, sizeof number);
    ASSERT_EQ(number, t + 1);
    ASSERT_EQ(row[4], 2);
    ASSERT_EQ(row[5], 3);
  }
}

TYPED_TEST_P(LaunchTest, EventsTellTheTime) {
  const Device device = some_device<TypeParam>();
  const Stream stream(device);
  const auto visits = pinned<std::uint32_t>(device, 1 << 20);
  Event begin(device), end(device);
  const double before = now_seconds();
  begin.record(stream);
  for (int i = 0; i < 5; ++i) launch<TypeParam, Thread>(stream, 1 << 20, CountVisits{visits.get()});
  end.record(stream);
  end.synchronize();
  const double outside = now_seconds() - before;
  const double seconds = end.seconds_since(begin);
  EXPECT_GT(seconds, 0.0);
  EXPECT_LE(seconds, outside * 1.5 + 1e-3);
  EXPECT_EQ(visits.get()[12345], 5u);
}

TYPED_TEST_P(LaunchTest, StreamsWaitForEvents) {
  const Device device = some_device<TypeParam>();
  const Stream first(device), second(device);
  const auto visits = pinned<std::uint32_t>(device, 1 << 20);
  auto* on_device =
      static_cast<std::uint32_t*>(allocate(device, MemoryKind::device, (1 << 20) * 4));
  fill_bytes(first, on_device, 0, (1 << 20) * 4);
  for (int i = 0; i < 20; ++i) launch<TypeParam, Thread>(first, 1 << 20, CountVisits{on_device});
  Event done(device);
  done.record(first);
  second.wait(done);
  copy(second, visits.get(), on_device, (1 << 20) * 4);
  second.synchronize();
  EXPECT_EQ(visits.get()[0], 20u);
  EXPECT_EQ(visits.get()[(1 << 20) - 1], 20u);
  deallocate(device, MemoryKind::device, on_device, (1 << 20) * 4);
}

REGISTER_TYPED_TEST_SUITE_P(LaunchTest, EveryTaskOnce, AtomicsUnderContention,
                            RowsOfTablesThatBeginBeforeTheirMemory, EventsTellTheTime,
                            StreamsWaitForEvents);

}  // namespace warren::exec
