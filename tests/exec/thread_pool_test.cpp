// SPDX-License-Identifier: Apache-2.0
// The thread pool and the thread barrier.
#include "warren/exec/thread_pool.hpp"

#include <chrono>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/core/interrupt_point.hpp"

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

struct Ended {};

TEST(ThreadPool, ALoopEndsBeforeItsNextPiece) {
  const std::function<void()> ends = [] { throw Ended(); };
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    std::uint32_t flag = 0;
    std::atomic<int> pieces{0};
    const auto body = [&](std::uint64_t, std::uint64_t) {
      if (pieces.fetch_add(1) == 10)
        std::atomic_ref<std::uint32_t>(flag).store(1, std::memory_order_release);
    };
    {
      const InterruptPoints points(flag, ends);
      EXPECT_THROW(pool.parallel_for(0, 1'000'000, 1, body), Ended);
      EXPECT_THROW(pool.parallel_for(0, 1, 1, body), Ended) << "one piece";
    }
    // Others may have been between their look and the piece.
    EXPECT_LT(pieces, 1000);
    pieces = 100;
    pool.parallel_for(0, 1000, 1, body);
    EXPECT_EQ(pieces, 1100) << "and the pool goes on";
  }
}

TEST(ThreadPool, TheCallerAsksWhileOthersWork) {
  ThreadPool pool(3);
  int asked = 0;
  const std::function<void()> ask = [&] {
    if (++asked == 2) throw Ended();
  };
  const InterruptPoints points(ask);
  const auto work = [](int thread) {
    if (thread == 0) return;
    for (;;) {
      interrupt_point();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  };
  EXPECT_THROW(pool.run(work), Ended);
  EXPECT_EQ(asked, 2);
}

TEST(ThreadPool, WhatTakesThingsDownIsNotEnded) {
  ThreadPool pool(3);
  std::uint32_t flag = 1;
  const std::function<void()> ends = [] { throw Ended(); };
  std::atomic<int> pieces{0};
  struct CleansUp {
    ~CleansUp() {
      pool.parallel_for(0, 100, 1, [&](std::uint64_t, std::uint64_t) { pieces.fetch_add(1); });
    }
    ThreadPool& pool;
    std::atomic<int>& pieces;
  };
  const InterruptPoints points(flag, ends);
  const auto end = [&] {
    const CleansUp cleans_up{pool, pieces};
    interrupt_point();
  };
  EXPECT_THROW(end(), Ended);
  EXPECT_EQ(pieces, 100);
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
