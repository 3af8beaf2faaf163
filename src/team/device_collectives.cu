// SPDX-License-Identifier: Apache-2.0
// The reductions on GPUs.
#include "team/device_collectives_kernels.hpp"

namespace warren::team {

template void reduce_parts<exec::Cuda>(const exec::Stream&, DataType, ReduceOp, const ReduceParts&,
                                       void*, std::uint64_t);

}  // namespace warren::team
