// SPDX-License-Identifier: Apache-2.0
#include "train_input.hpp"

#include <utility>

#include <fmt/format.h>

#include "warren/api/dataset_name.hpp"
#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/dataset/folders.hpp"

#include "option_rules.hpp"

namespace warren::app {
namespace {

struct Loaded {
  graph::Graph graph;
  learn::Dataset dataset;
  std::vector<std::string> names;  ///< Of the vertices, where there are some.
};

Loaded draw(Session& session, const DatasetOptions& options, learn::Contents contents,
            bool wants_weights) {
  require(options.labels == "auto", "--labels is for datasets: a generated graph has classes");
  Loaded loaded;
  loaded.graph = load_graph(session, find_graph(session, options.graph), options.graph,
                            wants_weights, WeightRange::not_negative);
  loaded.dataset = api::draw_contents(loaded.graph.vertices, options.features, options.classes,
                                      session.options().seed, contents, session.pool());
  return loaded;
}

/// Of a public set as its authors publish it, whose files have one form and whose vertices are
/// numbered.
void refuse_file_options(const Session& session, const std::string& dataset) {
  for (const char* option :
       {"--format", "--ids", "--headings", "--id-map", "--one-based", "--compact"}) {
    require(
        !session.options().is_given(option),
        fmt::format("{}: it is for graph files, and {} is a public dataset in the form that its "
                    "authors publish: leave it out",
                    option, dataset));
  }
}

/// A public set: its graph, and then what is known of so many vertices.
Loaded read_public(Session& session, const api::DatasetPlace& place, const DatasetOptions& options,
                   learn::Contents contents, bool wants_weights) {
  refuse_file_options(session, options.graph.graph);
  graph::BuildOptions build;
  build.symmetrize = options.graph.symmetrize;
  build.drop_self_loops = options.graph.drop_self_loops;
  build.keep_duplicates = options.graph.keep_duplicates;
  build.sum_duplicates = options.graph.sum_duplicates;
  const auto progress = session.progress("reading " + options.graph.graph);
  Loaded loaded;
  loaded.graph = api::read_public_graph(place, build, session.pool());
  if (wants_weights) set_weights(loaded.graph, options.graph, session);
  loaded.dataset =
      api::read_contents(place, loaded.graph.vertices, contents, api::label_form(options.labels));
  return loaded;
}

Loaded read_folder(Session& session, const api::DatasetPlace& place, const DatasetOptions& options,
                   learn::Contents contents, bool wants_weights) {
  require(options.graph.format.empty(),
          fmt::format("--format: it says what a graph file holds, and {} is a folder, whose file "
                      "graph.* says it by its name: leave it out",
                      options.graph.graph));
  Loaded loaded;
  GraphOptions named = options.graph;
  named.graph = place.folder;
  const GraphInput input = find_graph(session, named);
  loaded.graph = load_graph(session, input, named, wants_weights, WeightRange::not_negative);
  if (!input.words->empty()) api::check_order_of_words(input.path, input.names, *input.words);
  if (!input.names.empty()) loaded.names = learn::read_names(input.names);
  const auto progress = session.progress("reading " + options.graph.graph);
  loaded.dataset =
      api::read_contents(place, loaded.graph.vertices, contents, api::label_form(options.labels));
  return loaded;
}

Loaded load(Session& session, const DatasetOptions& options, learn::Contents contents,
            bool wants_weights) {
  const api::DatasetPlace place = api::find_dataset(options.graph.graph);
  if (place.form == api::DatasetForm::generator)
    return draw(session, options, contents, wants_weights);
  require(options.features == 0 && options.classes == 0,
          "--features and --classes are for generated graphs; a dataset has its own");
  return place.is_public() ? read_public(session, place, options, contents, wants_weights)
                           : read_folder(session, place, options, contents, wants_weights);
}

}  // namespace

void add_dataset_options(CLI::App& command, DatasetOptions& options) {
  add_graph_options(command, options.graph);
  command.get_option("graph")->type_name("DATASET")->description(
      "A folder (graph.* or edge_index.npy, features.npy, .npz or .csv, labels.npy or .csv, "
      "train.txt, validation.txt, test.txt), one of the Open Graph Benchmark or that fetch "
      "brought, a name such as debian, or "
      "a generator with --features and --classes");
  add_number(command, "--features", options.features, "Of a generator: columns of features", "F", 1,
             kMostColumns);
  add_number(command, "--classes", options.classes, "Of a generator: classes", "C", 2,
             kMostColumns);
  command
      .add_option(
          "--normalize", options.normalize,
          "rows (each vertex' features sum to 1), none, auto: rows where features are sparse "
          "or none is negative, but never of a generator (auto)")
      ->type_name("HOW");
  command
      .add_option(
          "--labels", options.labels,
          "Of a dataset whose labels have several columns: classes (a row has one 1, or none: "
          "no label), several (any number of labels a vertex), auto: classes where every row "
          "has one 1 (auto)")
      ->type_name("HOW");
  command
      .add_option("--method", options.method,
                  "Partition over the ranks: ranges, random, degree, rabbit, metis")
      ->type_name("NAME");
  command
      .add_option("--reorder", options.reorder,
                  "Order of the vertices before they are cut: none, rabbit, degree, random")
      ->type_name("NAME");
}

warren::DatasetOptions library_options(const DatasetOptions& options, std::uint64_t seed) {
  const GraphOptions& graph = options.graph;
  warren::DatasetOptions library;
  library.graph = {.symmetrize = graph.symmetrize,
                   .drop_self_loops = graph.drop_self_loops,
                   .keep_duplicates = graph.keep_duplicates,
                   .sum_duplicates = graph.sum_duplicates,
                   .one_based = graph.one_based,
                   .compact = graph.compact,
                   .format = graph.format,
                   .are_words = graph.ids == "words",
                   .weights = graph.weights,
                   .seed = seed};
  if (graph.headings != "auto") library.graph.has_headings = graph.headings == "yes";
  library.features = options.features;
  library.classes = options.classes;
  library.labels = options.labels;
  return library;
}

TrainInput::TrainInput(Session& session, const DatasetOptions& options, const api::Needs& needs) {
  const api::Preparation how{.normalize = options.normalize,
                             .method = options.method,
                             .reorder = options.reorder,
                             .name = options.graph.graph,
                             .is_generated = options.features != 0,
                             .dense = needs.dense,
                             .links = needs.links,
                             .ranks = session.team().ranks,
                             .seed = session.options().seed};
  api::check(how);
  (void)api::label_form(options.labels);
  require(
      options.graph.weights.empty() || needs.weights,
      "--weights: no model reads weights of edges; they are for train --mode sampled --weighted, "
      "which draws neighbours by them");
  require(!needs.links || options.labels == "auto", "--labels: links are learnt without labels");
  Loaded loaded =
      load(session, options, needs.unlabelled ? learn::Contents::features : learn::Contents::all,
           needs.weights);
  require(!needs.weights || loaded.graph.weight_type != graph::WeightType::none,
          options.graph.graph +
              ": --weighted needs edges with weights; --weights uniform:LO:HI draws some");
  describe_graph(session, options.graph, loaded.graph.vertices, loaded.graph.edges());
  session.json()["method"] = options.method;
  session.json()["reorder"] = options.reorder;
  if (needs.unlabelled) learn::drop_labels(loaded.dataset, *needs.unlabelled);
  for (const std::string& warning : loaded.dataset.warnings) log_warning(warning);
  const auto progress = session.progress("preparing");
  static_cast<api::TrainingData&>(*this) =
      api::prepare(std::move(loaded.graph), std::move(loaded.dataset), how, session.pool());
  for (const std::string& warning : warnings) log_warning(warning);
  warnings.clear();
  names = std::move(loaded.names);
}

}  // namespace warren::app
