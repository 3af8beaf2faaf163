// SPDX-License-Identifier: Apache-2.0
// Sparse matrices on one device: CSR with weights or without, and the normalisations of graph
// neural networks, applied as the matrix is multiplied.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "warren/core/types.hpp"
#include "warren/exec/half.hpp"
#include "warren/exec/stream.hpp"
#include "warren/graph/graph.hpp"
#include "warren/memory/buffer.hpp"

namespace warren::sparse {

enum class ElementType { float32, float16, bfloat16 };

/// A sparse matrix as a kernel sees it:
///
///   A[row(r)][c] = row_scale[row(r)] * (value(e) * column_scale[c] + (row(r) = c) self[c])
///
/// for the entries e of offsets[r] .. offsets[r + 1), c = column_ids[e], where row(r) = row_ids[r].
/// What is nullptr is all ones (row_ids, column_ids, value_ids: the identity; self: zeros). Entries
/// with equal row and column add up.
struct MatrixView {
  std::uint64_t rows = 0;               ///< Of `offsets`.
  const EdgeOffset* offsets = nullptr;  ///< rows + 1; need not start at 0.
  const Vertex* column_ids = nullptr;   ///< Indexed by the offsets' values.
  const float* values = nullptr;        ///< value(e) = values[value_ids[e]].
  const EdgeOffset* value_ids = nullptr;
  const Vertex* row_ids = nullptr;
  const float* row_scale = nullptr;     ///< By row of the result.
  const float* column_scale = nullptr;  ///< By column.
  const float* self = nullptr;          ///< By row of the result.
  std::uint64_t self_first = 0;         ///< Column of the first row's diagonal.

  [[nodiscard]] WARREN_HD std::uint64_t row_id(std::uint64_t r) const {
    return row_ids == nullptr ? r : row_ids[r];
  }
  [[nodiscard]] WARREN_HD std::uint64_t column(EdgeOffset e) const {
    return column_ids == nullptr ? e : column_ids[e];
  }
  [[nodiscard]] WARREN_HD bool is_weighted() const {
    return values != nullptr || column_scale != nullptr;
  }
  /// value(e) * column_scale[column].
  [[nodiscard]] WARREN_HD float weight(EdgeOffset e, std::uint64_t column) const {
    const float value = values == nullptr ? 1.0f : values[value_ids == nullptr ? e : value_ids[e]];
    return column_scale == nullptr ? value : value * column_scale[column];
  }
};

/// How the adjacency matrix A (with A + I instead where `self_loops`: loops that the graph has
/// stay) becomes the matrix that is multiplied. Degrees are sums of the weights of a row, 1 for an
/// implicit one; rows and columns of degree 0 stay 0. The symmetric one throws UsageError for a
/// negative degree, which has no root; degrees that are no numbers are carried through.
struct Normalization {
  enum class Kind {
    none,
    row_mean,  ///< D^-1 A (GraphSAGE's mean).
    symmetric  ///< D^-1/2 A D^-1/2 (GCN: Kipf and Welling, ICLR 2017).
  };
  Kind kind = Kind::none;
  bool self_loops = false;
};

/// The scales of a normalisation, in host memory; vectors that are all ones (or zeros) are empty.
struct Scales {
  std::vector<float> row, column, self;
};
[[nodiscard]] Scales scales_of(const graph::Graph& graph, const Normalization& normalization,
                               bool has_weights, exec::ThreadPool& pool);

/// A graph's weights as floats; empty where it has none. Throws UsageError for an integer that a
/// float does not hold exactly (above 2^24 in size).
[[nodiscard]] memory::HostArray<float> float_weights(const graph::Graph& graph,
                                                     exec::ThreadPool& pool);

/// The square matrix of a graph on one device: n x n, row v holding v's out-edges. On the CPU a
/// window of the graph, on a GPU a copy. Immutable but for the cached transpose.
class Matrix {
 public:
  /// With the graph's weights where `use_weights` and it has some. Synchronises. Throws
  /// MemoryError; InputError for offsets that do not ascend or targets out of range; UsageError as
  /// Normalization says.
  Matrix(const exec::Stream& stream, const graph::Graph& graph,
         const Normalization& normalization = {}, bool use_weights = true);
  ~Matrix();
  Matrix(Matrix&&) noexcept;
  Matrix& operator=(Matrix&&) noexcept;

  [[nodiscard]] const MatrixView& view() const { return view_; }
  /// offsets in host memory.
  [[nodiscard]] std::span<const EdgeOffset> offsets() const;
  [[nodiscard]] std::uint64_t rows() const { return view_.rows; }
  [[nodiscard]] EdgeOffset entries() const;
  /// The transpose, scales included, made at the first call and kept: entry e of its view is entry
  /// value_ids[e] of this one, so that values that change (attention) need no second transpose.
  /// Rows are in ascending order of columns. Synchronises. Throws MemoryError.
  [[nodiscard]] const Matrix& transposed(const exec::Stream& stream) const;

 private:
  struct Storage;
  Matrix();
  void adopt(const exec::Stream& stream, std::unique_ptr<Storage> storage);

  std::unique_ptr<Storage> storage_;
  MatrixView view_;
  mutable std::unique_ptr<Matrix> transposed_;
};

}  // namespace warren::sparse
