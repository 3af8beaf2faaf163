// SPDX-License-Identifier: Apache-2.0
#include "queue_cases.hpp"

namespace warren::bench {
template struct QueueBench<exec::Cuda>;
}  // namespace warren::bench
