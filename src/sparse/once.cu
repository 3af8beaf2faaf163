// SPDX-License-Identifier: Apache-2.0
// The column-wise product on GPUs.
#include "sparse/once_kernels.hpp"

namespace warren::sparse::detail {

template void run_once<exec::Cuda>(const exec::Stream&, const OnceJob&);

}  // namespace warren::sparse::detail
