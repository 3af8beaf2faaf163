// SPDX-License-Identifier: Apache-2.0
// GATv2's attention over edges that have weights, rows of float32, on GPUs.
#include "learn/attention/gatv2/attention_v2_kernels.hpp"

namespace warren::learn::detail {
template void run_heads<exec::Cuda>(const exec::Stream&,
                                    const HeadJob<V2WeightedForwardSide<float>>&);
template void run_heads<exec::Cuda>(const exec::Stream&,
                                    const HeadJob<V2WeightedTargetSide<float>>&);
template void run_heads<exec::Cuda>(const exec::Stream&,
                                    const HeadJob<V2WeightedSourceSide<float>>&);
}  // namespace warren::learn::detail
