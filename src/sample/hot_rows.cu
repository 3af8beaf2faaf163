// SPDX-License-Identifier: Apache-2.0
// Counting vertices of batches on GPUs.
#include "sample/hot_rows_kernels.hpp"

namespace warren::sample::detail {

template void count_uses<exec::Cuda>(const exec::Stream&, const CountUses&, std::uint64_t);

}  // namespace warren::sample::detail
