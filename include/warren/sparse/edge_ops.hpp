// SPDX-License-Identifier: Apache-2.0
// What is computed over the entries of each row of a sparse matrix on one device: softmax of
// values, and the largest of rows, with what backward needs. Sums and means of segments are
// products: spmm() with a MatrixView that has offsets alone (and, for means, a row_scale).
#pragma once

#include <cstdint>
#include <span>

#include "warren/exec/stream.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/sparse/matrix.hpp"

namespace warren::sparse {

/// The rows of a matrix that one warp would be too slow for, found once.
class RowPlan {
 public:
  RowPlan() = default;
  /// `offsets` in host memory. Synchronises. Throws MemoryError.
  RowPlan(const exec::Stream& stream, std::span<const EdgeOffset> offsets);
  /// The memory of one alone, for dry runs (exec::DryRun).
  RowPlan(const exec::Stream& stream, std::uint64_t long_rows)
      : long_rows_(stream.device(), long_rows) {}
  /// Without looking at offsets: a warp for every row, however long.
  [[nodiscard]] static RowPlan all_rows() {
    RowPlan plan;
    plan.most_entries_ = ~EdgeOffset{0};
    return plan;
  }
  static constexpr EdgeOffset kLong = 2048;
  /// Of rows that are not in the list of long ones.
  [[nodiscard]] EdgeOffset most_entries() const { return most_entries_; }
  [[nodiscard]] std::uint64_t long_rows() const { return long_rows_.size(); }
  [[nodiscard]] const Vertex* long_row_data() const { return long_rows_.data(); }

 private:
  EdgeOffset most_entries_ = kLong;
  memory::Buffer<Vertex> long_rows_;
};

/// y[e][h] = exp(x[e][h] - m) / s for the entries e of each row, where m is the row's largest
/// x[.][h] and s the sum that makes the row's y[.][h] add up to 1. x and y: entries x heads,
/// float32, row-major, indexed as the offsets say, on the stream's device; may be the same.
/// -infinity among numbers makes 0; a row of which one x[.][h] is NaN or +infinity, or all are
/// -infinity, has NaN for all its y[.][h], and no other row or head has. Asynchronous; repeats bit
/// for bit. Throws UsageError for no heads, DeviceError when a launch fails.
void edge_softmax(const exec::Stream& stream, const MatrixView& a, const RowPlan& plan,
                  std::uint64_t heads, const float* x, float* y);
/// dx[e][h] = y[e][h] (dy[e][h] - sum over the row of y dy). As edge_softmax(); dx may be dy.
void edge_softmax_backward(const exec::Stream& stream, const MatrixView& a, const RowPlan& plan,
                           std::uint64_t heads, const float* y, const float* dy, float* dx);

/// c[r][j] = max over the entries e of row r of b[column(e)][j], and arg[r][j] = the column that it
/// is of, the first among equals; 0 and kNoVertex for a row without entries. A NaN is smaller than
/// any number, -infinity among them, whatever the order; of NaNs alone the result is NaN, and of
/// the first. b and c row-major, float32, k wide without gaps; arg may be nullptr. Asynchronous;
/// repeats bit for bit. Throws UsageError for k = 0, DeviceError when a launch fails.
void segment_max(const exec::Stream& stream, const MatrixView& a, const RowPlan& plan,
                 std::uint64_t k, const float* b, float* c, Vertex* arg);
/// db[j][i] = sum of dc[r][i] over the rows r of which arg[r][i] = j: of each row of
/// `a_transposed`, over its entries in order, an entry that is there twice once. As segment_max().
void segment_max_backward(const exec::Stream& stream, const MatrixView& a_transposed,
                          const RowPlan& plan_transposed, std::uint64_t k, const float* dc,
                          const Vertex* arg, float* db);

}  // namespace warren::sparse
