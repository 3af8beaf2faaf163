// SPDX-License-Identifier: Apache-2.0
// Asynchronous searches on GPUs.
#include "traverse/tasks/search_run.hpp"

namespace warren::traverse {
template struct SearchRun<exec::Cuda, DepthMetric, WarpLists>;
template struct SearchRun<exec::Cuda, WholeDistance, WarpLists>;
template struct SearchRun<exec::Cuda, RealDistance, WarpLists>;
template struct SearchRun<exec::Cuda, DepthMetric, NoLists>;
template struct SearchRun<exec::Cuda, WholeDistance, NoLists>;
template struct SearchRun<exec::Cuda, RealDistance, NoLists>;
template struct SearchRun<exec::Cuda, DepthMetric, BlockLists>;
template struct SearchRun<exec::Cuda, WholeDistance, BlockLists>;
template struct SearchRun<exec::Cuda, RealDistance, BlockLists>;
}  // namespace warren::traverse
