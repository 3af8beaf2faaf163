// SPDX-License-Identifier: Apache-2.0
// The thread pool and the thread barrier.
#include "warren/exec/thread_pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"

namespace warren::exec {
namespace {

TEST(ThreadPool, RunsEveryThreadOnce) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (int round = 0; round < 100; ++round) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(threads));
      pool.run([&](int thread) { calls[static_cast<std::size_t>(thread)].fetch_add(1); });
      for (const auto& count : calls) EXPECT_EQ(count, 1);
    }
  }
}

TEST(ThreadPool, ParallelForVisitsEverythingOnce) {
  ThreadPool pool(4);
  for (const std::uint64_t grain : {0, 1, 7, 1'000'000}) {
    for (const std::uint64_t last : {3, 4, 5, 1003}) {
      std::vector<std::atomic<int>> visits(last);
      pool.parallel_for(3, last, grain, [&](std::uint64_t begin, std::uint64_t end) {
        EXPECT_LT(begin, end);
        for (std::uint64_t i = begin; i < end; ++i) visits[i].fetch_add(1);
      });
      for (std::uint64_t i = 0; i < last; ++i) EXPECT_EQ(visits[i], i < 3 ? 0 : 1);
    }
  }
}

TEST(ThreadPool, ThrowsWhatAThreadThrew) {
  ThreadPool pool(3);
  for (int bad = 0; bad < 3; ++bad) {
    std::atomic<int> others{0};
    const auto work = [&](int thread) {
      if (thread == bad) throw InputError("thread " + std::to_string(thread));
      others.fetch_add(1);
    };
    EXPECT_THAT([&] { pool.run(work); },
                ::testing::ThrowsMessage<InputError>("thread " + std::to_string(bad)));
    EXPECT_EQ(others, 2) << "the others finish first";
  }
  std::atomic<int> calls{0};
  pool.run([&](int) { calls.fetch_add(1); });
  EXPECT_EQ(calls, 3) << "and the pool goes on";
}

TEST(ThreadPool, AllMayThrow) {
  ThreadPool pool(4);
  EXPECT_THROW(pool.run([](int) { throw std::runtime_error("all"); }), std::runtime_error);
}

TEST(ThreadPool, NeedsAThread) { EXPECT_THROW(ThreadPool(0), UsageError); }

TEST(ThreadBarrier, LastOneRunsTheCompletion) {
  constexpr int kThreads = 5;
  ThreadPool pool(kThreads);
  ThreadBarrier barrier(kThreads);
  int completions = 0;  // Written by one thread while all others wait.
  pool.run([&](int) {
    for (int round = 0; round < 300; ++round) {
      barrier.wait([&] { ++completions; });
      EXPECT_EQ(completions, round + 1);
      barrier.wait();
    }
  });
  EXPECT_EQ(completions, 300);
}

TEST(HardwareThreads, AtLeastOne) { EXPECT_GE(hardware_threads(), 1); }

}  // namespace
}  // namespace warren::exec
