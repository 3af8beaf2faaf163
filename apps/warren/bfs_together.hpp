// SPDX-License-Identifier: Apache-2.0
// warren bfs --together: many sources in one pass.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "warren/traverse/many_source_bfs.hpp"

#include "session.hpp"
#include "vertex_names.hpp"

namespace warren::app {

struct BfsTogether {
  std::vector<traverse::SourceReach> sources;
  std::vector<double> seconds;     ///< Of all passes together, one per run.
  std::optional<bool> is_correct;  ///< As one search at a time says, where that was asked for.
};

/// Collective: passes of up to 64 sources, `repeat` timed runs after one warm-up.
[[nodiscard]] BfsTogether bfs_together(team::Team& team, const graph::Shard& shard,
                                       const std::vector<Vertex>& sources, int repeat);

/// The JSON fields and the table.
void report(Session& session, const BfsTogether& outcome, const std::string& placement,
            const VertexNames& names);

}  // namespace warren::app
