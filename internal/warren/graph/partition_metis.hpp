// SPDX-License-Identifier: Apache-2.0
// Partitions by METIS.
#pragma once

#include <cstdint>
#include <string>

#include "warren/exec/thread_pool.hpp"
#include "warren/graph/partition.hpp"

namespace warren::graph {

/// Why METIS cannot be used: no header when warren was built, no library now. Empty where it can.
/// The library is loaded at the first call.
[[nodiscard]] const std::string& metis_missing();

/// METIS' k-way partition (Karypis and Kumar, "A Fast and High Quality Multilevel Scheme for
/// Partitioning Irregular Graphs", SIAM J. Sci. Comput. 20, 1998): few cut edges, each vertex of a
/// weight of its out-degree + 1, parts within a few percent of their mean. Directed graphs are
/// looked at as undirected ones; loops, duplicates and weights do not count. Vertices of a part
/// stay in order. Fewer than 32 vertices for each part are cut as partition_ranges() does. The same
/// for the same seed and library, whatever the pool. Throws UsageError where METIS is missing,
/// where the graph has more entries than its integers count (2^31 - 1 in Debian), or for parts
/// outside 1 .. kMaxParts; std::bad_alloc where METIS finds too little memory.
[[nodiscard]] Partition partition_metis(const Graph& graph, int parts, std::uint64_t seed,
                                        exec::ThreadPool& pool);

}  // namespace warren::graph
