// SPDX-License-Identifier: Apache-2.0
// Smallest vertex covers of bipartite graphs.
#pragma once

#include <cstdint>
#include <vector>

#include "warren/core/types.hpp"

namespace warren::graph {

/// A sparse block: columns[offsets[r] .. offsets[r + 1]) are the columns of row r, below
/// `column_count`.
struct SparseBlock {
  std::vector<EdgeOffset> offsets{0};
  std::vector<Vertex> columns;
  Vertex column_count = 0;

  [[nodiscard]] Vertex rows() const { return static_cast<Vertex>(offsets.size() - 1); }
};

struct VertexCover {
  std::vector<std::uint8_t> row_chosen;
  std::vector<std::uint8_t> column_chosen;
  std::uint64_t size = 0;
};

/// The fewest rows and columns that together touch every entry: by a maximum matching (Hopcroft and
/// Karp, SIAM J. Comput. 2(4), 1973, begun greedily) and Koenig's theorem. Takes up to
/// O(entries sqrt(rows)) time, 16 bytes for each row and 4 for each column. Deterministic.
[[nodiscard]] VertexCover smallest_vertex_cover(const SparseBlock& block);

}  // namespace warren::graph
