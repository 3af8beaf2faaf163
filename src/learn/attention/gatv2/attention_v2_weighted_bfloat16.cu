// SPDX-License-Identifier: Apache-2.0
// GATv2's attention over edges that have weights, rows of bfloat16, on GPUs.
#include "learn/attention/gatv2/attention_v2_kernels.hpp"

namespace warren::learn::detail {
template void run_heads<exec::Cuda>(const exec::Stream&,
                                    const HeadJob<V2WeightedForwardSide<BFloat16>>&);
template void run_heads<exec::Cuda>(const exec::Stream&,
                                    const HeadJob<V2WeightedTargetSide<BFloat16>>&);
template void run_heads<exec::Cuda>(const exec::Stream&,
                                    const HeadJob<V2WeightedSourceSide<BFloat16>>&);
}  // namespace warren::learn::detail
