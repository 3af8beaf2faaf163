// SPDX-License-Identifier: Apache-2.0
#include "traverse/row_classes.hpp"

#include <array>
#include <vector>

#include "warren/exec/memory.hpp"

namespace warren::traverse {

RowClasses classify_rows(const exec::Stream& stream, const graph::CsrView& csr,
                         memory::Buffer<Vertex>& rows) {
  std::vector<EdgeOffset> offsets(std::uint64_t{csr.count} + 1);
  exec::copy(stream, offsets.data(), csr.offsets, offsets.size() * sizeof(EdgeOffset));
  stream.synchronize();
  const auto class_of = [&](Vertex row) {
    return RowClasses::of(offsets[row + std::uint64_t{1}] - offsets[row]);
  };
  std::array<std::uint64_t, RowClasses::kCount> counts{};
  for (Vertex row = 0; row < csr.count; ++row) ++counts[class_of(row)];
  std::array<std::uint64_t, RowClasses::kCount> next{};
  for (std::size_t c = 1; c < counts.size(); ++c) next[c] = next[c - 1] + counts[c - 1];
  std::vector<Vertex> order(csr.count);
  for (Vertex row = 0; row < csr.count; ++row) order[next[class_of(row)]++] = row;
  rows = memory::Buffer<Vertex>(stream.device(), csr.count);
  rows.upload(stream, order);
  stream.synchronize();
  RowClasses classes;
  classes.rows = rows.data();
  for (std::size_t c = 0; c < counts.size(); ++c) classes.ends[c] = next[c];
  return classes;
}

}  // namespace warren::traverse
