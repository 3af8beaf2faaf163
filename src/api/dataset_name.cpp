// SPDX-License-Identifier: Apache-2.0
#include "warren/api/dataset_name.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "warren/api/checks.hpp"
#include "warren/api/dataset.hpp"
#include "warren/core/error.hpp"
#include "warren/core/printable.hpp"
#include "warren/dataset/folders.hpp"
#include "warren/graph/generate.hpp"

namespace warren::api {

DatasetPlace find_dataset(const std::string& name) {
  if (graph::parse_generator(name, 1)) return {DatasetForm::generator, {}};
  const std::string folder = learn::find_training_folder(name);
  if (learn::is_planetoid_folder(folder)) return {DatasetForm::planetoid, folder};
  if (learn::is_ogb_folder(folder)) return {DatasetForm::ogb, folder};
  if (learn::is_dgl_folder(folder)) return {DatasetForm::dgl, folder};
  return {DatasetForm::folder, folder};
}

bool has_labels(const DatasetPlace& place) {
  return place.form != DatasetForm::folder || learn::has_labels(place.folder);
}

graph::Graph read_public_graph(const DatasetPlace& place, const graph::BuildOptions& build,
                               exec::ThreadPool& pool) {
  switch (place.form) {
    case DatasetForm::planetoid:
      return learn::read_planetoid_graph(place.folder, build, pool);
    case DatasetForm::ogb:
      return learn::read_ogb_graph(place.folder, build, pool);
    default:
      return learn::read_dgl_graph(place.folder, build, pool);
  }
}

learn::Dataset read_contents(const DatasetPlace& place, std::uint64_t vertices,
                             learn::Contents contents, learn::LabelForm form) {
  switch (place.form) {
    case DatasetForm::planetoid: {
      learn::Dataset dataset = learn::read_planetoid_dataset(place.folder, vertices, contents);
      learn::settle_labels(dataset, form, place.folder);
      return dataset;
    }
    case DatasetForm::ogb:
      return learn::read_ogb_dataset(place.folder, vertices, contents, form);
    case DatasetForm::dgl:
      return learn::read_dgl_dataset(place.folder, vertices, contents, form);
    default:
      return learn::read_dataset(place.folder, vertices, contents, form);
  }
}

learn::Dataset draw_contents(std::uint64_t vertices, std::uint64_t features, std::uint64_t classes,
                             std::uint64_t seed, learn::Contents contents, exec::ThreadPool& pool) {
  constexpr std::uint64_t kFeatureClasses = 16;
  // Means of features are of classes.
  const bool has_features_alone = contents == learn::Contents::features;
  if (has_features_alone && classes == 0) classes = kFeatureClasses;
  require(features != 0 && classes != 0,
          has_features_alone
              ? "a generated graph has no features: give --features F"
              : "a generated graph has no features and labels: give --features F and --classes C");
  return learn::generate_dataset(vertices, features, classes, seed, pool, contents);
}

learn::LabelForm label_form(const std::string& name) {
  check_choice("--labels", name, {"auto", "classes", "several"});
  if (name == "classes") return learn::LabelForm::classes;
  return name == "several" ? learn::LabelForm::several : learn::LabelForm::automatic;
}

std::vector<std::string> vertex_names(const std::string& name) {
  const DatasetPlace place = find_dataset(name);
  if (place.form != DatasetForm::folder) return {};
  const std::string path = learn::open_dataset(place.folder).names;
  return path.empty() ? std::vector<std::string>{} : learn::read_names(path);
}

void check_order_of_words(const std::string& path, const std::string& names_path,
                          std::span<const std::string> words) {
  require(
      !names_path.empty(),
      fmt::format("{}: its ids are words, and nothing says whose the rows of features are: give "
                  "vertices numbers, the rows from 0, or write names.txt, a word a line, in the "
                  "order of the rows, which must be that in which the graph names them first "
                  "('warren convert --id-map' tells it)",
                  path));
  const std::vector<std::string> names = learn::read_names(names_path);
  const auto [name, word] = std::ranges::mismatch(names, words);
  require(
      word == words.end(),
      fmt::format("{}: line {} is {}, but the word that {} names as its number {} is {}: rows of "
                  "features must be in that order",
                  names_path, name - names.begin() + 1,
                  name == names.end() ? "missing" : "'" + printable(*name) + "'", path,
                  word - words.begin(), word == words.end() ? "" : "'" + printable(*word) + "'"));
}

learn::Settings input_settings(const std::string& name, const DatasetOptions& options) {
  const auto text = [](bool value) { return std::string(value ? "true" : "false"); };
  const ReadOptions& graph = options.graph;
  learn::Settings settings;
  settings["graph"] = name;
  // What some generators draw is so in any case.
  const auto generator = graph::parse_generator(name, 1);
  const bool has_choice = !generator || !generator->undirected();
  settings["symmetrize"] = text(graph.symmetrize && has_choice);
  settings["drop-self-loops"] = text(graph.drop_self_loops && has_choice);
  settings["keep-duplicates"] = text(graph.keep_duplicates);
  settings["sum-duplicates"] = text(graph.sum_duplicates);
  settings["ids"] = graph.are_words ? "words" : "auto";
  settings["headings"] = !graph.has_headings ? "auto" : (*graph.has_headings ? "yes" : "no");
  settings["one-based"] = text(graph.one_based);
  settings["compact"] = text(graph.compact);
  settings["weights"] = graph.weights;
  settings["labels"] = options.labels;
  if (options.features != 0) settings["features"] = fmt::format("{}", options.features);
  if (options.classes != 0) settings["classes"] = fmt::format("{}", options.classes);
  return settings;
}

}  // namespace warren::api
