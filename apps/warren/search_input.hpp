// SPDX-License-Identifier: Apache-2.0
// What `bfs` and `sssp` have in common: where a search starts and where it may end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warren/graph/shard.hpp"
#include "warren/team/team.hpp"

#include "session.hpp"
#include "traversal_input.hpp"

namespace warren::app {

inline constexpr const char* kLimitReason = "a search with a limit goes step by step";

struct SearchOptions {
  std::optional<std::string> source;
  std::uint64_t sources = 0;         ///< Random ones; 0: not given.
  std::vector<std::string> targets;  ///< Ids or names.

  [[nodiscard]] bool takes_busiest() const { return !source && sources == 0; }
};
void add_search_options(CLI::App& command, SearchOptions& options);

/// Before the work begins: throws UsageError for a source or a target that is no vertex, and where
/// a search with a limit is to be asynchronous. `limit`: the option, where it is given.
void check_search(const SearchOptions& options, const std::string& mode, const char* limit,
                  const VertexNames& names);

/// In the user's order. Collective. Throws UsageError.
[[nodiscard]] std::vector<Vertex> find_sources(team::Team& team, const graph::Shard& shard,
                                               const TraversalInput& input,
                                               const SearchOptions& options, std::uint64_t seed);
/// In the user's order.
[[nodiscard]] std::vector<Vertex> find_targets(const SearchOptions& options,
                                               const VertexNames& names);
/// The same vertices in the shards' order.
[[nodiscard]] std::vector<Vertex> in_shard_order(const TraversalInput& input,
                                                 std::vector<Vertex> vertices);

/// JSON `targets`, where there are some.
void set_targets(Json& json, const SearchOptions& options, const VertexNames& names);

}  // namespace warren::app
