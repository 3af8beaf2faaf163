// SPDX-License-Identifier: Apache-2.0
#include "traverse/sssp/sssp_narrow.hpp"

#include <algorithm>

#include "warren/graph/edge_chunks.hpp"

namespace warren::traverse {

bool should_narrow(const graph::Shard& shard, const SsspWeights& weights) {
  if (shard.has_byte_weights) return true;
  return shard.edges_placement == graph::EdgesPlacement::host && weights.is_integer &&
         weights.largest <= 255;
}

memory::Buffer<std::uint8_t> narrow_weights(const exec::Stream& stream,
                                            const graph::CsrView& view) {
  constexpr std::uint64_t kBatch = std::uint64_t{1} << 22;
  const graph::EdgeRange range = graph::edge_range(stream, view);
  memory::Buffer<std::uint8_t> narrow(stream.device(), memory::MemoryKind::pinned, range.count());
  std::vector<std::int32_t> batch(std::min(kBatch, range.count()));
  for (std::uint64_t begin = 0; begin < range.count(); begin += kBatch) {
    const std::uint64_t count = std::min(kBatch, range.count() - begin);
    exec::copy(stream, batch.data(), view.weights_int + range.first + begin,
               count * sizeof(std::int32_t));
    stream.synchronize();
    std::transform(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(count),
                   narrow.data() + begin,
                   [](std::int32_t weight) { return static_cast<std::uint8_t>(weight); });
  }
  return narrow;
}

}  // namespace warren::traverse
