// SPDX-License-Identifier: Apache-2.0
// Attention over rows of 16 bits on GPUs.
#include "learn/attention/gat/attention_kernels.hpp"

namespace warren::learn::detail {
template void run_walk<exec::Cuda>(const exec::Stream&, const AttentionJob<ForwardSide<Half>>&);
template void run_walk<exec::Cuda>(const exec::Stream&, const AttentionJob<BackwardSide<Half>>&);
template void run_walk<exec::Cuda>(const exec::Stream&, const AttentionJob<ForwardSide<BFloat16>>&);
template void run_walk<exec::Cuda>(const exec::Stream&,
                                   const AttentionJob<BackwardSide<BFloat16>>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const LogitsKernel<Half>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const LeftGradientKernel<Half>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const RightGradientKernel<Half>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const LogitsKernel<BFloat16>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const LeftGradientKernel<BFloat16>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const RightGradientKernel<BFloat16>&);
}  // namespace warren::learn::detail
