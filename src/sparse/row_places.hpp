// SPDX-License-Identifier: Apache-2.0
// Gathering rows by number from where their owners have them, for carriers of halos, which know
// how long a row is and not what is in it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "warren/memory/gather.hpp"
#include "warren/memory/global_array.hpp"

namespace warren::sparse {

/// Where rows lie: of one rank alone, or of all.
struct RowPlaces {
  std::vector<void*> bases;  ///< By rank, as this device addresses them.
  std::vector<std::uint64_t> cuts;
  int rank = 0;
  std::uint64_t row_bytes = 0;
};

template <class T>
void gather_elements(const exec::Stream& stream, const RowPlaces& places, const Vertex* ids,
                     std::uint64_t count, void* to, std::uint32_t processors) {
  memory::GlobalView<T> view;
  view.rank = places.rank;
  view.ranks = static_cast<int>(places.bases.size());
  view.width = places.row_bytes / sizeof(T);
  for (std::size_t q = 0; q < places.bases.size(); ++q)
    view.base[q] = static_cast<T*>(places.bases[q]);
  std::copy(places.cuts.begin(), places.cuts.end(), view.cuts);
  memory::gather_vertices(stream, view, ids, count, static_cast<T*>(to), nullptr, nullptr,
                          processors, processors != 0);
}

/// Rows by number, as elements of 4 or 2 bytes. `processors`: of a GPU, those that take part; 0:
/// all.
inline void gather_rows(const exec::Stream& stream, const RowPlaces& places, const Vertex* ids,
                        std::uint64_t count, void* to, std::uint32_t processors) {
  if (count == 0) return;
  const auto gather = places.row_bytes % sizeof(float) == 0 ? gather_elements<float>
                                                            : gather_elements<std::uint16_t>;
  gather(stream, places, ids, count, to, processors);
}

}  // namespace warren::sparse
