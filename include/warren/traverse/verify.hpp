// SPDX-License-Identifier: Apache-2.0
// Checks of results against the properties that define them. They run on the host, over the whole
// graph, and share no code with what they check.
#pragma once

#include <span>
#include <string>

#include "warren/exec/thread_pool.hpp"
#include "warren/graph/graph.hpp"

namespace warren::traverse {

/// What a check found. `message` names the first vertex or edge that is wrong, in the graph's ids.
struct Verdict {
  bool correct = true;
  std::string message;
};

/// The Graph500 rules for a BFS: the source has depth 0 and is its own parent; every other reached
/// vertex has a reached parent one level above it and the edge (parent, v) exists; no edge leaves a
/// reached vertex for an unreached one or spans more than one level downwards; unreached vertices
/// have neither depth nor parent.
[[nodiscard]] Verdict verify_bfs(const graph::Graph& graph, Vertex source,
                                 std::span<const Vertex> depth, std::span<const Vertex> parent,
                                 exec::ThreadPool& pool);

/// Ranks sum to 1 within 1e-4, none is negative, and one more iteration in double precision changes
/// them by at most `bound` in L1.
[[nodiscard]] Verdict verify_pagerank(const graph::Graph& graph, double damping,
                                      std::span<const double> ranks, double bound,
                                      exec::ThreadPool& pool);

}  // namespace warren::traverse
