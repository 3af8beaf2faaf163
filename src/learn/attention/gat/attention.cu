// SPDX-License-Identifier: Apache-2.0
// Attention over rows of float32 on GPUs, and what does not depend on the rows' type.
#include "learn/attention/gat/attention_kernels.hpp"

namespace warren::learn::detail {
template void run_walk<exec::Cuda>(const exec::Stream&, const AttentionJob<ForwardSide<float>>&);
template void run_walk<exec::Cuda>(const exec::Stream&, const AttentionJob<BackwardSide<float>>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const LogitsKernel<float>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const LeftGradientKernel<float>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const RightGradientKernel<float>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const EdgeKeysKernel&);
}  // namespace warren::learn::detail

namespace warren::sparse::detail {
template void run_rows<exec::Cuda, learn::detail::LargestKernel<false>>(
    const exec::Stream&, const MatrixView&, const RowPlan&, learn::detail::LargestKernel<false>);
}  // namespace warren::sparse::detail
