// SPDX-License-Identifier: Apache-2.0
// Finding cached rows on GPUs.
#include "memory/cached_array_kernels.hpp"

namespace warren::memory::detail {

template void find_cached<exec::Cuda>(const exec::Stream&, const FindCached&);

}  // namespace warren::memory::detail
