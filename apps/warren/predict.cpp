// SPDX-License-Identifier: Apache-2.0
// warren predict: what a trained model says of every vertex, exactly, on the whole graph.
#include <algorithm>
#include <memory>

#include "warren/core/error.hpp"
#include "warren/core/trace.hpp"
#include "warren/learn/memory_plan.hpp"
#include "warren/learn/trainer.hpp"

#include "command.hpp"
#include "files.hpp"
#include "option_rules.hpp"
#include "text.hpp"
#include "train_input.hpp"

namespace warren::app {
namespace {

struct Options {
  CommonOptions common;
  DatasetOptions dataset;
  std::string checkpoint;
  std::string output;
};

struct Outcome {
  learn::Scores scores;
  std::vector<float> of_vertices;  ///< In the ranks' order.
  double seconds = 0.0;
};

Outcome measure(const Session& session, const TrainInput& input,
                const learn::TrainOptions& options) {
  Outcome outcome;
  learn::MemoryPlan plan = learn::plan_memory(input.graphs, input.dataset, options);
  // Sizes and type are the checkpoint's.
  plan.alternatives.clear();
  plan.otherwise = "on GPUs each of --devices N holds a part";
  const auto progress = session.progress("predicting");
  team::run_team(session.team(), [&](team::Team& team) {
    learn::check_memory(plan, team.device(), team.size());
    learn::Trainer trainer(team, input.graphs, input.dataset, options);
    trainer.load_model();
    (void)trainer.evaluate();
    team.barrier();
    const double begin = now_seconds();
    const learn::Scores scores = trainer.evaluate();
    const double seconds = now_seconds() - begin;
    const std::vector<float> mine = trainer.predict();
    const auto all = team.all_gather_v(std::span<const float>(mine));
    if (team.rank() != 0) return;
    outcome.scores = scores;
    outcome.seconds = seconds;
    for (const auto& part : all)
      outcome.of_vertices.insert(outcome.of_vertices.end(), part.begin(), part.end());
  });
  return outcome;
}

/// A line for each vertex: its id, and its class; of several labels all that it has.
void write(const std::string& path, const TrainInput& input, const Outcome& outcome) {
  const std::uint64_t classes = input.dataset.classes;
  const std::uint64_t n = input.dataset.vertices;
  std::vector<std::uint64_t> place(n);
  for (std::uint64_t i = 0; i < n; ++i)
    place[input.graphs.input_ids.empty() ? i : input.graphs.input_ids[i]] = i;
  OutputFile file(path);
  std::string text;
  for (std::uint64_t v = 0; v < n; ++v) {
    const float* row = outcome.of_vertices.data() + place[v] * classes;
    text += fmt::format("{}", v);
    if (input.dataset.loss == learn::LossKind::binary) {
      for (std::uint64_t c = 0; c < classes; ++c) {
        if (row[c] > 0.0f) text += fmt::format(" {}", c);
      }
    } else {
      text += fmt::format(" {}", std::max_element(row, row + classes) - row);
    }
    text += '\n';
  }
  file.write(text);
  file.commit();
}

ExitStatus run_predict(const Options& options) {
  require(!options.checkpoint.empty(), "predict needs --checkpoint DIR, which train has written");
  if (!options.output.empty()) check_writable("--output", options.output);
  if (learn::is_link_model(options.checkpoint))
    throw InputError(options.checkpoint +
                     ": the model is of links (train --task link); predict tells classes of "
                     "vertices: give it the checkpoint of a --task node");
  Session session("predict", options.common);
  warn_without_effect(options.common, {"--repeat"}, "predict runs once");
  learn::TrainOptions train;
  train.model = learn::read_model_options(options.checkpoint);
  train.model.recompute = true;  // There is no backward pass: layers keep nothing.
  train.checkpoint = options.checkpoint;
  const bool needs_dense = train.model.kind == learn::ModelKind::sage &&
                           train.model.aggregate == learn::SageAggregate::max;
  const TrainInput input(session, options.dataset, needs_dense);
  if (train.model.features != input.dataset.width || train.model.classes != input.dataset.classes) {
    throw InputError(fmt::format(
        "{}: the model is of {} features and {} classes, but this dataset has {} and {}",
        options.checkpoint, train.model.features, train.model.classes, input.dataset.width,
        input.dataset.classes));
  }
  const Outcome outcome = measure(session, input, train);
  if (!options.output.empty()) write(options.output, input, outcome);
  Json& json = session.json();
  json["seconds"] = std::vector<double>{outcome.seconds};
  json["model"] = learn::name_of(train.model.kind);
  json["train_accuracy"] = outcome.scores[0].accuracy;
  json["validation_accuracy"] = outcome.scores[1].accuracy;
  json["test_accuracy"] = outcome.scores[2].accuracy;
  Table table;
  table.row("model", fmt::format("{}, on {}", learn::name_of(train.model.kind), session.place()));
  table.row("time", duration(outcome.seconds));
  table.row("training, validation, test",
            fmt::format("{:.4f}, {:.4f}, {:.4f}", outcome.scores[0].accuracy,
                        outcome.scores[1].accuracy, outcome.scores[2].accuracy));
  session.print("\n{}", table.text());
  session.finish();
  return ExitStatus::done;
}

}  // namespace

void add_predict(CLI::App& program, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* predict = add_command(program, "predict", "What a trained model says");
  add_dataset_options(*predict, options->dataset);
  predict->add_option("--checkpoint", options->checkpoint, "The folder that train has written")
      ->type_name("DIR");
  predict->add_option("--output", options->output, "A line for each vertex: its id and its class")
      ->type_name("FILE");
  add_common_options(*predict, options->common);
  predict->footer("Example:\n  warren predict debian --checkpoint model --output classes.txt");
  predict->callback([options, &action] { action = [options] { return run_predict(*options); }; });
}

}  // namespace warren::app
