// SPDX-License-Identifier: Apache-2.0
// Queues under the same kernels: the scheduler's ring; one whose counters are moved by
// compare-and-swap; one with a flag for each task; the same where a worker that got all it asked
// for asks again without a look whether there is anything, as the scheduler does; and without what
// makes it a queue that can be empty, full, or wrap, as a bound. All reserve for all lanes of a
// worker at once.
#pragma once

#include "warren/exec/launch.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/schedule/ring.hpp"

namespace warren::bench {

using schedule::Order;

enum class Operation { push, pop, push_and_pop };
enum class Kind { ring, compare_and_swap, flags, eager_flags, bare_flags };
enum class WorkerKind { thread, warp, block };

inline constexpr std::uint32_t kTimes = 10;  ///< Of each thread, as in the paper's figure 1.

struct Ring {
  schedule::RingView<std::uint64_t> view;

  template <class W>
  WARREN_HD void push(const W& worker, std::uint64_t task, std::uint64_t& known) const {
    (void)view.try_push(worker, true, task, known);  // There is room in these runs.
  }
  /// How many of the worker's lanes got a task, the first ones. `was_full`: the last time it was
  /// as many as wanted.
  template <class W>
  WARREN_HD std::uint64_t pop(const W& worker, std::uint64_t wanted, bool was_full,
                              std::uint64_t& sum) const {
    schedule::Claim claim{};
    if (worker.lane() == 0) claim = was_full ? view.take(wanted) : view.claim(wanted);
    claim = worker.broadcast(claim, 0);
    if (claim.count == 0) return 0;
    std::uint64_t task = 0;
    if (!view.read(worker, claim.first, static_cast<std::uint32_t>(claim.count), task)) return 0;
    sum += task;
    return claim.count;
  }
};

/// As far apart as the ring's.
struct alignas(256) Counters {
  std::uint64_t reserved;
  schedule::CounterGap<> behind_reserved;
  std::uint64_t written;
  schedule::CounterGap<> behind_written;
  std::uint64_t taken;
  schedule::CounterGap<> behind_taken;
};

/// Places are reserved, published in order, and taken by compare-and-swap.
struct SwapQueue {
  std::uint64_t* tasks;
  std::uint32_t* flags;
  Counters* counters;
  std::uint64_t mask;

  template <class W>
  WARREN_HD void push(const W& worker, std::uint64_t task, std::uint64_t&) const {
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
  WARREN_HD std::uint64_t pop(const W& worker, std::uint64_t wanted, bool,
                              std::uint64_t& sum) const {
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
/// Steinberger, The Broker Queue, ICS 2018). `kIsEager`: see above.
template <bool kIsEager>
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
  WARREN_HD void push(const W& worker, std::uint64_t task, std::uint64_t&) const {
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
  WARREN_HD std::uint64_t pop(const W& worker, std::uint64_t wanted, bool was_full,
                              std::uint64_t& sum) const {
    std::uint64_t first = 0, count = 0;
    if (worker.lane() == 0 &&
        ((kIsEager && was_full) ||
         static_cast<std::int64_t>(exec::atomic_load(counters->written)) > 0)) {
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
  WARREN_HD void push(const W& worker, std::uint64_t task, std::uint64_t&) const {
    std::uint64_t first = 0;
    if (worker.lane() == 0)
      first = exec::atomic_add(counters->reserved, std::uint64_t{worker.size()});
    const std::uint64_t place = worker.broadcast(first, 0) + worker.lane();
    tasks[place & mask] = task;
    exec::atomic_store<Order::release>(flags[place & mask], lap(place));
  }
  template <class W>
  WARREN_HD std::uint64_t pop(const W& worker, std::uint64_t wanted, bool,
                              std::uint64_t& sum) const {
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
      std::uint64_t known = 0;
      for (std::uint32_t i = 0; i < kTimes; ++i)
        queue.push(worker, base + std::uint64_t{i} * worker.size(), known);
    }
    if (operation == Operation::push) return;
    std::uint64_t mine = 0;
    bool was_full = false;
    for (std::uint64_t left = std::uint64_t{kTimes} * worker.size(); left > 0;) {
      const std::uint64_t wanted = left < worker.size() ? left : worker.size();
      const std::uint64_t got = queue.pop(worker, wanted, was_full, mine);
      was_full = got == wanted;
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
template <class Backend, class Queue>
struct QueueBench {
  static void run(const exec::Stream& stream, WorkerKind worker, std::uint64_t threads,
                  const QueueKernel<Queue>& kernel);
};
template <class Backend, class Queue>
void QueueBench<Backend, Queue>::run(const exec::Stream& stream, WorkerKind worker,
                                     std::uint64_t threads, const QueueKernel<Queue>& kernel) {
  run_queue<Backend>(stream, worker, threads, kernel);
}

#if WARREN_HAS_CUDA
extern template struct QueueBench<exec::Cuda, Ring>;
extern template struct QueueBench<exec::Cuda, SwapQueue>;
extern template struct QueueBench<exec::Cuda, FlagQueue<false>>;
extern template struct QueueBench<exec::Cuda, FlagQueue<true>>;
extern template struct QueueBench<exec::Cuda, BareFlagQueue>;
#endif

}  // namespace warren::bench
