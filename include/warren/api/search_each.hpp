// SPDX-License-Identifier: Apache-2.0
// Searches from several vertices, each from one of them alone, one after another. (Of all of them
// together: BfsOptions::sources.)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "warren/api/array.hpp"
#include "warren/api/traverse.hpp"

namespace warren {

/// k searches of a graph of n vertices.
struct BfsSearches {
  std::vector<BfsResult> each;  ///< Their arrays are rows of those below.
  Array<Vertex> depth, parent;  ///< k x n, row-major, in host memory: row s is of each[s].
};
/// bfs() with `options` from each of the sources, whose arrays are in host memory together. Throws
/// as bfs(), before it searches where a source is no vertex; UsageError for no sources, for options
/// that name a source, and for ResultArrays::none.
[[nodiscard]] BfsSearches bfs_from_each(const Graph& graph, std::span<const Vertex> sources,
                                        BfsOptions options = {});

struct SsspSearches {
  std::vector<SsspResult> each;
  Array<std::int64_t> distance;  ///< k x n, as SsspResult's: one of the two is filled.
  Array<double> real_distance;
};
/// sssp(), likewise.
[[nodiscard]] SsspSearches sssp_from_each(const Graph& graph, std::span<const Vertex> sources,
                                          SsspOptions options = {});

}  // namespace warren
