// SPDX-License-Identifier: Apache-2.0
// Sizes in the arrays of a CompressedGraph.
#pragma once

#include <cstdint>

#include "warren/graph/compressed.hpp"

namespace warren::graph {

/// Behind the last list and the last field, so that readers may load 8 bytes at any bit.
inline constexpr std::uint64_t kPaddingWords = 2;

[[nodiscard]] constexpr std::uint64_t bytes_of_bits(std::uint64_t bits) {
  return bits / 8 + (bits % 8 != 0 ? 1 : 0);
}
/// Words of the stream for so many bytes of lists.
[[nodiscard]] constexpr std::uint64_t stream_words(std::uint64_t bytes) {
  return bytes / 4 + (bytes % 4 != 0 ? 1 : 0) + kPaddingWords;
}
/// Words of a group's packed ends: 32 vertices, also where the graph has fewer.
[[nodiscard]] inline std::uint64_t field_words(const CompressedGroup& group) {
  static_assert(kCompressedGroup == 32);
  return std::uint64_t{group.edge_width()} + group.bit_width();
}

}  // namespace warren::graph
