// SPDX-License-Identifier: Apache-2.0
// Link prediction on GPUs.
#include "learn/batch/link_kernels.hpp"

namespace warren::learn::detail {
template void run_links<exec::Cuda>(const exec::Stream&, std::uint64_t, const LinkLossKernel&);
template void run_links<exec::Cuda>(const exec::Stream&, std::uint64_t, const LinkGradientKernel&);
template void run_links<exec::Cuda>(const exec::Stream&, std::uint64_t, const LinkSumsKernel&);
template void run_links<exec::Cuda>(const exec::Stream&, std::uint64_t, const LinkLogitsKernel&);
}  // namespace warren::learn::detail
