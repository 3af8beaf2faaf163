// SPDX-License-Identifier: Apache-2.0
// warren pagerank: the ranks of all vertices, and the ten largest.
#include <string>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"

#include "option_rules.hpp"
#include "traversal_graph.hpp"

namespace warren::app {
namespace {

constexpr std::size_t kTop = 10;

struct PageRankCommand : TraversalCommand {
  PageRankOptions pagerank;  ///< What the algorithm takes; where it runs is left out.
};

void check_weights(const std::string& name, const warren::Graph& graph) {
  if (graph.is_weighted() || graph.edges() == 0) return;
  throw InputError(name +
                   ": it has no weights for --weighted; --weights uniform:LO:HI draws some, or "
                   "give a file that has them");
}

ExitStatus run_pagerank(const PageRankCommand& command) {
  check_traversal_options(command.traversal, true, true);
  const PageRankOptions& pagerank = command.pagerank;
  require(pagerank.damping < 1.0,
          fmt::format("--damping {}: give a number of at least 0 and below 1", pagerank.damping));
  require(command.traversal.mode != "async" || pagerank.tolerance > 0.0,
          "--mode async needs a --tolerance above 0");
  require(command.traversal.mode != "async" || !command.common.deterministic,
          "--mode async adds up in no fixed order: without --deterministic, or with --mode sync");
  require(!pagerank.weighted || command.traversal.mode != "async",
          "--weighted has no asynchronous form: give --mode sync, or leave --mode out");
  require(!pagerank.weighted || command.traversal.edges != "compressed-host",
          "--weighted reads plain lists: give --edges device or host");
  require(!pagerank.weighted || command.traversal.edges != "file",
          "--weighted: lists are read from a file without their weights; give --edges device or "
          "host");
  Session session("pagerank", command.common);
  // On a GPU the hubs' contributions, which are read most, must lie together to stay in its caches.
  const std::string fitting = session.on_gpu() ? "degree" : "ranges";
  const TraversalGraph input(
      session, command,
      {.method = fitting,
       .weights = pagerank.weighted,
       .range = pagerank.weighted ? WeightRange::not_negative : WeightRange::any,
       .traversal = traverse::Traversal::pagerank,
       .streams = true,
       .ranges = true});
  if (command.traversal.mode == "async") warn_of_cache(session, command.traversal);
  if (pagerank.weighted) {
    check_weights(command.graph.graph, input.graph());
  } else if (!command.graph.weights.empty() || input.graph().weights_read().are_unread) {
    log_warning(fmt::format("{}: ranks are unweighted; with {}--weighted they follow the weights",
                            command.graph.graph,
                            command.graph.weights.empty() ? "" : "--weights HOW and "));
  }
  session.warn_of_seed(input.is_drawn());
  auto options = input.call(pagerank);
  options.top = kTop;
  const bool writes = !command.traversal.output.empty();
  options.run.arrays = writes ? ResultArrays::host : ResultArrays::none;
  const PageRankResult result =
      session.during("ranking", [&] { return warren::pagerank(input.graph(), options); });
  return tell(session, command, input, result, to_json(input.names(), options, result),
              "the ranks are wrong");
}

}  // namespace

void add_pagerank(CLI::App& program, Action& action) {
  const auto [pagerank, command] =
      add_command<PageRankCommand>(program, action, "pagerank", "PageRank, and the ten largest",
                                   "Example:\n  warren pagerank debian --tolerance 1e-9 --verify\n"
                                   "  warren pagerank roads.wel --weighted",
                                   run_pagerank);
  add_real(pagerank, "--damping", command.pagerank.damping, "In [0, 1) (0.85)", "D", 0.0, 1.0);
  add_real(pagerank, "--tolerance", command.pagerank.tolerance,
           "Stop at an L1 change of at most this (1e-6)", "T", 0.0, 1e300);
  add_number(pagerank, "--max-iterations", command.pagerank.max_iterations,
             "And after so many (100)", "N", 1, 0xffffffff);
  pagerank.add_flag("--weighted", command.pagerank.weighted,
                    "An edge passes on its weight's share of its source's rank, not an equal one "
                    "(not with --mode async or --edges compressed-host)");
  add_options(pagerank, command);
}

}  // namespace warren::app
