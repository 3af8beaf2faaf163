// SPDX-License-Identifier: Apache-2.0
// What follows products of float32, on GPUs.
#include "learn/rows/epilogue_kernels.hpp"

namespace warren::learn::detail {

template void run_pass<exec::Cuda>(const exec::Stream&, const EpilogueBody<float>&, std::uint64_t,
                                   std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const EpilogueBackwardBody<float, 0>&,
                                   std::uint64_t, std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const EpilogueBackwardBody<float, 1>&,
                                   std::uint64_t, std::uint64_t, float*);
template void run_pass<exec::Cuda>(const exec::Stream&, const EpilogueBackwardBody<float, 2>&,
                                   std::uint64_t, std::uint64_t, float*);

}  // namespace warren::learn::detail
