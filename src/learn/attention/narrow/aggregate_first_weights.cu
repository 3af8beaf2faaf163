// SPDX-License-Identifier: Apache-2.0
// What attention before the product does with its parameters, on GPUs.
#include "learn/attention/narrow/aggregate_first_logits.hpp"
#include "learn/attention/narrow/aggregate_first_weights.hpp"

namespace warren::learn::detail {
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const FirstLogits<float>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const FirstLogits<Half>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const FirstLogits<BFloat16>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const FoldKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const BlockDiagonalKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const UnfoldKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const UnfoldSidesKernel&);
}  // namespace warren::learn::detail
