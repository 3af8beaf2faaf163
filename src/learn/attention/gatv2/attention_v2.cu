// SPDX-License-Identifier: Apache-2.0
// GATv2's attention over rows of float32 on GPUs.
#include "learn/attention/gatv2/attention_v2_kernels.hpp"

namespace warren::learn::detail {
template void run_heads<exec::Cuda>(const exec::Stream&, const HeadJob<V2ForwardSide<float>>&);
template void run_heads<exec::Cuda>(const exec::Stream&, const HeadJob<V2TargetSide<float>>&);
template void run_heads<exec::Cuda>(const exec::Stream&, const HeadJob<V2SourceSide<float>>&);
}  // namespace warren::learn::detail
