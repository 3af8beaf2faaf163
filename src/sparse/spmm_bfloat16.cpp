// SPDX-License-Identifier: Apache-2.0
// The sparse-dense product on the CPU, of bfloat16 elements.
#include "sparse/spmm_kernels.hpp"

namespace warren::sparse::detail {

template void run_spmm<exec::Cpu, BFloat16>(const exec::Stream&, const SpmmJob<BFloat16>&,
                                            const exec::LaunchOptions&);

}  // namespace warren::sparse::detail
