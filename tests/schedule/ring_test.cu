// SPDX-License-Identifier: Apache-2.0
// The ring by itself on a GPU: workers of every kind put into one of a few segments and take out of
// it at once, until every task has gone through; the ring goes round hundreds of times.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "warren/exec/launch.hpp"
#include "warren/schedule/run.hpp"

#include "support/size.hpp"

namespace warren::schedule {
namespace {

/// What the workers share.
struct RoundTally {
  std::uint64_t numbered;  ///< Tasks that have been given to a lane to push.
  std::uint64_t taken;
  std::uint64_t found_full;
  std::uint64_t gave_up;  ///< Workers that the host has ended.
};

/// One worker's part: pushes and pops until all tasks are out. For some thousand tasks it pops
/// seldom, so that the ring is full, for as many it pushes seldom.
struct RoundKernel {
  RingView<std::uint64_t> ring;
  RoundTally* tally;
  std::uint32_t* seen;  ///< Of each task.
  std::uint64_t total;
  static constexpr std::uint64_t kEnded = ~std::uint64_t{0};

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t index) const {
    std::uint64_t random = (index * 1024 + 1) * 0x9e3779b97f4a7c15u;
    std::uint64_t held = 0;  // Numbers [next, next + held) are this worker's to push.
    std::uint64_t next = 0;
    std::uint64_t taken = 0;
    std::uint64_t known = 0;
    for (std::uint32_t turn = 1; taken < total; ++turn) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      const bool is_filling = (taken >> 12 & 1) == 0;
      if (held == 0 && (is_filling || (random >> 60) % 4 == 0)) {
        // Not always as many as there are lanes, so that places of one push lie in two segments.
        const std::uint64_t asked = 1 + (random >> 33) % worker.size();
        if (worker.lane() == 0) next = exec::atomic_add(tally->numbered, asked);
        next = worker.broadcast(next, 0);
        held = next >= total ? 0 : total - next < asked ? total - next : asked;
      }
      const bool has = worker.lane() < held;
      if (index % 2 == 0) known = 0;  // Every other one looks each time.
      if (ring.try_push(worker, has, next + worker.lane(), known)) {
        held = 0;
      } else if (worker.lane() == 0) {
        exec::atomic_add(tally->found_full, std::uint64_t{1});
      }
      if (!is_filling || (random >> 62) == 0) {
        if (!take(worker, random >> 40 & 0xffff)) return;
      }
      taken = worker.broadcast(worker.lane() == 0 ? look(turn) : 0, 0);
    }
    if (taken == kEnded && worker.lane() == 0) exec::atomic_add(tally->gave_up, std::uint64_t{1});
  }

  /// How many are out. By one lane.
  [[nodiscard]] WARREN_HD std::uint64_t look(std::uint32_t turn) const {
    if (turn % 1024 == 0 && exec::atomic_load<Order::relaxed, Scope::system>(*ring.abort_flag) != 0)
      return kEnded;
    return exec::atomic_load(tally->taken);
  }

  /// False where the host has ended it.
  template <class W>
  WARREN_HD bool take(const W& worker, std::uint64_t random) const {
    Claim claim{};
    if (worker.lane() == 0) claim = ring.claim(1 + random % worker.size());
    claim = worker.broadcast(claim, 0);
    if (claim.count == 0) return true;
    std::uint64_t task = 0;
    if (!ring.read(worker, claim.first, static_cast<std::uint32_t>(claim.count), task))
      return false;
    if (worker.lane() < claim.count && task < total) exec::atomic_add(seen[task], 1u);
    worker.sync();
    if (worker.lane() == 0) exec::atomic_add(tally->taken, claim.count);
    return true;
  }
};

/// Ends a kernel that does not end by itself, and where that does not help the process.
void wait_for(const exec::Stream& stream, std::uint32_t* abort_flag) {
  using std::chrono::seconds;
  const auto begin = std::chrono::steady_clock::now();
  while (cudaStreamQuery(static_cast<cudaStream_t>(stream.native())) == cudaErrorNotReady) {
    const auto since = std::chrono::steady_clock::now() - begin;
    if (since > seconds(90)) *static_cast<volatile std::uint32_t*>(abort_flag) = 1;
    if (since > seconds(100)) {
      std::fprintf(stderr, "the ring's workers wait for ever\n");
      std::_Exit(1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  stream.synchronize();
}

struct Shape {
  std::uint64_t segments;
  std::uint64_t capacity;
  std::uint32_t blocks;
  std::uint32_t threads;  ///< Of a block.
};

template <class W>
void expect_all_once(const Shape& shape, std::uint32_t injected_delay) {
  SCOPED_TRACE(std::to_string(shape.segments) + " segments, capacity " +
               std::to_string(shape.capacity) + ", " + std::to_string(shape.blocks) +
               " blocks of " + std::to_string(shape.threads) + ", pauses of " +
               std::to_string(injected_delay));
  const std::uint64_t total = testing_support::is_small() || injected_delay > 0
                                  ? std::uint64_t{1} << 14
                                  : std::uint64_t{1} << 20;
  const std::uint64_t threads = std::uint64_t{shape.blocks} * shape.threads;
  ASSERT_LE(shape.capacity + 2 * threads + kSegmentTasks, shape.segments * kSegmentTasks);
  const exec::Device device = exec::Device::cuda(0);
  const exec::Stream stream(device);
  const detail::Rings<std::uint64_t> rings(device, 1, shape.capacity,
                                           shape.segments * kSegmentTasks);
  rings.clear(stream);
  const memory::Buffer<RoundTally> tally(device, 1);
  const memory::Buffer<std::uint32_t> seen(device, total);
  exec::fill_bytes(stream, tally.data(), 0, tally.bytes());
  exec::fill_bytes(stream, seen.data(), 0, seen.bytes());
  std::uint32_t* abort_flag = nullptr;
  ASSERT_EQ(cudaMallocHost(&abort_flag, sizeof *abort_flag), cudaSuccess);
  *abort_flag = 0;

  const std::uint64_t lanes = detail::lanes_of<W>(shape.threads);
  exec::LaunchOptions options;
  options.threads_per_block = shape.threads;
  exec::launch<exec::Cuda, W>(
      stream, threads / lanes,
      RoundKernel{rings.view(0, injected_delay, abort_flag), tally.data(), seen.data(), total},
      options);
  wait_for(stream, abort_flag);
  const bool has_hung = *abort_flag != 0;
  cudaFreeHost(abort_flag);
  ASSERT_FALSE(has_hung) << "readers waited for a task that nobody wrote";

  const RoundTally end = tally.to_host(stream).at(0);
  EXPECT_EQ(end.gave_up, 0u);
  EXPECT_EQ(end.taken, total);
  EXPECT_GT(end.found_full, 0u) << "the ring was never full";
  const std::vector<std::uint32_t> times = seen.to_host(stream);
  for (std::uint64_t i = 0; i < total; ++i) ASSERT_EQ(times[i], 1u) << "task " << i;
  const RingView<std::uint64_t> view = rings.view(0, 0, nullptr);
  RingReader reader;
  RingWriter writer;
  exec::copy(stream, &reader, view.reader, sizeof reader);
  exec::copy(stream, &writer, view.writer, sizeof writer);
  stream.synchronize();
  EXPECT_EQ(writer.tail, total) << "so many laps: " << total / (shape.segments * kSegmentTasks);
  EXPECT_EQ(reader.head, total);
  EXPECT_EQ(reader.available, 0u);
  EXPECT_LE(writer.freed, total);
}

/// Rings of two and four segments; with few tasks at a time, and with as many as there is room for.
constexpr Shape kShapes[] = {
    {2, 1, 2, 64}, {2, 256, 2, 64}, {4, 100, 4, 128}, {4, 512, 4, 128}, {4, 512, 16, 32}};

template <class W>
void expect_all_once_in_every_shape() {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  for (const Shape& shape : kShapes) {
    expect_all_once<W>(shape, 0);
    expect_all_once<W>(shape, 5'000);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(RingCuda, GoesRoundUnderThreads) { expect_all_once_in_every_shape<exec::Thread>(); }
TEST(RingCuda, GoesRoundUnderWarps) { expect_all_once_in_every_shape<exec::Warp>(); }
TEST(RingCuda, GoesRoundUnderBlocks) { expect_all_once_in_every_shape<exec::Block>(); }

}  // namespace
}  // namespace warren::schedule
