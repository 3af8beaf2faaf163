// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "warren/graph/graph.hpp"

namespace warren::graph::detail {

/// The vertices by falling out-degree, those of equal degree in their order.
[[nodiscard]] std::vector<Vertex> by_falling_degree(const Graph& graph);

}  // namespace warren::graph::detail
