// SPDX-License-Identifier: Apache-2.0
// Sums of rows by threads, warps and blocks, on GPUs.
#include "pull_fetches_cases.hpp"

namespace warren::bench {

template void sum_pieces<exec::Cuda>(const exec::Stream&, std::uint64_t, const SumPieces&, Fetch);

}  // namespace warren::bench
