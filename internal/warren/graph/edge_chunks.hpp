// SPDX-License-Identifier: Apache-2.0
// A shard's edges cut into equal stretches, with the rows that each one touches: tasks of equal
// work, in the order of the edges' addresses, however long or short the rows are.
#pragma once

#include <cstdint>

#include "warren/graph/adjacency.hpp"
#include "warren/memory/buffer.hpp"

namespace warren::graph {

/// The edges of a shard's rows, by their indices in the whole graph: [first, last).
struct EdgeRange {
  EdgeOffset first = 0;
  EdgeOffset last = 0;
  [[nodiscard]] EdgeOffset count() const { return last - first; }
};
/// Synchronises.
[[nodiscard]] EdgeRange edge_range(const exec::Stream& stream, const CsrView& csr);

/// The address at which own edges' `data` is indexed by the edges of the whole graph, of which edge
/// `first` is the first: what lies before `data` is never read.
template <class T>
[[nodiscard]] const T* rebased(const T* data, EdgeOffset first) {
  return reinterpret_cast<const T*>(reinterpret_cast<std::uintptr_t>(data) - first * sizeof(T));
}

/// For kernels.
struct EdgeChunks {
  static constexpr std::uint32_t kEdges = 2048;  ///< Of a chunk; the last may be shorter.

  /// Edges [begin, end) of rows first_row to last_row, both of which have edges among them.
  struct Chunk {
    EdgeOffset begin;
    EdgeOffset end;
    Vertex first_row;
    Vertex last_row;

    /// What the chunk has of a row's list.
    [[nodiscard]] WARREN_HD ListPiece part_of(const CsrView& csr, Vertex row) const {
      const EdgeOffset low = csr.begin(row) < begin ? begin : csr.begin(row);
      const EdgeOffset high = csr.end(row) < end ? csr.end(row) : end;
      return {row, low, low < high ? static_cast<std::uint32_t>(high - low) : 0u};
    }
  };

  std::uint64_t count = 0;
  EdgeOffset first = 0;  ///< Edges [first, last).
  EdgeOffset last = 0;
  const Vertex* row_of =
      nullptr;  ///< count + 1: the row of each chunk's first edge; of the last edge.

  [[nodiscard]] WARREN_HD Chunk at(std::uint64_t chunk) const {
    const EdgeOffset begin = first + chunk * kEdges;
    const EdgeOffset end = last - begin < kEdges ? last : begin + kEdges;
    return {begin, end, row_of[chunk], row_of[chunk + 1]};
  }
};

/// The chunks of a shard's rows on `stream`'s device; `rows` takes their table. Synchronises.
/// Throws MemoryError.
[[nodiscard]] EdgeChunks make_edge_chunks(const exec::Stream& stream, const CsrView& csr,
                                          memory::Buffer<Vertex>& rows);

}  // namespace warren::graph
