// SPDX-License-Identifier: Apache-2.0
// What `bfs` and `sssp` have in common: where a search starts and where it may end, the searches
// from each source, and what is told of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "warren/api/report.hpp"

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

/// From each source alone: find(is_first) searches as `options` say. The first search is the one of
/// whose vertices something is shown.
template <class Command, class Options, class Find>
[[nodiscard]] auto search(const Session& session, const Command& command,
                          const TraversalGraph& input, Options& options, Find&& find) {
  const auto progress = session.progress("searching");
  options.targets = find_targets(command.search, input.names());
  options.figures = true;
  std::vector<decltype(find(true))> results;
  for (const Vertex source : find_sources(input, command.search, command.common.seed)) {
    const bool is_first = results.empty();
    options.source = source;
    options.run.warm_up = is_first;
    options.run.arrays = is_first ? arrays_of(session, command.traversal) : ResultArrays::none;
    results.push_back(find(is_first));
  }
  return results;
}

[[nodiscard]] inline Vertex source_of(const BfsResult& result) { return result.sources.front(); }
[[nodiscard]] inline Vertex source_of(const SsspResult& result) { return result.sources.front(); }

/// Writes and tells what the searches found, and ends the command.
template <class Command, class Options, class Result>
[[nodiscard]] ExitStatus report(Session& session, const Command& command,
                                const TraversalGraph& input, const Options& options,
                                const std::vector<Result>& results, const char* title) {
  const VertexNames& names = input.names();
  const Result& first = results.front();
  const std::span<const Result> all(results);
  const bool are_listed = command.search.sources > 0;
  if (!command.traversal.output.empty()) save(names, first, command.traversal.output);
  input.describe(session, command);
  session.add(are_listed ? to_json(names, options, all) : to_json(names, options, first));
  if (session.prints()) {
    if (are_listed) session.print("{}", to_text(names, options, all));
    session.print("{} from {}{}\n", title, names.name_and_id(source_of(first)),
                  command.search.why_source());
    session.print("{}", to_text(names, options, first));
  }
  session.finish();
  for (const Result& result : results) {
    const std::string wrong = fault_of(
        result.info, fmt::format("the search from {} is wrong", names.id_text(source_of(result))));
    if (!wrong.empty()) return status_of(wrong);
  }
  return ExitStatus::done;
}

}  // namespace warren::app
