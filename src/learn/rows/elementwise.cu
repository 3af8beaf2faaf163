// SPDX-License-Identifier: Apache-2.0
// Passes over rows and kernels for each row, on GPUs.
#include "learn/rows/row_kernels.hpp"

namespace warren::learn::detail {

template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const DropoutEntriesKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const GatherRowsKernel<std::uint32_t>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const GatherRowsKernel<std::uint16_t>&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const CopyNamedKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const RenumberKernel&);
template void run_blocks<exec::Cuda>(const exec::Stream&, std::uint64_t, const AddPartialsKernel&);
template void run_pass<exec::Cuda>(const exec::Stream&, const DropoutBody<float>&, std::uint64_t,
                                   std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const ProductSumsBody<float>&,
                                   std::uint64_t, std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const HeadSumsBody<float>&, std::uint64_t,
                                   std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const AddSelfBody<float>&, std::uint64_t,
                                   std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const ScaleRowsBody<float, float>&,
                                   std::uint64_t, std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const DropoutBody<Half>&, std::uint64_t,
                                   std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const ProductSumsBody<Half>&, std::uint64_t,
                                   std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const HeadSumsBody<Half>&, std::uint64_t,
                                   std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const AddSelfBody<Half>&, std::uint64_t,
                                   std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const ScaleRowsBody<Half, Half>&,
                                   std::uint64_t, std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const DropoutBody<BFloat16>&, std::uint64_t,
                                   std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const ProductSumsBody<BFloat16>&,
                                   std::uint64_t, std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const HeadSumsBody<BFloat16>&,
                                   std::uint64_t, std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const AddSelfBody<BFloat16>&, std::uint64_t,
                                   std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const ScaleRowsBody<BFloat16, BFloat16>&,
                                   std::uint64_t, std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const ScaleRowsBody<float, Half>&,
                                   std::uint64_t, std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const ScaleRowsBody<Half, float>&,
                                   std::uint64_t, std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const ScaleRowsBody<float, BFloat16>&,
                                   std::uint64_t, std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const ScaleRowsBody<BFloat16, float>&,
                                   std::uint64_t, std::uint64_t, float*);

}  // namespace warren::learn::detail
