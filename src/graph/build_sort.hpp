// SPDX-License-Identifier: Apache-2.0
// Sorting one row of a CSR in place, weights along, by (target, weight). Short rows by rank or
// insertion, middling ones by a least-significant-digit radix sort in a small scratch, long ones
// first split in place by their leading byte (McIlroy, Bostic and McIlroy, "Engineering Radix
// Sort", the American flag sort), so that even a row of all edges needs no second copy of itself.
#pragma once

#include <cstdint>

#include "warren/core/types.hpp"
#include "warren/memory/host_array.hpp"

namespace warren::graph::detail {

/// Stands for the weight type of a graph without weights.
struct NoWeight {};

/// Weight types as a template argument: the arrays of a CSR that are sorted together. `weights` is
/// null for NoWeight.
template <class Weight>
struct Columns {
  Vertex* targets;
  Weight* weights;
};

/// Sorts rows; one for each thread. Weight is NoWeight, std::int32_t or float; floats are ordered
/// by value, negative zero before positive zero, so that the order is total.
template <class Weight>
class RowSorter {
 public:
  /// `vertices` bounds the targets. Throws MemoryError.
  explicit RowSorter(std::uint64_t vertices);

  /// Sorts entries [begin, end).
  void sort(Columns<Weight> columns, std::uint64_t begin, std::uint64_t end);

 private:
  using Key = std::uint64_t;
  static constexpr std::uint64_t kLocal = 4096;  // Entries that fit into the scratch.

  void split(Columns<Weight> columns, std::uint64_t begin, std::uint64_t end, int shift);
  void sort_local(Columns<Weight> columns, std::uint64_t begin, std::uint64_t count);

  int key_bytes_;  // Bytes of a target that can differ from zero.
  memory::HostArray<Key> scratch_;
};

extern template class RowSorter<NoWeight>;
extern template class RowSorter<std::int32_t>;
extern template class RowSorter<float>;

}  // namespace warren::graph::detail
