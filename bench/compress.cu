// SPDX-License-Identifier: Apache-2.0
// The benchmark of compressed neighbour lists on GPUs.
#include "compress_cases.hpp"

namespace warren::bench {

template void sum_lists<exec::Cuda>(const exec::Stream&, const SumCompressed&);
template void sum_lists<exec::Cuda>(const exec::Stream&, const SumPlain&);

}  // namespace warren::bench
