// SPDX-License-Identifier: Apache-2.0
// Gathers with dropout on GPUs.
#include "learn/rows/gather_dropped.hpp"

namespace warren::learn::detail {
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const GatherDropped<float>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const GatherDropped<Half>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const GatherDropped<BFloat16>&);
}  // namespace warren::learn::detail
