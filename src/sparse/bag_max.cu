// SPDX-License-Identifier: Apache-2.0
// The largest elements of bags of rows, on GPUs.
#include "sparse/bag_max_kernels.hpp"

namespace warren::sparse::detail {

template void launch_bag_max<exec::Cuda>(const exec::Stream&, const BagMaxima<float>&);
template void launch_bag_max<exec::Cuda>(const exec::Stream&, const BagMaxima<Half>&);
template void launch_bag_max<exec::Cuda>(const exec::Stream&, const BagMaxima<BFloat16>&);

}  // namespace warren::sparse::detail
