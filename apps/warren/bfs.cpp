// SPDX-License-Identifier: Apache-2.0
// warren bfs: breadth-first search from one vertex or several.
#include <vector>

#include "warren/core/error.hpp"

#include "option_rules.hpp"
#include "search_input.hpp"

namespace warren::app {
namespace {

struct BfsCommand : TraversalCommand {
  SearchOptions search;
  BfsOptions bfs;  ///< What the algorithm takes; where it runs is left out.
  bool together = false;

  [[nodiscard]] bool is_limited() const { return bfs.depth_limit || !search.targets.empty(); }
};

ExitStatus run_together(Session& session, const BfsCommand& command, const TraversalGraph& input) {
  auto options = input.call<BfsTogetherOptions>();
  const BfsTogetherResult result = session.during("searching", [&] {
    options.sources = find_sources(input, command.search, command.common.seed);
    return bfs_together(input.graph(), options);
  });
  input.describe(session, command);
  return session.end(to_json(input.names(), result), to_text(input.names(), result),
                     fault_of(result.info));
}

ExitStatus run_bfs(const BfsCommand& command) {
  check_traversal_options(command.traversal, true, !command.together);
  require(!command.together || (command.search.sources > 0 && !command.is_limited() &&
                                command.traversal.output.empty()),
          "--together searches from --sources N at once, and has no --output, --depth-limit or "
          "--target");
  require(!command.together || command.traversal.mode != "async",
          "--together has no asynchronous form");
  Session session("bfs", command.common);
  const TraversalGraph input(
      session, command,
      {.traversal = traverse::Traversal::bfs, .streams = !command.together, .ranges = true});
  warn_of_weights(session, "breadth-first search");
  if (command.traversal.mode == "async") warn_of_cache(session, command.traversal);
  session.warn_of_seed(input.is_drawn() || command.search.sources > 0);
  check_search(command.search, command.traversal.mode,
               command.bfs.depth_limit ? "--depth-limit" : nullptr, input.names());
  if (command.together) return run_together(session, command, input);
  const bool writes = !command.traversal.output.empty();
  auto options = input.call(command.bfs);
  const auto results = search(session, command, input, options, [&](bool is_first) {
    // What is shown of single vertices is told of the first search.
    options.levels = is_first && (session.prints() || !command.common.json.empty());
    options.deterministic = is_first && writes && command.common.deterministic;
    return bfs(input.graph(), options);
  });
  return report(session, command, input, options, results, "breadth-first search");
}

}  // namespace

void add_bfs(CLI::App& program, Action& action) {
  const auto [bfs, command] = add_command<BfsCommand>(
      program, action, "bfs", "Breadth-first search, along the edges' direction",
      "Example:\n  warren bfs debian --source git --verify\n"
      "  warren bfs kron:20 --symmetrize --drop-self-loops --sources 16 --json -",
      run_bfs);
  add_search_options(bfs, command.search);
  add_number(bfs, "--depth-limit", command.bfs.depth_limit, "Search no farther than this", "D", 0,
             kMaxVertices - 1);
  bfs.add_flag("--together", command.together,
               "All --sources in one pass over the graph, 64 at a time");
  add_options(bfs, command);
}

}  // namespace warren::app
