// SPDX-License-Identifier: Apache-2.0
#include "graph_input.hpp"

#include <charconv>
#include <filesystem>

#include <fmt/ranges.h>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/core/trace.hpp"
#include "warren/graph/io.hpp"
#include "warren/graph/transform.hpp"

#include "dataset.hpp"
#include "text.hpp"

namespace warren::app {
namespace {

namespace fs = std::filesystem;

struct UniformWeights {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

/// The bounds of "uniform:LO:HI"; nothing for "file" and no weights at all.
std::optional<UniformWeights> parse_weights(const std::string& text) {
  if (text.empty() || text == "file") return std::nullopt;
  const auto refuse = [&] {
    throw UsageError(fmt::format(
        "--weights \"{}\": give uniform:LO:HI with whole numbers 0 <= LO <= HI <= 2147483647, or "
        "file",
        text));
  };
  const std::string prefix = "uniform:";
  const std::size_t colon = text.find(':', prefix.size());
  if (!text.starts_with(prefix) || colon == std::string::npos) refuse();
  UniformWeights weights;
  const auto number = [&](const char* begin, const char* end, std::int64_t& value) {
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (error != std::errc{} || stop != end || begin == end) refuse();
  };
  number(text.data() + prefix.size(), text.data() + colon, weights.low);
  number(text.data() + colon + 1, text.data() + text.size(), weights.high);
  if (weights.low < 0 || weights.low > weights.high || weights.high > 2147483647) refuse();
  return weights;
}

GraphInput dataset_input(const std::string& folder) {
  const DatasetFolder dataset = open_dataset(folder);
  GraphInput input;
  input.path = dataset.graph;
  input.names = dataset.names;
  return input;
}

GraphInput find_by_name(const std::string& name) {
  std::error_code error;
  if (fs::is_directory(name, error)) {
    // A shipped dataset is not hidden by a folder of its name that is none.
    const auto shipped = find_dataset(name);
    return dataset_input(shipped ? *shipped : name);
  }
  if (fs::exists(name, error)) {
    GraphInput input;
    input.path = name;
    return input;
  }
  if (const auto folder = find_dataset(name)) return dataset_input(*folder);
  if (graph::is_graph_file_name(name) || name.find('/') != std::string::npos) {
    throw InputError(fmt::format("{}: there is no such file; check the path", name));
  }
  const auto shipped = dataset_names();
  throw InputError(fmt::format(
      "\"{}\" is no file, generator or dataset; generators are kron:SCALE[,DEGREE], "
      "urand:SCALE[,DEGREE], grid:WIDTHxHEIGHT and community:VERTICES,DEGREE, datasets here: {}",
      name, shipped.empty() ? "none" : fmt::format("{}", fmt::join(shipped, ", "))));
}

}  // namespace

GraphInput find_graph(const Session& session, const GraphOptions& options) {
  (void)parse_weights(options.weights);
  graph::BuildOptions build;
  build.symmetrize = options.symmetrize;
  build.drop_self_loops = options.drop_self_loops;
  build.keep_duplicates = options.keep_duplicates;
  GraphInput input;
  input.generator = graph::parse_generator(options.graph, session.options().seed);
  if (!input.generator) input = find_by_name(options.graph);
  input.build = input.generator ? graph::effective_options(*input.generator, build) : build;
  return input;
}

graph::Graph load_graph(const Session& session, const GraphInput& input,
                        const GraphOptions& options, bool wants_weights) {
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
    read.read_weights = wants_weights && !options.weights.starts_with("uniform");
    graph = graph::read_graph(input.path, read, session.pool());
  }
  if (wants_weights) {
    set_weights(graph, options, session);
  } else {
    graph::drop_weights(graph);
  }
  log_info(fmt::format("{}: loaded in {}", options.graph, duration(now_seconds() - begin)));
  return graph;
}

void set_weights(graph::Graph& graph, const GraphOptions& options, const Session& session) {
  if (const auto uniform = parse_weights(options.weights)) {
    graph::set_uniform_weights(graph, uniform->low, uniform->high, session.options().seed,
                               session.pool());
  } else if (options.weights == "file" && graph.weight_type == graph::WeightType::none) {
    throw InputError(
        fmt::format("{}: it has no weights for --weights file; --weights uniform:LO:HI draws some",
                    options.graph));
  }
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
