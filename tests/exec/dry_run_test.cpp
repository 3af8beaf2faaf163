// SPDX-License-Identifier: Apache-2.0
// Runs for the memory that code asks for alone: it is counted, and nothing is done.
#include "warren/exec/dry_run.hpp"

#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/exec/algorithms.hpp"
#include "warren/exec/dense.hpp"
#include "warren/exec/launch.hpp"
#include "warren/memory/buffer.hpp"

namespace warren::exec {
namespace {

struct Count {
  std::uint64_t* to;
  template <class W>
  void operator()(const W& /*worker*/, std::uint64_t task) const {
    to[task] += 1;
  }
};

TEST(DryRuns, CountWhatIsTaken) {
  const Device device = Device::cpu(2);
  const MemoryUse before = memory_use(device);
  memory::Buffer<float> outlives;
  {
    const DryRun run(device);
    EXPECT_EQ(DryRun::current(), &run);
    memory::Buffer<float> first(device, 1000);
    outlives = memory::Buffer<float>(device, 3);
    EXPECT_NE(first.data(), outlives.data());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(outlives.data()) % 256, 0u);
    EXPECT_TRUE(DryRun::gave(first.data()));
    EXPECT_EQ(run.use().current, 4012u);
    first.reset();
    EXPECT_EQ(run.use().current, 12u);
    EXPECT_EQ(run.use().peak, 4012u);
    EXPECT_EQ(memory::Buffer<float>(device, 0).data(), nullptr);
    // No machine has as much; and then what no number counts.
    const memory::Buffer<float> large(device, std::uint64_t{1} << 50);
    EXPECT_EQ(run.use().current, (std::uint64_t{1} << 52) + 12);
    const memory::Buffer<float> all(device, ~std::uint64_t{0});
    EXPECT_EQ(run.use().peak, ~std::uint64_t{0});
    // Host memory is real.
    memory::Buffer<int> host(device, MemoryKind::host, 1);
    *host.data() = 7;
    EXPECT_EQ(*host.data(), 7);
  }
  EXPECT_EQ(DryRun::current(), nullptr);
  outlives.reset();
  EXPECT_EQ(memory_use(device).current, before.current);
}

TEST(DryRuns, DoNothing) {
  const Device device = Device::cpu(2);
  const Stream stream(device);
  DenseProducts products(device);
  std::vector<std::uint64_t> counts(5000, 0);
  {
    const DryRun run(device);
    launch<Cpu, Serial>(stream, counts.size(), Count{counts.data()});
    launch_wide<Cpu, Serial>(stream, counts.size(), Count{counts.data()});
    memory::Buffer<float> a(device, 100 * 100), c(device, 100 * 100);
    fill_bytes(stream, a.data(), 0, a.bytes());
    copy(stream, c.data(), a.data(), a.bytes());
    products.multiply(stream, {100, 100, 100}, a.data(), a.data(), c.data());
    auto* const words = reinterpret_cast<std::uint32_t*>(a.data());
    auto* const sums = reinterpret_cast<std::uint64_t*>(c.data());
    EXPECT_EQ(sort_keys(stream, sums, nullptr, 100, 64), sums);
    sort_pairs(stream, words, words + 100, words, words + 100, 100, 32, c.data(), c.bytes());
    EXPECT_EQ(unique_keys(stream, sums, sums, 100), 100u);
    exclusive_sum(stream, words, sums, 100);
    const WordRange range{sums, 100};
    clear_words(stream, std::span(&range, 1));
    std::vector<float> found(1, 3.0f);
    c.download(stream, found);
    EXPECT_EQ(found[0], 3.0f);
  }
  EXPECT_EQ(counts, std::vector<std::uint64_t>(counts.size(), 0));
  launch<Cpu, Serial>(stream, counts.size(), Count{counts.data()});
  EXPECT_EQ(counts, std::vector<std::uint64_t>(counts.size(), 1));
}

TEST(DryRuns, AreOfOneThread) {
  const Device device = Device::cpu(1);
  const DryRun run(device);
  EXPECT_THROW(const DryRun other(device), UsageError);
  std::thread([&] {
    EXPECT_EQ(DryRun::current(), nullptr);
    memory::Buffer<int> one(device, 1);
    *one.data() = 5;
    EXPECT_EQ(*one.data(), 5);
    const DryRun own(device);
    const memory::Buffer<int> two(device, 2);
    EXPECT_EQ(own.use().current, 8u);
  }).join();
  EXPECT_EQ(run.use().peak, 0u);
  EXPECT_EQ(&sizes_of(device), &run.like());
}

}  // namespace
}  // namespace warren::exec
