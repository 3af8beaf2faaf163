// SPDX-License-Identifier: Apache-2.0
// The sparse-dense product on the CPU, of half elements.
#include "sparse/spmm_kernels.hpp"

namespace warren::sparse::detail {

template void run_spmm<exec::Cpu, Half>(const exec::Stream&, const SpmmJob<Half>&,
                                        const exec::LaunchOptions&);

}  // namespace warren::sparse::detail
