// SPDX-License-Identifier: Apache-2.0
// The CPU's threads: a pool that runs one function on all its threads, a parallel loop over it, and
// a barrier that blocks rather than spins when there are more threads than cores.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace warren {
class InterruptPoints;
}  // namespace warren

namespace warren::exec {

/// Threads that the machine offers to this process (its CPU affinity mask), at least one.
[[nodiscard]] int hardware_threads();

/// A barrier of a fixed number of threads. wait() spins briefly, then lets other threads run, then
/// blocks in the kernel.
class ThreadBarrier {
 public:
  explicit ThreadBarrier(int threads) : threads_(threads) {}

  /// Blocks until all threads have called. The last thread to arrive first runs `on_last()` while
  /// the others wait.
  template <class OnLast>
  void wait(OnLast&& on_last) {
    const std::uint32_t generation = generation_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      on_last();
      arrived_.store(0, std::memory_order_relaxed);
      generation_.fetch_add(1, std::memory_order_acq_rel);
      generation_.notify_all();
      return;
    }
    for (int spin = 0; spin < kSpins; ++spin) {
      if (generation_.load(std::memory_order_acquire) != generation) return;
      pause();
    }
    for (int turn = 0; turn < kYields; ++turn) {
      if (generation_.load(std::memory_order_acquire) != generation) return;
      std::this_thread::yield();
    }
    generation_.wait(generation, std::memory_order_acquire);
  }
  void wait() {
    wait([] {});
  }

 private:
  static constexpr int kSpins = 200;
  static constexpr int kYields = 100;
  static void pause();

  const int threads_;
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<std::uint32_t> generation_{0};
};

/// A fixed set of threads. The calling thread works as thread 0, so a pool of one starts no thread.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);  ///< Throws ThreadError where so many are not started.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] int size() const noexcept { return threads_; }

  /// Runs work(thread) for thread = 0 .. size() - 1, concurrently, and returns when all have
  /// returned. The first exception is thrown again here. One call at a time. What ends a call of
  /// the calling thread (a session's interrupt, the end of a team) ends `work` where it asks for
  /// that (interrupt_point()), in every thread.
  void run(const std::function<void(int)>& work);

  /// Runs body(begin, end) over pieces of [first, last) of at most `grain` elements, handed out
  /// dynamically. Throws before the next piece what ends the call, as run() says.
  template <class Body>
  void parallel_for(std::uint64_t first, std::uint64_t last, std::uint64_t grain, Body&& body) {
    if (first >= last) return;
    if (grain == 0) grain = 1;
    if (threads_ == 1 || last - first <= grain) {
      for (std::uint64_t begin = first; begin < last; begin += grain) {
        before_piece();
        body(begin, begin + grain < last ? begin + grain : last);
      }
      return;
    }
    std::atomic<std::uint64_t> next{first};
    run([&](int) {
      for (;;) {
        const std::uint64_t begin = next.fetch_add(grain, std::memory_order_relaxed);
        if (begin >= last) return;
        before_piece();
        body(begin, begin + grain < last ? begin + grain : last);
      }
    });
  }

 private:
  void serve(int thread);
  static void before_piece();  ///< interrupt_point().

  const int threads_;
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable start_, finish_;
  const std::function<void(int)>* work_ = nullptr;
  InterruptPoints* points_ = nullptr;  ///< Of who called.
  std::uint64_t round_ = 0;
  int running_ = 0;
  bool stopping_ = false;
  std::exception_ptr error_;
};

}  // namespace warren::exec
