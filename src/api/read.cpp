// SPDX-License-Identifier: Apache-2.0
// warren::read(): a graph by its name.
#include <utility>

#include <fmt/format.h>

#include "warren/api/graph.hpp"
#include "warren/api/graph_name.hpp"
#include "warren/api/session.hpp"
#include "warren/core/trace.hpp"
#include "warren/dataset/folders.hpp"
#include "warren/graph/generated_size.hpp"
#include "warren/graph/io.hpp"
#include "warren/graph/transform.hpp"

#include "api/file_lists.hpp"
#include "api/graph_state.hpp"
#include "api/library_words.hpp"
#include "api/memory_limit.hpp"
#include "api/teams.hpp"

namespace warren {
namespace {

graph::Graph read_file(const api::GraphPlace& place, const graph::BuildOptions& build,
                       const ReadOptions& options, std::vector<std::string>& words,
                       graph::WeightReport& weights, exec::ThreadPool& pool) {
  graph::ReadOptions read;
  read.build = build;
  read.one_based = options.one_based;
  read.compact = options.compact;
  read.least_vertices = place.least_vertices;
  read.format = options.format;
  read.words = &words;
  read.are_words = options.are_words;
  read.has_headings = options.has_headings;
  read.read_weights = options.weights.empty() || options.weights == "file";
  read.no_negative_weights = options.no_negative_weights;
  weights.takes_decimals = options.exact_decimals;
  read.weights = &weights;
  return graph::read_graph(place.path, read, pool);
}

/// By id where ids are words, else of the dataset.
std::vector<std::string> names_of(const api::GraphPlace& place, std::vector<std::string> words,
                                  Vertex vertices) {
  if (!words.empty() || place.names.empty()) return words;
  return learn::read_names(place.names, vertices);
}

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

}  // namespace

namespace api {

Graph read_place(const GraphPlace& place, const std::string& name, const ReadOptions& options) {
  const std::string weights = options.weights == "none" ? "" : options.weights;
  const auto uniform = parse_weights(weights, "--weights", options.seed);
  graph::BuildOptions build = build_options(options);
  if (place.generator) build = graph::effective_options(*place.generator, build);
  GraphFacts facts;
  facts.may_have_self_loops = !build.drop_self_loops;
  facts.session = options.session;
  const bool is_by_ranges = wants_ranges(options);
  if (place.generator && (options.draws_late || is_by_ranges) && (weights.empty() || uniform)) {
    const Drawing drawing{*place.generator, build, uniform, is_by_ranges};
    return Graph(std::make_shared<GraphState>(drawing, std::move(facts)));
  }
  if (auto file = lists_in_file(place, name, options, facts.lists_reason)) {
    facts.may_have_self_loops = file->may_have_self_loops();
    facts.names = names_of(place, {}, file->vertices());
    const auto read = [place, options](exec::ThreadPool& pool) {
      std::vector<std::string> words;
      graph::WeightReport report;
      graph::Graph graph = read_file(place, build_options(options), options, words, report, pool);
      graph::drop_weights(graph);
      return graph;
    };
    return Graph(std::make_shared<GraphState>(FileGraph{std::move(file), read}, std::move(facts)));
  }
  if (auto rows = rows_in_file(place, options, facts.lists_reason)) {
    facts.may_have_self_loops = rows->may_have_self_loops();
    facts.names = names_of(place, {}, rows->vertices());
    facts.weights.are_unread = options.weights == "none" && rows->has_weights();
    const auto read = [place, options, name, build, weights](exec::ThreadPool& pool) {
      std::vector<std::string> words;
      graph::WeightReport report;
      graph::Graph graph = read_file(place, build, options, words, report, pool);
      set_weights(graph, name, weights, "--weights", options.seed, pool);
      if (options.weights == "none") graph::drop_weights(graph);
      if (options.no_negative_weights) check_not_negative(graph, name, pool);
      return graph;
    };
    FileGraph by_rows{nullptr, read, std::move(rows), options.no_negative_weights, uniform};
    return Graph(std::make_shared<GraphState>(std::move(by_rows), std::move(facts)));
  }
  const HostMemoryLimit limit(options.host_memory);
  const Session session = session_of(options.session);
  graph::Graph graph;
  const auto load = [&](exec::ThreadPool& pool) {
    const TraceSpan span("load graph", 0);
    graph = place.generator ? graph::build(*graph::make_source(*place.generator), build, pool)
                            : read_file(place, build, options, facts.names, facts.weights, pool);
    set_weights(graph, name, weights, "--weights", options.seed, pool);
    if (options.weights == "none") graph::drop_weights(graph);
    if (options.no_negative_weights) check_not_negative(graph, name, pool);
  };
  try {
    if (place.generator)
      graph::check_host_memory(
          *place.generator, build, uniform.has_value(), name,
          options.host_memory == 0 ? "use a host with more memory" : "raise --host-memory");
    session.teams()->on_host(load);
  } catch (const MemoryError& error) {
    // It may still be traversed from a file.
    if (options.lists != Lists::fitting) throw;
    throw MemoryError("the host", error.bytes_asked(), error.bytes_free(),
                      cure_by_file(place, name, options));
  }
  facts.are_names_ids = !facts.names.empty();
  facts.names = names_of(place, std::move(facts.names), graph.vertices);
  return Graph(std::make_shared<GraphState>(std::move(graph), std::move(facts)));
}

}  // namespace api

namespace {

void refuse_list_options(const api::GraphPlace& place, const std::string& name,
                         const ReadOptions& options) {
  if (place.is_edge_list(options.format)) return;
  const std::pair<const char*, bool> of_lists[] = {
      {"--one-based", options.one_based},
      {"--compact", options.compact},
      {"--ids", options.are_words},
      {"--headings", options.has_headings.has_value()}};
  for (const auto& [option, is_given] : of_lists)
    require(!is_given, fmt::format("{}: it is for edge lists (.el, .wel, .txt, .tsv, .csv), and {} "
                                   "is none: leave it out",
                                   option, name));
}

}  // namespace

Graph read(const std::string& name, const ReadOptions& options) {
  return api::told_in_library_words([&] {
    const api::GraphPlace place = api::find_graph(name, options.format, options.seed);
    refuse_list_options(place, name, options);
    return api::read_place(place, name, options);
  });
}

}  // namespace warren
