// SPDX-License-Identifier: Apache-2.0
// Attention over edges that have weights, on GPUs.
#include "learn/attention/gat/attention_kernels.hpp"
#include "learn/layers/edge_features.hpp"

namespace warren::learn::detail {
template void run_walk<exec::Cuda>(const exec::Stream&,
                                   const AttentionJob<WeightedForwardSide<float>>&);
template void run_walk<exec::Cuda>(const exec::Stream&,
                                   const AttentionJob<WeightedBackwardSide<float>>&);
template void run_walk<exec::Cuda>(const exec::Stream&,
                                   const AttentionJob<WeightedForwardSide<Half>>&);
template void run_walk<exec::Cuda>(const exec::Stream&,
                                   const AttentionJob<WeightedBackwardSide<Half>>&);
template void run_walk<exec::Cuda>(const exec::Stream&,
                                   const AttentionJob<WeightedForwardSide<BFloat16>>&);
template void run_walk<exec::Cuda>(const exec::Stream&,
                                   const AttentionJob<WeightedBackwardSide<BFloat16>>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const WeightedGradientKernel<float>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const WeightedGradientKernel<Half>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const WeightedGradientKernel<BFloat16>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const ByWeightKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const ByWeightGradientKernel&);
}  // namespace warren::learn::detail

namespace warren::sparse::detail {
template void run_rows<exec::Cuda, learn::detail::LargestKernel<true>>(
    const exec::Stream&, const MatrixView&, const RowPlan&, learn::detail::LargestKernel<true>);
}  // namespace warren::sparse::detail
