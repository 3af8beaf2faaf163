// SPDX-License-Identifier: Apache-2.0
#include "api/own_shard.hpp"

#include "warren/graph/generate_shard.hpp"
#include "warren/team/processes.hpp"

namespace warren::api {

bool are_in_ranges(const std::string& method) {
  const auto* processes = team::Processes::current();
  return processes != nullptr && processes->size() > 1 && (method.empty() || method == "ranges");
}

graph::Shard own_shard(team::Team& team, const GraphState& state, const graph::EdgesOptions& edges,
                       bool with_in_edges) {
  if (state.rows() != nullptr)
    return graph::read_shard(
        team, *state.rows(),
        {edges, state.refuses_negative_weights(), with_in_edges, state.row_weights()});
  const Drawing& drawing = *state.drawing();
  return graph::draw_shard(team, drawing.spec, drawing.build, drawing.weights, edges,
                           with_in_edges);
}

}  // namespace warren::api
