// SPDX-License-Identifier: Apache-2.0
// A batch of bags is a sparse matrix: its product with the table is the lookup.
#include "warren/sparse/lookup.hpp"

#include <algorithm>

#include "warren/core/error.hpp"

namespace warren::sparse {
namespace {

std::span<const EdgeOffset> checked(std::span<const EdgeOffset> offsets) {
  require(
      !offsets.empty() && offsets.front() == 0 && std::is_sorted(offsets.begin(), offsets.end()),
      "a lookup's offsets should ascend from 0, one more than there are bags");
  return offsets;
}

}  // namespace

BagLookup::BagLookup(const exec::Stream& stream, std::span<const EdgeOffset> offsets)
    : offsets_(stream.device(), offsets.size()), plan_(stream, checked(offsets)) {
  offsets_.upload(stream, offsets);
  stream.synchronize();
}

template <class T>
void BagLookup::run(const exec::Stream& stream, const memory::GlobalView<T>& table,
                    const Vertex* indices, T* out, std::uint64_t* rows_moved) const {
  RowTable<T> rows;
  rows.stride = table.width;
  rows.parts = table.is_replicated ? 1 : table.ranks;
  rows.own = table.is_replicated ? 0 : table.rank;
  for (int q = 0; q < rows.parts; ++q) {
    const T* base = table.base[table.is_replicated ? table.rank : q];
    rows.first[q] = table.is_replicated ? 0 : table.cuts[q];
    rows.origin[q] = reinterpret_cast<const T*>(reinterpret_cast<std::uintptr_t>(base) -
                                                rows.first[q] * table.width * sizeof(T));
  }
  MatrixView bags;
  bags.rows = offsets_.size() - 1;
  bags.offsets = offsets_.data();
  bags.column_ids = indices;
  spmm(stream, bags, plan_, rows, out, table.width, table.width, {.rows_moved = rows_moved});
}

template void BagLookup::run(const exec::Stream&, const memory::GlobalView<float>&, const Vertex*,
                             float*, std::uint64_t*) const;
template void BagLookup::run(const exec::Stream&, const memory::GlobalView<Half>&, const Vertex*,
                             Half*, std::uint64_t*) const;
template void BagLookup::run(const exec::Stream&, const memory::GlobalView<BFloat16>&,
                             const Vertex*, BFloat16*, std::uint64_t*) const;

}  // namespace warren::sparse
