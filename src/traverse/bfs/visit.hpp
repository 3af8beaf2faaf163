// SPDX-License-Identifier: Apache-2.0
// What BFS keeps of a vertex.
#pragma once

#include "warren/core/types.hpp"

namespace warren::traverse {

/// What is kept of a vertex, in one word of memory.
struct alignas(8) Visit {
  Vertex depth;   ///< Until it is reached, on the CPU: its out-degree, as far as that fits.
  Vertex parent;  ///< kNoVertex until it is reached.
};

}  // namespace warren::traverse
