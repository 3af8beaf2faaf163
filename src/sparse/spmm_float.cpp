// SPDX-License-Identifier: Apache-2.0
// The sparse-dense product on the CPU, of float elements.
#include "sparse/spmm_kernels.hpp"

namespace warren::sparse::detail {

template void run_spmm<exec::Cpu, float>(const exec::Stream&, const SpmmJob<float>&,
                                         const exec::LaunchOptions&);

}  // namespace warren::sparse::detail
