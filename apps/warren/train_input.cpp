// SPDX-License-Identifier: Apache-2.0
#include "train_input.hpp"

#include <utility>

#include <fmt/format.h>

#include "warren/api/dataset_name.hpp"
#include "warren/api/restored.hpp"
#include "warren/core/error.hpp"
#include "warren/core/log.hpp"

#include "option_rules.hpp"

namespace warren::app {
namespace {

std::string value_of(const CLI::App& command, const std::string& option) {
  const CLI::Option* found = command.get_option_no_throw(option);
  return found == nullptr || found->results().empty() ? "" : found->results().front();
}

void restore(CLI::App& command, const std::string& folder, const std::string& name,
             const std::string& value) {
  CLI::Option* option = command.get_option_no_throw("--" + name);
  if (option == nullptr || value.empty() || value == "false" || value == "auto") return;
  option->clear();
  try {
    option->add_result(value);
    option->run_callback();
  } catch (const CLI::ParseError& error) {
    throw InputError(fmt::format("{}: what its checkpoint keeps of the options is damaged: {}",
                                 folder, error.what()));
  }
  // The value stays, and the command line has not given it.
  option->clear();
}

warren::DatasetOptions library_options(const DatasetOptions& options, std::uint64_t seed) {
  return {options.graph.reading(seed), options.features, options.classes, options.labels};
}

Dataset::Parts read_parts(Session& session, const DatasetOptions& options,
                          const api::Needs& needs) {
  const std::string& dataset = options.graph.graph;
  require(options.graph.id_map.empty() || !api::find_dataset(dataset).is_public(),
          fmt::format("--id-map: it is for graph files, and {} is a public dataset in the form "
                      "that its authors publish: leave it out",
                      dataset));
  auto progress = session.progress("reading " + dataset);
  // A reader of graphs shows what it does itself.
  const auto read_graph = [&](const std::string& name, const ReadOptions& /*options*/) {
    progress.reset();
    GraphOptions own = options.graph;
    own.graph = name;
    warren::Graph graph =
        load_graph(session, find_graph(session, own), own, needs.weights,
                   needs.negative_weights ? WeightRange::any : WeightRange::not_negative);
    progress = session.progress("reading " + dataset);
    return graph;
  };
  return api::read_parts(dataset, library_options(options, session.options().seed),
                         needs.unlabelled ? learn::Contents::features : learn::Contents::all,
                         read_graph);
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

bool restore_options(CLI::App& command, const std::string& folder, const learn::Settings& stored) {
  api::RestoringCall call{
      .folder = folder,
      .graph = value_of(command, "graph"),
      .mode = value_of(command, "--mode"),
      .purpose = command.get_name() == "predict" ? learn::Purpose::predict : learn::Purpose::resume,
      .given = {},
      .allows_changes = command.count("--allow-changes") != 0};
  for (const auto& [name, value] : stored) call.given[name] = value_of(command, "--" + name);
  const api::Restored restored = api::restored(stored, call);
  for (const auto& [name, value] : restored.settings) restore(command, folder, name, value);
  return restored.has_changes;
}

learn::Settings input_settings(const DatasetOptions& options, std::uint64_t seed) {
  learn::Settings settings =
      api::input_settings(options.graph.graph, library_options(options, seed));
  settings["normalize"] = options.normalize;
  settings["reorder"] = options.reorder;
  return settings;
}

api::TrainingData read_training_data(Session& session, const DatasetOptions& options,
                                     const api::Needs& needs) {
  const api::Preparation how{.normalize = options.normalize,
                             .method = options.method,
                             .reorder = options.reorder,
                             .ranks = session.ranks(),
                             .seed = session.options().seed};
  api::check(how);
  require(options.graph.weights.empty() || needs.weights,
          "--weights: this model's edges count 1 each; weights are for train --edge-weights, which "
          "sums over neighbours by them, and train --mode sampled --weighted, which draws by them");
  require(!needs.links || options.labels == "auto", "--labels: links are learnt without labels");
  Dataset::Parts parts = read_parts(session, options, needs);
  require(!needs.weights || parts.graph.is_weighted(),
          fmt::format("{}: its edges have no weights, and {}; --weights uniform:LO:HI draws some",
                      options.graph.graph, api::reason_of_weights(needs)));
  describe_graph(session, options.graph, parts.graph.vertices(), parts.graph.edges());
  session.json()["method"] = options.method;
  session.json()["reorder"] = options.reorder;
  for (const std::string& warning : parts.content.warnings) log_warning(warning);
  api::TrainingData data = session.during("preparing", [&] {
    return api::ready_data(std::move(parts), how, needs, session.library());
  });
  for (const std::string& warning : std::exchange(data.warnings, {})) log_warning(warning);
  return data;
}

}  // namespace warren::app
