// SPDX-License-Identifier: Apache-2.0
// Graphs from arrays that a program already has in host memory: compressed sparse rows, or lists
// of sources and targets.
#pragma once

#include <cstdint>
#include <span>

#include "warren/exec/thread_pool.hpp"
#include "warren/graph/builder.hpp"
#include "warren/graph/graph.hpp"

namespace warren::graph {

/// The graph of `raw`'s offsets, targets and weights, all checked. Arrays that are already as a
/// Graph must be (rows sorted, parallel edges merged, nothing left that `options` asks for) are
/// kept without a copy; others are built anew. Throws InputError, naming the entry: "from_csr:
/// targets[17]: ..."; MemoryError.
[[nodiscard]] Graph from_csr(Graph raw, const BuildOptions& options, exec::ThreadPool& pool);

/// Edges as columns, in memory that is not changed while it is read. Weights are empty, or as many
/// as the edges; one of the two types at most.
struct EdgeColumns {
  std::uint64_t vertices = 0;  ///< Every id is smaller. 0: the largest id plus one.
  std::span<const Vertex> sources;
  std::span<const Vertex> targets;
  std::span<const std::int32_t> weights_int;
  std::span<const float> weights_float;
};

/// The graph of the edges (sources[i], targets[i]), as build() makes it. Throws UsageError for
/// columns of different lengths, and for an id that is no vertex; MemoryError.
[[nodiscard]] Graph from_edges(const EdgeColumns& edges, const BuildOptions& options,
                               exec::ThreadPool& pool);

}  // namespace warren::graph
