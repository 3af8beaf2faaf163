// SPDX-License-Identifier: Apache-2.0
// warren stats: what can be counted of a graph.

#include "warren/api/statistics.hpp"

#include "command.hpp"
#include "graph_input.hpp"
#include "option_rules.hpp"
#include "text.hpp"
#include "vertex_names.hpp"

namespace warren::app {
namespace {

struct StatsCommand {
  CommonOptions common;
  GraphOptions graph;
};

/// [the least degree of each bucket, vertices in it].
Json degree_counts(const graph::Statistics& statistics) {
  Json degrees = Json::array();
  for (std::size_t b = 0; b < statistics.degree_counts.size(); ++b)
    degrees.push_back(b == 0 ? 0 : std::uint64_t{1} << (b - 1));
  return Json::array({degrees, statistics.degree_counts});
}

ExitStatus run_stats(const StatsCommand& command) {
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
  Json& json = session.json();
  json["seconds"] = statistics.run_seconds;
  json["max_degree"] = statistics.max_degree;
  json["max_degree_vertex"] =
      graph.vertices() == 0 ? Json(nullptr) : Json(names.json_id(statistics.max_degree_vertex));
  json["mean_degree"] = statistics.mean_degree;
  json["isolated"] = statistics.isolated;
  json["self_loops"] = statistics.self_loops;
  json["degree_counts"] = degree_counts(statistics);
  json["degree_buckets"] = "log2";
  json["weighted"] = graph.is_weighted();
  json["weight_type"] = statistics.weight_type;
  json["symmetric"] = statistics.is_symmetric;

  session.print("\n");
  session.row("vertices", "{}", thousands(graph.vertices()));
  session.row("directed edges", "{}", thousands(graph.edges()));
  session.row("mean degree", "{:.2f} out-edges", statistics.mean_degree);
  if (graph.vertices() > 0) {
    session.row("largest degree", "{} out-edges, of {}", thousands(statistics.max_degree),
                names.name_and_id(statistics.max_degree_vertex));
  }
  session.row("isolated vertices", "{} ({})", thousands(statistics.isolated),
              percent(statistics.isolated, graph.vertices()));
  session.row("self-loops", "{}", thousands(statistics.self_loops));
  session.row("weights", "{}", statistics.weight_type);
  session.row("symmetric", "{}", statistics.is_symmetric ? "yes" : "no");
  session.finish();
  return ExitStatus::done;
}

}  // namespace

void add_stats(CLI::App& program, Action& action) {
  const auto [stats, command] =
      add_command<StatsCommand>(program, action, "stats", "Counts and degrees of a graph",
                                "Example:\n  warren stats debian", run_stats);
  add_graph_options(stats, command.graph);
  add_common_options(stats, command.common);
}

}  // namespace warren::app
