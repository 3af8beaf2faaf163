// SPDX-License-Identifier: Apache-2.0
// warren train: a graph neural network, on the whole graph or on sampled batches.
#include <optional>

#include <unistd.h>

#include "warren/api/report_training.hpp"
#include "warren/api/restored.hpp"
#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/core/quantity.hpp"
#include "warren/core/standard_streams.hpp"
#include "warren/learn/checkpoint_folder.hpp"
#include "warren/learn/trainer.hpp"

#include "option_rules.hpp"
#include "stored_options.hpp"
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
    if (is_shown_) write_standard_error("\r\033[K" + api::to_text(record, epochs_));
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

/// Of a checkpoint that is gone on from: its options, which those left out become. Empty where
/// there is none.
learn::Settings take_up(const TrainCommand& options) {
  if (options.train.checkpoint.empty() || options.train.overwrite) return {};
  if (!options.train.resume || !learn::has_state(options.train.checkpoint)) {
    learn::check_is_free(options.train.checkpoint);
    return {};
  }
  learn::Settings stored = learn::read_state_settings(options.train.checkpoint);
  if (stored.empty()) log_warning(api::old_checkpoint_warning(options.train.checkpoint));
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
  api::TrainingReport report =
      report_of(session.ran(), input, train, plan,
                run(session, {.data = input, .options = train, .plan = plan, .resumes = resumes}));
  report.explains = options.explain;
  session.add(to_json(report));
  session.print("{}", to_text(report));
  const api::TrainingOutcome& outcome = report.outcome;
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
