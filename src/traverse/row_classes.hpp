// SPDX-License-Identifier: Apache-2.0
// The rows of a shard sorted by how many edges they have, so that each is worked on by as many
// threads as it can keep busy.
#pragma once

#include "warren/exec/stream.hpp"
#include "warren/graph/shard.hpp"
#include "warren/memory/buffer.hpp"

namespace warren::traverse {

/// Rows by degree: class c is rows[ends[c - 1] .. ends[c]).
struct RowClasses {
  enum Class : std::uint32_t { block, warp, tile, thread, kCount };
  static constexpr EdgeOffset kBlockDegree = 2048;
  static constexpr EdgeOffset kWarpDegree = 48;
  static constexpr EdgeOffset kTileDegree = 4;

  const Vertex* rows = nullptr;  ///< nullptr: natural order, no classes.
  std::uint64_t ends[kCount] = {};

  [[nodiscard]] static Class of(EdgeOffset degree) {
    if (degree >= kBlockDegree) return block;
    if (degree >= kWarpDegree) return warp;
    return degree >= kTileDegree ? tile : thread;
  }
};

/// The classes of `csr`'s rows, ascending within a class; `rows` takes the list. Synchronises.
/// Throws MemoryError.
[[nodiscard]] RowClasses classify_rows(const exec::Stream& stream, const graph::CsrView& csr,
                                       memory::Buffer<Vertex>& rows);

}  // namespace warren::traverse
