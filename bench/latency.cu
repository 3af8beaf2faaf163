// SPDX-License-Identifier: Apache-2.0
// The latency benchmark on GPUs.
#include "latency_cases.hpp"

namespace warren::bench {

template void write_cycle<exec::Cuda>(const exec::Stream&, std::uint64_t, const WriteCycle&);
template void follow<exec::Cuda>(const exec::Stream&, const FollowShared&);
template void follow<exec::Cuda>(const exec::Stream&, const FollowManaged&);

}  // namespace warren::bench
