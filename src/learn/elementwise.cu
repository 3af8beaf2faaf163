// SPDX-License-Identifier: Apache-2.0
// Passes over rows and kernels for each row, on GPUs.
#include "learn/row_kernels.hpp"

namespace warren::learn::detail {

template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                     const DropoutEntriesKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const GatherRowsKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const CopyNamedKernel&);
template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const RenumberKernel&);
template void run_blocks<exec::Cuda>(const exec::Stream&, std::uint64_t, const AddPartialsKernel&);
template void run_pass<exec::Cuda>(const exec::Stream&, const DropoutBody&, std::uint64_t,
                                   std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const ProductSumsBody&, std::uint64_t,
                                   std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const HeadSumsBody&, std::uint64_t,
                                   std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const AddSelfBody&, std::uint64_t,
                                   std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const ScaleRowsBody&, std::uint64_t,
                                   std::uint64_t, float*);

}  // namespace warren::learn::detail
