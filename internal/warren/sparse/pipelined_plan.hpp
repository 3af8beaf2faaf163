// SPDX-License-Identifier: Apache-2.0
// The order in which a matrix is multiplied while rows of B are still on their way.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "warren/sparse/spmm.hpp"

namespace warren::sparse {

/// The columns of a matrix: own rows of B first, behind them halo rows, which come from other ranks
/// while the product goes on.
struct PipelineShape {
  std::uint64_t own = 0, halo_rows = 0;
  std::uint32_t parts = 1;  ///< In which halo rows come, at most.
};

/// A plan whose tasks are in parts, each to be multiplied when some more halo rows are there: first
/// tasks that name none. In several parts halo rows come in the order
/// in which the tasks first name them, and are numbered so. Every row is summed in one pass over
/// all of its columns, in their order in the matrix.
class PipelinedPlan {
 public:
  struct Part {
    std::uint64_t first_task = 0, tasks = 0;
    std::uint64_t first_halo_row = 0,
                  halo_rows = 0;  ///< Those that must have come for it, ascending.
  };

  PipelinedPlan() = default;
  /// Of a matrix in host memory whose offsets begin at 0. Where there are several parts, its
  /// `columns` of halo rows get their new numbers. On the host's threads, but for the numbering.
  /// Synchronises `stream`. Throws MemoryError.
  PipelinedPlan(const exec::Stream& stream, std::span<const EdgeOffset> offsets,
                std::span<Vertex> columns, const PipelineShape& shape);
  /// The memory of one alone, in one part: for dry runs (exec::DryRun).
  PipelinedPlan(const exec::Stream& stream, const SpmmPlanSizes& sizes, std::uint64_t halo_rows)
      : plan_(stream, sizes), parts_{{0, sizes.tasks, 0, halo_rows}} {}

  [[nodiscard]] const SpmmPlan& plan() const { return plan_; }
  [[nodiscard]] std::span<const Part> parts() const { return parts_; }
  /// Of each halo row, what its number was.
  [[nodiscard]] const std::vector<Vertex>& order() const { return order_; }

 private:
  SpmmPlan plan_;
  std::vector<Part> parts_;
  std::vector<Vertex> order_;
};

}  // namespace warren::sparse
