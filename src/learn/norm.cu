// SPDX-License-Identifier: Apache-2.0
// Normalisation on GPUs.
#include "learn/norm_kernels.hpp"

namespace warren::learn::detail {
template void run_pass<exec::Cuda>(const exec::Stream&, const StatisticsBody&, std::uint64_t,
                                   std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const BatchBackwardBody&, std::uint64_t,
                                   std::uint64_t, float*);
template void run_blocks<exec::Cuda>(const exec::Stream&, std::uint64_t, const TotalsKernel&);
template void run_blocks<exec::Cuda>(const exec::Stream&, std::uint64_t, const SquaresKernel&);
template void run_blocks<exec::Cuda>(const exec::Stream&, std::uint64_t, const MomentsKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const LayerNormKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const LayerBackwardKernel&);
}  // namespace warren::learn::detail
