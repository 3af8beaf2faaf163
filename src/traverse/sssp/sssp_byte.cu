// SPDX-License-Identifier: Apache-2.0
// SSSP on GPUs, in 32-bit words, with far weights of a byte.
#include "traverse/sssp/sssp_run.hpp"

namespace warren::traverse {
template struct SsspSearch<exec::Cuda, IntegerMetric<std::uint32_t, std::uint8_t>, false>;
}  // namespace warren::traverse
