// SPDX-License-Identifier: Apache-2.0
// Compressed lists read bit by bit, front to back, as docs/wgr.md describes them.
#pragma once

#include <cstdint>
#include <vector>

#include "warren/graph/compressed_decode.hpp"

namespace warren::reference {

class BitReader {
 public:
  BitReader(const std::uint32_t* words, std::uint64_t place) : words_(words), place_(place) {}
  std::uint64_t take(std::uint32_t width) {
    std::uint64_t value = 0;
    for (std::uint32_t i = 0; i < width; ++i, ++place_)
      value |= std::uint64_t{words_[place_ / 32] >> place_ % 32 & 1} << i;
    return value;
  }
  [[nodiscard]] std::uint64_t place() const { return place_; }

 private:
  const std::uint32_t* words_;
  std::uint64_t place_;
};

/// All lists of the graph.
inline std::vector<std::vector<Vertex>> lists_of(const graph::CompressedGraph& packed) {
  std::vector<std::vector<Vertex>> lists(packed.vertices);
  std::uint64_t word = 0, edge_end = 0, edge = 0, byte = 0;
  BitReader fields(packed.fields.data(), 0), stream(packed.stream.data(), 0);
  for (std::uint64_t v = 0; v < packed.vertices; ++v) {
    const auto& group = packed.groups[v / 32];
    const auto edge_width = static_cast<std::uint32_t>(group.high >> 52 & 63);
    const auto bit_width = static_cast<std::uint32_t>(group.high >> 58);
    if (v % 32 == 0) {
      byte = (stream.place() + 7) / 8;
      fields = BitReader(packed.fields.data(), word * 32);
      stream = BitReader(packed.stream.data(), byte * 8);
      word += edge_width + bit_width;
      edge = 0;
    }
    edge_end = fields.take(edge_width);
    const std::uint64_t end = byte * 8 + fields.take(bit_width);
    const std::uint64_t degree = edge_end - edge;
    edge = edge_end;
    int degree_bits = 0;
    while (degree_bits < 32 && degree >> degree_bits != 0) ++degree_bits;
    const std::uint32_t widths = packed.widths[static_cast<std::size_t>(degree_bits)];
    std::vector<Vertex>& list = lists[v];
    const std::uint64_t begin = stream.place();
    std::vector<std::uint64_t> places;
    for (std::uint64_t b = 256; b < degree; b += 256) places.push_back(stream.take(40));
    while (list.size() < degree) {
      if (!list.empty() && places.at(list.size() / 256 - 1) != stream.place() - begin) return {};
      const std::uint64_t count = degree - list.size() < 256 ? degree - list.size() : 256;
      std::vector<std::uint32_t> selectors;
      for (std::uint64_t i = 0; i < count; ++i)
        selectors.push_back(static_cast<std::uint32_t>(stream.take(2)));
      for (std::uint64_t i = 0; i < count; ++i) {
        const auto number =
            static_cast<std::int64_t>(stream.take(widths >> 8 * selectors[i] & 0xff));
        std::int64_t target = 0;
        if (i == 0) {
          target =
              static_cast<std::int64_t>(v) + (number % 2 == 0 ? number / 2 : -(number + 1) / 2);
        } else {
          target = std::int64_t{list.back()} + number + packed.smallest_gap;
        }
        list.push_back(static_cast<Vertex>(target));
      }
    }
    if (stream.place() != end) return {};
  }
  return lists;
}

}  // namespace warren::reference
