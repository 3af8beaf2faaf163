// SPDX-License-Identifier: Apache-2.0
// Queues under the same kernels: the scheduler's ring; one whose counters are moved by
// compare-and-swap; one with a flag for each task; and the same without what makes it a queue that
// can be empty, full, or wrap, as a bound. All reserve for all lanes of a worker at once.
#pragma once

#include "warren/exec/launch.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/schedule/ring.hpp"

namespace warren::bench {

using schedule::Order;

enum class Operation { push, pop, push_and_pop };
enum class Kind { ring, compare_and_swap, flags, bare_flags };
enum class WorkerKind { thread, warp, block };

inline constexpr std::uint32_t kTimes = 10;  ///< Of each thread, as in the paper's figure 1.

struct Ring {
  schedule::RingView<std::uint64_t> view;

  template <class W>
  WARREN_HD void push(const W& worker, std::uint64_t task) const {
    (void)view.try_push(worker, true, task);  // There is room in these runs.
  }
  /// How many of the worker's lanes got a task, the first ones.
  template <class W>
  WARREN_HD std::uint64_t pop(const W& worker, std::uint64_t wanted, std::uint64_t& sum) const {
    std::uint64_t first = 0, count = 0;
    if (worker.lane() == 0) count = view.claim(wanted, first);
    count = worker.broadcast(count, 0);
    first = worker.broadcast(first, 0);
    if (count > 0 && !view.await(worker, first, count)) return 0;
    if (worker.lane() < count) sum += view.place(first + worker.lane());
    worker.sync();
    if (view.is_teller(worker) && count > 0) view.release(first, count);
    return count;
  }
};

/// Counters on lines of their own.
struct Counters {
  alignas(128) std::uint64_t reserved;
  alignas(128) std::uint64_t written;
  alignas(128) std::uint64_t taken;
};

/// Places are reserved, published in order, and taken by compare-and-swap.
struct SwapQueue {
  std::uint64_t* tasks;
  std::uint32_t* flags;
  Counters* counters;
  std::uint64_t mask;

  template <class W>
  WARREN_HD void push(const W& worker, std::uint64_t task) const {
    std::uint64_t first = 0;
    const std::uint64_t count = worker.size();
    if (worker.lane() == 0) {
      first = exec::atomic_load(counters->reserved);
      while (!exec::atomic_compare_exchange(counters->reserved, first, first + count)) {
      }
    }
    first = worker.broadcast(first, 0);
    tasks[(first + worker.lane()) & mask] = task;
    worker.sync();
    if (worker.lane() == 0) {
      std::uint64_t expected = first;
      while (!exec::atomic_compare_exchange<Order::acq_rel>(counters->written, expected,
                                                            first + count)) {
        expected = first;
        exec::back_off(16);
      }
    }
  }
  template <class W>
  WARREN_HD std::uint64_t pop(const W& worker, std::uint64_t wanted, std::uint64_t& sum) const {
    std::uint64_t first = 0, count = 0;
    if (worker.lane() == 0) {
      const std::uint64_t there = exec::atomic_load<Order::acquire>(counters->written);
      first = exec::atomic_load(counters->taken);
      do {
        count = there <= first ? 0 : there - first < wanted ? there - first : wanted;
      } while (count > 0 && !exec::atomic_compare_exchange(counters->taken, first, first + count));
    }
    count = worker.broadcast(count, 0);
    first = worker.broadcast(first, 0);
    worker.sync();
    if (worker.lane() < count) sum += tasks[(first + worker.lane()) & mask];
    return count;
  }
};

/// Tasks are counted before places are given out, and each place has a flag that says in which lap
/// it is free or written (as the Broker Queue does: Kerbl, Kenzel, Mueller, Schmalstieg,
/// Steinberger, The Broker Queue, ICS 2018).
struct FlagQueue {
  std::uint64_t* tasks;
  std::uint32_t* flags;
  Counters* counters;  ///< `written`: how many there are; `reserved` and `taken`: next places.
  std::uint64_t mask;

  [[nodiscard]] WARREN_HD std::uint32_t free_in(std::uint64_t place) const {
    return static_cast<std::uint32_t>(place / (mask + 1)) * 2;
  }
  WARREN_HD void wait_for(std::uint64_t place, std::uint32_t flag) const {
    while (exec::atomic_load<Order::acquire>(flags[place & mask]) != flag) {
    }
  }
  template <class W>
  WARREN_HD void push(const W& worker, std::uint64_t task) const {
    const std::uint64_t count = worker.size();
    std::uint64_t first = 0;
    std::uint32_t fits = 1;
    if (worker.lane() == 0) {
      fits = exec::atomic_add(counters->written, count) + count <= mask + 1 ? 1 : 0;
      if (fits != 0) first = exec::atomic_add(counters->reserved, count);
    }
    if (worker.broadcast(fits, 0) == 0) return;
    const std::uint64_t place = worker.broadcast(first, 0) + worker.lane();
    wait_for(place, free_in(place));
    tasks[place & mask] = task;
    exec::atomic_store<Order::release>(flags[place & mask], free_in(place) + 1);
  }
  template <class W>
  WARREN_HD std::uint64_t pop(const W& worker, std::uint64_t wanted, std::uint64_t& sum) const {
    std::uint64_t first = 0, count = 0;
    if (worker.lane() == 0 && static_cast<std::int64_t>(exec::atomic_load(counters->written)) > 0) {
      const auto had =
          static_cast<std::int64_t>(exec::atomic_add(counters->written, std::uint64_t{0} - wanted));
      if (had > 0)
        count = static_cast<std::uint64_t>(had) < wanted ? static_cast<std::uint64_t>(had) : wanted;
      if (count < wanted) exec::atomic_add(counters->written, wanted - count);
      if (count > 0) first = exec::atomic_add(counters->taken, count);
    }
    count = worker.broadcast(count, 0);
    const std::uint64_t place = worker.broadcast(first, 0) + worker.lane();
    if (worker.lane() < count) {
      wait_for(place, free_in(place) + 1);
      sum += tasks[place & mask];
      exec::atomic_store<Order::release>(flags[place & mask], free_in(place) + 2);
    }
    worker.sync();
    return count;
  }
};

/// The least that flags need: places are given out whether there is room or a task or not. Works as
/// long as nothing wraps and no more is popped than was pushed.
struct BareFlagQueue {
  std::uint64_t* tasks;
  std::uint32_t* flags;
  Counters* counters;
  std::uint64_t mask;

  [[nodiscard]] WARREN_HD std::uint32_t lap(std::uint64_t place) const {
    return static_cast<std::uint32_t>(place / (mask + 1)) + 1;
  }
  template <class W>
  WARREN_HD void push(const W& worker, std::uint64_t task) const {
    std::uint64_t first = 0;
    if (worker.lane() == 0)
      first = exec::atomic_add(counters->reserved, std::uint64_t{worker.size()});
    const std::uint64_t place = worker.broadcast(first, 0) + worker.lane();
    tasks[place & mask] = task;
    exec::atomic_store<Order::release>(flags[place & mask], lap(place));
  }
  template <class W>
  WARREN_HD std::uint64_t pop(const W& worker, std::uint64_t wanted, std::uint64_t& sum) const {
    std::uint64_t first = 0;
    if (worker.lane() == 0) first = exec::atomic_add(counters->taken, wanted);
    const std::uint64_t place = worker.broadcast(first, 0) + worker.lane();
    if (worker.lane() < wanted) {
      while (exec::atomic_load<Order::acquire>(flags[place & mask]) != lap(place)) {
      }
      sum += tasks[place & mask];
    }
    worker.sync();
    return wanted;
  }
};

/// Every worker pushes, pops, or both, kTimes tasks for each of its lanes.
template <class Queue>
struct QueueKernel {
  Queue queue;
  Operation operation;
  std::uint64_t* sum;  ///< Of what was popped: the check.

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const std::uint64_t base = task * worker.size() * kTimes + worker.lane();
    if (operation != Operation::pop) {
      for (std::uint32_t i = 0; i < kTimes; ++i)
        queue.push(worker, base + std::uint64_t{i} * worker.size());
    }
    if (operation == Operation::push) return;
    std::uint64_t mine = 0;
    for (std::uint64_t left = std::uint64_t{kTimes} * worker.size(); left > 0;) {
      const std::uint64_t wanted = left < worker.size() ? left : worker.size();
      const std::uint64_t got = queue.pop(worker, wanted, mine);
      left -= got;
      if (got == 0) exec::back_off();
    }
    mine = worker.reduce(mine, exec::Plus{});
    if (worker.lane() == 0) exec::atomic_add(*sum, mine);
  }
};

/// One launch of `threads` threads' work.
template <class Backend>
void run_queue(const exec::Stream& stream, WorkerKind worker, std::uint64_t threads,
               const auto& kernel) {
  const auto with = [&]<class W>(std::uint32_t lanes) {
    exec::LaunchOptions options;
    options.grain = 1;
    exec::launch<Backend, W>(stream, threads / lanes, kernel, options);
  };
  if constexpr (std::is_same_v<Backend, exec::Cpu>) {
    (void)worker;
    with.template operator()<exec::Serial>(1);
  } else {
    if (worker == WorkerKind::thread) with.template operator()<exec::Thread>(1);
    if (worker == WorkerKind::warp) with.template operator()<exec::Warp>(32);
    if (worker == WorkerKind::block) with.template operator()<exec::Block>(256);
  }
}

/// Defined outside the class, so that only nvcc instantiates the GPU's.
template <class Backend>
struct QueueBench {
  static void run(const exec::Stream& stream, WorkerKind worker, std::uint64_t threads,
                  const QueueKernel<Ring>& kernel);
  static void run(const exec::Stream& stream, WorkerKind worker, std::uint64_t threads,
                  const QueueKernel<SwapQueue>& kernel);
  static void run(const exec::Stream& stream, WorkerKind worker, std::uint64_t threads,
                  const QueueKernel<FlagQueue>& kernel);
  static void run(const exec::Stream& stream, WorkerKind worker, std::uint64_t threads,
                  const QueueKernel<BareFlagQueue>& kernel);
};
template <class Backend>
void QueueBench<Backend>::run(const exec::Stream& stream, WorkerKind worker, std::uint64_t threads,
                              const QueueKernel<Ring>& kernel) {
  run_queue<Backend>(stream, worker, threads, kernel);
}
template <class Backend>
void QueueBench<Backend>::run(const exec::Stream& stream, WorkerKind worker, std::uint64_t threads,
                              const QueueKernel<SwapQueue>& kernel) {
  run_queue<Backend>(stream, worker, threads, kernel);
}
template <class Backend>
void QueueBench<Backend>::run(const exec::Stream& stream, WorkerKind worker, std::uint64_t threads,
                              const QueueKernel<FlagQueue>& kernel) {
  run_queue<Backend>(stream, worker, threads, kernel);
}
template <class Backend>
void QueueBench<Backend>::run(const exec::Stream& stream, WorkerKind worker, std::uint64_t threads,
                              const QueueKernel<BareFlagQueue>& kernel) {
  run_queue<Backend>(stream, worker, threads, kernel);
}

#if WARREN_HAS_CUDA
extern template struct QueueBench<exec::Cuda>;
#endif

}  // namespace warren::bench
