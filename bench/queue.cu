// SPDX-License-Identifier: Apache-2.0
#include "queue_cases.hpp"

namespace warren::bench {
template struct QueueBench<exec::Cuda, Ring>;
template struct QueueBench<exec::Cuda, SwapQueue>;
template struct QueueBench<exec::Cuda, FlagQueue<false>>;
template struct QueueBench<exec::Cuda, FlagQueue<true>>;
template struct QueueBench<exec::Cuda, BareFlagQueue>;
}  // namespace warren::bench
