// SPDX-License-Identifier: Apache-2.0
// SSSP on GPUs, in double precision.
#include "traverse/sssp/sssp_run.hpp"

namespace warren::traverse {
template struct SsspRun<exec::Cuda, RealMetric>;
template struct SsspSearch<exec::Cuda, RealMetric, false>;
template struct SsspSearch<exec::Cuda, RealMetric, true>;
}  // namespace warren::traverse
