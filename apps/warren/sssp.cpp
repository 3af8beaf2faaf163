// SPDX-License-Identifier: Apache-2.0
// warren sssp: shortest paths from one vertex or several.
#include <string>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"

#include "option_rules.hpp"
#include "search_input.hpp"

namespace warren::app {
namespace {

struct SsspCommand : TraversalCommand {
  SearchOptions search;
  SsspOptions sssp;  ///< What the algorithm takes; where it runs is left out.
};

/// Before the work begins, in the user's ids.
void check_weights(const SsspCommand& command, const TraversalGraph& input) {
  if (!input.graph().is_weighted() && input.graph().edges() > 0) {
    throw InputError(fmt::format(
        "{}: it has no weights, and shortest paths need some; --weights uniform:LO:HI draws them, "
        "or give a file that has them",
        command.graph.graph));
  }
  // Ranks with ranges of their own look at these, as the search is made.
  if (input.graph().is_read_by_ranges()) return;
  try {
    input.graph().check_weights();
  } catch (const UsageError& error) {
    throw InputError(fmt::format("{}: {}", command.graph.graph, error.what()));
  }
}

ExitStatus run_sssp(const SsspCommand& command) {
  check_traversal_options(command.traversal);
  require(command.sssp.delta > 0.0 || !command.common.is_given("--delta"),
          fmt::format("--delta {}: give a number above 0", command.sssp.delta));
  Session session("sssp", command.common);
  const TraversalGraph input(session, command,
                             {.weights = true,
                              .range = WeightRange::not_negative,
                              .exact_decimals = true,
                              .traversal = traverse::Traversal::sssp,
                              .ranges = true});
  const std::string& lost = input.graph().weights_read().first_lost;
  if (!lost.empty()) {
    log_warning(fmt::format(
        "{}: {}: distances are sums of weights rounded to float32; whole numbers up to 2147483647, "
        "and numbers of a few decimals up to as many digits, are kept exactly",
        command.graph.graph, lost));
  }
  check_weights(command, input);
  warn_of_cache(session, command.traversal);
  session.warn_of_seed(input.is_drawn() || command.search.sources > 0);
  check_search(command.search, command.traversal.mode, command.sssp.cutoff ? "--cutoff" : nullptr,
               input.names());
  auto options = input.call(command.sssp);
  const auto results = search(session, command, input, options,
                              [&](bool /*is_first*/) { return sssp(input.graph(), options); });
  return report(session, command, input, options, results, "shortest paths");
}

}  // namespace

void add_sssp(CLI::App& program, Action& action) {
  const auto [sssp, command] = add_command<SsspCommand>(
      program, action, "sssp", "Shortest paths, along the edges' direction",
      "Example:\n  warren sssp debian --weights uniform:1:10 --source git --verify\n"
      "  warren sssp grid:1000x1000 --weights uniform:1:64 --source 0 --json -",
      run_sssp);
  add_search_options(sssp, command.search);
  add_real(sssp, "--cutoff", command.sssp.cutoff, "Search no farther than this distance", "X", 0.0,
           1e300);
  add_real(sssp, "--delta", command.sssp.delta,
           "Width of a bin of distances (default: by the mean weight and degree)", "D", 0.0, 1e300);
  add_options(sssp, command);
}

}  // namespace warren::app
