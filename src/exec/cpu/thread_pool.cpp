// SPDX-License-Identifier: Apache-2.0
// The thread pool: workers sleep on a condition variable between calls.
#include "warren/exec/thread_pool.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <sched.h>

#include "warren/core/error.hpp"
#include "warren/core/interrupt_point.hpp"
#include "warren/core/start_thread.hpp"

namespace warren::exec {

int hardware_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    const int count = CPU_COUNT(&set);
    if (count > 0) return count;
  }
  const unsigned count = std::thread::hardware_concurrency();
  return count == 0 ? 1 : static_cast<int>(count);
}

void ThreadBarrier::pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

namespace {

void end(std::vector<std::thread>& workers, std::mutex& mutex, std::condition_variable& start,
         bool& is_stopping) noexcept {
  {
    const std::scoped_lock lock(mutex);
    is_stopping = true;
  }
  start.notify_all();
  for (std::thread& worker : workers) worker.join();
}

}  // namespace

ThreadPool::ThreadPool(int threads) : threads_(threads) {
  require(threads >= 1, "a thread pool needs at least one thread");
  workers_.reserve(static_cast<std::size_t>(threads - 1));
  try {
    for (int t = 1; t < threads; ++t) {
      workers_.push_back(start_thread([this, t] { serve(t); },
                                      fmt::format("CPU thread {} of {}", t + 1, threads),
                                      "give fewer threads"));
    }
  } catch (...) {
    end(workers_, mutex_, start_, stopping_);
    throw;
  }
}

ThreadPool::~ThreadPool() { end(workers_, mutex_, start_, stopping_); }

void ThreadPool::run(const std::function<void(int)>& work) {
  if (threads_ == 1) {
    work(0);
    return;
  }
  {
    const std::scoped_lock lock(mutex_);
    work_ = &work;
    points_ = InterruptPoints::current();
    running_ = threads_ - 1;
    error_ = nullptr;
    ++round_;
  }
  start_.notify_all();
  std::exception_ptr mine;
  try {
    work(0);
  } catch (...) {
    mine = std::current_exception();
  }
  // This thread may be done before the others, and is the one that knows whether they go on.
  constexpr std::chrono::milliseconds kPeriod{50};
  std::unique_lock lock(mutex_);
  while (!finish_.wait_for(lock, kPeriod, [this] { return running_ == 0; })) {
    if (mine) continue;
    lock.unlock();
    try {
      interrupt_point();
    } catch (...) {
      mine = std::current_exception();
    }
    lock.lock();
  }
  work_ = nullptr;
  points_ = nullptr;
  const std::exception_ptr first = mine ? mine : error_;
  error_ = nullptr;
  lock.unlock();
  if (first) std::rethrow_exception(first);
}

void ThreadPool::before_piece() { interrupt_point(); }

void ThreadPool::serve(int thread) {
  std::uint64_t seen = 0;
  for (;;) {
    const std::function<void(int)>* work = nullptr;
    InterruptPoints* points = nullptr;
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stopping_ || round_ != seen; });
      if (stopping_) return;
      seen = round_;
      work = work_;
      points = points_;
    }
    std::exception_ptr error;
    try {
      const HelpsInterrupted helps(points);
      (*work)(thread);
    } catch (...) {
      error = std::current_exception();
    }
    {
      // No reference to the error outlives the lock here: whoever called `run` reads it, and the
      // last one to let go of it frees it.
      const std::scoped_lock lock(mutex_);
      if (!error_) error_ = std::move(error);
      error = nullptr;
      --running_;
    }
    finish_.notify_one();
  }
}

}  // namespace warren::exec
