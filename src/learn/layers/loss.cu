// SPDX-License-Identifier: Apache-2.0
// Losses and updates on GPUs.
#include "learn/layers/loss_kernels.hpp"
#include "learn/layers/optimizer_kernels.hpp"
#include "learn/rows/set_kernel.hpp"

namespace warren::learn::detail {
template void run_loss<exec::Cuda>(const exec::Stream&, std::uint64_t, const LossKernel<float>&);
template void run_loss<exec::Cuda>(const exec::Stream&, std::uint64_t, const LossKernel<Half>&);
template void run_loss<exec::Cuda>(const exec::Stream&, std::uint64_t, const LossKernel<BFloat16>&);
template void run_loss<exec::Cuda>(const exec::Stream&, std::uint64_t, const LossSumsKernel&);
template void run_update<exec::Cuda>(const exec::Stream&, std::uint64_t, const UpdateKernel&);
template void run_update<exec::Cuda>(const exec::Stream&, std::uint64_t, const OverflowKernel&);
template void run_update<exec::Cuda>(const exec::Stream&, std::uint64_t, const LossScaleKernel&);
template void run_set<exec::Cuda>(const exec::Stream&, const SetKernel<std::uint64_t>&);
template void run_set<exec::Cuda>(const exec::Stream&, const SetKernel<UpdateStep>&);
template void run_set<exec::Cuda>(const exec::Stream&, const SetKernel<float>&);
}  // namespace warren::learn::detail
