// SPDX-License-Identifier: Apache-2.0
// Interaction of features on GPUs.
#include "sparse/interact_kernels.hpp"

namespace warren::sparse::detail {

template void run_interact<exec::Cuda>(const exec::Stream&, std::uint64_t, const Interact<float>&);
template void run_interact<exec::Cuda>(const exec::Stream&, std::uint64_t, const Interact<Half>&);
template void run_interact<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                       const Interact<BFloat16>&);

}  // namespace warren::sparse::detail
