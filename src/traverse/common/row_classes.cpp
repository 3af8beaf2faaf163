// SPDX-License-Identifier: Apache-2.0
#include "traverse/common/row_classes.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "warren/core/error.hpp"
#include "warren/exec/memory.hpp"

namespace warren::traverse {

RowClasses classify_rows(const exec::Stream& stream, const graph::CsrView& csr,
                         std::span<const EdgeOffset> bounds, memory::Buffer<Vertex>& rows) {
  require(bounds.size() < RowClasses::kMost && std::ranges::is_sorted(bounds, std::greater<>()),
          "classes of rows have bounds that fall, and there are at most four");
  std::vector<EdgeOffset> offsets(std::uint64_t{csr.count} + 1);
  exec::copy(stream, offsets.data(), csr.offsets, offsets.size() * sizeof(EdgeOffset));
  stream.synchronize();
  const auto class_of = [&](Vertex row) {
    const EdgeOffset degree = offsets[row + std::uint64_t{1}] - offsets[row];
    std::size_t c = 0;
    while (c < bounds.size() && degree < bounds[c]) ++c;
    return c;
  };
  std::array<std::uint64_t, RowClasses::kMost> counts{};
  for (Vertex row = 0; row < csr.count; ++row) ++counts[class_of(row)];
  std::array<std::uint64_t, RowClasses::kMost> next{};
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

RowClasses find_long_rows(const exec::Stream& stream, const graph::CsrView& csr, EdgeOffset edges,
                          memory::Buffer<Vertex>& rows) {
  constexpr std::uint64_t kWindow = std::uint64_t{1} << 22;
  std::vector<EdgeOffset> offsets(std::min<std::uint64_t>(kWindow, csr.count) + 1);
  std::vector<Vertex> found;
  for (std::uint64_t first = 0; first < csr.count; first += kWindow) {
    const std::uint64_t count = std::min(kWindow, csr.count - first);
    exec::copy(stream, offsets.data(), csr.offsets + first, (count + 1) * sizeof(EdgeOffset));
    stream.synchronize();
    for (std::uint64_t i = 0; i < count; ++i)
      if (offsets[i + 1] - offsets[i] >= edges) found.push_back(static_cast<Vertex>(first + i));
  }
  rows = memory::Buffer<Vertex>(stream.device(), found.size());
  rows.upload(stream, std::span<const Vertex>(found));
  stream.synchronize();
  RowClasses classes;
  classes.rows = rows.data();
  for (std::uint64_t& end : classes.ends) end = found.size();
  return classes;
}

}  // namespace warren::traverse
