// SPDX-License-Identifier: Apache-2.0
// Parts of a rank's rows: chosen entries with columns numbered anew, on the host and on the device.
#pragma once

#include <cstdint>
#include <vector>

#include "warren/graph/vertex_cover.hpp"
#include "warren/memory/buffer.hpp"
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

/// A block on a device, with its plan.
class DeviceBlock {
 public:
  DeviceBlock() = default;
  /// `row_scale` and `self` stay the caller's.
  DeviceBlock(const exec::Stream& stream, const HostBlock& block, const float* row_scale,
              const float* self = nullptr);
  /// With a plan that there is already.
  DeviceBlock(const exec::Stream& stream, const HostBlock& block, SpmmPlan plan,
              const float* row_scale, const float* self);
  [[nodiscard]] const MatrixView& view() const { return view_; }
  [[nodiscard]] const SpmmPlan& plan() const { return plan_; }
  [[nodiscard]] std::uint64_t entries() const { return columns_.size(); }
  /// C = alpha A B + beta C for rows of B `stride` elements apart, C's likewise; or of some of the
  /// plan's tasks (SpmmOptions).
  template <class T>
  void multiply(const exec::Stream& stream, const T* b, T* c, std::uint64_t b_stride,
                std::uint64_t c_stride, std::uint64_t k, float alpha, float beta,
                std::uint64_t first_task = 0, std::uint64_t tasks = ~std::uint64_t{0}) const {
    if (plan_.tasks() == 0) return;
    spmm(stream, view_, plan_, RowTable<T>(b, b_stride), c, c_stride, k,
         {.alpha = alpha, .beta = beta, .first_task = first_task, .tasks = tasks});
  }

 private:
  memory::Buffer<EdgeOffset> offsets_;
  memory::Buffer<Vertex> columns_, row_ids_;
  memory::Buffer<float> values_;
  MatrixView view_;
  SpmmPlan plan_;
};

/// All of a rank's rows, in own columns and in ghosts', on a device, multiplied part by part as the
/// latter come.
class PipelinedBlock {
 public:
  PipelinedBlock() = default;
  /// `block` with columns as `shape` has them; all rows. `row_scale` and `self` stay the caller's.
  PipelinedBlock(const exec::Stream& stream, HostBlock block, const PipelineShape& shape,
                 const float* row_scale, const float* self);
  [[nodiscard]] const PipelinedPlan& plan() const { return plan_; }
  /// The part's rows of C = alpha A B + beta C, k wide and apart.
  template <class T>
  void multiply(const exec::Stream& stream, const PipelinedPlan::Part& part, const T* own,
                const T* ghosts, T* c, std::uint64_t k, float alpha, float beta) const {
    spmm(stream, block_.view(), plan_.plan(), RowTable<T>(own, own_, ghosts, k), c, k, k,
         {.alpha = alpha, .beta = beta, .first_task = part.first_task, .tasks = part.tasks});
  }

 private:
  std::uint64_t own_ = 0;
  PipelinedPlan plan_;  // First: it gives the columns of ghosts their numbers.
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
