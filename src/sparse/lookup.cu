// SPDX-License-Identifier: Apache-2.0
// Embedding lookups in which owners take part, on GPUs.
#include "sparse/lookup_kernels.hpp"

namespace warren::sparse::detail {

template void sort_bags<exec::Cuda>(const exec::Stream&, const SortBags&);
template void count_sums<exec::Cuda>(const exec::Stream&, const CountSums&);
template void deal_by_owner<exec::Cuda>(const exec::Stream&, const DealByOwner&);
template void sum_counts<exec::Cuda>(const exec::Stream&, const SumCounts&);
template void step_barrier<exec::Cuda>(const exec::Stream&, const StepBarrier&);
template void run_columns<exec::Cuda>(const exec::Stream&, std::uint64_t, const OwnerSums<float>&);
template void run_columns<exec::Cuda>(const exec::Stream&, std::uint64_t, const OwnerSums<Half>&);
template void run_columns<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                      const OwnerSums<BFloat16>&);
template void run_columns<exec::Cuda>(const exec::Stream&, std::uint64_t, const AddSums<float>&);
template void run_columns<exec::Cuda>(const exec::Stream&, std::uint64_t, const AddSums<Half>&);
template void run_columns<exec::Cuda>(const exec::Stream&, std::uint64_t, const AddSums<BFloat16>&);

}  // namespace warren::sparse::detail
