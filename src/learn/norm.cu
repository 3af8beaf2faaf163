// SPDX-License-Identifier: Apache-2.0
// Normalisation on GPUs.
#include "learn/norm_kernels.hpp"

namespace warren::learn::detail {
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const CenterKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const ScaleKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const RunningKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const BatchBackwardKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const LayerNormKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const LayerBackwardKernel&);
}  // namespace warren::learn::detail
