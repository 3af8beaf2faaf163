// SPDX-License-Identifier: Apache-2.0
// Copying sampled batches on GPUs.
#include "sample/pack_kernels.hpp"

namespace warren::sample::detail {

template void copy_pieces<exec::Cuda>(const exec::Stream&, const CopyPieces&, std::uint64_t);

}  // namespace warren::sample::detail
