// SPDX-License-Identifier: Apache-2.0
// Shards of graphs of which each rank of several processes has its own rows alone (Lists::ranges).
#pragma once

#include <string>

#include "warren/graph/shard.hpp"
#include "warren/team/team.hpp"

#include "api/graph_state.hpp"

namespace warren::api {

/// Whether this process is a rank of several, and vertices that `method` places are where each
/// rank's own rows of a file are; empty: they are.
[[nodiscard]] bool are_in_ranges(const std::string& method);

/// The rank's shard of a graph that is_by_ranges(): read from the file, or drawn by all ranks. No
/// compressed placement. Collective. Throws as read_shard() and draw_shard().
[[nodiscard]] graph::Shard own_shard(team::Team& team, const GraphState& state,
                                     const graph::EdgesOptions& edges, bool with_in_edges);

}  // namespace warren::api
