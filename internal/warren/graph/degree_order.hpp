// SPDX-License-Identifier: Apache-2.0
// A shard whose vertices are numbered by degree, made where its edges are.
#pragma once

#include "warren/exec/stream.hpp"
#include "warren/graph/shard.hpp"

namespace warren::graph {

/// A shard of one rank, with its edges on its device, as one of the same graph without weights, in
/// which vertices are numbered by falling out-degree, those of equal degree in their order: what is
/// read often lies together. Lists of in-edges, and of symmetric graphs, are sorted by the new
/// numbers; other lists keep their order. Its new_id[v] is vertex v's number, and old_id the
/// reverse. Synchronises. Deterministic. Throws UsageError for another shard, MemoryError.
[[nodiscard]] Shard order_by_degree(const exec::Stream& stream, const Shard& shard);

/// to[v] = from[new_id[v]] for each vertex of a shard that order_by_degree() made, on its device.
/// Synchronises.
void in_old_order(const exec::Stream& stream, const Shard& ordered, const double* from, double* to);

}  // namespace warren::graph
