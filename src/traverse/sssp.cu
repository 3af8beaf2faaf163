// SPDX-License-Identifier: Apache-2.0
// SSSP on GPUs, in 32-bit words.
#include "traverse/sssp_run.hpp"

namespace warren::traverse {
template struct SsspRun<exec::Cuda, IntegerMetric<std::uint32_t>>;
}  // namespace warren::traverse
