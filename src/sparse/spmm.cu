// SPDX-License-Identifier: Apache-2.0
// The sparse-dense product on GPUs.
#include "sparse/spmm_kernels.hpp"

namespace warren::sparse::detail {

template void make_tasks<exec::Cuda>(const exec::Stream&, std::uint64_t, const EvenTasks&);
template void run_spmm<exec::Cuda, float>(const exec::Stream&, const SpmmJob<float>&,
                                          const exec::LaunchOptions&);
template void run_spmm<exec::Cuda, Half>(const exec::Stream&, const SpmmJob<Half>&,
                                         const exec::LaunchOptions&);
template void run_spmm<exec::Cuda, BFloat16>(const exec::Stream&, const SpmmJob<BFloat16>&,
                                             const exec::LaunchOptions&);

}  // namespace warren::sparse::detail
