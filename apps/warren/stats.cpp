// SPDX-License-Identifier: Apache-2.0
// warren stats: what can be counted of a graph.
#include "warren/api/report.hpp"

#include "command.hpp"
#include "graph_input.hpp"
#include "option_rules.hpp"

namespace warren::app {
namespace {

ExitStatus run_stats(const GraphCommand& command) {
  Session session("stats", command.common);
  const api::GraphPlace input = find_graph(session, command.graph);
  const warren::Graph graph =
      read_graph(session, input, command.graph, read_options(session, command.graph, true));
  session.runs_on_host_threads();
  session.warn_of_seed(is_drawn(input, command.graph, true));
  const VertexNames names(graph);

  const StatisticsResult statistics = session.during("counting", [&] {
    return warren::statistics(graph, {command.common.repeat, session.library()});
  });

  describe_graph(session, command.graph, graph.vertices(), graph.edges());
  return session.end(to_json(names, statistics), to_text(names, statistics));
}

}  // namespace

void add_stats(CLI::App& program, Action& action) {
  const auto [stats, command] =
      add_command<GraphCommand>(program, action, "stats", "Counts and degrees of a graph",
                                "Example:\n  warren stats debian", run_stats);
  add_graph_options(stats, command.graph);
  add_common_options(stats, command.common);
}

}  // namespace warren::app
