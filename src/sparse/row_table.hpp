// SPDX-License-Identifier: Apache-2.0
// Rows of a GlobalArray as a product's kernel addresses them.
#pragma once

#include "warren/memory/global_array.hpp"
#include "warren/sparse/spmm.hpp"

namespace warren::sparse {

/// The view's rows, the nearest copies of them: this rank's where all have all.
template <class T>
[[nodiscard]] RowTable<T> table_of(const memory::GlobalView<T>& view) {
  RowTable<T> table;
  table.stride = view.width;
  table.parts = view.is_replicated ? 1 : view.ranks;
  table.own = view.is_replicated ? 0 : view.rank;
  for (int q = 0; q < table.parts; ++q) {
    const T* base = view.base[view.is_replicated ? view.rank : q];
    table.first[q] = view.is_replicated ? 0 : view.cuts[q];
    // Before the part's memory, where no pointer may be computed.
    table.origin[q] = reinterpret_cast<const T*>(reinterpret_cast<std::uintptr_t>(base) -
                                                 table.first[q] * view.width * sizeof(T));
  }
  return table;
}

}  // namespace warren::sparse
