// SPDX-License-Identifier: Apache-2.0
// Random walks on GPUs.
#include "sample/walk_kernels.hpp"

namespace warren::sample::detail {

template void walk<exec::Cuda>(const exec::Stream&, const WalkKernel&);

}  // namespace warren::sample::detail
