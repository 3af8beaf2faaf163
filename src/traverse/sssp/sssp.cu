// SPDX-License-Identifier: Apache-2.0
// SSSP on GPUs, in 32-bit words.
#include "traverse/sssp/sssp_run.hpp"

namespace warren::traverse {
template struct SsspRun<exec::Cuda, IntegerMetric<std::uint32_t>>;
template struct SsspSearch<exec::Cuda, IntegerMetric<std::uint32_t>, false>;
template struct SsspSearch<exec::Cuda, IntegerMetric<std::uint32_t>, true>;
}  // namespace warren::traverse
