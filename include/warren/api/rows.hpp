// SPDX-License-Identifier: Apache-2.0
// Products, softmax and largest values over the rows of a sparse matrix whose arrays are the
// caller's, on the device where they are: what other libraries' layers are made of.
#pragma once

#include <cstdint>

#include "warren/core/types.hpp"

namespace warren {

/// Where all arrays of a call are, and when it works on them.
struct ArrayPlace {
  int gpu = -1;  ///< The GPU's number; -1: host memory.
  /// A cudaStream_t of that GPU, in whose order the work is done; nullptr: its default stream.
  void* stream = nullptr;
};

/// A sparse matrix in compressed rows: entry e of row r, offsets[r] <= e < offsets[r + 1], stands
/// in column columns[e] and has the value values[value_ids[e]]. Row r's entries may be in any
/// order; columns are not checked.
struct RowArrays {
  std::uint64_t rows = 0;
  std::uint64_t entries = 0;              ///< Of `values` of one head, too.
  const EdgeOffset* offsets = nullptr;    ///< rows + 1, ascending from 0 to `entries`.
  const Vertex* columns = nullptr;        ///< nullptr: entry e stands in column e.
  const float* values = nullptr;          ///< heads x entries; nullptr: ones.
  const EdgeOffset* value_ids = nullptr;  ///< nullptr: entry e has values[e].
  // Of rows_spmm(), which multiplies by row_scale[r] (value(h, e) column_scale[column(e)] +
  // (column(e) = r) self[r]), the diagonal beside what entries stand there.
  const float* row_scale = nullptr;     ///< rows; nullptr: ones.
  const float* column_scale = nullptr;  ///< columns; nullptr: ones.
  const float* self = nullptr;          ///< rows, of which b has as many at least; nullptr: zeros.
};

/// c[r][h][j] = sum over row r's entries e of value(h, e) b[column(e)][h][j]. b: columns x heads x
/// k, c: rows x heads x k, row-major; c must not overlap b. Sums are float32. On a GPU asynchronous
/// in the order of the place's stream, on the CPU done on the standard session's threads. Repeats
/// bit for bit. Throws UsageError for no heads, k = 0 and a GPU that is not there; MemoryError;
/// DeviceError.
void rows_spmm(const ArrayPlace& place, const RowArrays& a, std::uint64_t heads, std::uint64_t k,
               const float* b, float* c);

/// out[h][e] = <x[row(e)][h], y[column(e)][h]>, the gradient of the values of rows_spmm(); `values`
/// are not read. x: rows x heads x k, y: columns x heads x k; out: heads x entries. As rows_spmm().
void rows_sddmm(const ArrayPlace& place, const RowArrays& a, std::uint64_t heads, std::uint64_t k,
                const float* x, const float* y, float* out);

/// y[e][h] = exp(x[e][h]) / the sum of those of e's row: sparse::edge_softmax() over `offsets`; x
/// and y: entries x heads. As rows_spmm().
void rows_softmax(const ArrayPlace& place, const RowArrays& a, std::uint64_t heads, const float* x,
                  float* y);
/// dx[e][h] = y[e][h] (dy[e][h] - the sum of y dy over e's row). As rows_softmax().
void rows_softmax_backward(const ArrayPlace& place, const RowArrays& a, std::uint64_t heads,
                           const float* y, const float* dy, float* dx);

/// c[r][j] = the largest b[column(e)][j] of row r's entries, arg[r][j] = the column that has it,
/// the first among equals; 0 and kNoVertex for a row without entries: sparse::segment_max(). As
/// rows_spmm().
void rows_max(const ArrayPlace& place, const RowArrays& a, std::uint64_t k, const float* b,
              float* c, Vertex* arg);

/// out[i] = table[ids[i]] for i < count: memory::gather(). table: `rows` rows of `row_bytes` bytes,
/// a multiple of 4; out: count rows. An id of `rows` or more gives a row of zero bytes. As
/// rows_spmm(), but for its sums; UsageError for other row_bytes.
void rows_gather(const ArrayPlace& place, const void* table, std::uint64_t rows,
                 std::uint64_t row_bytes, const std::uint64_t* ids, std::uint64_t count, void* out);

}  // namespace warren
