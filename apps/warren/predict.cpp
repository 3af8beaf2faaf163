// SPDX-License-Identifier: Apache-2.0
// warren predict: what a trained model says of every vertex, exactly, on the whole graph; and of
// pairs of vertices, if it is a model of links.
#include "warren/api/dataset_name.hpp"
#include "warren/api/predictions.hpp"
#include "warren/api/report_training.hpp"
#include "warren/api/restored.hpp"
#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/graph/generate.hpp"
#include "warren/learn/checkpoint_folder.hpp"
#include "warren/learn/trainer.hpp"

#include "option_rules.hpp"
#include "train_input.hpp"

namespace warren::app {
namespace {

struct PredictCommand {
  CommonOptions common;
  DatasetOptions dataset;
  std::string checkpoint;
  std::string output, scores, embeddings, pairs;
  bool no_labels = false;
  bool exact_products = false;
  bool allow_changes = false;
};

/// --scores and --embeddings without a file say what --output's file holds.
api::PredictionFiles outputs_of(const PredictCommand& options) {
  api::PredictionFiles outputs{options.output, options.scores, options.embeddings};
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

void tell_files(const Session& session, const PredictCommand& options,
                const api::PredictionFiles& outputs) {
  for (const std::string& file : learn::checkpoint_files(options.checkpoint)) session.reads(file);
  session.reads(options.pairs);
  if (!outputs.text.empty()) session.writes("--output", outputs.text);
  if (!outputs.scores.empty()) session.writes("--scores", outputs.scores);
  if (!outputs.embeddings.empty()) session.writes("--embeddings", outputs.embeddings);
}

/// What only a model of links, or only one of classes, can be asked.
void check_task(const PredictCommand& options, const api::PredictionFiles& outputs,
                bool is_of_links) {
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
  const api::PredictionFiles outputs = outputs_of(options);
  const bool is_of_links = checkpoint.is_of_links;
  check_task(options, outputs, is_of_links);
  if (checkpoint.settings.empty()) log_warning(api::old_checkpoint_warning(options.checkpoint));
  bool has_changes =
      restore_options(*options.common.parsers.front(), options.checkpoint, checkpoint.settings);
  const learn::Settings given = input_settings(options.dataset, options.common.seed);
  has_changes |= learn::check_settings(options.checkpoint, learn::Purpose::predict,
                                       checkpoint.settings, given, options.allow_changes);
  Session session("predict", options.common);
  tell_files(session, options, outputs);
  warn_without_effect(options.common, {"--repeat"}, "predict runs once");
  if (!session.on_gpu()) warn_without_effect(options.common, {"--no-tf32"}, api::kForGpus);
  if (!has_changes) warn_without_effect(options.common, {"--allow-changes"}, kNothingDiffers);
  session.warn_of_seed(graph::parse_generator(options.dataset.graph.graph, 1).has_value() ||
                       options.dataset.graph.weights.starts_with("uniform") ||
                       is_drawn(options.dataset.method) || is_drawn(options.dataset.reorder));
  const learn::TrainOptions train = api::predict_options(checkpoint, !options.exact_products);
  const bool has_labels = !is_of_links && !options.no_labels &&
                          api::has_labels(api::find_dataset(options.dataset.graph.graph));
  api::Needs needs = api::needs_of(train);
  if (!has_labels) needs.unlabelled = train.model.classes;
  api::TrainingData data = read_training_data(session, options.dataset, needs);
  api::fit_to_model(options.checkpoint, checkpoint, has_labels, data.dataset);
  const api::Prediction outcome = session.during("predicting", [&] {
    return api::run_prediction(session.library(),
                               {.data = data,
                                .options = train,
                                .model = model.file(),
                                .name = learn::model_path(options.checkpoint),
                                .has_labels = has_labels,
                                .wants_embeddings = !is_of_links && !outputs.embeddings.empty()});
  });
  api::PredictionReport report = api::report_of(session.ran(), data, checkpoint, outcome);
  const api::PredictionFiles written = is_first_process() ? outputs : api::PredictionFiles{};
  if (is_of_links && !options.pairs.empty()) {
    const auto pairs = api::read_pairs(options.pairs, data.dataset.vertices,
                                       api::vertex_names(options.dataset.graph.graph));
    const api::PairScores scores = api::pair_scores(pairs, outcome.rows, train.model.classes);
    report.pairs = pairs.links.size();
    report.likely = scores.likely;
    api::write(written, pairs, scores);
  }
  api::write(written, data.dataset, train.model, is_of_links, outcome);
  return session.end(to_json(report), to_text(report));
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
  predict.add_flag("--no-tf32", options.exact_products, "GPUs: dense products in full float32");
  predict.add_flag("--allow-changes", options.allow_changes,
                   "Make inputs otherwise than for training, by --normalize, --symmetrize and the "
                   "like");
  add_common_options(predict, options.common);
}

}  // namespace warren::app
