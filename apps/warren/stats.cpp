// SPDX-License-Identifier: Apache-2.0
// warren stats: what can be counted of a graph.
#include <memory>

#include "warren/core/trace.hpp"
#include "warren/graph/transform.hpp"

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

const char* weight_type_name(graph::WeightType type) {
  switch (type) {
    case graph::WeightType::none:
      return "none";
    case graph::WeightType::int32:
      return "int32";
    case graph::WeightType::float32:
      return "float32";
  }
  return "none";
}

/// [the least degree of each bucket, vertices in it].
Json degree_counts(const graph::Statistics& statistics) {
  Json degrees = Json::array();
  for (std::size_t b = 0; b < statistics.degree_counts.size(); ++b)
    degrees.push_back(b == 0 ? 0 : std::uint64_t{1} << (b - 1));
  return Json::array({degrees, statistics.degree_counts});
}

ExitStatus run_stats(const StatsCommand& command) {
  Session session("stats", command.common);
  const GraphInput input = find_graph(session, command.graph);
  graph::Graph graph = load_graph(session, input, command.graph, true);
  session.runs_on_host_threads();
  session.warn_of_seed(is_drawn(input, command.graph, true));
  const VertexNames names(input, graph);

  auto progress = session.progress("counting");
  graph::Statistics statistics = graph::statistics(graph, session.pool());
  std::vector<double> seconds;
  for (int run = 0; run < command.common.repeat; ++run) {
    const TraceSpan span("statistics", 0);
    const double begin = now_seconds();
    statistics = graph::statistics(graph, session.pool());
    seconds.push_back(now_seconds() - begin);
  }
  const bool is_symmetric = graph::is_symmetric(graph, session.pool());
  progress.reset();

  describe_graph(session, command.graph, graph.vertices, graph.edges());
  const char* weights = weight_type_name(graph.weight_type);
  Json& json = session.json();
  json["seconds"] = seconds;
  json["max_degree"] = statistics.max_degree;
  json["max_degree_vertex"] =
      graph.vertices == 0 ? Json(nullptr) : Json(names.json_id(statistics.max_degree_vertex));
  json["mean_degree"] = statistics.mean_degree;
  json["isolated"] = statistics.isolated;
  json["self_loops"] = statistics.self_loops;
  json["degree_counts"] = degree_counts(statistics);
  json["degree_buckets"] = "log2";
  json["weighted"] = graph.weight_type != graph::WeightType::none;
  json["weight_type"] = weights;
  json["symmetric"] = is_symmetric;

  Table table;
  table.row("vertices", thousands(graph.vertices));
  table.row("directed edges", thousands(graph.edges()));
  table.row("mean degree", fmt::format("{:.2f} out-edges", statistics.mean_degree));
  if (graph.vertices > 0) {
    table.row("largest degree", fmt::format("{} out-edges, of {}", thousands(statistics.max_degree),
                                            names.name_and_id(statistics.max_degree_vertex)));
  }
  table.row("isolated vertices", fmt::format("{} ({})", thousands(statistics.isolated),
                                             percent(statistics.isolated, graph.vertices)));
  table.row("self-loops", thousands(statistics.self_loops));
  table.row("weights", weights);
  table.row("symmetric", is_symmetric ? "yes" : "no");
  session.print("\n{}", table.text());
  session.finish();
  return ExitStatus::done;
}

}  // namespace

void add_stats(CLI::App& program, Action& action) {
  auto command = std::make_shared<StatsCommand>();
  CLI::App* stats = add_command(program, "stats", "Counts and degrees of a graph");
  add_graph_options(*stats, command->graph);
  add_common_options(*stats, command->common);
  stats->footer("Example:\n  warren stats debian");
  stats->callback([command, &action] { action = [command] { return run_stats(*command); }; });
}

}  // namespace warren::app
