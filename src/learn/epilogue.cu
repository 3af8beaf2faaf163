// SPDX-License-Identifier: Apache-2.0
// What follows products, on GPUs.
#include "learn/epilogue_kernels.hpp"

namespace warren::learn::detail {

template void run_pass<exec::Cuda>(const exec::Stream&, const EpilogueBody&, std::uint64_t,
                                   std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const EpilogueBackwardBody<0>&,
                                   std::uint64_t, std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const EpilogueBackwardBody<1>&,
                                   std::uint64_t, std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const EpilogueBackwardBody<2>&,
                                   std::uint64_t, std::uint64_t, float*);

}  // namespace warren::learn::detail
