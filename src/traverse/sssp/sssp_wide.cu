// SPDX-License-Identifier: Apache-2.0
// SSSP on GPUs, in 64-bit words.
#include "traverse/sssp/sssp_run.hpp"

namespace warren::traverse {
template struct SsspRun<exec::Cuda, IntegerMetric<std::uint64_t>>;
template struct SsspSearch<exec::Cuda, IntegerMetric<std::uint64_t>, false>;
template struct SsspSearch<exec::Cuda, IntegerMetric<std::uint64_t>, true>;
}  // namespace warren::traverse
