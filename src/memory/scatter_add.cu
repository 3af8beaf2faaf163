// SPDX-License-Identifier: Apache-2.0
// Adding rows on GPUs.
#include "memory/scatter_add_kernels.hpp"

namespace warren::memory::detail {

template void add_rows<exec::Cuda>(const exec::Stream&, const AddRows<float>&, std::uint64_t);
template void add_rows<exec::Cuda>(const exec::Stream&, const AddRows<double>&, std::uint64_t);
template void add_rows<exec::Cuda>(const exec::Stream&, const AddRows<std::int32_t>&,
                                   std::uint64_t);
template void add_rows<exec::Cuda>(const exec::Stream&, const AddRows<std::uint32_t>&,
                                   std::uint64_t);
template void add_rows<exec::Cuda>(const exec::Stream&, const AddRows<std::uint64_t>&,
                                   std::uint64_t);
template void number_rows<exec::Cuda>(const exec::Stream&, const NumberRows&, std::uint64_t);
template void add_in_order<exec::Cuda>(const exec::Stream&, const AddInOrder<float>&);
template void add_in_order<exec::Cuda>(const exec::Stream&, const AddInOrder<double>&);
template void add_in_order<exec::Cuda>(const exec::Stream&, const AddInOrder<std::int32_t>&);
template void add_in_order<exec::Cuda>(const exec::Stream&, const AddInOrder<std::uint32_t>&);
template void add_in_order<exec::Cuda>(const exec::Stream&, const AddInOrder<std::uint64_t>&);

}  // namespace warren::memory::detail
