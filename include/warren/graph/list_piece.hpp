// SPDX-License-Identifier: Apache-2.0
// A part of a neighbour list: what a lane works on.
#pragma once

#include "warren/core/types.hpp"

namespace warren::graph {

/// Edges [begin, begin + length) of local row `row`.
struct ListPiece {
  Vertex row = 0;
  EdgeOffset begin = 0;
  std::uint32_t length = 0;
};

}  // namespace warren::graph
