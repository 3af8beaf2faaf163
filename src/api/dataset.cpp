// SPDX-License-Identifier: Apache-2.0
#include "warren/api/dataset.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "warren/api/dataset_name.hpp"
#include "warren/api/graph_name.hpp"
#include "warren/api/training.hpp"
#include "warren/core/error.hpp"
#include "warren/dataset/folders.hpp"

#include "api/graph_state.hpp"
#include "api/library_words.hpp"
#include "api/teams.hpp"

namespace warren {
namespace {

template <class Work>
void with_threads(const ReadOptions& options, Work&& work) {
  api::session_of(options.session).teams()->on_host(std::forward<Work>(work));
}

/// Of a public set as its authors publish it, whose files have one form and whose vertices are
/// numbered.
void refuse_file_options(const std::string& name, const ReadOptions& options) {
  const std::pair<const char*, bool> of_files[] = {{"--format", !options.format.empty()},
                                                   {"--ids", options.are_words},
                                                   {"--headings", options.has_headings.has_value()},
                                                   {"--one-based", options.one_based},
                                                   {"--compact", options.compact}};
  for (const auto& [option, is_given] : of_files)
    require(
        !is_given,
        fmt::format("{}: it is for graph files, and {} is a public dataset in the form that its "
                    "authors publish: leave it out",
                    option, name));
}

Graph read_public(const api::DatasetPlace& place, const std::string& name,
                  const ReadOptions& options) {
  refuse_file_options(name, options);
  const graph::BuildOptions build = api::build_options(options);
  const std::string weights = options.weights == "none" ? "" : options.weights;
  (void)api::parse_weights(weights, "--weights");
  graph::Graph graph;
  with_threads(options, [&](exec::ThreadPool& pool) {
    graph = api::read_public_graph(place, build, pool);
    api::set_weights(graph, name, weights, "--weights", options.seed, pool);
  });
  return Graph(std::move(graph));
}

Graph read_folder(const api::DatasetPlace& place, const std::string& name,
                  const ReadOptions& options, const api::ReadGraph& read_graph) {
  require(options.format.empty(),
          fmt::format("--format: it says what a graph file holds, and {} is a folder, whose file "
                      "graph.* says it by its name: leave it out",
                      name));
  Graph graph = read_graph(place.folder, options);
  const learn::DatasetFolder files = learn::open_dataset(place.folder);
  // Names are ids that are words, else the lines of names.txt.
  if (!graph.names().empty()) api::check_order_of_words(files.graph, files.names, graph.names());
  return graph;
}

}  // namespace

namespace api {

Dataset::Parts read_parts(const std::string& name, const DatasetOptions& options,
                          std::optional<learn::Contents> contents, const ReadGraph& read_graph) {
  if (!read_graph) return read_parts(name, options, contents, warren::read);
  const learn::LabelForm form = api::label_form(options.labels);
  const api::DatasetPlace place = api::find_dataset(name);
  const bool is_generated = place.form == api::DatasetForm::generator;
  require(is_generated || (options.features == 0 && options.classes == 0),
          "--features and --classes are for generated graphs; a dataset has its own");
  require(!is_generated || options.labels == "auto",
          "--labels is for datasets: a generated graph has classes");
  const bool is_labelled = is_generated ? options.classes != 0 : api::has_labels(place);
  if (!contents) contents = is_labelled ? learn::Contents::all : learn::Contents::features;
  Graph graph = is_generated        ? read_graph(name, options.graph)
                : place.is_public() ? read_public(place, name, options.graph)
                                    : read_folder(place, name, options.graph, read_graph);
  learn::Dataset content;
  if (is_generated) {
    with_threads(options.graph, [&](exec::ThreadPool& pool) {
      content = api::draw_contents(graph.vertices(), options.features, options.classes,
                                   options.graph.seed, *contents, pool);
    });
  } else {
    content = api::read_contents(place, graph.vertices(), *contents, form);
  }
  return {std::move(graph), std::move(content), name, is_generated, input_settings(name, options)};
}

}  // namespace api

namespace {

void take_features(const DatasetArrays& arrays, learn::Dataset& content) {
  const std::uint64_t n = content.vertices, size = arrays.features.size();
  require(size >= n && size % n == 0,
          fmt::format("features: got {} numbers, expected {} x f, a row for each vertex", size, n));
  content.width = size / n;
  for (std::uint64_t i = 0; i < size; ++i) {
    if (std::isfinite(arrays.features[i])) continue;
    throw UsageError(fmt::format("features: got {} in row {}, column {}, expected finite numbers",
                                 arrays.features[i], i / content.width, i % content.width));
  }
  content.dense.assign(arrays.features.begin(), arrays.features.end());
}

void take_labels(std::span<const std::int32_t> labels, learn::Dataset& content) {
  constexpr std::int32_t kMostClasses = 1 << 20;
  const std::uint64_t n = content.vertices;
  require(labels.size() == n,
          fmt::format("labels: got {}, expected {}, one a vertex", labels.size(), n));
  for (std::uint64_t v = 0; v < n; ++v)
    require(labels[v] >= -1 && labels[v] < kMostClasses,
            fmt::format("labels[{}]: got {}, expected a class of 0 to {}, or -1 for none", v,
                        labels[v], kMostClasses - 1));
  content.labels.assign(labels.begin(), labels.end());
  content.classes = static_cast<std::uint64_t>(*std::ranges::max_element(labels)) + 1;
  require(
      content.classes >= 2,
      fmt::format("labels: got {} classes, expected two or more: there is nothing to tell apart",
                  content.classes));
}

void take_label_rows(std::span<const std::uint8_t> rows, learn::Dataset& content) {
  const std::uint64_t n = content.vertices;
  require(rows.size() >= n && rows.size() % n == 0,
          fmt::format("label_rows: got {} numbers, expected {} x c, a row for each vertex",
                      rows.size(), n));
  content.loss = learn::LossKind::binary;
  content.classes = rows.size() / n;
  for (std::uint64_t i = 0; i < rows.size(); ++i)
    require(rows[i] <= 1, fmt::format("label_rows: got {} in row {}, column {}, expected 0 or 1",
                                      rows[i], i / content.classes, i % content.classes));
  content.targets.assign(rows.begin(), rows.end());
}

void take_split(const char* name, std::span<const Vertex> vertices, learn::Split split,
                learn::Dataset& content) {
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const Vertex v = vertices[i];
    if (v >= content.vertices)
      throw VertexError(fmt::format("{}[{}]: got {}, expected a vertex, 0 to {}", name, i, v,
                                    content.vertices - 1));
    require(content.labels.empty() || content.labels[v] >= 0,
            fmt::format("{}[{}]: got {}, expected a vertex with a label", name, i, v));
    require(content.splits[v] == learn::kNoSplit,
            fmt::format("{}[{}]: got {} for the second time, expected each vertex once in train, "
                        "validation and test together",
                        name, i, v));
    content.splits[v] = split;
  }
  require(!vertices.empty(), fmt::format("{}: got no vertices, expected one or more", name));
}

}  // namespace

Dataset read_dataset(const std::string& name, const DatasetOptions& options) {
  return api::told_in_library_words([&] { return Dataset(api::read_parts(name, options)); });
}

Dataset make_dataset(const Graph& graph, const DatasetArrays& arrays) {
  learn::Dataset content;
  content.vertices = graph.vertices();
  require(content.vertices != 0, "graph: got one without vertices, expected one or more");
  take_features(arrays, content);
  require(arrays.labels.empty() || arrays.label_rows.empty(),
          "labels and label_rows: got both, expected one of them");
  content.splits.assign(content.vertices, learn::kNoSplit);
  if (arrays.labels.empty() && arrays.label_rows.empty()) {
    require(arrays.train.empty() && arrays.validation.empty() && arrays.test.empty(),
            "labels: got none, expected one a vertex: train, validation and test say which are "
            "learnt from");
    content.splits.clear();
  } else {
    if (arrays.labels.empty())
      take_label_rows(arrays.label_rows, content);
    else
      take_labels(arrays.labels, content);
    take_split("train", arrays.train, learn::kTrain, content);
    take_split("validation", arrays.validation, learn::kValidation, content);
    take_split("test", arrays.test, learn::kTest, content);
    learn::finish_dataset(content, "labels");
  }
  return Dataset({graph, std::move(content), {}, false, {}});
}

}  // namespace warren
