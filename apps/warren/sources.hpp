// SPDX-License-Identifier: Apache-2.0
// Where a search starts when the user does not say.
#pragma once

#include <cstdint>
#include <vector>

#include "warren/graph/shard.hpp"
#include "warren/team/team.hpp"

#include "traversal_input.hpp"

namespace warren::app {

/// The vertex of the largest out-degree, the smallest id of several, in the user's order.
/// Collective.
[[nodiscard]] Vertex busiest_vertex(team::Team& team, const graph::Shard& shard,
                                    const TraversalInput& input);

/// `count` different vertices with out-edges, in the user's order: a function of the graph and the
/// seed alone. Collective. Throws UsageError where there are fewer.
[[nodiscard]] std::vector<Vertex> random_sources(team::Team& team, const graph::Shard& shard,
                                                 const TraversalInput& input, std::uint64_t count,
                                                 std::uint64_t seed);

}  // namespace warren::app
