// SPDX-License-Identifier: Apache-2.0
// The sampled dense-dense product on GPUs.
#include "sparse/sddmm_kernels.hpp"

namespace warren::sparse::detail {

template void run_sddmm<exec::Cuda, float>(const exec::Stream&, const SddmmJob<float>&);
template void run_sddmm<exec::Cuda, Half>(const exec::Stream&, const SddmmJob<Half>&);
template void run_sddmm<exec::Cuda, BFloat16>(const exec::Stream&, const SddmmJob<BFloat16>&);

}  // namespace warren::sparse::detail
