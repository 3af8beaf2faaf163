// SPDX-License-Identifier: Apache-2.0
// Looking at row numbers on GPUs.
#include "memory/row_numbers_kernels.hpp"

namespace warren::memory::detail {

template void launch_check<exec::Cuda>(const exec::Stream&, const CheckRows<std::int32_t>&);
template void launch_check<exec::Cuda>(const exec::Stream&, const CheckRows<std::uint32_t>&);
template void launch_check<exec::Cuda>(const exec::Stream&, const CheckRows<std::int64_t>&);

}  // namespace warren::memory::detail
