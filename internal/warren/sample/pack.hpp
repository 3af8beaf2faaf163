// SPDX-License-Identifier: Apache-2.0
// Sampled batches one behind the other, without the room that the sampler keeps for larger ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "warren/sample/sampler.hpp"

namespace warren::sample {

/// Where arrays of one kind are put for all hops; nullptr: not wanted.
struct PackedHop {
  EdgeOffset* row_offsets = nullptr;  ///< Of each batch one more than it has rows, from 0.
  Vertex* columns = nullptr;          ///< Places in the batch's own vertices.
  EdgeOffset* edge_ids = nullptr;
};
struct PackedBatches {
  Vertex* vertices = nullptr;
  std::uint32_t* trees = nullptr;
  std::vector<PackedHop> hops;
};

/// Copies the batches of the sampler's last call to `to`, on the stream's device or where it can
/// write, batch after batch. `counts` are the sampler's of that call. Asynchronous.
class BatchPacker {
 public:
  explicit BatchPacker(const exec::Device& device) : pieces_(device, 0) {}
  void run(const exec::Stream& stream, const NeighbourSampler& sampler,
           std::span<const BatchCounts> counts, const PackedBatches& to);

  /// So many words from one place to another.
  struct Piece {
    const std::uint32_t* from;
    std::uint32_t* to;
    std::uint64_t words;
    std::uint64_t first_task;  ///< Of those that copy the piece.
  };

 private:
  std::vector<Piece> host_;
  memory::Buffer<Piece> pieces_;
};

}  // namespace warren::sample
