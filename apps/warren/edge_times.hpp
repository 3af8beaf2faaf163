// SPDX-License-Identifier: Apache-2.0
// Times of edges in the order of shards, for temporal sampling.
#pragma once

#include <cstdint>
#include <vector>

#include "warren/graph/shard.hpp"

#include "traversal_input.hpp"

namespace warren::app {

/// The times of this rank's edges in its shard's order, of those of all edges in the user's order.
[[nodiscard]] std::vector<std::int64_t> times_of_shard(const std::vector<std::int64_t>& times,
                                                       const TraversalInput& input,
                                                       const graph::Shard& shard, int rank);

}  // namespace warren::app
