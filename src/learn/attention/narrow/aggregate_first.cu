// SPDX-License-Identifier: Apache-2.0
// Attention's walks before the product on GPUs.
#include "learn/attention/narrow/aggregate_first_walk.hpp"

namespace warren::learn::detail {
template void run_first<exec::Cuda>(const exec::Stream&, const FirstJob<float>&);
template void run_first<exec::Cuda>(const exec::Stream&, const FirstJob<Half>&);
template void run_first<exec::Cuda>(const exec::Stream&, const FirstJob<BFloat16>&);
}  // namespace warren::learn::detail
