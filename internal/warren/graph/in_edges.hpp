// SPDX-License-Identifier: Apache-2.0
// The in-edges of a shard, made where its out-edges are.
#pragma once

#include <cstdint>

#include "warren/exec/stream.hpp"
#include "warren/graph/shard.hpp"

namespace warren::graph {

/// Gives a shard of one rank, which has all edges on its device and no in-edges, the same in-edges
/// that transpose() makes in host memory, by a sort of the edges by target. Synchronises. Throws
/// UsageError for another shard, and MemoryError, which leaves it as it was.
void add_in_edges(const exec::Stream& stream, Shard& shard);

/// The most bytes that add_in_edges() takes beside the shard, its result included.
[[nodiscard]] std::uint64_t in_edges_bytes(std::uint64_t vertices, std::uint64_t edges,
                                           WeightType weights);

}  // namespace warren::graph
