// SPDX-License-Identifier: Apache-2.0
// The rows of a shard sorted by how many edges they have, so that each is worked on by as many
// threads as it can keep busy.
#pragma once

#include <span>

#include "warren/exec/stream.hpp"
#include "warren/graph/shard.hpp"
#include "warren/memory/buffer.hpp"

namespace warren::traverse {

/// Rows by degree. Which workers a class is for, its user knows, and gave the bounds for.
struct RowClasses {
  static constexpr std::size_t kMost = 4;
  /// For blocks, warps, tiles of four lanes, and threads. A row takes two accesses' time, one after
  /// the other, whatever its length: the fewer lanes it has, the more rows are under way.
  static constexpr EdgeOffset kBounds[] = {2048, 64, 8};
  /// The same where lists are in host memory: the link carries what threads side by side read
  /// together.
  static constexpr EdgeOffset kFarBounds[] = {2048, 8, 4};
  [[nodiscard]] static std::span<const EdgeOffset> bounds(graph::EdgesPlacement placement) {
    return placement == graph::EdgesPlacement::device ? std::span(kBounds) : std::span(kFarBounds);
  }

  const Vertex* rows = nullptr;  ///< nullptr: natural order, no classes.
  std::uint64_t ends[kMost] = {};

  [[nodiscard]] WARREN_HD const Vertex* begin(std::size_t c) const {
    return rows + (c == 0 ? 0 : ends[c - 1]);
  }
  [[nodiscard]] WARREN_HD std::uint64_t count(std::size_t c) const {
    return ends[c] - (c == 0 ? 0 : ends[c - 1]);
  }
};

/// The classes of `csr`'s rows, ascending within a class; `rows` takes the list. `bounds`, which
/// fall: rows of bounds[0] edges and more are class 0, of the others those of bounds[1] and more
/// class 1; rows of less than all bounds are the last class. Fewer bounds than RowClasses::kMost.
/// Synchronises. Throws MemoryError.
[[nodiscard]] RowClasses classify_rows(const exec::Stream& stream, const graph::CsrView& csr,
                                       std::span<const EdgeOffset> bounds,
                                       memory::Buffer<Vertex>& rows);

/// The rows of `edges` edges and more, ascending, as class 0; there are no others. The offsets pass
/// through host memory a window at a time. Synchronises. Throws MemoryError.
[[nodiscard]] RowClasses find_long_rows(const exec::Stream& stream, const graph::CsrView& csr,
                                        EdgeOffset edges, memory::Buffer<Vertex>& rows);

}  // namespace warren::traverse
