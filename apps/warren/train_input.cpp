// SPDX-License-Identifier: Apache-2.0
#include "train_input.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/core/printable.hpp"
#include "warren/core/trace.hpp"
#include "warren/dataset/folders.hpp"
#include "warren/graph/reorder.hpp"
#include "warren/graph/transform.hpp"

#include "option_rules.hpp"
#include "vertex_names.hpp"

namespace warren::app {
namespace {

constexpr std::uint64_t kLinkClasses = 16;
// Sparse products with more of the elements than this are slower than dense ones.
constexpr double kDenseShare = 0.15;

struct Loaded {
  graph::Graph graph;
  learn::Dataset dataset;
  std::vector<std::string> names;  ///< Of the vertices, where there are some.
};

learn::LabelForm label_form(const std::string& name) {
  if (name == "classes") return learn::LabelForm::classes;
  return name == "several" ? learn::LabelForm::several : learn::LabelForm::automatic;
}

Loaded draw(Session& session, const GraphInput& input, const DatasetOptions& options,
            learn::Contents contents, bool wants_weights) {
  require(options.labels == "auto", "--labels is for datasets: a generated graph has classes");
  // Means of features are of classes, of which links need nothing more.
  const bool is_of_links = contents == learn::Contents::features;
  const std::uint64_t classes =
      is_of_links && options.classes == 0 ? kLinkClasses : options.classes;
  require(options.features != 0 && classes != 0,
          is_of_links
              ? "a generated graph has no features: give --features F"
              : "a generated graph has no features and labels: give --features F and --classes C");
  Loaded loaded;
  loaded.graph =
      load_graph(session, input, options.graph, wants_weights, WeightRange::not_negative);
  loaded.dataset = learn::generate_dataset(loaded.graph.vertices, options.features, classes,
                                           session.options().seed, session.pool(), contents);
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
template <class ReadGraph, class ReadContents>
Loaded read_public(Session& session, const DatasetOptions& options, bool wants_weights,
                   ReadGraph&& read_graph, ReadContents&& read_contents) {
  refuse_file_options(session, options.graph.graph);
  const auto progress = session.progress("reading " + options.graph.graph);
  Loaded loaded;
  loaded.graph = read_graph();
  if (wants_weights) set_weights(loaded.graph, options.graph, session);
  loaded.dataset = read_contents(loaded.graph.vertices);
  return loaded;
}

/// Row i of the features belongs to vertex i. Words are numbered in the order in which the graph
/// names them first, which only a names.txt in that order says is the rows' order, too.
void check_order_of_words(const GraphInput& input) {
  require(
      !input.names.empty(),
      fmt::format("{}: its ids are words, and nothing says whose the rows of features are: give "
                  "vertices numbers, the rows from 0, or write names.txt, a word a line, in the "
                  "order of the rows, which must be that in which the graph names them first "
                  "(--id-map tells it)",
                  input.path));
  const std::vector<std::string> names = learn::read_names(input.names);
  const std::vector<std::string>& words = *input.words;
  const auto [name, word] = std::ranges::mismatch(names, words);
  require(
      word == words.end(),
      fmt::format("{}: line {} is {}, but the word that {} names as its number {} is {}: rows of "
                  "features must be in that order",
                  input.names, name - names.begin() + 1,
                  name == names.end() ? "missing" : "'" + printable(*name) + "'", input.path,
                  word - words.begin(), word == words.end() ? "" : "'" + printable(*word) + "'"));
}

Loaded read(Session& session, const std::string& folder, const DatasetOptions& options,
            learn::Contents contents, bool wants_weights) {
  require(options.features == 0 && options.classes == 0,
          "--features and --classes are for generated graphs; a dataset has its own");
  const learn::LabelForm form = label_form(options.labels);
  graph::BuildOptions build;
  build.symmetrize = options.graph.symmetrize;
  build.drop_self_loops = options.graph.drop_self_loops;
  build.keep_duplicates = options.graph.keep_duplicates;
  build.sum_duplicates = options.graph.sum_duplicates;
  exec::ThreadPool& pool = session.pool();
  if (learn::is_planetoid_folder(folder))
    return read_public(
        session, options, wants_weights,
        [&] { return learn::read_planetoid_graph(folder, build, pool); },
        [&](std::uint64_t vertices) {
          learn::Dataset dataset = learn::read_planetoid_dataset(folder, vertices, contents);
          learn::settle_labels(dataset, form, folder);
          return dataset;
        });
  if (learn::is_ogb_folder(folder))
    return read_public(
        session, options, wants_weights, [&] { return learn::read_ogb_graph(folder, build, pool); },
        [&](std::uint64_t vertices) {
          return learn::read_ogb_dataset(folder, vertices, contents, form);
        });
  if (learn::is_dgl_folder(folder))
    return read_public(
        session, options, wants_weights, [&] { return learn::read_dgl_graph(folder, build, pool); },
        [&](std::uint64_t vertices) {
          return learn::read_dgl_dataset(folder, vertices, contents, form);
        });
  require(options.graph.format.empty(),
          fmt::format("--format: it says what a graph file holds, and {} is a folder, whose file "
                      "graph.* says it by its name: leave it out",
                      options.graph.graph));
  Loaded loaded;
  GraphOptions named = options.graph;
  named.graph = folder;
  const GraphInput input = find_graph(session, named);
  loaded.graph = load_graph(session, input, named, wants_weights, WeightRange::not_negative);
  if (!input.words->empty()) check_order_of_words(input);
  if (!input.names.empty()) loaded.names = learn::read_names(input.names);
  const auto progress = session.progress("reading " + options.graph.graph);
  loaded.dataset = learn::read_dataset(folder, loaded.graph.vertices, contents, form);
  return loaded;
}

Loaded load(Session& session, const DatasetOptions& options, learn::Contents contents,
            bool wants_weights) {
  if (const auto generator = graph::parse_generator(options.graph.graph, session.options().seed)) {
    return draw(session, find_graph(session, options.graph), options, contents, wants_weights);
  }
  return read(session, learn::find_training_folder(options.graph.graph), options, contents,
              wants_weights);
}

/// Rows of dense features with negative elements are not shares of anything: divided by their
/// sizes' sum they are left so small that nothing is learnt from them. A generator's are drawn as
/// they are meant to be.
std::string normalization(const DatasetOptions& options, const learn::Dataset& dataset) {
  if (options.normalize == "none") return "none";
  const auto negative = learn::first_negative(dataset);
  if (options.normalize == "rows") {
    if (negative)
      log_warning(fmt::format(
          "--normalize rows: feature {} of vertex {} is {}: rows with negative features are "
          "divided "
          "by the sum of their elements' sizes, which leaves little of them; --normalize auto "
          "leaves them alone",
          *negative % dataset.width, *negative / dataset.width, dataset.dense[*negative]));
    return "rows";
  }
  const bool is_generated = options.features != 0;
  return is_generated || negative ? "none" : "rows";
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

TrainInput::TrainInput(Session& session, const DatasetOptions& options, const InputNeeds& needs) {
  check_choice("--normalize", options.normalize, {"auto", "rows", "none"}, {});
  check_choice("--labels", options.labels, {"auto", "classes", "several"}, {});
  require(
      options.graph.weights.empty() || needs.weights,
      "--weights: no model reads weights of edges; they are for train --mode sampled --weighted, "
      "which draws neighbours by them");
  require(!needs.links || options.labels == "auto", "--labels: links are learnt without labels");
  check_method(options.method);
  check_choice("--reorder", options.reorder, {"none", "rabbit", "degree", "random"}, {});
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
  const TraceSpan span("order and cut", 0);
  dataset = std::move(loaded.dataset);
  names = std::move(loaded.names);
  normalize = normalization(options, dataset);
  if (normalize == "rows") learn::normalize_rows(dataset);
  learn::make_dense(dataset, needs.dense ? 0.0 : kDenseShare);

  graph::Graph graph = std::move(loaded.graph);
  exec::ThreadPool& pool = session.pool();
  const std::uint64_t seed = session.options().seed;
  const auto order = graph::make_order(graph, options.reorder, seed, pool);
  if (!order.empty()) graph = graph::relabel(graph, order.span(), pool);
  const graph::Partition cut =
      graph::make_partition(graph, options.method, session.team().ranks, seed);
  const bool is_symmetric = graph::is_symmetric(graph, pool);
  if (!cut.identity()) graph = graph::relabel(graph, cut.new_id.span(), pool);
  const graph::Partition partition = graph::after_order(order, cut);
  graphs.cuts = partition.cuts;
  if (!partition.identity()) {
    graphs.input_ids.assign(partition.old_id.data(),
                            partition.old_id.data() + partition.old_id.size());
  }
  graphs.out = std::make_shared<const graph::Graph>(std::move(graph));
  graphs.in = is_symmetric
                  ? graphs.out
                  : std::make_shared<const graph::Graph>(graph::transpose(*graphs.out, pool));
  if (needs.links) {
    links = std::make_shared<const learn::LinkSplit>(
        learn::hold_out_links(graphs, seed, options.graph.graph, pool));
  }
}

}  // namespace warren::app
