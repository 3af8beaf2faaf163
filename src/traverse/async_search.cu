// SPDX-License-Identifier: Apache-2.0
// Asynchronous searches on GPUs.
#include "traverse/async_search.hpp"

namespace warren::traverse {
template struct SearchRun<exec::Cuda, DepthMetric>;
template struct SearchRun<exec::Cuda, WholeDistance>;
template struct SearchRun<exec::Cuda, RealDistance>;
}  // namespace warren::traverse
