// SPDX-License-Identifier: Apache-2.0
#include "graph_input.hpp"

#include <algorithm>
#include <array>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/core/trace.hpp"
#include "warren/graph/io.hpp"
#include "warren/graph/transform.hpp"

#include "text.hpp"
#include "vertex_names.hpp"

namespace warren::app {
namespace {

/// Of formats whose lines are not looked at one by one.
void check_not_negative(const graph::Graph& graph, const std::string& name,
                        exec::ThreadPool& pool) {
  if (graph.weight_type == graph::WeightType::none) return;
  const bool is_integer = graph.weight_type == graph::WeightType::int32;
  constexpr std::uint64_t kGrain = std::uint64_t{1} << 14;
  pool.parallel_for(0, graph.vertices, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t v = begin; v < end; ++v) {
      for (EdgeOffset e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
        const double weight =
            is_integer ? graph.weights_int[e] : static_cast<double>(graph.weights_float[e]);
        if (weight >= 0.0) continue;
        throw InputError(fmt::format(
            "{}: the edge from {} to {} has the weight {}; weights of 0 and above are needed here",
            name, graph.original_id(static_cast<Vertex>(v)), graph.original_id(graph.targets[e]),
            weight));
      }
    }
  });
}

void write_id_map(const std::string& path, const VertexNames& names) {
  write_lines(path, names.vertices(), [&](std::string& lines, Vertex v) {
    fmt::format_to(std::back_inserter(lines), "{} {}\n", v, names.id_text(v));
  });
}

/// True if the file's lines are edges, whose ids are the user's.
bool is_edge_list(const GraphInput& input, const std::string& format) {
  if (input.generator) return false;
  std::string name = format.empty() ? input.path : "." + format;
  for (const char* packed : {".gz", ".zst"}) {
    if (name.ends_with(packed)) name.resize(name.size() - std::string(packed).size());
  }
  return std::ranges::any_of(std::array{".el", ".wel", ".txt", ".tsv", ".csv"},
                             [&](const char* ending) { return name.ends_with(ending); });
}

}  // namespace

GraphInput find_graph(const Session& session, const GraphOptions& options) {
  (void)api::parse_weights(options.weights, "--weights");
  check_choice("--ids", options.ids, {"auto", "words"}, {});
  check_choice("--headings", options.headings, {"auto", "yes", "no"}, {});
  if (!options.id_map.empty()) session.writes("--id-map", options.id_map);
  require(options.graph != "-" || !options.format.empty(),
          "-: standard input has no name that tells a format: give --format NAME");
  graph::BuildOptions build;
  build.symmetrize = options.symmetrize;
  build.drop_self_loops = options.drop_self_loops;
  build.keep_duplicates = options.keep_duplicates;
  build.sum_duplicates = options.sum_duplicates;
  GraphInput input;
  static_cast<api::GraphPlace&>(input) =
      api::find_graph(options.graph, options.format, session.options().seed);
  session.reads(input.path);
  for (const std::string& file : input.files) session.reads(file);
  require(
      !input.generator || options.id_map.empty(),
      "--id-map: the ids of a generated graph are the numbers of its vertices; it is for files");
  input.words = std::make_shared<std::vector<std::string>>();
  input.build = input.generator ? graph::effective_options(*input.generator, build) : build;
  if (input.generator && input.generator->kind == graph::GeneratorKind::grid) {
    warn_without_effect(session.options(), {"--keep-duplicates", "--sum-duplicates"},
                        "a grid has no parallel edges");
  }
  if (!is_edge_list(input, options.format)) {
    warn_without_effect(
        session.options(), {"--one-based", "--compact", "--ids", "--headings"},
        "it is for edge lists (.el, .wel, .txt, .tsv, .csv), and " + options.graph + " is none");
  }
  return input;
}

bool is_drawn(const GraphInput& input, const GraphOptions& options, bool wants_weights) {
  const bool draws_edges = input.generator && input.generator->kind != graph::GeneratorKind::grid;
  return draws_edges || (wants_weights && options.weights.starts_with("uniform"));
}

void warn_of_weights(const Session& session, const std::string& command) {
  warn_without_effect(session.options(), {"--weights"}, command + " looks at no weights");
}

graph::Graph load_graph(const Session& session, const GraphInput& input,
                        const GraphOptions& options, bool wants_weights, WeightRange range,
                        graph::WeightReport* weights) {
  const auto progress =
      session.progress((input.generator ? "drawing " : "reading ") + options.graph);
  const TraceSpan span("load graph", 0);
  const double begin = now_seconds();
  graph::Graph graph;
  if (input.generator) {
    graph = graph::build(*graph::make_source(*input.generator), input.build, session.pool());
  } else {
    graph::ReadOptions read;
    read.build = input.build;
    read.one_based = options.one_based;
    read.compact = options.compact;
    read.least_vertices = input.least_vertices;
    read.format = options.format;
    read.words = input.words.get();
    read.are_words = options.ids == "words";
    if (options.headings != "auto") read.has_headings = options.headings == "yes";
    read.no_negative_weights = range == WeightRange::not_negative;
    read.read_weights = wants_weights && !options.weights.starts_with("uniform");
    read.weights = weights;
    graph = graph::read_graph(input.path, read, session.pool());
  }
  if (options.sum_duplicates && graph.weight_type == graph::WeightType::none) {
    log_warning(fmt::format("{}: no weights are read, so that --sum-duplicates has none to add up",
                            options.graph));
  }
  if (wants_weights) {
    set_weights(graph, options, session);
  } else {
    graph::drop_weights(graph);
  }
  if (range == WeightRange::not_negative) check_not_negative(graph, options.graph, session.pool());
  if (!options.id_map.empty()) write_id_map(options.id_map, VertexNames(input, graph));
  log_info(fmt::format("{}: loaded in {}", options.graph, duration(now_seconds() - begin)));
  return graph;
}

void set_weights(graph::Graph& graph, const GraphOptions& options, const Session& session) {
  api::set_weights(graph, options.graph, options.weights, "--weights", session.options().seed,
                   session.pool());
}

void describe_graph(Session& session, const GraphOptions& options, std::uint64_t vertices,
                    std::uint64_t edges) {
  session.json()["graph"] = options.graph;
  session.json()["vertices"] = vertices;
  session.json()["edges"] = edges;
  session.print("{}: {}, {}\n", options.graph, counted(vertices, "vertex", "vertices"),
                counted(edges, "directed edge", "directed edges"));
}

Json rows_json(const graph::MovedRows& rows) {
  return {{"broadcast", rows.broadcast},
          {"per_edge", rows.per_edge},
          {"once", rows.once},
          {"fused", rows.fused},
          {"cover", rows.cover}};
}

}  // namespace warren::app
