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

graph::Graph read_public(Session& session, const api::DatasetPlace& place,
                         const GraphOptions& options, bool wants_weights) {
  refuse_file_options(session, options.graph);
  graph::BuildOptions build;
  build.symmetrize = options.symmetrize;
  build.drop_self_loops = options.drop_self_loops;
  build.keep_duplicates = options.keep_duplicates;
  build.sum_duplicates = options.sum_duplicates;
  graph::Graph graph = api::read_public_graph(place, build, session.pool());
  if (wants_weights) set_weights(graph, options, session);
  return graph;
}

/// Of a folder, its vertices' names, too.
Loaded read_own(Session& session, const api::DatasetPlace& place, GraphOptions options,
                const api::Needs& needs) {
  if (place.form == api::DatasetForm::folder) {
    require(options.format.empty(),
            fmt::format("--format: it says what a graph file holds, and {} is a folder, whose file "
                        "graph.* says it by its name: leave it out",
                        options.graph));
    options.graph = place.folder;
  }
  const api::GraphPlace input = find_graph(session, options);
  const warren::Graph graph =
      load_graph(session, input, options, needs.weights,
                 needs.negative_weights ? WeightRange::any : WeightRange::not_negative);
  if (graph.are_names_ids()) api::check_order_of_words(input.path, input.names, graph.names());
  Loaded loaded;
  loaded.graph = graph.csr();
  if (!input.names.empty()) loaded.names = learn::read_names(input.names);
  return loaded;
}

Loaded load(Session& session, const DatasetOptions& options, const api::Needs& needs) {
  const learn::Contents contents =
      needs.unlabelled ? learn::Contents::features : learn::Contents::all;
  const api::DatasetPlace place = api::find_dataset(options.graph.graph);
  const bool is_drawn = place.form == api::DatasetForm::generator;
  require(is_drawn || (options.features == 0 && options.classes == 0),
          "--features and --classes are for generated graphs; a dataset has its own");
  require(!is_drawn || options.labels == "auto",
          "--labels is for datasets: a generated graph has classes");
  Loaded loaded;
  if (!place.is_public()) loaded = read_own(session, place, options.graph, needs);
  const auto progress = session.progress("reading " + options.graph.graph);
  if (place.is_public()) loaded.graph = read_public(session, place, options.graph, needs.weights);
  loaded.dataset =
      is_drawn ? api::draw_contents(loaded.graph.vertices, options.features, options.classes,
                                    session.options().seed, contents, session.pool())
               : api::read_contents(place, loaded.graph.vertices, contents,
                                    api::label_form(options.labels));
  return loaded;
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
  add_text(command, "--normalize", options.normalize,
           "rows (each vertex' features sum to 1), none, auto: rows where features are sparse "
           "or none is negative, but never of a generator (auto)",
           "HOW");
  add_text(command, "--labels", options.labels,
           "Of a dataset whose labels have several columns: classes (a row has one 1, or none: "
           "no label), several (any number of labels a vertex), auto: classes where every row "
           "has one 1 (auto)",
           "HOW");
  add_method(command, options.method);
  add_reorder(command, options.reorder);
}

warren::DatasetOptions library_options(const DatasetOptions& options, std::uint64_t seed) {
  return {options.graph.reading(seed), options.features, options.classes, options.labels};
}

TrainInput::TrainInput(Session& session, const DatasetOptions& options, const api::Needs& needs) {
  const api::Preparation how{.normalize = options.normalize,
                             .method = options.method,
                             .reorder = options.reorder,
                             .name = options.graph.graph,
                             .is_generated = options.features != 0,
                             .dense = needs.dense,
                             .links = needs.links,
                             .ranks = session.ranks(),
                             .seed = session.options().seed};
  api::check(how);
  (void)api::label_form(options.labels);
  require(options.graph.weights.empty() || needs.weights,
          "--weights: this model's edges count 1 each; weights are for train --edge-weights, which "
          "sums over neighbours by them, and train --mode sampled --weighted, which draws by them");
  require(!needs.links || options.labels == "auto", "--labels: links are learnt without labels");
  Loaded loaded = load(session, options, needs);
  require(!needs.weights || loaded.graph.weight_type != graph::WeightType::none,
          fmt::format("{}: its edges have no weights, and {}; --weights uniform:LO:HI draws some",
                      options.graph.graph, api::reason_of_weights(needs)));
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
