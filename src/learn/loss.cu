// SPDX-License-Identifier: Apache-2.0
// Losses and updates on GPUs.
#include "learn/loss_kernels.hpp"
#include "learn/optimizer_kernels.hpp"

namespace warren::learn::detail {
template void run_loss<exec::Cuda>(const exec::Stream&, std::uint64_t, const LossKernel<float>&);
template void run_loss<exec::Cuda>(const exec::Stream&, std::uint64_t, const LossKernel<Half>&);
template void run_loss<exec::Cuda>(const exec::Stream&, std::uint64_t, const LossKernel<BFloat16>&);
template void run_loss<exec::Cuda>(const exec::Stream&, std::uint64_t, const LossSumsKernel&);
template void run_update<exec::Cuda>(const exec::Stream&, std::uint64_t, const UpdateKernel&);
template void run_update<exec::Cuda>(const exec::Stream&, std::uint64_t, const OverflowKernel&);
template void run_update<exec::Cuda>(const exec::Stream&, std::uint64_t, const LossScaleKernel&);
}  // namespace warren::learn::detail
