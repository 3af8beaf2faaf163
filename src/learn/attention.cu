// SPDX-License-Identifier: Apache-2.0
// Attention on GPUs.
#include "learn/attention_kernels.hpp"

namespace warren::learn::detail {
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const LeftGradientKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const RightGradientKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const AddOuterKernel&);
}  // namespace warren::learn::detail

namespace warren::sparse::detail {
template void run_rows<exec::Cuda, learn::detail::AttentionWeightsKernel>(
    const exec::Stream&, const MatrixView&, const RowPlan&, learn::detail::AttentionWeightsKernel);
template void run_rows<exec::Cuda, learn::detail::AttentionColumnWeightsKernel>(
    const exec::Stream&, const MatrixView&, const RowPlan&,
    learn::detail::AttentionColumnWeightsKernel);
template void run_rows<exec::Cuda, learn::detail::AttentionSumKernel>(
    const exec::Stream&, const MatrixView&, const RowPlan&, learn::detail::AttentionSumKernel);
}  // namespace warren::sparse::detail
