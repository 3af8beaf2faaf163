// SPDX-License-Identifier: Apache-2.0
// Many draws of a generator at once, on the host.
#pragma once

#include <cstdint>
#include <span>

#include "warren/graph/generate.hpp"

namespace warren::graph::detail {

/// edges[i] = draw_edge(spec, first + i), vectorised where that pays.
void draw_edges(const GeneratorSpec& spec, std::uint64_t first, std::span<Edge> edges);

}  // namespace warren::graph::detail
