// SPDX-License-Identifier: Apache-2.0
// warren train: a graph neural network, on the whole graph or on sampled batches.
#include <optional>

#include <unistd.h>

#include "warren/api/training.hpp"
#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/core/standard_streams.hpp"
#include "warren/core/trace.hpp"
#include "warren/learn/checkpoint_folder.hpp"
#include "warren/learn/memory_plan.hpp"
#include "warren/learn/trainer.hpp"

#include "candidates.hpp"
#include "command.hpp"
#include "mode.hpp"
#include "option_rules.hpp"
#include "stored_options.hpp"
#include "text.hpp"
#include "train_input.hpp"
#include "train_options.hpp"

namespace warren::app {
namespace {

/// The line that a person watches.
class EpochLine {
 public:
  EpochLine(bool is_wanted, std::uint64_t epochs)
      : is_shown_(is_wanted && isatty(STDERR_FILENO) == 1), epochs_(epochs) {}
  ~EpochLine() {
    if (is_shown_) write_standard_error("\r\033[K");
  }
  EpochLine(const EpochLine&) = delete;
  EpochLine& operator=(const EpochLine&) = delete;
  void show(const learn::EpochRecord& record) const {
    if (!is_shown_) return;
    write_standard_error(
        fmt::format("\r\033[Kepoch {} of {}: loss {:.4f}, training {:.4f}, validation {:.4f}, {}",
                    record.epoch, epochs_, record.loss, record.scores[0].accuracy,
                    record.scores[1].accuracy, duration(record.seconds)));
  }

 private:
  bool is_shown_;
  std::uint64_t epochs_;
};

api::TrainingOutcome run(const Session& session, api::TrainingJob job) {
  const EpochLine line(!session.options().quiet && is_first_process(), job.options.epochs);
  job.seen = [&](const learn::EpochRecord& record) { line.show(record); };
  return api::run_training(session.library(), job);
}

Json breakdown_json(const api::EpochBreakdown& breakdown, bool is_of_batches) {
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

/// What --placement calls it.
const char* name_of(memory::Placement placement) {
  return placement == memory::Placement::replicated ? "replicated"
         : placement == memory::Placement::host     ? "host"
                                                    : "device";
}

/// What batches add to the report.
void report_batches(Session& session, const learn::TrainOptions& train,
                    const api::TrainingOutcome& outcome, const api::EpochBreakdown& parts) {
  if (!train.sampled || outcome.epochs.empty()) return;
  Json& json = session.json();
  json["fanout"] = train.sampled->fanouts;
  json["batch"] = train.sampled->batch;
  json["batches"] = outcome.batches;
  json["train_share"] = parts.train_share;
  json["sampled_edges"] = parts.sampled_edges;
  json["replace"] = train.sampled->replace;
  json["weighted"] = train.sampled->weighted;
  json["edges_placement"] = train.sampled->edges == graph::EdgesPlacement::host ? "host"
                            : train.sampled->replicate_edges                    ? "replicated"
                                                                                : "device";
  json["placement"] = train.sampled->cached > 0.0        ? "cached"
                      : train.sampled->exchange_features ? "exchanged"
                                                         : name_of(train.sampled->features);
  if (train.sampled->cached > 0.0) json["hit_rate"] = outcome.hit_rate;
  const learn::EpochRecord& last = outcome.epochs.back();
  if (train.sampled->pad) {
    json["padded_batches"] = last.padded_batches;
    json["captured_batches"] = last.captured_batches;
  }
  session.row("batches", "{} an epoch of {} {} a rank, fanouts {}", outcome.batches,
              train.sampled->batch, train.links ? "edges" : "vertices",
              fmt::join(train.sampled->fanouts, ","));
  if (train.sampled->pad)
    session.row("captured", "{} of the last epoch's, {} padded", last.captured_batches,
                last.padded_batches);
  session.row("beside", "sample {}, gather {}; {:.1f}% of an epoch trains", duration(parts.sample),
              duration(parts.gather), 100.0 * parts.train_share);
}

/// How rows of other ranks entered the sums.
void report_exchange(Session& session, const learn::TrainOptions& train,
                     const api::TrainingOutcome& outcome) {
  set_bytes_between_hosts(session.json(), outcome.bytes_between_hosts);
  if (train.sampled) return;
  const learn::ExchangeReport& exchange = outcome.exchange;
  session.json()["strategy"] = api::strategy_of(exchange);
  session.json()["strategy_reason"] = exchange.reason;
  if (exchange.is_local) return;
  session.row("strategy", "{}: {}", api::strategy_of(exchange), exchange.reason);
}

/// What links add to the report.
void report_links(Json& json, const learn::TrainOptions& train, const TrainInput& input,
                  const api::TrainingOutcome& outcome) {
  json["task"] = train.links ? "link" : "node";
  if (!train.links) return;
  json["negatives"] = train.links->negatives;
  json["training_edges"] = input.links->counts[0];
  json["validation_edges"] = input.links->counts[1];
  json["test_edges"] = input.links->counts[2];
  json["test_auc"] = outcome.result.test_accuracy;
  json["test_mrr"] = outcome.result.test_mrr;
  for (std::size_t e = 0; e < outcome.history.size(); ++e) {
    json["epochs"][e]["validation_mrr"] = outcome.history[e].scores[1].mrr;
    json["epochs"][e]["test_mrr"] = outcome.history[e].scores[2].mrr;
  }
}

/// What there is to learn from.
std::string data_text(const TrainInput& input) {
  const std::string features = fmt::format("{} features{}", thousands(input.dataset.width),
                                           input.dataset.is_sparse() ? " (sparse)" : "");
  const auto& counts = input.links ? input.links->counts : input.dataset.counts;
  const std::string split =
      fmt::format("{} / {} / {}", thousands(counts[0]), thousands(counts[1]), thousands(counts[2]));
  if (input.links) return fmt::format("{}, {} edges", features, split);
  return fmt::format("{}, {} classes, {} vertices", features, input.dataset.classes, split);
}

void report(Session& session, const TrainCommand& options, const learn::TrainOptions& train,
            const TrainInput& input, const learn::MemoryPlan& memory,
            const api::TrainingOutcome& outcome) {
  const learn::TrainResult& result = outcome.result;
  std::vector<double> seconds;
  double total = 0.0;
  Json epochs = Json::array();
  for (const auto& epoch : outcome.epochs) {
    seconds.push_back(epoch.seconds);
    total += epoch.seconds;
  }
  for (const auto& epoch : outcome.history) {
    epochs.push_back({{"epoch", epoch.epoch},
                      {"loss", epoch.loss},
                      {"train_accuracy", epoch.scores[0].accuracy},
                      {"validation_accuracy", epoch.scores[1].accuracy},
                      {"validation_loss", epoch.scores[1].loss},
                      {"test_accuracy", epoch.scores[2].accuracy},
                      {"seconds", epoch.seconds}});
  }
  const double middle = median(seconds);
  Json& json = session.json();
  json["seconds"] = std::vector<double>{total};
  json["model"] = options.train.model;
  json["mode"] = options.train.mode;
  json["type"] = learn::name_of(train.type);
  json["layers"] = train.model.layers;
  json["hidden"] = train.model.hidden;
  json["norm"] = learn::name_of(train.model.norm);
  json["edge_weights"] = train.model.edge_weights;
  json["features"] = input.dataset.width;
  json[train.links ? "embedding" : "classes"] = input.dataset.classes;
  json["parameters"] = outcome.parameters;
  json["epochs"] = epochs;
  json["epochs_done"] = result.epochs;
  json["resumed_from"] = result.epochs - outcome.epochs.size();
  json["best_epoch"] = result.best_epoch;
  json["best_validation"] = result.best_validation;
  json["test_accuracy"] = result.test_accuracy;
  json["chance"] = result.chance;
  json["normalize"] = input.normalize;
  json["epoch_seconds"] = middle;
  const api::EpochBreakdown parts = outcome.breakdown();
  json["breakdown"] = breakdown_json(parts, outcome.batches != 0);
  json["peak_memory"] = outcome.peak;
  Json plan = Json::object();
  for (const auto& [name, bytes] : memory.parts) plan[name] = bytes;
  json["memory_plan"] = plan;
  json["recompute"] = train.model.recompute;
  json["recompute_saves"] = memory.recompute_saves;
  json["captured"] = !outcome.epochs.empty() && outcome.epochs.back().is_captured;
  json["stopped_early"] = result.has_stopped_early;
  if (train.type == learn::NumberType::float16 && !outcome.epochs.empty()) {
    json["loss_scale"] = outcome.epochs.back().loss_scale;
    json["skipped_steps"] = outcome.epochs.back().skipped_steps;
  }

  report_links(json, train, input, outcome);
  const bool is_f1 = input.dataset.loss == learn::LossKind::binary;
  const char* what = train.links ? "AUC" : (is_f1 ? "micro-F1" : "accuracy");
  session.print("\n");
  session.row("model", "{}, {}, {} wide, {}, on {}", options.train.model,
              counted(train.model.layers, "layer", "layers"), train.model.hidden,
              counted(outcome.parameters, "parameter", "parameters"), session.place());
  session.row("data", "{}", data_text(input));
  session.row("epochs", "{}{}, {} each, {} in all", result.epochs,
              result.has_stopped_early ? " (stopped early)" : "", duration(middle),
              duration(total));
  session.row("an epoch", "aggregate {}, dense {}, communicate {}, other {}",
              duration(parts.aggregate), duration(parts.dense), duration(parts.communicate),
              duration(parts.other));
  report_batches(session, train, outcome, parts);
  report_exchange(session, train, outcome);
  session.row("memory", "{} planned for a rank, {} held at most", human_bytes(memory.total()),
              human_bytes(outcome.peak));
  if (!outcome.epochs.empty()) session.row("last loss", "{:.4f}", outcome.epochs.back().loss);
  if (train.type == learn::NumberType::float16 && !outcome.epochs.empty())
    session.row("loss scale", "{}, {} left out", outcome.epochs.back().loss_scale,
                counted(outcome.epochs.back().skipped_steps, "update", "updates"));
  session.row(fmt::format("best validation {}", what), "{:.4f}, of epoch {} (chance: {:.4f})",
              result.best_validation, result.best_epoch, result.chance);
  session.row(fmt::format("test {} there", what), "{:.4f}", result.test_accuracy);
  if (train.links)
    session.row("test reciprocal rank", "{:.4f}, among {} false targets", result.test_mrr,
                learn::LinkSplit::kJudges);
  if (options.explain) report_candidates(session, outcome.exchange.candidates);
}

/// Of a checkpoint that is gone on from: its options, which those left out become. Empty where
/// there is none.
learn::Settings take_up(const TrainCommand& options) {
  if (options.train.checkpoint.empty() || options.train.overwrite) return {};
  if (!options.train.resume || !learn::has_state(options.train.checkpoint)) {
    learn::check_is_free(options.train.checkpoint);
    return {};
  }
  learn::Settings stored = learn::read_state_settings(options.train.checkpoint);
  if (stored.empty()) warn_of_old_checkpoint(options.train.checkpoint);
  // Of the other task neither's options make sense.
  if (options.common.is_given("--task"))
    (void)learn::check_settings(options.train.checkpoint, learn::Purpose::resume, stored,
                                {{"task", options.train.task}}, false);
  (void)restore_options(*options.common.parsers.front(), options.train.checkpoint, stored);
  return stored;
}

ExitStatus run_train(const TrainCommand& options) {
  const std::string& checkpoint = options.train.checkpoint;
  std::optional<learn::CheckpointFolder> folder;
  if (!checkpoint.empty() && is_first_process()) folder.emplace(checkpoint);
  const bool resumes = options.train.resume && learn::has_state(checkpoint);
  const learn::Settings stored = take_up(options);
  const TrainOptions asked = library_options(options);
  learn::TrainOptions train = api::train_options(asked);
  train.exchange.explains = options.explain;
  train.inputs.merge(input_settings(options.dataset, options.common.seed));
  const learn::Settings given = learn::settings_of(train);
  const bool has_changes =
      learn::check_settings(checkpoint, learn::Purpose::resume, stored, given, asked.allow_changes);
  Session session("train", options.common);
  if (!has_changes) warn_without_effect(options.common, {"--allow-changes"}, kNothingDiffers);
  for (const std::string& file : learn::checkpoint_files(checkpoint))
    session.writes("--checkpoint", file);
  for (const auto& [option, why] : api::unused_options(train, session.ranks(), session.on_gpu()))
    warn_without_effect(options.common, {option.c_str()}, why);
  warn_without_effect(options.common, {"--repeat"}, "train runs once, and times its epochs");
  TrainInput input(session, options.dataset, api::needs_of(train));
  train.inputs["normalize"] = input.normalize;
  const std::uint64_t memory = session.on_gpu() ? exec::Device::cuda(0).memory().total : 0;
  api::fit_to(input, asked, session.ranks(), memory, train);
  const learn::MemoryPlan plan = api::plan_training(input, train);
  for (const std::string& warning : input.warnings) log_warning(warning);
  const api::TrainingOutcome outcome =
      run(session, {.data = input, .options = train, .plan = plan, .resumes = resumes});
  report(session, options, train, input, plan, outcome);
  if (resumes && outcome.epochs.empty()) {
    const std::size_t done = outcome.history.size();
    log_warning(fmt::format("{}: nothing was trained: its training has ended after {}{}",
                            checkpoint, counted(done, "epoch", "epochs"),
                            done < train.epochs ? "" : "; a larger --epochs goes on from there"));
  }
  if (resumes) session.json()["changed"] = learn::changed_settings(stored, given);
  session.finish();
  return ExitStatus::done;
}

}  // namespace

void add_train(CLI::App& program, Action& action) {
  const auto [train, options] = add_command<TrainCommand>(
      program, action, "train",
      "Train a graph neural network, on the whole graph or on sampled batches",
      "Examples:\n  warren train debian --model gcn --hidden 64 --checkpoint model\n"
      "  warren train debian --task link --mode sampled --model sage --fanout 15,10",
      run_train);
  add_train_options(train, options);
}

}  // namespace warren::app
