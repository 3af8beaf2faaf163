// SPDX-License-Identifier: Apache-2.0
// SSSP on GPUs, in 32-bit words, with far weights of a byte.
#include "traverse/sssp/sssp_run.hpp"

namespace warren::traverse {
template struct SsspRun<exec::Cuda, ByteMetric>;
template struct SsspSearch<exec::Cuda, ByteMetric, false>;
}  // namespace warren::traverse
