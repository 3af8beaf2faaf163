// SPDX-License-Identifier: Apache-2.0
// A rank's matrix in two: entries of its own columns, which can be multiplied while the halo's rows
// are on their way, and entries of the halo.
#pragma once

#include "warren/sparse/distributed_matrix.hpp"

namespace warren::sparse {

class HaloSplit {
 public:
  /// Synchronises. Takes 4 bytes an entry, of weighted matrices 8, and 16 a row on the device.
  /// Throws MemoryError.
  HaloSplit(const exec::Stream& stream, const DistributedMatrix& matrix);
  /// The memory of one alone: for dry runs (exec::DryRun).
  HaloSplit(const exec::Stream& stream, const MatrixSizes& sizes);

  /// The parts of a view of the matrix: its scales stay; its diagonal is with the own
  /// columns. Columns keep their numbers.
  [[nodiscard]] MatrixView own(const MatrixView& whole) const { return part(whole, own_); }
  [[nodiscard]] MatrixView halo(const MatrixView& whole) const {
    MatrixView view = part(whole, halo_);
    view.self = nullptr;
    return view;
  }
  [[nodiscard]] std::uint64_t bytes() const { return own_.bytes() + halo_.bytes(); }
  [[nodiscard]] const SpmmPlan& own_plan() const { return own_.plan; }
  [[nodiscard]] const SpmmPlan& halo_plan() const { return halo_.plan; }

 private:
  struct Part {
    memory::Buffer<EdgeOffset> offsets;
    memory::Buffer<Vertex> columns;
    memory::Buffer<float> values;
    SpmmPlan plan;
    [[nodiscard]] std::uint64_t bytes() const {
      return offsets.bytes() + columns.bytes() + values.bytes() + plan.bytes();
    }
  };
  static MatrixView part(MatrixView view, const Part& part) {
    view.offsets = part.offsets.data();
    view.column_ids = part.columns.data();
    view.values = part.values.data();
    return view;
  }

  Part own_, halo_;
};

}  // namespace warren::sparse
