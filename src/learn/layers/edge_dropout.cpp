// SPDX-License-Identifier: Apache-2.0
#include "learn/layers/edge_dropout.hpp"

#include <algorithm>

#include "learn/attention/gat/attention_kernels.hpp"

namespace warren::learn {

detail::EdgeDropout edge_dropout(Context& context, const Neighbours& n, const Dropout& dropout) {
  // Nobody else's.
  constexpr std::size_t kKeysSlot = 5;
  if (!dropout.is_on()) return {};
  const std::uint64_t columns = std::max(n.rows(), n.own_columns()) + n.halo();
  static_assert(sizeof(std::uint32_t) == sizeof(float));
  auto* keys = reinterpret_cast<std::uint32_t*>(context.floats(kKeysSlot, columns));
  const detail::EdgeKeysKernel kernel{dropout, n.input_ids(), columns, keys};
  const std::uint64_t chunks = (columns + kernel.kChunk - 1) / kernel.kChunk;
  exec::with_backend(context.stream().device(), [&](auto backend) {
    detail::run_kernel<decltype(backend)>(context.stream(), chunks, kernel);
  });
  return {keys, dropout.probability};
}

}  // namespace warren::learn
