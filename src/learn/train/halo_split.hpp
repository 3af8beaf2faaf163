// SPDX-License-Identifier: Apache-2.0
// A rank's matrix in two: entries of its own columns, which can be multiplied while the halo's rows
// are on their way, and entries of the halo.
#pragma once

#include "warren/learn/neighbours.hpp"

namespace warren::learn {

class HaloSplit {
 public:
  /// Synchronises. Takes 4 bytes an entry and 16 a row on the device. Throws MemoryError.
  HaloSplit(const exec::Stream& stream, const Neighbours& neighbours);

  /// The parts of a view of the neighbours' matrix: its scales stay; its diagonal is with the own
  /// columns. Columns keep their numbers.
  [[nodiscard]] sparse::MatrixView own(const sparse::MatrixView& whole) const {
    return part(whole, own_);
  }
  [[nodiscard]] sparse::MatrixView halo(const sparse::MatrixView& whole) const {
    sparse::MatrixView view = part(whole, halo_);
    view.self = nullptr;
    return view;
  }
  [[nodiscard]] const sparse::SpmmPlan& own_plan() const { return own_.plan; }
  [[nodiscard]] const sparse::SpmmPlan& halo_plan() const { return halo_.plan; }

 private:
  struct Part {
    memory::Buffer<EdgeOffset> offsets;
    memory::Buffer<Vertex> columns;
    sparse::SpmmPlan plan;
  };
  static sparse::MatrixView part(sparse::MatrixView view, const Part& part) {
    view.offsets = part.offsets.data();
    view.column_ids = part.columns.data();
    return view;
  }

  Part own_, halo_;
};

}  // namespace warren::learn
