// SPDX-License-Identifier: Apache-2.0
// warren train: a graph neural network on the whole graph.
#include <cstdio>
#include <filesystem>
#include <memory>

#include <unistd.h>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/core/trace.hpp"
#include "warren/exec/memory.hpp"
#include "warren/learn/memory_plan.hpp"
#include "warren/learn/trainer.hpp"

#include "command.hpp"
#include "text.hpp"
#include "train_input.hpp"

namespace warren::app {
namespace {

struct Options {
  CommonOptions common;
  DatasetOptions dataset;
  std::string model = "gcn";
  std::string mode = "full";
  std::string type = "float32";
  std::string aggregate = "mean";
  std::string norm;
  std::string optimizer = "adam";
  std::string schedule = "constant";
  std::uint64_t layers = 2;
  std::optional<std::uint64_t> hidden;
  std::uint64_t heads = 8;
  std::optional<double> dropout, rate;
  double weight_decay = 5e-4;
  double clip = 0.0;
  std::uint64_t warmup = 0;
  std::uint64_t epochs = 200;
  std::uint64_t patience = 0;
  std::string fanout;
  std::optional<std::uint64_t> batch;
  std::string checkpoint;
  std::uint64_t checkpoint_every = 20;
  bool resume = false;
  bool residual = false;
  bool exact_products = false;
};

void add_model_options(CLI::App& train, Options& o) {
  const auto named = [&](const char* option, std::string& value, const char* description) {
    train.add_option(option, value, description)->type_name("NAME");
  };
  named("--model", o.model, "gcn, sage, gat, gin");
  named("--mode", o.mode, "full (every epoch one pass over the whole graph)");
  named("--type", o.type, "Storage: float32");
  add_number(train, "--layers", o.layers, "Layers (2)", "L", 1, 64);
  add_number(train, "--hidden", o.hidden,
             "Width of hidden layers; of gat, all heads together (gcn: 16, others: 64)", "K", 1,
             1 << 20);
  add_number(train, "--heads", o.heads, "Of gat: heads of hidden layers; the last has one (8)", "H",
             1, 1024);
  named("--aggregate", o.aggregate, "Of sage: mean, sum, max");
  named("--norm", o.norm, "Of hidden layers: none, batch, layer (none; gin: batch)");
  train.add_flag("--residual", o.residual, "Add a hidden layer's input to its output");
  train
      .add_option("--dropout", o.dropout,
                  "Probability, of hidden layers; of gcn and gat of the features, too, of gat of "
                  "edges (0.5; gat: 0.6)")
      ->type_name("P")
      ->check(CLI::Range(0.0, 0.999));
  train.add_flag("--no-tf32", o.exact_products, "GPUs: dense products in full float32");
}

void add_optimizer_options(CLI::App& train, Options& o) {
  const auto positive = CLI::Range(0.0, 1e6);
  train.add_option("--lr", o.rate, "Learning rate (0.01; gat: 0.005)")
      ->type_name("R")
      ->check(positive);
  train
      .add_option("--weight-decay", o.weight_decay,
                  "Of gcn on the first layer, else on all (0.0005)")
      ->type_name("W")
      ->check(positive);
  train.add_option("--optimizer", o.optimizer, "adam, adamw, sgd (momentum 0.9)")
      ->type_name("NAME");
  train.add_option("--schedule", o.schedule, "Of the learning rate: constant, cosine, step")
      ->type_name("NAME");
  add_number(train, "--warmup", o.warmup, "Epochs in which the learning rate rises (0)", "N", 0,
             1000000);
  train.add_option("--clip", o.clip, "Largest length of the gradient (0: any)")
      ->type_name("LENGTH")
      ->check(positive);
  add_number(train, "--epochs", o.epochs, "Epochs (200)", "N", 1, 10000000);
  add_number(train, "--patience", o.patience,
             "Stop after N epochs without a better validation (0: never)", "N", 0, 10000000);
  train.add_option("--fanout", o.fanout, "Of --mode sampled")->type_name("F1,F2,...");
  add_number(train, "--batch", o.batch, "Of --mode sampled: vertices per rank", "B", 1, 1 << 30);
  train.add_option("--checkpoint", o.checkpoint, "Keep the model and the state in this folder")
      ->type_name("DIR");
  add_number(train, "--checkpoint-every", o.checkpoint_every, "Epochs between checkpoints (20)",
             "N", 1, 10000000);
  train.add_flag("--resume", o.resume, "Go on from --checkpoint's state, where there is one");
}

learn::TrainOptions train_options(const Options& o) {
  check_choice("--model", o.model, {"gcn", "sage", "gat", "gin"}, {});
  check_choice("--mode", o.mode, {"full"}, {"sampled"});
  check_choice("--type", o.type, {"float32"}, {"float16", "bfloat16", "fp16", "bf16"});
  check_choice("--aggregate", o.aggregate, {"mean", "sum", "max"}, {});
  check_choice("--optimizer", o.optimizer, {"adam", "adamw", "sgd"}, {});
  check_choice("--schedule", o.schedule, {"constant", "cosine", "step"}, {});
  require(o.fanout.empty() && !o.batch, "--fanout and --batch are for --mode sampled");
  require(!o.resume || !o.checkpoint.empty(), "--resume needs --checkpoint DIR");
  const std::string norm = !o.norm.empty() ? o.norm : (o.model == "gin" ? "batch" : "none");
  check_choice("--norm", norm, {"none", "batch", "layer"}, {});
  learn::TrainOptions train;
  const bool is_gat = o.model == "gat";
  train.model.kind = learn::parse_model(o.model);
  train.model.layers = o.layers;
  train.model.hidden = o.hidden.value_or(o.model == "gcn" ? 16 : 64);
  train.model.heads = o.heads;
  train.model.dropout = static_cast<float>(o.dropout.value_or(is_gat ? 0.6 : 0.5));
  train.model.aggregate = learn::parse_aggregate(o.aggregate);
  train.model.norm = learn::parse_norm(norm);
  train.model.residual = o.residual;
  train.model.seed = o.common.seed;
  train.optimizer.kind = learn::OptimizerKind::adam;
  if (o.optimizer == "adamw") train.optimizer.kind = learn::OptimizerKind::adamw;
  if (o.optimizer == "sgd") train.optimizer.kind = learn::OptimizerKind::sgd;
  train.optimizer.schedule = learn::Schedule::constant;
  if (o.schedule == "cosine") train.optimizer.schedule = learn::Schedule::cosine;
  if (o.schedule == "step") train.optimizer.schedule = learn::Schedule::step;
  train.optimizer.rate = static_cast<float>(o.rate.value_or(is_gat ? 0.005 : 0.01));
  train.optimizer.weight_decay = static_cast<float>(o.weight_decay);
  train.optimizer.clip = static_cast<float>(o.clip);
  train.optimizer.warmup = o.warmup;
  train.epochs = o.epochs;
  train.patience = o.patience;
  train.checkpoint = o.checkpoint;
  train.checkpoint_every = o.checkpoint_every;
  train.allow_tf32 = !o.exact_products;
  return train;
}

/// The line that a person watches.
class EpochLine {
 public:
  EpochLine(bool is_wanted, std::uint64_t epochs)
      : is_shown_(is_wanted && isatty(STDERR_FILENO) == 1), epochs_(epochs) {}
  ~EpochLine() {
    if (is_shown_) fmt::print(stderr, "\r\033[K");
  }
  EpochLine(const EpochLine&) = delete;
  EpochLine& operator=(const EpochLine&) = delete;
  void show(const learn::EpochRecord& record) const {
    if (!is_shown_) return;
    fmt::print(stderr,
               "\r\033[Kepoch {} of {}: loss {:.4f}, training {:.4f}, validation {:.4f}, {}",
               record.epoch, epochs_, record.loss, record.scores[0].accuracy,
               record.scores[1].accuracy, duration(record.seconds));
    std::fflush(stderr);
  }

 private:
  bool is_shown_;
  std::uint64_t epochs_;
};

struct Outcome {
  std::vector<learn::EpochRecord> epochs;
  learn::TrainResult result;
  std::uint64_t parameters = 0;
  std::uint64_t peak = 0;
  learn::MemoryPlan plan;
};

Outcome measure(const Session& session, const TrainInput& input, const learn::TrainOptions& options,
                bool resumes) {
  Outcome outcome;
  outcome.plan = learn::plan_memory(input.graphs, input.dataset, options);
  log_info(fmt::format("a rank will hold {}: {}", human_bytes(outcome.plan.total()),
                       outcome.plan.text()));
  const EpochLine line(!session.options().quiet, options.epochs);
  const bool has_state =
      resumes &&
      std::filesystem::exists(std::filesystem::path(options.checkpoint) / "state.safetensors");
  team::run_team(session.team(), [&](team::Team& team) {
    learn::check_memory(outcome.plan, team.device(), team.size());
    learn::Trainer trainer(team, input.graphs, input.dataset, options);
    if (has_state) trainer.resume();
    const bool is_first = team.rank() == 0;
    const auto result = trainer.run([&](const learn::EpochRecord& record) {
      if (!is_first) return;
      outcome.epochs.push_back(record);
      line.show(record);
    });
    if (!is_first) return;
    outcome.result = result;
    outcome.parameters = trainer.model().parameters().size();
    outcome.peak = exec::memory_use(team.device()).peak;
  });
  return outcome;
}

Json breakdown(const Outcome& outcome) {
  double part[learn::kParts] = {};
  double all = 0.0;
  for (const auto& epoch : outcome.epochs) {
    for (std::size_t i = 0; i < learn::kParts; ++i) part[i] += epoch.part_seconds.at(i);
    all += epoch.seconds;
  }
  const double count = std::max<double>(1.0, static_cast<double>(outcome.epochs.size()));
  const auto of = [&](learn::Part p) { return part[static_cast<std::size_t>(p)] / count; };
  const double known =
      of(learn::Part::aggregate) + of(learn::Part::dense) + of(learn::Part::communicate);
  return {{"aggregate", of(learn::Part::aggregate)},
          {"dense", of(learn::Part::dense)},
          {"communicate", of(learn::Part::communicate)},
          {"other", std::max(0.0, all / count - known)}};
}

void report(Session& session, const Options& options, const learn::TrainOptions& train,
            const TrainInput& input, const Outcome& outcome) {
  const learn::TrainResult& result = outcome.result;
  std::vector<double> seconds;
  double total = 0.0;
  Json epochs = Json::array();
  for (const auto& epoch : outcome.epochs) {
    seconds.push_back(epoch.seconds);
    total += epoch.seconds;
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
  json["model"] = options.model;
  json["mode"] = options.mode;
  json["layers"] = train.model.layers;
  json["hidden"] = train.model.hidden;
  json["norm"] = learn::name_of(train.model.norm);
  json["features"] = input.dataset.width;
  json["classes"] = input.dataset.classes;
  json["parameters"] = outcome.parameters;
  json["epochs"] = epochs;
  json["epochs_done"] = result.epochs;
  json["best_epoch"] = result.best_epoch;
  json["best_validation"] = result.best_validation;
  json["test_accuracy"] = result.test_accuracy;
  json["epoch_seconds"] = middle;
  json["breakdown"] = breakdown(outcome);
  json["peak_memory"] = outcome.peak;
  Json plan;
  for (const auto& [name, bytes] : outcome.plan.parts) plan[name] = bytes;
  json["memory_plan"] = plan;
  json["stopped_early"] = result.has_stopped_early;

  const bool is_f1 = input.dataset.loss == learn::LossKind::binary;
  const char* what = is_f1 ? "micro-F1" : "accuracy";
  const auto& parts = json["breakdown"];
  Table table;
  table.row("model",
            fmt::format("{}, {}, {} wide, {}, on {}", options.model,
                        counted(train.model.layers, "layer", "layers"), train.model.hidden,
                        counted(outcome.parameters, "parameter", "parameters"), session.place()));
  table.row(
      "data",
      fmt::format("{} features{}, {} classes, {} / {} / {} vertices",
                  thousands(input.dataset.width), input.dataset.is_sparse() ? " (sparse)" : "",
                  input.dataset.classes, thousands(input.dataset.counts[0]),
                  thousands(input.dataset.counts[1]), thousands(input.dataset.counts[2])));
  table.row("epochs", fmt::format("{}{}, {} each, {} in all", result.epochs,
                                  result.has_stopped_early ? " (stopped early)" : "",
                                  duration(middle), duration(total)));
  table.row("an epoch", fmt::format("aggregate {}, dense {}, communicate {}, other {}",
                                    duration(parts["aggregate"]), duration(parts["dense"]),
                                    duration(parts["communicate"]), duration(parts["other"])));
  table.row("memory", fmt::format("{} planned for a rank, {} held at most",
                                  human_bytes(outcome.plan.total()), human_bytes(outcome.peak)));
  if (!outcome.epochs.empty())
    table.row("last loss", fmt::format("{:.4f}", outcome.epochs.back().loss));
  table.row(fmt::format("best validation {}", what),
            fmt::format("{:.4f}, of epoch {}", result.best_validation, result.best_epoch));
  table.row(fmt::format("test {} there", what), fmt::format("{:.4f}", result.test_accuracy));
  session.print("\n{}", table.text());
}

ExitStatus run_train(const Options& options) {
  learn::TrainOptions train = train_options(options);
  Session session("train", options.common);
  const bool needs_dense = train.model.kind == learn::ModelKind::sage &&
                           train.model.aggregate == learn::SageAggregate::max;
  const TrainInput input(session, options.dataset, needs_dense);
  const Outcome outcome = measure(session, input, train, options.resume);
  report(session, options, train, input, outcome);
  session.finish();
  return ExitStatus::done;
}

}  // namespace

void add_train(CLI::App& program, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* train = program.add_subcommand("train", "Train a graph neural network");
  add_dataset_options(*train, options->dataset);
  add_model_options(*train, *options);
  add_optimizer_options(*train, *options);
  add_common_options(*train, options->common);
  train->footer("Example:\n  warren train debian --model gcn --hidden 64 --checkpoint model");
  train->callback([options, &action] { action = [options] { return run_train(*options); }; });
}

}  // namespace warren::app
