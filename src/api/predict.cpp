// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "warren/api/report_training.hpp"
#include "warren/api/training.hpp"
#include "warren/core/error.hpp"
#include "warren/core/progress.hpp"
#include "warren/core/trace.hpp"
#include "warren/graph/generate.hpp"

#include "api/call.hpp"
#include "api/library_words.hpp"
#include "api/measured.hpp"
#include "api/ready_data.hpp"

namespace warren {
namespace api {

learn::TrainOptions predict_options(const learn::Checkpoint& checkpoint, bool allow_tf32) {
  learn::TrainOptions options;
  options.allow_tf32 = allow_tf32;
  options.model = checkpoint.model;
  options.model.recompute = true;  // There is no backward pass: layers keep nothing.
  options.type = checkpoint.type;
  options.keeps_mark = true;
  return options;
}

void fit_to_model(const std::string& name, const learn::Checkpoint& checkpoint, bool has_labels,
                  learn::Dataset& dataset) {
  if (checkpoint.model.features != dataset.width)
    throw InputError(fmt::format("{}: the model is of {} features, but this dataset has {}", name,
                                 checkpoint.model.features, dataset.width));
  if (!has_labels) {
    dataset.loss = checkpoint.loss;
    return;
  }
  const bool is_binary = dataset.loss == learn::LossKind::binary;
  const bool is_known = !checkpoint.settings.empty();
  if (is_known && dataset.loss != checkpoint.loss)
    throw InputError(fmt::format(
        "{}: the model tells {}, but this dataset has {}: leave its labels out to predict without "
        "them ('warren predict --no-labels')",
        name, is_binary ? "one class of a vertex" : "any number of labels of a vertex",
        is_binary ? "any number of labels a vertex" : "one class a vertex"));
  const bool fits = is_binary ? checkpoint.model.classes == dataset.classes
                              : checkpoint.model.classes >= dataset.classes;
  if (!fits)
    throw InputError(fmt::format(
        "{}: the model is of {} classes, but this dataset has {}: leave its labels out to predict "
        "without them ('warren predict --no-labels')",
        name, checkpoint.model.classes, dataset.classes));
  dataset.classes = checkpoint.model.classes;
}

void predict_on(team::Team& team, const PredictionJob& job, const learn::MemoryPlan& plan,
                Prediction& outcome) {
  learn::check_memory(plan, team.device(), team.size());
  check_same_data(team, job.data);
  learn::Trainer trainer(team, job.data.graphs, job.data.dataset, job.options);
  const auto is_trained_on = trainer.load_model(job.model, job.name);
  std::optional<learn::Scores> scores;
  std::vector<float> mine;
  const auto done = [&] {
    if (team.rank() == 0) advance_progress(1);
  };
  const auto pass = [&] {
    if (job.has_labels) {
      scores = trainer.evaluate();
    } else {
      mine = trainer.predict();
    }
    done();
  };
  if (team.rank() == 0)
    expect_progress("passes", 2 + (job.has_labels ? 1 : 0) + (job.wants_embeddings ? 1 : 0));
  pass();
  team.barrier();
  const double begin = now_seconds();
  pass();
  const double seconds = now_seconds() - begin;
  if (job.has_labels) {
    mine = trainer.predict();
    done();
  }
  std::vector<float> rows = gathered(team, job.data, mine, job.options.model.classes);
  std::vector<float> embeddings;
  if (job.wants_embeddings) {
    embeddings = gathered(team, job.data, trainer.embed(), job.options.model.hidden);
    done();
  }
  if (!team.reports()) return;
  outcome.is_trained_on = is_trained_on;
  outcome.scores = scores;
  outcome.seconds = seconds;
  outcome.rows = std::move(rows);
  outcome.embeddings = std::move(embeddings);
}

Prediction run_prediction(const Session& session, const PredictionJob& job) {
  const learn::MemoryPlan plan = learn::plan_prediction(
      job.data.graphs, job.data.dataset, job.options, device_of_rank(run_info(session), nullptr));
  Prediction outcome;
  const SessionRanks ranks(session, std::nullopt, 0, true);
  outcome.bytes_between_hosts =
      ranks.run([&](team::Team& team) { predict_on(team, job, plan, outcome); });
  return outcome;
}

std::vector<float> pair_scores(std::span<const learn::Link> pairs,
                               std::span<const float> embeddings, std::uint64_t width) {
  std::vector<float> scores;
  scores.reserve(pairs.size());
  for (const learn::Link& pair : pairs) {
    const float* a = embeddings.data() + pair.source * width;
    const float* b = embeddings.data() + pair.target * width;
    double sum = 0.0;
    for (std::uint64_t i = 0; i < width; ++i)
      sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    scores.push_back(static_cast<float>(sum));
  }
  return scores;
}

double probability_of(float score) { return 1.0 / (1.0 + std::exp(-static_cast<double>(score))); }

std::vector<std::int32_t> largest_classes(std::span<const float> scores, std::uint64_t classes) {
  std::vector<std::int32_t> labels;
  for (std::size_t at = 0; at < scores.size(); at += classes) {
    const auto row = scores.subspan(at, classes);
    labels.push_back(static_cast<std::int32_t>(std::ranges::max_element(row) - row.begin()));
  }
  return labels;
}

}  // namespace api

namespace {

std::uint64_t number_of(const std::string& text) {
  std::uint64_t number = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

PredictResult predict_with(const Dataset& dataset, const Model& model,
                           const PredictOptions& options) {
  const learn::Checkpoint& facts = model.facts();
  const learn::TrainOptions ask = api::predict_options(facts, options.allow_tf32);
  const auto stored = [&](const char* name) {
    const auto found = facts.settings.find(name);
    return found == facts.settings.end() ? std::string("auto") : found->second;
  };
  learn::Settings given = dataset.made_by();
  if (!options.normalize.empty()) given["normalize"] = options.normalize;
  (void)learn::check_settings("model", learn::Purpose::predict, facts.settings, given,
                              options.allow_changes);
  const bool has_labels = !facts.is_of_links && dataset.is_labelled();
  api::Needs needs = api::needs_of(ask);
  if (!has_labels) needs.unlabelled = facts.model.classes;
  require(!needs.weights || dataset.graph().is_weighted(),
          "dataset: got a graph without weights, expected weights: the model was trained with "
          "--edge-weights");
  api::Preparation how{
      .normalize = options.normalize.empty() ? stored("normalize") : options.normalize,
      .method = options.method,
      .reorder = options.reorder,
      .seed = options.seed};
  api::check(how);
  require(!options.embeddings || (!facts.is_of_links && facts.model.layers > 1),
          "embeddings: got a model of links or of one layer, expected one of classes with two "
          "layers or more");
  api::Call call(dataset.graph(), api::call_options(std::nullopt, options));
  how.ranks = call.info.devices;
  api::TrainingData data = api::ready_data(dataset, how, needs, call.teams());
  api::fit_to_model("model", facts, has_labels, data.dataset);
  const api::PredictionJob job{data, ask, model.file(), "model", has_labels, options.embeddings};
  const learn::MemoryPlan plan = api::in_library_words(learn::plan_prediction(
      data.graphs, data.dataset, ask,
      api::device_of_rank(call.info, call.teams().memory(call.info.device))));
  api::Prediction outcome;
  call.on_team([&](team::Team& team) { api::predict_on(team, job, plan, outcome); });
  outcome.bytes_between_hosts = call.info.bytes_between_hosts;
  call.info.seconds = outcome.seconds;
  PredictResult result;
  result.report = std::make_shared<const api::PredictionReport>(
      api::report_of(call.info, data, facts, outcome));
  result.columns = facts.model.classes;
  if (!facts.is_of_links && facts.loss == learn::LossKind::cross_entropy)
    result.labels = api::largest_classes(outcome.rows, result.columns);
  result.scores = std::move(outcome.rows);
  result.embeddings = std::move(outcome.embeddings);
  result.accuracy = outcome.scores;
  // Of links the model saw a part of the edges.
  if (!facts.is_of_links) result.is_trained_on = outcome.is_trained_on;
  result.warnings = api::warnings_of(data);
  result.info = call.info;
  return result;
}

}  // namespace

PredictResult predict(const Dataset& dataset, const Model& model, const PredictOptions& options) {
  return api::told_in_library_words([&] { return predict_with(dataset, model, options); });
}

DatasetOptions dataset_options(const Model& model, const std::string& name) {
  const learn::Settings& settings = model.facts().settings;
  const auto text = [&](const char* key) {
    const auto found = settings.find(key);
    return found == settings.end() ? std::string() : found->second;
  };
  DatasetOptions options;
  options.graph.symmetrize = text("symmetrize") == "true";
  options.graph.drop_self_loops = text("drop-self-loops") == "true";
  options.graph.keep_duplicates = text("keep-duplicates") == "true";
  options.graph.sum_duplicates = text("sum-duplicates") == "true";
  if (text("graph") != name) return options;
  // Models whose edges count 1 look at no weights.
  const bool weighs_edges = text("edge-weights") == "true";
  if (weighs_edges) options.graph.weights = text("weights");
  if (options.graph.weights.starts_with("uniform")) options.graph.seed = number_of(text("seed"));
  options.graph.one_based = text("one-based") == "true";
  options.graph.compact = text("compact") == "true";
  options.graph.are_words = text("ids") == "words";
  if (text("headings") == "yes" || text("headings") == "no")
    options.graph.has_headings = text("headings") == "yes";
  if (!text("labels").empty()) options.labels = text("labels");
  if (!graph::parse_generator(name, 1)) return options;
  options.graph.seed = number_of(text("seed"));
  options.features = number_of(text("features"));
  options.classes = number_of(text("classes"));
  return options;
}

}  // namespace warren
