// SPDX-License-Identifier: Apache-2.0
// What `bfs` and `sssp` have in common: where a search starts and where it may end, and what is
// told of several.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mode.hpp"
#include "session.hpp"
#include "traversal_graph.hpp"

namespace warren::app {

struct SearchOptions {
  std::optional<std::string> source;
  std::uint64_t sources = 0;         ///< Random ones; 0: not given.
  std::vector<std::string> targets;  ///< Ids or names.

  [[nodiscard]] bool takes_busiest() const { return !source && sources == 0; }
  /// Behind the source's name.
  [[nodiscard]] const char* why_source() const {
    return takes_busiest() ? ", the vertex with the most out-edges (--source takes another)" : "";
  }
};
void add_search_options(CLI::App& command, SearchOptions& options);

/// Before the work begins: throws UsageError for a source or a target that is no vertex, and where
/// a search with a limit is to be asynchronous. `limit`: the option, where it is given.
void check_search(const SearchOptions& options, const std::string& mode, const char* limit,
                  const VertexNames& names);

/// Throws UsageError.
[[nodiscard]] std::vector<Vertex> find_sources(const TraversalGraph& input,
                                               const SearchOptions& options, std::uint64_t seed);
[[nodiscard]] std::vector<Vertex> find_targets(const SearchOptions& options,
                                               const VertexNames& names);

/// JSON `targets`, where there are some.
void set_targets(Json& json, const SearchOptions& options, const VertexNames& names);

/// not_verified, with a line on standard error, for the first of the outcomes whose verdict is that
/// it is wrong; those without a verdict pass.
template <class Outcome>
[[nodiscard]] ExitStatus verification_status(const std::vector<Outcome>& outcomes,
                                             const VertexNames& names) {
  for (const Outcome& outcome : outcomes) {
    const ExitStatus status = verification_status(
        outcome.result.info,
        fmt::format("the search from {} is wrong", names.id_text(outcome.source)));
    if (status != ExitStatus::done) return status;
  }
  return ExitStatus::done;
}

/// The timed runs of all searches, one search after the other.
template <class Outcome>
[[nodiscard]] std::vector<double> all_seconds(const std::vector<Outcome>& outcomes) {
  std::vector<double> seconds;
  for (const Outcome& outcome : outcomes) {
    const std::vector<double>& own = outcome.result.info.run_seconds;
    seconds.insert(seconds.end(), own.begin(), own.end());
  }
  return seconds;
}

}  // namespace warren::app
