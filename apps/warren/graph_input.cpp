// SPDX-License-Identifier: Apache-2.0
#include "graph_input.hpp"

#include <iterator>

#include "warren/api/vertex_names.hpp"
#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/core/quantity.hpp"
#include "warren/core/trace.hpp"

namespace warren::app {
namespace {

void write_id_map(const std::string& path, const VertexNames& names) {
  write_vertex_lines(path, names.vertices(), [&](std::string& lines, Vertex v) {
    fmt::format_to(std::back_inserter(lines), "{} {}\n", v, names.id_text(v));
  });
}

}  // namespace

api::GraphPlace find_graph(const Session& session, const GraphOptions& options) {
  (void)api::parse_weights(options.weights, "--weights");
  check_choice("--ids", options.ids, {"auto", "words"}, {});
  check_choice("--headings", options.headings, {"auto", "yes", "no"}, {});
  if (!options.id_map.empty()) session.writes("--id-map", options.id_map);
  require(options.graph != "-" || !options.format.empty(),
          "-: standard input has no name that tells a format: give --format NAME");
  api::GraphPlace input = api::find_graph(options.graph, options.format, session.options().seed);
  session.reads(input.path);
  for (const std::string& file : input.files) session.reads(file);
  require(
      !input.generator || options.id_map.empty(),
      "--id-map: the ids of a generated graph are the numbers of its vertices; it is for files");
  if (input.generator && input.generator->kind == graph::GeneratorKind::grid) {
    warn_without_effect(session.options(), {"--keep-duplicates", "--sum-duplicates"},
                        "a grid has no parallel edges");
  }
  if (!input.is_edge_list(options.format)) {
    warn_without_effect(
        session.options(), {"--one-based", "--compact", "--ids", "--headings"},
        "it is for edge lists (.el, .wel, .txt, .tsv, .csv), and " + options.graph + " is none");
  }
  return input;
}

bool is_drawn(const api::GraphPlace& input, const GraphOptions& options, bool wants_weights) {
  const bool draws_edges = input.generator && input.generator->kind != graph::GeneratorKind::grid;
  return draws_edges || (wants_weights && options.weights.starts_with("uniform"));
}

void warn_of_weights(const Session& session, const std::string& command) {
  warn_without_effect(session.options(), {"--weights"}, command + " looks at no weights");
}

warren::ReadOptions read_options(const Session& session, const GraphOptions& options,
                                 bool wants_weights) {
  warren::ReadOptions read = options.reading(session.options().seed);
  if (!wants_weights) read.weights = "none";
  read.session = session.library();
  return read;
}

warren::Graph read_graph(const Session& session, const api::GraphPlace& input,
                         const GraphOptions& options, const warren::ReadOptions& read) {
  const auto progress =
      session.progress((input.generator ? "drawing " : "reading ") + options.graph);
  const double begin = now_seconds();
  warren::Graph graph = api::read_place(input, options.graph, read);
  if (options.sum_duplicates && !graph.is_weighted()) {
    log_warning(fmt::format("{}: no weights are read, so that --sum-duplicates has none to add up",
                            options.graph));
  }
  if (!options.id_map.empty()) write_id_map(options.id_map, VertexNames(graph));
  log_info(fmt::format("{}: loaded in {}", options.graph, duration(now_seconds() - begin)));
  return graph;
}

warren::Graph load_graph(const Session& session, const api::GraphPlace& input,
                         const GraphOptions& options, bool wants_weights, WeightRange range) {
  warren::ReadOptions read = read_options(session, options, wants_weights);
  read.no_negative_weights = range == WeightRange::not_negative;
  return load_graph(session, input, options, read);
}

warren::Graph load_graph(const Session& session, const api::GraphPlace& input,
                         const GraphOptions& options, const warren::ReadOptions& read) {
  api::GraphPlace nameless = input;
  nameless.names.clear();
  return read_graph(session, nameless, options, read);
}

bool wants_ranges(const std::string& method) { return is_one_of_several() && method == "ranges"; }

void describe_reading(Session& session, const warren::Graph& graph) {
  const bool is_by_ranges = graph.is_read_by_ranges();
  session.json()["read"] = is_by_ranges ? "ranges" : "all";
  if (!is_by_ranges) session.json()["read_reason"] = graph.lists_reason();
}

void describe_graph(Session& session, const GraphOptions& options, std::uint64_t vertices,
                    std::uint64_t edges) {
  session.json()["graph"] = options.graph;
  session.json()["vertices"] = vertices;
  session.json()["edges"] = edges;
  session.print("{}: {}, {}\n", options.graph, counted(vertices, "vertex", "vertices"),
                counted(edges, "directed edge", "directed edges"));
}

}  // namespace warren::app
