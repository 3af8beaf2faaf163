// SPDX-License-Identifier: Apache-2.0
#include "warren/api/train.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "warren/api/program.hpp"
#include "warren/api/report_training.hpp"
#include "warren/api/train_fields.hpp"
#include "warren/core/error.hpp"
#include "warren/core/quantity.hpp"
#include "warren/exec/memory.hpp"
#include "warren/learn/checkpoint_folder.hpp"
#include "warren/sparse/strategy_text.hpp"

#include "api/call.hpp"
#include "api/library_words.hpp"
#include "api/measured.hpp"
#include "api/ready_data.hpp"

namespace warren {
namespace api {

std::string strategy_of(const learn::ExchangeReport& report) {
  return report.is_local ? "local" : sparse::product_text(report.product);
}

namespace {

/// Each process finds the checkpoint for itself: on hosts that may not have the same folder.
void check_same_start(team::Team& team, bool resumes, std::size_t epochs) {
  struct Start {
    bool resumes;
    std::size_t epochs;
  };
  const auto text = [](const Start& start) {
    return start.resumes ? fmt::format("goes on after {} epochs", start.epochs)
                         : std::string("finds no checkpoint to go on from");
  };
  const std::vector<Start> all = team.all_gather(Start{resumes, epochs});
  for (std::size_t q = 1; q < all.size(); ++q) {
    require(
        all[q].resumes == all[0].resumes && all[q].epochs == all[0].epochs,
        fmt::format("rank {} {}, and rank 0 {}: give the hosts of all ranks the same checkpoint", q,
                    text(all[q]), text(all[0])));
  }
}

}  // namespace

void train_on(team::Team& team, const TrainingJob& job, TrainingOutcome& outcome) {
  learn::check_memory(job.plan, team.device(), team.size());
  check_same_data(team, job.data);
  learn::Trainer trainer(team, job.data.graphs, job.data.dataset, job.options);
  if (job.resumes) trainer.resume();
  if (team.spans_processes()) check_same_start(team, job.resumes, trainer.history().size());
  const bool reports = team.reports();
  if (reports) outcome = {};
  const auto result = trainer.run([&](const learn::EpochRecord& record) {
    if (!reports) return;
    outcome.epochs.push_back(record);
    if (job.seen) job.seen(record);
  });
  // What the rank that held most did, as the plan is that rank's.
  const std::uint64_t peak =
      team.all_reduce(exec::memory_use(team.device()).peak,
                      [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
  std::vector<float> scores;
  const bool has_whole = !job.options.sampled || job.options.sampled->exact_evaluation;
  if (job.predicts && has_whole)
    scores = gathered(team, job.data, trainer.predict(), job.data.dataset.classes);
  if (!reports) return;
  outcome.result = result;
  outcome.history = trainer.history();
  outcome.batches = trainer.batches();
  outcome.hit_rate = trainer.hit_rate();
  if (!job.options.sampled) outcome.exchange = trainer.exchange();
  outcome.parameters = trainer.model().parameters().size();
  outcome.peak = peak;
  outcome.scores = std::move(scores);
  if (job.options.keeps_mark) outcome.model.emplace(trainer.model_file());
}

CheckpointStart::CheckpointStart(const TrainOptions& options) {
  if (options.checkpoint.empty()) return;
  if (is_first_process()) folder.emplace(options.checkpoint);
  if (options.overwrite) return;
  if (options.resume && learn::has_state(options.checkpoint))
    stored = learn::read_state_settings(options.checkpoint);
  else
    learn::check_is_free(options.checkpoint);
}

TrainingOutcome run_training(const Session& session, const TrainingJob& job) {
  TrainingOutcome outcome;
  const SessionRanks ranks(session, std::nullopt, 0, true);
  outcome.bytes_between_hosts = ranks.run([&](team::Team& team) { train_on(team, job, outcome); });
  return outcome;
}

std::string done_warning(const TrainOptions& asked, const TrainingOutcome& outcome) {
  const std::size_t done = outcome.history.size();
  if (!outcome.epochs.empty() || done == 0) return {};
  return fmt::format("{}: nothing was trained: its training has ended after {}{}", asked.checkpoint,
                     counted(done, "epoch", "epochs"),
                     done < asked.epochs ? "" : "; a larger --epochs goes on from there");
}

}  // namespace api

namespace {

void check_data(const Dataset& dataset, const api::Needs& needs) {
  require(needs.unlabelled || dataset.is_labelled(),
          "dataset: got one without labels, expected labels, and vertices for training, validation "
          "and test (a generator needs --classes); --task link learns from edges alone");
  require(!needs.weights || dataset.graph().is_weighted(),
          fmt::format("dataset: got a graph without weights, expected weights: {}",
                      api::reason_of_weights(needs)));
}

/// Options of `asked` that are not as they are left, and change nothing.
std::vector<std::string> unused_warnings(const TrainOptions& asked,
                                         const learn::TrainOptions& train, const RunInfo& ran) {
  const TrainOptions left;
  std::set<std::string> given;
  const auto look = [&](const auto& field) {
    if (asked.*field.member != left.*field.member) given.insert(field.option);
  };
  api::each_model_field(look);
  api::each_optimizer_field(look);
  api::each_sampled_field(look);
  if (asked.tensor_sums.value_or(false)) given.insert("--tensor-sums");
  std::vector<std::string> warnings;
  for (const auto& [option, why] :
       api::unused_options(train, ran.devices, ran.device == DeviceKind::cuda)) {
    if (given.contains(option))
      warnings.push_back(api::in_library_words(fmt::format("{} has no effect: {}", option, why)));
  }
  return warnings;
}

TrainResult train_with(const Dataset& dataset, const TrainOptions& options) {
  learn::TrainOptions train = api::train_options(options);
  train.keeps_mark = true;
  for (const auto& [name, value] : dataset.made_by()) train.inputs.emplace(name, value);
  const api::Needs needs = api::needs_of(train);
  api::Preparation how{.normalize = options.normalize,
                       .method = options.method,
                       .reorder = options.reorder,
                       .seed = options.seed};
  api::check(how);
  check_data(dataset, needs);
  const api::CheckpointStart start(options);
  if (const auto& stored = start.stored) {
    const auto normalize = stored->find("normalize");
    if (how.normalize == "auto" && normalize != stored->end()) how.normalize = normalize->second;
    train.inputs["normalize"] = how.normalize;
    (void)learn::check_settings(options.checkpoint, learn::Purpose::resume, *stored,
                                learn::settings_of(train), options.allow_changes);
  }
  api::Call call(dataset.graph(), {.traversal = std::nullopt,
                                   .device = options.device,
                                   .devices = options.devices,
                                   .session = options.session});
  how.ranks = call.info.devices;
  api::TrainingData data = api::ready_data(dataset, how, needs, call.teams());
  const learn::MemoryPlan plan = api::in_library_words(
      api::fit_to(data, options, call.info, train, call.teams().memory(call.info.device)));
  const api::TrainingJob job{
      data, train, plan, start.stored.has_value(), options.predictions, options.progress};
  api::TrainingOutcome outcome;
  call.on_team([&](team::Team& team) { api::train_on(team, job, outcome); });
  for (const learn::EpochRecord& epoch : outcome.epochs) call.info.seconds += epoch.seconds;
  std::vector<std::string> warnings = api::warnings_of(data);
  for (std::string& unused : unused_warnings(options, train, call.info))
    warnings.push_back(std::move(unused));
  const std::string warning = api::done_warning(options, outcome);
  if (!warning.empty()) warnings.push_back(api::in_library_words(warning));
  const Model model = *std::exchange(outcome.model, std::nullopt);
  std::vector<float> scores = std::exchange(outcome.scores, {});
  auto report = std::make_shared<const api::TrainingReport>(
      api::report_of(call.info, data, train, plan, outcome));
  return {.history = std::move(outcome.history),
          .summary = outcome.result,
          .model = model,
          .scores = std::move(scores),
          .normalize = data.normalize,
          .batches = outcome.batches,
          .peak_memory = outcome.peak,
          .strategy = train.sampled ? "" : api::strategy_of(outcome.exchange),
          .strategy_reason = outcome.exchange.reason,
          .warnings = std::move(warnings),
          .info = call.info,
          .report = std::move(report)};
}

}  // namespace

TrainResult train(const Dataset& dataset, const TrainOptions& options) {
  return api::told_in_library_words([&] { return train_with(dataset, options); });
}

}  // namespace warren
