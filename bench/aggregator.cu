// SPDX-License-Identifier: Apache-2.0
#include "aggregator_cases.hpp"

namespace warren::bench {
template struct Bounce<exec::Cuda, BounceFunction<2>>;
template struct Bounce<exec::Cuda, BounceFunction<8>>;
}  // namespace warren::bench
