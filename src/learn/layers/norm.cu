// SPDX-License-Identifier: Apache-2.0
// Normalisation on GPUs.
#include "learn/layers/norm_kernels.hpp"

namespace warren::learn::detail {

template void run_pass<exec::Cuda>(const exec::Stream&, const StatisticsBody<float>&, std::uint64_t,
                                   std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const BatchBackwardBody<float>&,
                                   std::uint64_t, std::uint64_t, float*);
template void run_blocks<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const TotalsKernel<float>&);
template void run_blocks<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const SquaresKernel<float>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const LayerNormKernel<float>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const LayerBackwardKernel<float>&);
template void run_pass<exec::Cuda>(const exec::Stream&, const StatisticsBody<Half>&, std::uint64_t,
                                   std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const BatchBackwardBody<Half>&,
                                   std::uint64_t, std::uint64_t, float*);
template void run_blocks<exec::Cuda>(const exec::Stream&, std::uint64_t, const TotalsKernel<Half>&);
template void run_blocks<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const SquaresKernel<Half>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const LayerNormKernel<Half>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const LayerBackwardKernel<Half>&);
template void run_pass<exec::Cuda>(const exec::Stream&, const StatisticsBody<BFloat16>&,
                                   std::uint64_t, std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const BatchBackwardBody<BFloat16>&,
                                   std::uint64_t, std::uint64_t, float*);
template void run_blocks<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const TotalsKernel<BFloat16>&);
template void run_blocks<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const SquaresKernel<BFloat16>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const LayerNormKernel<BFloat16>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const LayerBackwardKernel<BFloat16>&);
template void run_blocks<exec::Cuda>(const exec::Stream&, std::uint64_t, const MomentsKernel&);

}  // namespace warren::learn::detail
