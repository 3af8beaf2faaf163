// SPDX-License-Identifier: Apache-2.0
// Row numbers in the order of their owners, on GPUs.
#include "sample/exchange_gather_kernels.hpp"

namespace warren::sample::detail {

template void bucket_rows<exec::Cuda>(const exec::Stream&, const BucketRows&);

}  // namespace warren::sample::detail
