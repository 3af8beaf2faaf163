// SPDX-License-Identifier: Apache-2.0
// Calls on a graph whose lists stay in a file (Edges::file).
#pragma once

#include <vector>

#include "warren/api/traverse.hpp"

namespace warren::api {

/// bfs() of `sources`, which have been checked, as have the targets.
[[nodiscard]] BfsResult streamed_bfs(const Graph& graph, const std::vector<Vertex>& sources,
                                     const BfsOptions& options);
[[nodiscard]] ComponentsResult streamed_components(const Graph& graph,
                                                   const ComponentsOptions& options);
[[nodiscard]] PageRankResult streamed_pagerank(const Graph& graph, const PageRankOptions& options);

}  // namespace warren::api
