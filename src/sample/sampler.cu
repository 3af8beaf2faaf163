// SPDX-License-Identifier: Apache-2.0
// The sampler on GPUs.
#include "sample/sampler_run.hpp"

namespace warren::sample::detail {

template void run_flight<exec::Cuda>(const exec::Stream&, const FlightRun&);

}  // namespace warren::sample::detail
