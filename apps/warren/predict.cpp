// SPDX-License-Identifier: Apache-2.0
// warren predict: what a trained model says of every vertex, exactly, on the whole graph; and of
// pairs of vertices, if it is a model of links.
#include <algorithm>
#include <optional>

#include "warren/api/dataset_name.hpp"
#include "warren/api/training.hpp"
#include "warren/core/error.hpp"
#include "warren/dataset/npy.hpp"
#include "warren/graph/generate.hpp"
#include "warren/learn/checkpoint_folder.hpp"
#include "warren/learn/trainer.hpp"

#include "command.hpp"
#include "mode.hpp"
#include "option_rules.hpp"
#include "predict_output.hpp"
#include "stored_options.hpp"
#include "text.hpp"
#include "train_input.hpp"

namespace warren::app {
namespace {

struct PredictCommand {
  CommonOptions common;
  DatasetOptions dataset;
  std::string checkpoint;
  std::string output, scores, embeddings, pairs;
  bool no_labels = false;
  bool allow_changes = false;
};

/// Files to write; empty: not wanted.
struct Outputs {
  std::string text, scores, embeddings;
};

/// --scores and --embeddings without a file say what --output's file holds.
Outputs outputs_of(const PredictCommand& options) {
  Outputs outputs{options.output, options.scores, options.embeddings};
  const bool scores_there = options.common.is_given("--scores") && options.scores.empty();
  const bool embeddings_there =
      options.common.is_given("--embeddings") && options.embeddings.empty();
  require(!(scores_there || embeddings_there) || !options.output.empty(),
          "--scores and --embeddings need a file to write: give --output FILE, or the file behind "
          "them");
  require(!scores_there || !embeddings_there,
          "--output is one file: give --scores and --embeddings a file each");
  if (scores_there) outputs = {"", options.output, options.embeddings};
  if (embeddings_there) outputs = {"", options.scores, options.output};
  return outputs;
}

void tell_files(const Session& session, const PredictCommand& options, const Outputs& outputs) {
  for (const std::string& file : learn::checkpoint_files(options.checkpoint)) session.reads(file);
  session.reads(options.pairs);
  if (!outputs.text.empty()) session.writes("--output", outputs.text);
  if (!outputs.scores.empty()) session.writes("--scores", outputs.scores);
  if (!outputs.embeddings.empty()) session.writes("--embeddings", outputs.embeddings);
}

using api::Prediction;

Prediction measure(const Session& session, const api::PredictionJob& job) {
  return session.during("predicting", [&] { return api::run_prediction(session.library(), job); });
}

/// Whether there are labels to compare with.
bool finds_labels(const PredictCommand& options) {
  return !options.no_labels && api::has_labels(api::find_dataset(options.dataset.graph.graph));
}

void report_accuracy(Session& session, const Prediction& outcome) {
  if (!outcome.scores) {
    session.row("accuracy", "none: there are no labels to compare with");
    return;
  }
  const learn::Scores& scores = *outcome.scores;
  Json& json = session.json();
  json["train_accuracy"] = scores[0].accuracy;
  json["validation_accuracy"] = scores[1].accuracy;
  json["test_accuracy"] = scores[2].accuracy;
  session.row("training, validation, test", "{:.4f}, {:.4f}, {:.4f}", scores[0].accuracy,
              scores[1].accuracy, scores[2].accuracy);
}

void write_links(const PredictCommand& options, const Outputs& outputs, const TrainInput& input,
                 const Prediction& outcome, std::uint64_t width, Session& session) {
  Json& json = session.json();
  if (!outputs.embeddings.empty())
    learn::write_npy(outputs.embeddings, input.dataset.vertices, width, outcome.rows);
  json["embedding"] = width;
  if (options.pairs.empty()) return;
  const auto pairs = read_pairs(options.pairs, input.dataset.vertices, input.names);
  const auto scores = api::pair_scores(pairs.links, outcome.rows, width);
  if (!outputs.text.empty()) write_pairs(outputs.text, pairs, scores);
  if (!outputs.scores.empty()) learn::write_npy(outputs.scores, pairs.links.size(), 1, scores);
  const auto likely = static_cast<std::uint64_t>(
      std::count_if(scores.begin(), scores.end(), [](float score) { return score > 0.0f; }));
  json["pairs"] = pairs.links.size();
  json["likely_pairs"] = likely;
  session.row("pairs", "{}, {} of them likelier linked than not", thousands(pairs.links.size()),
              thousands(likely));
}

void write_nodes(const Outputs& outputs, const TrainInput& input, const Prediction& outcome,
                 const learn::ModelOptions& model) {
  if (!outputs.text.empty()) write_classes(outputs.text, input.dataset, outcome.rows);
  if (!outputs.scores.empty())
    learn::write_npy(outputs.scores, input.dataset.vertices, model.classes, outcome.rows);
  if (!outputs.embeddings.empty())
    learn::write_npy(outputs.embeddings, input.dataset.vertices, model.hidden, outcome.embeddings);
}

/// What only a model of links, or only one of classes, can be asked.
void check_task(const PredictCommand& options, const Outputs& outputs, bool is_of_links) {
  require(is_of_links || options.pairs.empty(),
          options.checkpoint +
              ": --pairs is for models of links (train --task link); this one tells classes of "
              "vertices");
  require(!is_of_links || !options.pairs.empty() || !outputs.embeddings.empty(),
          options.checkpoint +
              ": the model is of links (train --task link): give --pairs FILE, of two vertices a "
              "line, or --embeddings FILE");
  require(
      !is_of_links || !options.pairs.empty() || (outputs.text.empty() && outputs.scores.empty()),
      "--output and --scores of a model of links are of pairs: give --pairs FILE");
}

ExitStatus run_predict(const PredictCommand& options) {
  require(!options.checkpoint.empty(), "predict needs --checkpoint DIR, which train has written");
  const Model model = load_model(options.checkpoint);
  const learn::Checkpoint& checkpoint = model.facts();
  const Outputs outputs = outputs_of(options);
  const bool is_of_links = checkpoint.is_of_links;
  check_task(options, outputs, is_of_links);
  if (checkpoint.settings.empty()) warn_of_old_checkpoint(options.checkpoint);
  bool has_changes =
      restore_options(*options.common.parsers.front(), options.checkpoint, checkpoint.settings);
  const learn::Settings given = input_settings(options.dataset, options.common.seed);
  has_changes |= learn::check_settings(options.checkpoint, learn::Purpose::predict,
                                       checkpoint.settings, given, options.allow_changes);
  Session session("predict", options.common);
  tell_files(session, options, outputs);
  warn_without_effect(options.common, {"--repeat"}, "predict runs once");
  if (!has_changes) warn_without_effect(options.common, {"--allow-changes"}, kNothingDiffers);
  session.warn_of_seed(graph::parse_generator(options.dataset.graph.graph, 1).has_value() ||
                       options.dataset.graph.weights.starts_with("uniform") ||
                       is_drawn(options.dataset.method) || is_drawn(options.dataset.reorder));
  const learn::TrainOptions train = api::predict_options(checkpoint);
  const bool has_labels = !is_of_links && finds_labels(options);
  api::Needs needs = api::needs_of(train);
  if (!has_labels) needs.unlabelled = train.model.classes;
  TrainInput input(session, options.dataset, needs);
  api::fit_to_model(options.checkpoint, checkpoint, has_labels, input.dataset);
  const Prediction outcome =
      measure(session, {.data = input,
                        .options = train,
                        .model = model.file(),
                        .name = learn::model_path(options.checkpoint),
                        .has_labels = has_labels,
                        .wants_embeddings = !is_of_links && !outputs.embeddings.empty()});
  Json& json = session.json();
  session.print("\n");
  json["seconds"] = std::vector<double>{outcome.seconds};
  set_bytes_between_hosts(json, outcome.bytes_between_hosts);
  json["model"] = learn::name_of(train.model.kind);
  json["task"] = is_of_links ? "link" : "node";
  json["normalize"] = input.normalize;
  session.row("model", "{}, on {}", learn::name_of(train.model.kind), session.place());
  session.row("time", "{}", duration(outcome.seconds));
  const Outputs written = is_first_process() ? outputs : Outputs{};
  if (is_of_links) {
    write_links(options, written, input, outcome, train.model.classes, session);
  } else {
    write_nodes(written, input, outcome, train.model);
    report_accuracy(session, outcome);
    // Of links the model saw a part of the edges.
    if (outcome.is_trained_on) json["trained_on"] = *outcome.is_trained_on;
    if (outcome.is_trained_on == false)
      session.row("dataset", "another graph or other features than the model was trained on");
  }
  session.finish();
  return ExitStatus::done;
}

}  // namespace

void add_predict(CLI::App& program, Action& action) {
  const auto [predict, options] = add_command<PredictCommand>(
      program, action, "predict", "What a trained model says",
      "Example:\n  warren predict debian --checkpoint model --output classes.txt", run_predict);
  add_dataset_options(predict, options.dataset);
  add_text(predict, "--checkpoint", options.checkpoint,
           "The folder that train has written; inputs are made as they were for training", "DIR");
  add_text(predict, "--output", options.output,
           "A line for each vertex: its id and its class; of --pairs for each pair: its "
           "vertices and the probability of a link",
           "FILE");
  add_text(predict, "--scores", options.scores,
           "Every vertex' scores of the classes, before softmax or sigmoid, as a .npy file; of "
           "--pairs each pair's. Without FILE: --output's file is that",
           "[FILE]")
      ->expected(0, 1);
  add_text(predict, "--embeddings", options.embeddings,
           "What the last layer reads of every vertex, of models of links their output, as a .npy "
           "file. Without FILE: --output's file is that",
           "[FILE]")
      ->expected(0, 1);
  add_text(predict, "--pairs", options.pairs,
           "Of models of links: pairs to predict, two vertices a line", "FILE");
  predict
      .add_flag("--no-labels", options.no_labels,
                "Do without the dataset's labels and splits, and tell no accuracy")
      ->excludes("--labels");
  predict.add_flag("--allow-changes", options.allow_changes,
                   "Make inputs otherwise than for training, by --normalize, --symmetrize and the "
                   "like");
  add_common_options(predict, options.common);
}

}  // namespace warren::app
