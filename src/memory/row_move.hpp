// SPDX-License-Identifier: Apache-2.0
// Describing rows as bytes, in the widest units that all addresses allow, and moving them.
#pragma once

#include "warren/core/error.hpp"
#include "warren/memory/global_array.hpp"

#include "memory/gather_kernels.hpp"

namespace warren::memory::detail {

/// Rows from `first` on of the table are those of a part at `base`.
inline void append_part(RowTable& table, int part, const void* base, std::uint64_t first) {
  table.first[part] = first;
  // May lie before the part's memory; only addresses of its own rows are made from it.
  table.origin[part] = reinterpret_cast<std::uintptr_t>(base) - first * table.row_bytes;
}

/// The rows of a view behind those that the table has.
template <class T>
void append_rows(const GlobalView<T>& view, RowTable& table) {
  table.row_bytes = view.width * sizeof(T);
  const int before = table.rows == 0 ? 0 : table.ranks;
  const int parts = view.is_replicated ? 1 : view.ranks;
  for (int q = 0; q < parts; ++q) {
    append_part(table, before + q, view.base[view.is_replicated ? view.rank : q],
                table.rows + (view.is_replicated ? 0 : view.cuts[q]));
  }
  table.ranks = before + parts;
  table.rows += view.rows();
}

/// The widest unit that divides all addresses and the row.
inline void choose_unit(RowMove& job) {
  std::uintptr_t bits = job.table.row_bytes | reinterpret_cast<std::uintptr_t>(job.local);
  for (int q = 0; q < job.table.ranks; ++q)
    bits |= job.table.origin[q] + job.table.first[q] * job.table.row_bytes;
  while (bits % job.unit_bytes != 0) job.unit_bytes /= 2;
}

inline void check_move(const RowMove& job) {
  require((job.indices != nullptr || job.vertices != nullptr) && job.local != nullptr,
          "gather and scatter need row numbers and a local array");
}

template <Direction kDirection>
void run_move(const exec::Stream& stream, const RowMove& job) {
  if (job.count == 0) return;
  check_move(job);
  exec::with_backend(stream.device(),
                     [&](auto backend) { move_rows<decltype(backend), kDirection>(stream, job); });
}

}  // namespace warren::memory::detail
