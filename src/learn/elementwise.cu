// SPDX-License-Identifier: Apache-2.0
// Kernels over rows on GPUs.
#include "learn/row_kernels.hpp"

namespace warren::learn::detail {

template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const EpilogueKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const EpilogueBackwardKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const DropoutKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const DropoutEntriesKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const ColumnSumsKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const AddPartialsKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const HeadDotsKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const AddSelfKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const GatherRowsKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const ScaleRowsKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const AddScaledRowsKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const CopyNamedKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const RenumberKernel&);

}  // namespace warren::learn::detail
