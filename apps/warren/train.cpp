// SPDX-License-Identifier: Apache-2.0
// warren train: a graph neural network, on the whole graph or on sampled batches.
#include <memory>
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

#include "command.hpp"
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

struct Outcome : api::TrainingOutcome {
  learn::MemoryPlan plan;
};

Outcome measure(const Session& session, const TrainInput& input, const learn::TrainOptions& options,
                bool resumes) {
  Outcome outcome;
  outcome.plan = learn::plan_memory(input.graphs, input.dataset, options);
  const std::uint64_t saves = options.model.recompute ? 0 : outcome.plan.recompute_saves;
  log_info(fmt::format(
      "a rank will hold {}: {}{}", human_bytes(outcome.plan.total()), outcome.plan.text(),
      saves == 0 ? "" : fmt::format("; --recompute would save {}", human_bytes(saves))));
  if (options.model.recompute && outcome.plan.recompute_saves == 0)
    log_warning(
        "--recompute saves nothing of this model: no two layers keep the same beside their "
        "outputs");
  const EpochLine line(!session.options().quiet, options.epochs);
  const api::TrainingJob job{.data = input,
                             .options = options,
                             .plan = outcome.plan,
                             .resumes = resumes,
                             .seen = [&](const learn::EpochRecord& record) { line.show(record); }};
  team::run_team(session.team(), [&](team::Team& team) { api::train_on(team, job, outcome); });
  return outcome;
}

Json breakdown(const Outcome& outcome) {
  double part[learn::kParts] = {};
  double all = 0.0, train = 0.0, sample = 0.0, gather = 0.0, count = 0.0;
  // The first epoch takes memory and makes connections.
  const std::size_t first = outcome.epochs.size() > 1 ? 1 : 0;
  for (std::size_t e = first; e < outcome.epochs.size(); ++e) {
    const auto& epoch = outcome.epochs[e];
    for (std::size_t i = 0; i < learn::kParts; ++i) part[i] += epoch.part_seconds.at(i);
    all += epoch.seconds;
    train += epoch.train_seconds;
    sample += epoch.sample_seconds;
    gather += epoch.gather_seconds;
    count += 1.0;
  }
  count = std::max(1.0, count);
  const auto of = [&](learn::Part p) { return part[static_cast<std::size_t>(p)] / count; };
  const double known =
      of(learn::Part::aggregate) + of(learn::Part::dense) + of(learn::Part::communicate);
  Json parts = {{"aggregate", of(learn::Part::aggregate)},
                {"dense", of(learn::Part::dense)},
                {"communicate", of(learn::Part::communicate)}};
  if (outcome.batches == 0) {
    parts["other"] = std::max(0.0, all / count - known);
    return parts;
  }
  // Sampling and gathering run beside training: what is not hidden is what is left of an epoch.
  parts["other"] = std::max(0.0, train / count - known);
  parts["train"] = train / count;
  parts["sample"] = sample / count;
  parts["gather"] = gather / count;
  parts["exposed"] = std::max(0.0, (all - train) / count);
  return parts;
}

/// What --placement calls it.
const char* name_of(memory::Placement placement) {
  return placement == memory::Placement::replicated ? "replicated"
         : placement == memory::Placement::host     ? "host"
                                                    : "device";
}

/// What batches add to the report.
void report_batches(Json& json, Table& table, const learn::TrainOptions& train,
                    const Outcome& outcome) {
  if (!train.sampled || outcome.epochs.empty()) return;
  double all = 0.0, share = 0.0;
  std::uint64_t edges = 0;
  for (const auto& epoch : outcome.epochs) {
    all += epoch.seconds;
    share += epoch.train_seconds;
    edges += epoch.sampled_edges;
  }
  share = all > 0.0 ? share / all : 0.0;
  json["fanout"] = train.sampled->fanouts;
  json["batch"] = train.sampled->batch;
  json["batches"] = outcome.batches;
  json["train_share"] = share;
  json["sampled_edges"] = edges / outcome.epochs.size();
  json["replace"] = train.sampled->replace;
  json["weighted"] = train.sampled->weighted;
  json["edges_placement"] = train.sampled->edges == graph::EdgesPlacement::host ? "host"
                            : train.sampled->replicate_edges                    ? "replicated"
                                                                                : "device";
  json["placement"] = train.sampled->cached > 0.0 ? "cached" : name_of(train.sampled->features);
  if (train.sampled->cached > 0.0) json["hit_rate"] = outcome.hit_rate;
  const learn::EpochRecord& last = outcome.epochs.back();
  if (train.sampled->pad) {
    json["padded_batches"] = last.padded_batches;
    json["captured_batches"] = last.captured_batches;
  }
  const auto& parts = json["breakdown"];
  table.row("batches", fmt::format("{} an epoch of {} {} a rank, fanouts {}", outcome.batches,
                                   train.sampled->batch, train.links ? "edges" : "vertices",
                                   fmt::join(train.sampled->fanouts, ",")));
  if (train.sampled->pad)
    table.row("captured", fmt::format("{} of the last epoch's, {} padded", last.captured_batches,
                                      last.padded_batches));
  table.row("beside",
            fmt::format("sample {}, gather {}; {:.1f}% of an epoch trains",
                        duration(parts["sample"]), duration(parts["gather"]), 100.0 * share));
}

/// What links add to the report.
void report_links(Json& json, const learn::TrainOptions& train, const TrainInput& input,
                  const Outcome& outcome) {
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
            const TrainInput& input, const Outcome& outcome) {
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
  json["breakdown"] = breakdown(outcome);
  json["peak_memory"] = outcome.peak;
  Json plan = Json::object();
  for (const auto& [name, bytes] : outcome.plan.parts) plan[name] = bytes;
  json["memory_plan"] = plan;
  json["recompute"] = train.model.recompute;
  json["recompute_saves"] = outcome.plan.recompute_saves;
  json["captured"] = !outcome.epochs.empty() && outcome.epochs.back().is_captured;
  json["stopped_early"] = result.has_stopped_early;
  if (train.type == learn::NumberType::float16 && !outcome.epochs.empty()) {
    json["loss_scale"] = outcome.epochs.back().loss_scale;
    json["skipped_steps"] = outcome.epochs.back().skipped_steps;
  }

  report_links(json, train, input, outcome);
  const bool is_f1 = input.dataset.loss == learn::LossKind::binary;
  const char* what = train.links ? "AUC" : (is_f1 ? "micro-F1" : "accuracy");
  const auto& parts = json["breakdown"];
  Table table;
  table.row("model",
            fmt::format("{}, {}, {} wide, {}, on {}", options.train.model,
                        counted(train.model.layers, "layer", "layers"), train.model.hidden,
                        counted(outcome.parameters, "parameter", "parameters"), session.place()));
  table.row("data", data_text(input));
  table.row("epochs", fmt::format("{}{}, {} each, {} in all", result.epochs,
                                  result.has_stopped_early ? " (stopped early)" : "",
                                  duration(middle), duration(total)));
  table.row("an epoch", fmt::format("aggregate {}, dense {}, communicate {}, other {}",
                                    duration(parts["aggregate"]), duration(parts["dense"]),
                                    duration(parts["communicate"]), duration(parts["other"])));
  report_batches(json, table, train, outcome);
  table.row("memory", fmt::format("{} planned for a rank, {} held at most",
                                  human_bytes(outcome.plan.total()), human_bytes(outcome.peak)));
  if (!outcome.epochs.empty())
    table.row("last loss", fmt::format("{:.4f}", outcome.epochs.back().loss));
  if (train.type == learn::NumberType::float16 && !outcome.epochs.empty())
    table.row("loss scale",
              fmt::format("{}, {} left out", outcome.epochs.back().loss_scale,
                          counted(outcome.epochs.back().skipped_steps, "update", "updates")));
  table.row(fmt::format("best validation {}", what),
            fmt::format("{:.4f}, of epoch {} (chance: {:.4f})", result.best_validation,
                        result.best_epoch, result.chance));
  table.row(fmt::format("test {} there", what), fmt::format("{:.4f}", result.test_accuracy));
  if (train.links)
    table.row("test reciprocal rank", fmt::format("{:.4f}, among {} false targets", result.test_mrr,
                                                  learn::LinkSplit::kJudges));
  session.print("\n{}", table.text());
}

/// Of a checkpoint that is gone on from: its options, which those left out become. Empty where
/// there is none.
learn::Settings take_up(CLI::App& command, const TrainCommand& options) {
  if (options.train.checkpoint.empty() || options.train.overwrite) return {};
  if (!options.train.resume || !learn::has_state(options.train.checkpoint)) {
    learn::check_is_free(options.train.checkpoint);
    return {};
  }
  learn::Settings stored = learn::read_state_settings(options.train.checkpoint);
  if (stored.empty()) warn_of_old_checkpoint(options.train.checkpoint);
  // Of the other task neither's options make sense.
  if (command.count("--task") != 0)
    (void)learn::check_settings(options.train.checkpoint, learn::Purpose::resume, stored,
                                {{"task", options.train.task}}, false);
  (void)restore_options(command, options.train.checkpoint, stored);
  return stored;
}

ExitStatus run_train(CLI::App& command, const TrainCommand& options) {
  const std::string& checkpoint = options.train.checkpoint;
  std::optional<learn::CheckpointFolder> folder;
  if (!checkpoint.empty()) folder.emplace(checkpoint);
  const bool resumes = options.train.resume && learn::has_state(checkpoint);
  const learn::Settings stored = take_up(command, options);
  const TrainOptions asked = library_options(options);
  learn::TrainOptions train = api::train_options(asked);
  train.inputs.merge(input_settings(options.dataset, options.common.seed));
  const learn::Settings given = learn::settings_of(train);
  const bool has_changes =
      learn::check_settings(checkpoint, learn::Purpose::resume, stored, given, asked.allow_changes);
  Session session("train", options.common);
  if (!has_changes) warn_without_effect(options.common, {"--allow-changes"}, kNothingDiffers);
  for (const std::string& file : learn::checkpoint_files(checkpoint))
    session.writes("--checkpoint", file);
  warn_of_unused_options(session, train);
  TrainInput input(session, options.dataset, api::needs_of(train));
  train.inputs["normalize"] = input.normalize;
  const std::uint64_t memory = session.on_gpu() ? exec::Device::cuda(0).memory().total : 0;
  api::fit_to(input, asked, session.team().ranks, memory, train);
  for (const std::string& warning : input.warnings) log_warning(warning);
  const Outcome outcome = measure(session, input, train, resumes);
  report(session, options, train, input, outcome);
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
  auto options = std::make_shared<TrainCommand>();
  CLI::App* train = add_command(
      program, "train", "Train a graph neural network, on the whole graph or on sampled batches");
  add_train_options(*train, *options);
  train->footer(
      "Examples:\n  warren train debian --model gcn --hidden 64 --checkpoint model\n"
      "  warren train debian --task link --mode sampled --model sage --fanout 15,10");
  train->callback([options, &action, train] {
    options->has_class_weights = train->count("--class-weights") != 0;
    options->has_edge_weights = train->count("--edge-weights") != 0;
    action = [options, train] { return run_train(*train, *options); };
  });
}

}  // namespace warren::app
