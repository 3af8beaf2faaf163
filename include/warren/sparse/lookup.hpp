// SPDX-License-Identifier: Apache-2.0
// Embedding lookup: bags of rows of a table that is spread over the ranks, summed (MGG,
// section 7.3; the sparse half of DLRM).
#pragma once

#include <cstdint>
#include <span>

#include "warren/memory/global_array.hpp"
#include "warren/sparse/spmm.hpp"

namespace warren::sparse {

/// Sums of bags of rows, for one rank's batches of one shape.
class BagLookup {
 public:
  /// Bags i of a batch are indices [offsets[i], offsets[i + 1]). Throws UsageError for offsets that
  /// do not ascend from 0, MemoryError. Synchronises.
  BagLookup(const exec::Stream& stream, std::span<const EdgeOffset> offsets);

  /// out[i][:] = sum of table[j][:] for the indices j of bag i, rows k wide without gaps: each row
  /// is read where it lies, on whichever rank, straight into a register, once for each index that
  /// names it. `indices` (row numbers over the team, below 2^32, checked by whoever makes them) and
  /// `out` are on the stream's device. Each rank calls for itself; the table must not be written
  /// meanwhile. Asynchronous; repeats bit for bit. rows_moved (on the device, may be nullptr): rows
  /// of other ranks read are added.
  template <class T>
  void run(const exec::Stream& stream, const memory::GlobalView<T>& table, const Vertex* indices,
           T* out, std::uint64_t* rows_moved = nullptr) const;

  [[nodiscard]] std::uint64_t bags() const { return offsets_.size() - 1; }

 private:
  memory::Buffer<EdgeOffset> offsets_;
  SpmmPlan plan_;
};

}  // namespace warren::sparse
