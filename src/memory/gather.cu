// SPDX-License-Identifier: Apache-2.0
// Gather and scatter on GPUs.
#include "memory/gather_kernels.hpp"

namespace warren::memory::detail {

template void move_rows<exec::Cuda, Direction::gather>(const exec::Stream&, const RowMove&);
template void move_rows<exec::Cuda, Direction::scatter>(const exec::Stream&, const RowMove&);

}  // namespace warren::memory::detail
