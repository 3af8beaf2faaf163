// SPDX-License-Identifier: Apache-2.0
// What follows products of bfloat16, on GPUs.
#include "learn/rows/epilogue_kernels.hpp"

namespace warren::learn::detail {

template void run_pass<exec::Cuda>(const exec::Stream&, const EpilogueBody<BFloat16>&,
                                   std::uint64_t, std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const EpilogueBackwardBody<BFloat16, 0>&,
                                   std::uint64_t, std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const EpilogueBackwardBody<BFloat16, 1>&,
                                   std::uint64_t, std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const EpilogueBackwardBody<BFloat16, 2>&,
                                   std::uint64_t, std::uint64_t, float*);

}  // namespace warren::learn::detail
