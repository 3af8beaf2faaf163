// SPDX-License-Identifier: Apache-2.0
// One rank's rows of a square sparse matrix in host memory: what distributed products are prepared
// from.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "warren/graph/shard.hpp"
#include "warren/graph/vertex_cover.hpp"
#include "warren/sparse/matrix.hpp"
#include "warren/team/team.hpp"

namespace warren::sparse {

/// Rows [first, first + count) with columns of the whole matrix. The normalisation's column scales
/// are in `values` already, the row scales are not.
struct Rows {
  std::vector<std::uint64_t> cuts;  ///< Of the team.
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  memory::HostArray<EdgeOffset> offsets;  ///< count + 1; indexes `columns` less offsets[0].
  memory::HostArray<Vertex> columns;
  /// Of the whole matrix: entries have values. A rank without entries has none that would say so.
  bool is_weighted = false;
  memory::HostArray<float> values;                      ///< By entry where is_weighted, else empty.
  std::vector<float> row_scale;                         ///< Empty: all ones.
  std::vector<float> self;                              ///< Empty: none.
  mutable std::vector<graph::VertexCover> kept_covers;  ///< Of covers().

  [[nodiscard]] std::uint64_t entries() const { return columns.size(); }
  /// Entries of local row r, as indices of `columns`.
  [[nodiscard]] EdgeOffset begin(std::uint64_t r) const { return offsets[r] - offsets[0]; }
  [[nodiscard]] EdgeOffset end(std::uint64_t r) const { return offsets[r + 1] - offsets[0]; }
  [[nodiscard]] float value(EdgeOffset e) const { return is_weighted ? values[e] : 1.0f; }
  [[nodiscard]] int owner(std::uint64_t column) const;
  /// Smallest vertex covers of the blocks of every rank's columns, by rank (of this rank's own an
  /// empty one), rows numbered within those that have entries there. Found at the first call and
  /// kept, since that takes long: `columns` must not change any more. One thread calls.
  [[nodiscard]] const std::vector<graph::VertexCover>& covers(exec::ThreadPool& pool) const;
};

/// A shard's rows, normalised. Collective; synchronises. On the CPU columns are a window of the
/// graph, from a GPU they are copied. Throws UsageError for compressed lists, for integer weights
/// that float32 does not hold and for a symmetric normalisation of negative degrees; InputError for
/// offsets that fall and for columns that there are not.
[[nodiscard]] Rows make_rows(team::Team& team, const graph::Shard& shard,
                             const Normalization& normalization = {}, bool use_weights = true);

/// Throws InputError for a column that there is not. Everything that is made of rows relies on it:
/// make_rows() has looked, who fills `Rows` by hand has to.
void check_columns(const Rows& rows, exec::ThreadPool& pool);

}  // namespace warren::sparse
