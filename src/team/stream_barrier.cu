// SPDX-License-Identifier: Apache-2.0
// The barrier between streams on GPUs.
#include "team/stream_barrier_kernels.hpp"

namespace warren::team {

template void run_barrier<exec::Cuda>(const exec::Stream&, int, const ArriveKernel&);
template void run_barrier<exec::Cuda>(const exec::Stream&, int, const AwaitKernel&);

}  // namespace warren::team
