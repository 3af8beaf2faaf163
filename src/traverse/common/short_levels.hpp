// SPDX-License-Identifier: Apache-2.0
// Which graphs' searches have thousands of levels of few vertices.
#pragma once

#include <cstdint>

namespace warren::traverse {

/// Below six directed edges a vertex: grids, road networks. One GPU passes such levels faster than
/// several agree on them.
[[nodiscard]] constexpr bool has_short_levels(std::uint64_t vertices, std::uint64_t edges) {
  constexpr std::uint64_t kFewEdges = 6;
  return edges < kFewEdges * vertices;
}

}  // namespace warren::traverse
