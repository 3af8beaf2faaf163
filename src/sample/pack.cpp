// SPDX-License-Identifier: Apache-2.0
// A list of pieces, made where the counts are, and one kernel that copies them all: a copy each
// would take longer to start than to run.
#include "warren/sample/pack.hpp"

#include "sample/pack_kernels.hpp"

namespace warren::sample {

void BatchPacker::run(const exec::Stream& stream, const NeighbourSampler& sampler,
                      std::span<const BatchCounts> counts, const PackedBatches& to) {
  require(counts.size() == sampler.batches() && to.hops.size() == sampler.hops(),
          "packing: counts and arrays are of another call");
  host_.clear();
  std::uint64_t tasks = 0;
  const auto add = [&]<class T>(const T* from, T*& target, std::uint64_t count) {
    constexpr std::uint64_t kWordBytes = 4;
    static_assert(sizeof(T) % kWordBytes == 0);
    if (target == nullptr || from == nullptr || count == 0) return;
    const std::uint64_t words = count * (sizeof(T) / kWordBytes);
    host_.push_back({reinterpret_cast<const std::uint32_t*>(from),
                     reinterpret_cast<std::uint32_t*>(target), words, tasks});
    tasks += (words + detail::CopyPieces::kWords - 1) / detail::CopyPieces::kWords;
    target += count;
  };
  PackedBatches next = to;
  for (std::uint32_t b = 0; b < counts.size(); ++b) {
    const SampledBatch batch = sampler.batch(b);
    const std::uint64_t vertices = counts[b].vertices[sampler.hops()];
    add(batch.vertices, next.vertices, vertices);
    add(batch.trees, next.trees, vertices);
    for (std::uint32_t h = 0; h < sampler.hops(); ++h) {
      const SampledHop& hop = batch.hops[h];
      add(hop.row_offsets, next.hops[h].row_offsets, std::uint64_t{counts[b].vertices[h]} + 1);
      add(hop.columns, next.hops[h].columns, counts[b].edges[h]);
      add(hop.edge_ids, next.hops[h].edge_ids, counts[b].edges[h]);
    }
  }
  if (host_.empty()) return;
  if (pieces_.size() < host_.size())
    pieces_ = memory::Buffer<Piece>(stream.device(), 2 * host_.size());
  pieces_.upload(stream, host_);
  const detail::CopyPieces kernel{pieces_.data(), host_.size()};
  exec::with_backend(stream.device(), [&](auto backend) {
    detail::copy_pieces<decltype(backend)>(stream, kernel, tasks);
  });
}

}  // namespace warren::sample
