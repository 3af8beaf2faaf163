// SPDX-License-Identifier: Apache-2.0
// What is worked out from a finished search, on the host.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "warren/exec/thread_pool.hpp"
#include "warren/graph/graph.hpp"
#include "warren/graph/shard.hpp"

namespace warren::traverse {

/// Input edges with a reached source endpoint, the numerator of TEPS: of `edges` directed ones
/// those of a symmetric graph are held twice and count once, but for self-loops, which are held
/// once. These are looked for in `graph`; nullptr: it has none. Lists are sorted.
[[nodiscard]] std::uint64_t input_edges(std::uint64_t edges, bool is_symmetric,
                                        const graph::Graph* graph,
                                        const std::function<bool(Vertex)>& is_reached);

/// Self-loops of the reached ones of the rows' vertices, whose lists, in host memory, are sorted.
[[nodiscard]] std::uint64_t count_self_loops(const graph::CsrView& lists,
                                             const std::function<bool(Vertex)>& is_reached);

/// parent(v) = the smallest u with an edge (u, v) and depth(u) + 1 = depth(v): the same in every
/// run. A source is its own; kNoVertex where not reached. n elements each.
[[nodiscard]] std::vector<Vertex> smallest_parents(const graph::Graph& graph,
                                                   std::span<const Vertex> sources,
                                                   std::span<const Vertex> depth,
                                                   exec::ThreadPool& pool);

}  // namespace warren::traverse
