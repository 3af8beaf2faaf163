// SPDX-License-Identifier: Apache-2.0
// Parts of a rank's rows: chosen entries with columns numbered anew, on the host and on the device.
#pragma once

#include <cstdint>
#include <vector>

#include "warren/graph/vertex_cover.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/sparse/operands.hpp"
#include "warren/sparse/pipelined_plan.hpp"
#include "warren/sparse/rows.hpp"
#include "warren/sparse/spmm.hpp"

namespace warren::sparse {

/// Chosen entries of some rows.
struct HostBlock {
  std::vector<EdgeOffset> offsets{0};
  std::vector<Vertex> columns;
  std::vector<float> values;     ///< Empty: all ones.
  std::vector<Vertex> row_ids;   ///< Empty: row r is row r.
  std::vector<EdgeOffset> from;  ///< Index among the rows' entries, where asked for.
};

struct BlockOptions {
  bool compact = true;     ///< Only rows that have entries.
  bool with_from = false;  ///< Fills HostBlock::from.
};

/// The entries e of local rows for which choose(e, column, new_column) is true.
template <class Choose>
HostBlock choose_entries(const Rows& rows, exec::ThreadPool& pool, const BlockOptions& options,
                         Choose&& choose) {
  constexpr std::uint64_t kGrain = 1024;
  std::vector<EdgeOffset> place(rows.count + 1, 0);
  pool.parallel_for(0, rows.count, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t r = begin; r < end; ++r) {
      Vertex column = 0;
      for (EdgeOffset e = rows.begin(r); e < rows.end(r); ++e)
        place[r + 1] += choose(e, rows.columns[e], column) ? 1 : 0;
    }
  });
  for (std::uint64_t r = 0; r < rows.count; ++r) place[r + 1] += place[r];
  HostBlock block;
  block.columns.resize(place[rows.count]);
  if (rows.is_weighted) block.values.resize(place[rows.count]);
  if (options.with_from) block.from.resize(place[rows.count]);
  pool.parallel_for(0, rows.count, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t r = begin; r < end; ++r) {
      EdgeOffset to = place[r];
      for (EdgeOffset e = rows.begin(r); e < rows.end(r); ++e) {
        Vertex column = 0;
        if (!choose(e, rows.columns[e], column)) continue;
        block.columns[to] = column;
        if (rows.is_weighted) block.values[to] = rows.values[e];
        if (options.with_from) block.from[to] = e;
        ++to;
      }
    }
  });
  if (!options.compact) {
    block.offsets = std::move(place);
    return block;
  }
  for (std::uint64_t r = 0; r < rows.count; ++r) {
    if (place[r + 1] == place[r]) continue;
    block.row_ids.push_back(static_cast<Vertex>(r));
    block.offsets.push_back(place[r + 1]);
  }
  return block;
}

/// This rank's entries in its own columns, all rows, columns from 0.
[[nodiscard]] HostBlock own_block(const Rows& rows, exec::ThreadPool& pool, bool with_from = false);

/// This rank's entries in rank q's columns, as a bipartite graph: rows compacted.
struct CoverBlock {
  graph::SparseBlock block;     ///< Columns from 0.
  std::vector<Vertex> row_ids;  ///< Local rows.
};
[[nodiscard]] CoverBlock cover_block(const Rows& rows, int q);

/// A view with the operands' scales and diagonal.
template <class T>
[[nodiscard]] MatrixView scaled(MatrixView view, const MatrixOperands<T>& operands) {
  view.row_scale = operands.row_scale;
  view.self = operands.self;
  return view;
}

/// A block on a device, with its plan; without scales.
class DeviceBlock {
 public:
  DeviceBlock() = default;
  DeviceBlock(const exec::Stream& stream, const HostBlock& block);
  /// With a plan that there is already.
  DeviceBlock(const exec::Stream& stream, const HostBlock& block, SpmmPlan plan);
  [[nodiscard]] const MatrixView& view() const { return view_; }
  [[nodiscard]] const SpmmPlan& plan() const { return plan_; }
  [[nodiscard]] std::uint64_t entries() const { return columns_.size(); }
  /// The product of all of the block, with the operands' scales; or of some of the plan's tasks
  /// (SpmmOptions).
  template <class T>
  void multiply(const exec::Stream& stream, const MatrixOperands<T>& operands,
                std::uint64_t first_task = 0, std::uint64_t tasks = ~std::uint64_t{0}) const {
    if (plan_.tasks() == 0) return;
    spmm(
        stream, scaled(view_, operands), plan_, RowTable<T>(operands.x, operands.x_stride),
        operands.y, operands.y_stride, operands.k,
        {.alpha = operands.alpha, .beta = operands.beta, .first_task = first_task, .tasks = tasks});
  }

 private:
  memory::Buffer<EdgeOffset> offsets_;
  memory::Buffer<Vertex> columns_, row_ids_;
  memory::Buffer<float> values_;
  MatrixView view_;
  SpmmPlan plan_;
};

/// All of a rank's rows, in own columns and in halo rows', on a device, multiplied part by part as
/// the latter come.
class PipelinedBlock {
 public:
  PipelinedBlock() = default;
  /// `block` with columns as `shape` has them; all rows.
  PipelinedBlock(const exec::Stream& stream, HostBlock block, const PipelineShape& shape);
  [[nodiscard]] const PipelinedPlan& plan() const { return plan_; }
  /// The part's rows of the product; halo rows are as far apart as own rows.
  template <class T>
  void multiply(const exec::Stream& stream, const PipelinedPlan::Part& part,
                const MatrixOperands<T>& operands, const T* halo_rows) const {
    spmm(stream, scaled(block_.view(), operands), plan_.plan(),
         RowTable<T>(operands.x, own_, halo_rows, operands.x_stride), operands.y, operands.y_stride,
         operands.k,
         {.alpha = operands.alpha,
          .beta = operands.beta,
          .first_task = part.first_task,
          .tasks = part.tasks});
  }

 private:
  std::uint64_t own_ = 0;
  PipelinedPlan plan_;  // First: it gives the columns of halo rows their numbers.
  DeviceBlock block_;   // Without a plan.
};

/// A vector on the stream's device. Synchronises.
template <class T>
[[nodiscard]] memory::Buffer<T> to_device(const exec::Stream& stream,
                                          const std::vector<T>& values) {
  memory::Buffer<T> buffer(stream.device(), values.size());
  buffer.upload(stream, values);
  stream.synchronize();
  return buffer;
}

}  // namespace warren::sparse
