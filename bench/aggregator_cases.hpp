// SPDX-License-Identifier: Apache-2.0
// Tasks that cross from rank to rank and back.
#pragma once

#include "warren/schedule/run.hpp"

namespace warren::bench {

inline constexpr std::uint32_t kSeedTasks = 32;

/// Each task, of so many words of 8 bytes, goes to the next rank `hops` times, and so many of a
/// rank's are under way at a time.
template <int kWords>
struct BounceFunction {
  struct Task {
    std::uint64_t hops;
    std::uint64_t rest[kWords - 1];
  };
  std::uint64_t balls = 0;  ///< Of each rank; a multiple of kSeedTasks.
  std::uint32_t hops = 0;
  int rank = 0;
  int ranks = 1;

  WARREN_HD std::uint64_t seeds() const { return balls / kSeedTasks; }
  template <class W, class C>
  WARREN_HD void seed(const W& worker, C& context, std::uint64_t) const {
    for (std::uint32_t j = worker.lane(); j < kSeedTasks; j += worker.size()) {
      Task task{};
      task.hops = hops;
      context.push(worker, true, rank, task);
    }
  }
  template <class W, class C>
  WARREN_HD void operator()(const W& worker, C& context, bool active, const Task& task) const {
    Task next = task;
    --next.hops;
    context.push(worker, active && task.hops > 0, rank + 1 < ranks ? rank + 1 : 0, next);
  }
};

/// Defined outside the class, so that only nvcc instantiates the GPU's.
template <class Backend, class Function>
struct Bounce {
  static schedule::QueueReport run(team::Team& team, const exec::Stream& stream,
                                   schedule::TaskQueue<typename Function::Task>& queue,
                                   const Function& function);
};
template <class Backend, class Function>
schedule::QueueReport Bounce<Backend, Function>::run(
    team::Team& team, const exec::Stream& stream,
    schedule::TaskQueue<typename Function::Task>& queue, const Function& function) {
  using W = std::conditional_t<std::is_same_v<Backend, exec::Cpu>, exec::Serial, exec::Warp>;
  return schedule::run<Backend, W>(team, stream, queue, function);
}

#if WARREN_HAS_CUDA
extern template struct Bounce<exec::Cuda, BounceFunction<2>>;
extern template struct Bounce<exec::Cuda, BounceFunction<8>>;
#endif

}  // namespace warren::bench
