// SPDX-License-Identifier: Apache-2.0
// Gathers in the order of addresses on GPUs.
#include "memory/ordered_gather_kernels.hpp"

namespace warren::memory::detail {

template void key_rows<exec::Cuda>(const exec::Stream&, const OrderedMove&);
template void gather_in_order<exec::Cuda>(const exec::Stream&, const OrderedMove&);

}  // namespace warren::memory::detail
