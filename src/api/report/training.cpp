// SPDX-License-Identifier: Apache-2.0
// Reports of trainings, and of what models say.
#include <string>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "warren/api/report.hpp"
#include "warren/api/report_training.hpp"
#include "warren/core/quantity.hpp"
#include "warren/learn/memory_plan.hpp"

#include "api/report/rows.hpp"
#include "api/report/run.hpp"

namespace warren::api {
namespace {

/// What --placement calls it.
const char* name_of(memory::Placement placement) {
  return placement == memory::Placement::replicated ? "replicated"
         : placement == memory::Placement::host     ? "host"
                                                    : "device";
}

const char* edges_of(const learn::SampledOptions& sampled) {
  if (sampled.edges == graph::EdgesPlacement::host) return "host";
  return sampled.replicate_edges ? "replicated" : "device";
}

std::vector<double> seconds_of(const TrainingOutcome& outcome) {
  std::vector<double> seconds;
  for (const auto& epoch : outcome.epochs) seconds.push_back(epoch.seconds);
  return seconds;
}

double total(const TrainingOutcome& outcome) {
  double sum = 0.0;
  for (const auto& epoch : outcome.epochs) sum += epoch.seconds;
  return sum;
}

/// Where the loss is scaled.
bool has_scale(const TrainingReport& report) {
  return report.options.type == learn::NumberType::float16 && !report.outcome.epochs.empty();
}

Json epochs_json(const TrainingReport& report) {
  Json epochs = Json::array();
  for (const auto& epoch : report.outcome.history) {
    Json fields = {{"epoch", epoch.epoch},
                   {"loss", epoch.loss},
                   {"train_accuracy", epoch.scores[0].accuracy},
                   {"validation_accuracy", epoch.scores[1].accuracy},
                   {"validation_loss", epoch.scores[1].loss},
                   {"test_accuracy", epoch.scores[2].accuracy},
                   {"seconds", epoch.seconds}};
    if (report.options.links) {
      fields["validation_mrr"] = epoch.scores[1].mrr;
      fields["test_mrr"] = epoch.scores[2].mrr;
    }
    epochs.push_back(std::move(fields));
  }
  return epochs;
}

Json breakdown_json(const EpochBreakdown& breakdown, bool is_of_batches) {
  Json parts = {{"aggregate", breakdown.aggregate},
                {"dense", breakdown.dense},
                {"communicate", breakdown.communicate},
                {"other", breakdown.other}};
  if (!is_of_batches) return parts;
  parts["train"] = breakdown.train;
  parts["sample"] = breakdown.sample;
  parts["gather"] = breakdown.gather;
  parts["exposed"] = breakdown.exposed;
  return parts;
}

void set_result(Json& json, const TrainingReport& report) {
  const TrainingOutcome& outcome = report.outcome;
  const learn::TrainResult& result = outcome.result;
  json["parameters"] = outcome.parameters;
  json["epochs"] = epochs_json(report);
  json["epochs_done"] = result.epochs;
  json["resumed_from"] = result.epochs - outcome.epochs.size();
  json["best_epoch"] = result.best_epoch;
  json["best_validation"] = result.best_validation;
  json["test_accuracy"] = result.test_accuracy;
  json["chance"] = result.chance;
  json["normalize"] = report.normalize;
  json["epoch_seconds"] = median(seconds_of(outcome));
  json["breakdown"] = breakdown_json(outcome.breakdown(), outcome.batches != 0);
  json["peak_memory"] = outcome.peak;
  json["memory_plan"] = Json::object();
  for (const auto& [name, bytes] : report.plan.parts) json["memory_plan"][name] = bytes;
  json["recompute"] = report.options.model.recompute;
  json["recompute_saves"] = report.plan.recompute_saves;
  json["captured"] = !outcome.epochs.empty() && outcome.epochs.back().is_captured;
  json["stopped_early"] = result.has_stopped_early;
  if (!has_scale(report)) return;
  json["loss_scale"] = outcome.epochs.back().loss_scale;
  json["skipped_steps"] = outcome.epochs.back().skipped_steps;
}

void set_task(Json& json, const TrainingReport& report) {
  const auto& links = report.options.links;
  json["task"] = links ? "link" : "node";
  if (!links) return;
  json["negatives"] = links->negatives;
  json["training_edges"] = report.counts[0];
  json["validation_edges"] = report.counts[1];
  json["test_edges"] = report.counts[2];
  json["test_auc"] = report.outcome.result.test_accuracy;
  json["test_mrr"] = report.outcome.result.test_mrr;
}

void set_batches(Json& json, const learn::SampledOptions& sampled, const TrainingOutcome& outcome) {
  const EpochBreakdown parts = outcome.breakdown();
  json["fanout"] = sampled.fanouts;
  json["batch"] = sampled.batch;
  json["batches"] = outcome.batches;
  json["train_share"] = parts.train_share;
  json["sampled_edges"] = parts.sampled_edges;
  json["replace"] = sampled.replace;
  json["weighted"] = sampled.weighted;
  json["edges_placement"] = edges_of(sampled);
  json["placement"] = sampled.cached > 0.0        ? "cached"
                      : sampled.exchange_features ? "exchanged"
                                                  : name_of(sampled.features);
  if (sampled.cached > 0.0) json["hit_rate"] = outcome.hit_rate;
  if (!sampled.pad) return;
  json["padded_batches"] = outcome.epochs.back().padded_batches;
  json["captured_batches"] = outcome.epochs.back().captured_batches;
}

/// How rows of other ranks entered the sums.
void set_exchange(Json& json, const TrainingOutcome& outcome) {
  json["strategy"] = strategy_of(outcome.exchange);
  json["strategy_reason"] = outcome.exchange.reason;
}

/// What there is to learn from.
std::string data_text(const TrainingReport& report) {
  const std::string features =
      fmt::format("{} features{}", thousands(report.features), report.is_sparse ? " (sparse)" : "");
  const std::string split = fmt::format("{} / {} / {}", thousands(report.counts[0]),
                                        thousands(report.counts[1]), thousands(report.counts[2]));
  if (report.options.links) return fmt::format("{}, {} edges", features, split);
  return fmt::format("{}, {} classes, {} vertices", features, report.classes, split);
}

void print_batches(Text& text, const TrainingReport& report, const EpochBreakdown& parts) {
  const learn::SampledOptions& sampled = *report.options.sampled;
  const TrainingOutcome& outcome = report.outcome;
  text.row("batches", "{} an epoch of {} {} a rank, fanouts {}", outcome.batches, sampled.batch,
           report.options.links ? "edges" : "vertices", fmt::join(sampled.fanouts, ","));
  if (sampled.pad)
    text.row("captured", "{} of the last epoch's, {} padded",
             outcome.epochs.back().captured_batches, outcome.epochs.back().padded_batches);
  text.row("beside", "sample {}, gather {}; {:.1f}% of an epoch trains", duration(parts.sample),
           duration(parts.gather), 100.0 * parts.train_share);
}

void print_scores(Text& text, const TrainingReport& report) {
  const learn::TrainResult& result = report.outcome.result;
  const bool is_f1 = report.loss == learn::LossKind::binary;
  const char* what = report.options.links ? "AUC" : (is_f1 ? "micro-F1" : "accuracy");
  text.row(fmt::format("best validation {}", what), "{:.4f}, of epoch {} (chance: {:.4f})",
           result.best_validation, result.best_epoch, result.chance);
  text.row(fmt::format("test {} there", what), "{:.4f}", result.test_accuracy);
  if (report.options.links)
    text.row("test reciprocal rank", "{:.4f}, among {} false targets", result.test_mrr,
             learn::LinkSplit::kJudges);
}

}  // namespace

TrainingReport report_of(const RunInfo& ran, const TrainingData& data, learn::TrainOptions options,
                         learn::MemoryPlan plan, TrainingOutcome outcome) {
  TrainingReport report;
  report.ran = ran;
  report.options = std::move(options);
  report.plan = std::move(plan);
  report.outcome = std::move(outcome);
  report.normalize = data.normalize;
  report.vertices = data.graphs.out->vertices;
  report.edges = data.graphs.out->edges();
  report.features = data.dataset.width;
  report.classes = data.dataset.classes;
  report.is_sparse = data.dataset.is_sparse();
  report.loss = data.dataset.loss;
  report.counts = data.links ? data.links->counts : data.dataset.counts;
  return report;
}

std::string to_json(const TrainingReport& report) {
  const learn::TrainOptions& train = report.options;
  Json json = document("train", report.ran);
  json["vertices"] = report.vertices;
  json["edges"] = report.edges;
  json["seconds"] = std::vector<double>{total(report.outcome)};
  json["model"] = learn::name_of(train.model.kind);
  json["mode"] = train.sampled ? "sampled" : "full";
  json["type"] = learn::name_of(train.type);
  json["layers"] = train.model.layers;
  json["hidden"] = train.model.hidden;
  json["norm"] = learn::name_of(train.model.norm);
  json["edge_weights"] = train.model.edge_weights;
  json["features"] = report.features;
  json[train.links ? "embedding" : "classes"] = report.classes;
  set_result(json, report);
  set_task(json, report);
  if (train.sampled && !report.outcome.epochs.empty())
    set_batches(json, *train.sampled, report.outcome);
  set_bytes_between_hosts(json, report.outcome.bytes_between_hosts);
  if (!train.sampled) set_exchange(json, report.outcome);
  if (report.explains) json["candidates"] = candidates_json(report.outcome.exchange.candidates);
  return written(json);
}

std::string to_text(const TrainingReport& report) {
  const learn::TrainOptions& train = report.options;
  const TrainingOutcome& outcome = report.outcome;
  const EpochBreakdown parts = outcome.breakdown();
  Text text;
  text.print("\n");
  text.row("model", "{}, {}, {} wide, {}, on {}", learn::name_of(train.model.kind),
           counted(train.model.layers, "layer", "layers"), train.model.hidden,
           counted(outcome.parameters, "parameter", "parameters"), place_of(report.ran));
  text.row("data", "{}", data_text(report));
  text.row("epochs", "{}{}, {} each, {} in all", outcome.result.epochs,
           outcome.result.has_stopped_early ? " (stopped early)" : "",
           duration(median(seconds_of(outcome))), duration(total(outcome)));
  text.row("an epoch", "aggregate {}, dense {}, communicate {}, other {}",
           duration(parts.aggregate), duration(parts.dense), duration(parts.communicate),
           duration(parts.other));
  if (train.sampled && !outcome.epochs.empty()) print_batches(text, report, parts);
  if (!train.sampled && !outcome.exchange.is_local)
    text.row("strategy", "{}: {}", strategy_of(outcome.exchange), outcome.exchange.reason);
  text.row("memory", "{} planned for a rank, {} held at most", human_bytes(report.plan.total()),
           human_bytes(outcome.peak));
  if (!outcome.epochs.empty()) text.row("last loss", "{:.4f}", outcome.epochs.back().loss);
  if (has_scale(report))
    text.row("loss scale", "{}, {} left out", outcome.epochs.back().loss_scale,
             counted(outcome.epochs.back().skipped_steps, "update", "updates"));
  print_scores(text, report);
  if (report.explains) print_candidates(text, outcome.exchange.candidates);
  return text.take();
}

std::string to_text(const learn::EpochRecord& record, std::uint64_t epochs) {
  return fmt::format("epoch {} of {}: loss {:.4f}, training {:.4f}, validation {:.4f}, {}",
                     record.epoch, epochs, record.loss, record.scores[0].accuracy,
                     record.scores[1].accuracy, duration(record.seconds));
}

PredictionReport report_of(const RunInfo& ran, const TrainingData& data,
                           const learn::Checkpoint& model, const Prediction& outcome) {
  PredictionReport report;
  report.ran = ran;
  report.model = model.model.kind;
  report.vertices = data.graphs.out->vertices;
  report.edges = data.graphs.out->edges();
  report.columns = model.model.classes;
  report.normalize = data.normalize;
  report.seconds = outcome.seconds;
  report.bytes_between_hosts = outcome.bytes_between_hosts;
  report.is_of_links = model.is_of_links;
  if (model.is_of_links) return report;
  report.scores = outcome.scores;
  report.is_trained_on = outcome.is_trained_on;
  return report;
}

std::string to_json(const PredictionReport& report) {
  Json json = document("predict", report.ran);
  json["vertices"] = report.vertices;
  json["edges"] = report.edges;
  json["seconds"] = std::vector<double>{report.seconds};
  set_bytes_between_hosts(json, report.bytes_between_hosts);
  json["model"] = learn::name_of(report.model);
  json["task"] = report.is_of_links ? "link" : "node";
  json["normalize"] = report.normalize;
  if (report.is_of_links) {
    json["embedding"] = report.columns;
    if (report.pairs) {
      json["pairs"] = *report.pairs;
      json["likely_pairs"] = report.likely;
    }
    return written(json);
  }
  if (report.scores) {
    const learn::Scores& scores = *report.scores;
    json["train_accuracy"] = scores[0].accuracy;
    json["validation_accuracy"] = scores[1].accuracy;
    json["test_accuracy"] = scores[2].accuracy;
  }
  if (report.is_trained_on) json["trained_on"] = *report.is_trained_on;
  return written(json);
}

std::string to_text(const PredictionReport& report) {
  Text text;
  text.print("\n");
  text.row("model", "{}, on {}", learn::name_of(report.model), place_of(report.ran));
  text.row("time", "{}", duration(report.seconds));
  if (report.is_of_links) {
    if (report.pairs)
      text.row("pairs", "{}, {} of them likelier linked than not", thousands(*report.pairs),
               thousands(report.likely));
    return text.take();
  }
  if (report.scores) {
    const learn::Scores& scores = *report.scores;
    text.row("training, validation, test", "{:.4f}, {:.4f}, {:.4f}", scores[0].accuracy,
             scores[1].accuracy, scores[2].accuracy);
  } else {
    text.row("accuracy", "none: there are no labels to compare with");
  }
  if (report.is_trained_on == false)
    text.row("dataset", "another graph or other features than the model was trained on");
  return text.take();
}

}  // namespace warren::api
