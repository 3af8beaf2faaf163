// SPDX-License-Identifier: Apache-2.0
// warren::read(): a graph by its name.
#include <utility>

#include <fmt/format.h>

#include "warren/api/graph.hpp"
#include "warren/api/graph_name.hpp"
#include "warren/api/session.hpp"
#include "warren/core/log.hpp"
#include "warren/dataset/folders.hpp"
#include "warren/graph/io.hpp"
#include "warren/graph/transform.hpp"

#include "api/graph_state.hpp"
#include "api/teams.hpp"

namespace warren {
namespace {

graph::Graph read_file(const api::GraphPlace& place, const graph::BuildOptions& build,
                       const ReadOptions& options, std::vector<std::string>& words,
                       exec::ThreadPool& pool) {
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
  return graph::read_graph(place.path, read, pool);
}

/// By id where ids are words, else of the dataset.
std::vector<std::string> names_of(const api::GraphPlace& place, std::vector<std::string> words,
                                  const graph::Graph& graph) {
  if (!words.empty() || place.names.empty()) return words;
  return learn::read_names(place.names, graph.vertices);
}

}  // namespace

Graph read(const std::string& name, const ReadOptions& options) {
  const std::string weights = options.weights == "none" ? "" : options.weights;
  (void)api::parse_weights(weights, "weights");
  graph::BuildOptions build = api::build_options(options);
  const api::GraphPlace place = api::find_graph(name, options.format, options.seed);
  if (place.generator) build = graph::effective_options(*place.generator, build);
  graph::Graph graph;
  std::vector<std::string> words;
  Session::standard().teams()->on_host([&](exec::ThreadPool& pool) {
    graph = place.generator ? graph::build(*graph::make_source(*place.generator), build, pool)
                            : read_file(place, build, options, words, pool);
    api::set_weights(graph, name, weights, "weights", options.seed, pool);
  });
  std::vector<std::string> names = names_of(place, std::move(words), graph);
  return Graph(std::move(graph), std::move(names));
}

}  // namespace warren
