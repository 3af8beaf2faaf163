// SPDX-License-Identifier: Apache-2.0
// The graph store's kernels on GPUs.
#include "sample/graph_store_kernels.hpp"

namespace warren::sample::detail {

template void inspect_rows<exec::Cuda>(const exec::Stream&, const InspectRows&, std::uint64_t);
template void accumulate_weights<exec::Cuda>(const exec::Stream&, const AccumulateWeights&,
                                             std::uint64_t);

}  // namespace warren::sample::detail
