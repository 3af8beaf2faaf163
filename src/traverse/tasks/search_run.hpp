// SPDX-License-Identifier: Apache-2.0
// Runs of asynchronous searches, by backend and by the lists that their workers keep.
#pragma once

#include "traverse/tasks/async_search.hpp"
#include "traverse/tasks/search_metric.hpp"

namespace warren::traverse {

/// Defined outside the class, so that only nvcc instantiates the GPU's members. Workers are threads
/// on the CPU, on GPUs what the lists are for.
template <class Backend, class Metric, class Lists>
struct SearchRun {
  using Function = SearchFunction<Metric, Lists>;
  static schedule::QueueReport run(team::Team& team, const exec::Stream& stream,
                                   schedule::TaskQueue<typename Function::Task>& queue,
                                   const Function& function, schedule::Form form);
};

template <class Backend, class Metric, class Lists>
schedule::QueueReport SearchRun<Backend, Metric, Lists>::run(
    team::Team& team, const exec::Stream& stream,
    schedule::TaskQueue<typename Function::Task>& queue, const Function& function,
    schedule::Form form) {
  if constexpr (std::is_same_v<Backend, exec::Cpu>) {
    return schedule::run<Backend, exec::Serial>(team, stream, queue, function, form);
  } else if constexpr (Lists::kLanes == 32) {
    return schedule::run<Backend, exec::Warp>(team, stream, queue, function, form);
  } else {
    return schedule::run<Backend, exec::Block>(team, stream, queue, function, form);
  }
}

using WholeDistance = DistanceMetric<IntegerMetric<std::uint64_t>>;
using RealDistance = DistanceMetric<RealMetric>;

#if WARREN_HAS_CUDA
extern template struct SearchRun<exec::Cuda, DepthMetric, WarpLists>;
extern template struct SearchRun<exec::Cuda, WholeDistance, WarpLists>;
extern template struct SearchRun<exec::Cuda, RealDistance, WarpLists>;
extern template struct SearchRun<exec::Cuda, DepthMetric, NoLists>;
extern template struct SearchRun<exec::Cuda, WholeDistance, NoLists>;
extern template struct SearchRun<exec::Cuda, RealDistance, NoLists>;
extern template struct SearchRun<exec::Cuda, DepthMetric, BlockLists>;
extern template struct SearchRun<exec::Cuda, WholeDistance, BlockLists>;
extern template struct SearchRun<exec::Cuda, RealDistance, BlockLists>;
#endif

}  // namespace warren::traverse
