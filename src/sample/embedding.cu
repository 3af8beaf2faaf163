// SPDX-License-Identifier: Apache-2.0
// Sparse optimisers on GPUs.
#include "sample/embedding_kernels.hpp"

namespace warren::sample::detail {

template void add_gradients<exec::Cuda>(const exec::Stream&, const AddGradient&, std::uint64_t);
template void step_rows<exec::Cuda>(const exec::Stream&, const StepRow&, std::uint64_t);

}  // namespace warren::sample::detail
