// SPDX-License-Identifier: Apache-2.0
#include "learn/layers/edge_dropout.hpp"

#include <algorithm>

#include "learn/attention/gat/attention_kernels.hpp"

namespace warren::learn {

EdgeDropoutKeys edge_dropout(Context& context, const Neighbours& n, const Dropout& dropout) {
  if (!dropout.is_on()) return {};
  const std::uint64_t columns = std::max(n.rows(), n.own_columns()) + n.halo();
  EdgeDropoutKeys drawn{context.workspace().take<std::uint32_t>(columns), dropout.probability};
  const detail::EdgeKeysKernel kernel{dropout, n.input_ids(), columns, drawn.keys};
  const std::uint64_t chunks = (columns + kernel.kChunk - 1) / kernel.kChunk;
  exec::with_backend(context.stream().device(), [&](auto backend) {
    detail::run_kernel<decltype(backend)>(context.stream(), chunks, kernel);
  });
  return drawn;
}

}  // namespace warren::learn
