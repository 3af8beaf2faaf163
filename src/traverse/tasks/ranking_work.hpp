// SPDX-License-Identifier: Apache-2.0
// How the rows of a ranking are cut into tasks. A batch is what a warp takes at once: neighbouring
// rows of about a thousand edges together, one long row, or a piece of a row that is too long even
// for that. A chunk, the task, is a run of batches, so long that what its queue costs does not
// show, and short enough that every worker has several.
#pragma once

#include <vector>

#include "warren/exec/stream.hpp"
#include "warren/graph/shard.hpp"
#include "warren/memory/buffer.hpp"

namespace warren::traverse {

struct RankingBatch {
  enum Kind : std::uint32_t {
    rows,   ///< Neighbouring rows; their edges fit into a worker's scratch.
    row,    ///< One.
    piece,  ///< Of a row: its sum is put down as `first` of the pieces.
    sum     ///< Of a row that was cut: its pieces are added up.
  };
  static constexpr std::uint32_t kMostEdges = 1024;  ///< Of `rows`.
  static constexpr std::uint32_t kMostRows = 512;
  static constexpr EdgeOffset kLongRow = 384;      ///< From here on a row is a batch of its own,
  static constexpr EdgeOffset kLongestRow = 8192;  ///< and beyond this pieces of so many edges.

  EdgeOffset begin;     ///< The first edge; of `sum`: the first piece.
  std::uint32_t count;  ///< Edges; of `sum`: pieces.
  Vertex first;         ///< Row; of `piece`: which one.
  std::uint32_t row_count;
  Kind kind;
};

/// On the host.
struct RankingPlan {
  std::vector<RankingBatch> batches;
  std::vector<std::uint32_t> chunks;  ///< Chunk c is batches [chunks[c], chunks[c + 1]).
  std::uint64_t pieces = 0;
};

/// Of the rows of `in`, whose offsets are given, for so many workers. Sums come last: the pieces of
/// the same sweep are then done, mostly.
[[nodiscard]] RankingPlan plan_ranking(const std::vector<EdgeOffset>& offsets,
                                       EdgeOffset cached_end, std::uint64_t workers);

/// The plan on a device.
struct RankingWork {
  /// Synchronises. Throws MemoryError.
  RankingWork(const exec::Stream& stream, const graph::CsrView& in);

  memory::Buffer<RankingBatch> batches;
  memory::Buffer<std::uint32_t> chunks;
  std::uint32_t chunk_count = 0;
  std::uint64_t pieces = 0;
};

}  // namespace warren::traverse
