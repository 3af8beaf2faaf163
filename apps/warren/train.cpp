// SPDX-License-Identifier: Apache-2.0
// warren train: a graph neural network, on the whole graph or on sampled batches.
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <unistd.h>

#include "warren/api/report_training.hpp"
#include "warren/api/restored.hpp"
#include "warren/api/train_fields.hpp"
#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/core/standard_streams.hpp"
#include "warren/learn/checkpoint_folder.hpp"
#include "warren/learn/trainer.hpp"

#include "option_rules.hpp"
#include "train_input.hpp"

namespace warren::app {
namespace {

struct TrainCommand {
  CommonOptions common;
  DatasetOptions dataset;
  TrainOptions train;  ///< As the library takes them, but for what library_options() adds.
  std::optional<std::string> fanout;
  bool no_capture = false;
  bool tensor_sums = false;
  bool no_tensor_sums = false;
  bool exact_products = false;
  bool explain = false;
};

/// A field's option, by the type that it has.
template <class Member>
void add_field(CLI::App& train, TrainOptions& options, const api::TrainField<Member>& field) {
  using Type = std::decay_t<decltype(std::optional{std::declval<Member>()}.value())>;
  Member& value = options.*field.member;
  if constexpr (std::is_same_v<Type, bool>)
    train.add_flag(field.option, value, field.help);
  else if constexpr (std::is_same_v<Type, std::string>)
    add_text(train, field.option, value, field.help, field.value);
  else if constexpr (std::is_floating_point_v<Type>)
    add_real(train, field.option, value, field.help, field.value, field.low, field.high);
  else
    add_number(train, field.option, value, field.help, field.value,
               static_cast<std::uint64_t>(field.low), static_cast<std::uint64_t>(field.high));
}

/// Switches of what GPUs do, and what is told.
void add_switches(CLI::App& train, TrainCommand& o) {
  train.add_flag("--explain", o.explain,
                 "Of full on several devices: print the strategies, what they are thought to take "
                 "and what they took");
  train.add_flag("--no-capture", o.no_capture,
                 "GPUs, of full: every kernel of an epoch is started by itself, with the same "
                 "numbers");
  train.add_flag(
      "--tensor-sums", o.tensor_sums,
      "GPUs, types of 16 bits: GAT's sums over neighbours by tensor cores wherever they can, as "
      "without a choice so far");
  train.add_flag("--no-tensor-sums", o.no_tensor_sums, "GAT's sums never by tensor cores")
      ->excludes("--tensor-sums");
  train.add_flag("--no-tf32", o.exact_products, "GPUs: dense products in full float32");
}

void add_train_options(CLI::App& train, TrainCommand& command) {
  const auto add = [&](const auto& field) { add_field(train, command.train, field); };
  add_dataset_options(train, command.dataset);
  api::each_model_field(add);
  add_switches(train, command);
  api::each_optimizer_field(add);
  add_text(train, "--fanout", command.fanout,
           "Of sampled: neighbours of each vertex, hop by hop from the batch's own vertices; "
           "-1 for all (15,10)",
           "F1,F2,...");
  api::each_sampled_field(add);
  train.get_option("--skip")->excludes("--residual");
  train.get_option("--overwrite")->excludes("--resume");
  train.get_option("--allow-changes")->needs("--resume");
  train.get_option("--capture-batches")->excludes("--no-capture");
  add_common_options(train, command.common);
}

TrainOptions library_options(const TrainCommand& command) {
  TrainOptions options = command.train;
  if (command.fanout) options.fanout = parse_fanouts(*command.fanout);
  options.capture = !command.no_capture;
  options.allow_tf32 = !command.exact_products;
  if (command.tensor_sums || command.no_tensor_sums) options.tensor_sums = command.tensor_sums;
  options.seed = command.common.seed;
  options.deterministic = command.common.deterministic;
  options.normalize = command.dataset.normalize;
  options.method = command.dataset.method;
  options.reorder = command.dataset.reorder;
  return options;
}

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

/// What is stored becomes the options that are left out.
void take_up(const TrainCommand& options, const learn::Settings& stored) {
  const std::string& checkpoint = options.train.checkpoint;
  if (stored.empty()) log_warning(api::old_checkpoint_warning(checkpoint));
  // Of the other task neither's options make sense.
  if (options.common.is_given("--task"))
    (void)learn::check_settings(checkpoint, learn::Purpose::resume, stored,
                                {{"task", options.train.task}}, false);
  (void)restore_options(*options.common.parsers.front(), checkpoint, stored);
}

ExitStatus run_train(const TrainCommand& options) {
  const std::string& checkpoint = options.train.checkpoint;
  const api::CheckpointStart start(options.train);
  const bool resumes = start.stored.has_value();
  const learn::Settings stored = start.stored.value_or(learn::Settings{});
  if (resumes) take_up(options, stored);
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
  api::TrainingData data = read_training_data(session, options.dataset, api::needs_of(train));
  const learn::MemoryPlan plan = api::fit_to(data, asked, session.ran(), train);
  for (const std::string& warning : data.warnings) log_warning(warning);
  api::TrainingReport report =
      report_of(session.ran(), data, train, plan,
                run(session, {.data = data, .options = train, .plan = plan, .resumes = resumes}));
  report.explains = options.explain;
  const std::string warning = api::done_warning(asked, report.outcome);
  if (!warning.empty()) log_warning(warning);
  session.add(to_json(report));
  session.print("{}", to_text(report));
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
