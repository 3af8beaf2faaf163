// SPDX-License-Identifier: Apache-2.0
// Attention on GPUs.
#include "learn/attention_kernels.hpp"

namespace warren::learn::detail {
template void run_walk<exec::Cuda>(const exec::Stream&, const AttentionJob<ForwardSide>&);
template void run_walk<exec::Cuda>(const exec::Stream&, const AttentionJob<BackwardSide>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const EdgeKeysKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const LogitsKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const LeftGradientKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const RightGradientKernel&);
}  // namespace warren::learn::detail

namespace warren::sparse::detail {
template void run_rows<exec::Cuda, learn::detail::LargestKernel>(const exec::Stream&,
                                                                 const MatrixView&, const RowPlan&,
                                                                 learn::detail::LargestKernel);
}  // namespace warren::sparse::detail
