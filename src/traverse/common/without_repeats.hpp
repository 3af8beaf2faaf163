// SPDX-License-Identifier: Apache-2.0
// Vertices of a request, each once.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "warren/core/types.hpp"

namespace warren::traverse {

/// In ascending order.
[[nodiscard]] inline std::vector<Vertex> without_repeats(std::span<const Vertex> vertices) {
  std::vector<Vertex> once(vertices.begin(), vertices.end());
  std::sort(once.begin(), once.end());
  once.erase(std::unique(once.begin(), once.end()), once.end());
  return once;
}

}  // namespace warren::traverse
