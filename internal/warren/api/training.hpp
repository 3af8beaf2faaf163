// SPDX-License-Identifier: Apache-2.0
// What train() and predict() are made of: for faces that have teams of their own, as the command
// line. Messages name options as the command line does ("--weight-decay").
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "warren/api/train.hpp"
#include "warren/learn/checkpoint_folder.hpp"
#include "warren/learn/links.hpp"
#include "warren/learn/memory_plan.hpp"
#include "warren/learn/neighbours.hpp"
#include "warren/learn/trainer.hpp"
#include "warren/team/team.hpp"

namespace warren::api {

/// Throws UsageError for options that are none or do not go together. What only the dataset tells
/// is left to fit_to().
[[nodiscard]] learn::TrainOptions train_options(const TrainOptions& options);

/// Reads a generator or a graph file.
using ReadGraph = std::function<Graph(const std::string& name, const ReadOptions& options)>;
/// As read_dataset(), of parts that are nobody else's. Without `contents` labels are read where
/// there are some. `read_graph`: for faces that read graphs their own way; else read().
[[nodiscard]] Dataset::Parts read_parts(const std::string& name, const DatasetOptions& options,
                                        std::optional<learn::Contents> contents = {},
                                        const ReadGraph& read_graph = {});

/// How a dataset is made ready for a team.
struct Preparation {
  std::string normalize = "auto", method = "ranges", reorder = "none";
  int ranks = 1;
  std::uint64_t seed = 1;
};
/// Throws UsageError for names that are none.
void check(const Preparation& how);

/// What a model needs of its dataset.
struct Needs {
  bool dense = false;
  bool weights = false;           ///< Of the edges.
  bool negative_weights = false;  ///< Those may be negative.
  bool links = false;
  /// Labels and splits are neither read nor missed; scores are rows of so many numbers.
  std::optional<std::uint64_t> unlabelled{};
};
[[nodiscard]] Needs needs_of(const learn::TrainOptions& options);
/// Why a graph without weights does not do, where it needs some.
[[nodiscard]] const char* reason_of_weights(const Needs& needs);

/// A dataset that is cut over the ranks of a team, which share it.
struct TrainingData {
  learn::Dataset dataset;
  std::string normalize;  ///< What was done to the features: "rows" or "none".
  learn::GraphPair graphs;
  std::shared_ptr<const learn::LinkSplit> links;  ///< Where they are learnt.
  std::vector<std::string> warnings;
};
/// Drops the weights and labels that `needs` does without, normalises the features, orders the
/// vertices, cuts the graph, and holds links out. Throws UsageError, InputError, MemoryError.
[[nodiscard]] TrainingData ready_data(Dataset::Parts parts, const Preparation& how,
                                      const Needs& needs, const Session& session);

/// What can only be said of the dataset: throws UsageError for batches larger than the training
/// set, and takes smaller ones where none were asked for. Chooses where features and lists lie, if
/// it is left to choose. Hands the split of links over, and notes how features were normalised.
/// Returns what a training will hold; says so where --recompute saves nothing of it. Adds to the
/// data's warnings. `ran`: what it will run on; `resource`: where its ranks take their memory.
[[nodiscard]] learn::MemoryPlan fit_to(
    TrainingData& data, const TrainOptions& asked, const RunInfo& ran, learn::TrainOptions& train,
    const std::shared_ptr<exec::MemoryResource>& resource = nullptr);

/// An option that changes nothing in what was asked for, as the command line names it.
struct UnusedOption {
  std::string option, why;
};
/// Those of a training, whether they were given or not.
[[nodiscard]] std::vector<UnusedOption> unused_options(const learn::TrainOptions& train, int ranks,
                                                       bool on_gpu);

/// Where a training keeps its checkpoints while it runs, and what it goes on from.
struct CheckpointStart {
  /// Throws UsageError where a model would be lost, InputError for a folder that is no use.
  explicit CheckpointStart(const TrainOptions& options);

  std::optional<learn::CheckpointFolder> folder;  ///< Of the first process, where there is one.
  std::optional<learn::Settings> stored;          ///< Of a state that is gone on from.
};

/// Where the time of an epoch went, in seconds: means over this run's epochs but the first, which
/// takes memory and makes connections.
struct EpochBreakdown {
  double aggregate = 0.0, dense = 0.0, communicate = 0.0;
  double other = 0.0;  ///< Of training; of the whole graph of all.
  // Of sampled batches, whose sampling and gathering run beside training.
  double train = 0.0, sample = 0.0, gather = 0.0;
  double exposed = 0.0;             ///< What is not hidden: what is left of an epoch.
  double train_share = 0.0;         ///< Of all epochs' time.
  std::uint64_t sampled_edges = 0;  ///< Of an epoch.
};

/// Of one training; rank 0 fills it.
struct TrainingOutcome {
  std::vector<learn::EpochRecord> epochs;   ///< Of this run.
  std::vector<learn::EpochRecord> history;  ///< Those before it, too.
  learn::TrainResult result;
  std::optional<Model> model;  ///< Where TrainOptions::keeps_mark.
  std::vector<float> scores;   ///< As TrainResult::scores, where they are wanted.
  std::uint64_t parameters = 0;
  std::uint64_t peak = 0;     ///< Of the rank that held most.
  std::uint64_t batches = 0;  ///< Of an epoch; 0 of the whole graph.
  double hit_rate = 0.0;
  learn::ExchangeReport exchange;         ///< Of the whole graph.
  std::uint64_t bytes_between_hosts = 0;  ///< As RunInfo's, of preparation and all epochs.

  [[nodiscard]] EpochBreakdown breakdown() const;
};
/// Of a resume after whose last epoch there is nothing to train: that there was not; else empty.
[[nodiscard]] std::string done_warning(const TrainOptions& asked, const TrainingOutcome& outcome);
/// "local", or the strategy with its parameters.
[[nodiscard]] std::string strategy_of(const learn::ExchangeReport& report);
struct TrainingJob {
  const TrainingData& data;
  const learn::TrainOptions& options;
  const learn::MemoryPlan& plan;
  bool resumes = false;
  bool predicts = false;
  /// By rank 0, after each epoch.
  std::function<void(const learn::EpochRecord&)> seen{};
};
/// One rank's part of a training. Collective.
void train_on(team::Team& team, const TrainingJob& job, TrainingOutcome& outcome);
/// The training on all ranks of the session.
[[nodiscard]] TrainingOutcome run_training(const Session& session, const TrainingJob& job);

/// What a model says, at rank 0; rows in the dataset's order.
struct Prediction {
  std::optional<learn::Scores> scores;  ///< Of datasets with labels.
  std::vector<float> rows;              ///< n x classes.
  std::vector<float> embeddings;        ///< n x hidden, where they are wanted.
  std::optional<bool> is_trained_on;    ///< Whether it is the graph that the model learnt from.
  double seconds = 0.0;
  std::uint64_t bytes_between_hosts = 0;  ///< As RunInfo's.
};
/// Options with which a trainer asks a model.
[[nodiscard]] learn::TrainOptions predict_options(const learn::Checkpoint& checkpoint,
                                                  bool allow_tf32);
/// Why options of GPUs change nothing on a CPU.
inline constexpr const char* kForGpus = "it is for GPUs, and this run has none";
/// Throws InputError unless the model, which messages call `name`, can be asked of the dataset,
/// whose labels may be of fewer classes.
void fit_to_model(const std::string& name, const learn::Checkpoint& checkpoint, bool has_labels,
                  learn::Dataset& dataset);
struct PredictionJob {
  const TrainingData& data;
  const learn::TrainOptions& options;  ///< Of predict_options().
  const learn::TensorFile& model;
  std::string name;  ///< Of the model, for messages.
  bool has_labels = false;
  bool wants_embeddings = false;
};
/// One rank's part of a prediction. Collective.
void predict_on(team::Team& team, const PredictionJob& job, const learn::MemoryPlan& plan,
                Prediction& outcome);
/// The prediction on all ranks of the session.
[[nodiscard]] Prediction run_prediction(const Session& session, const PredictionJob& job);

/// <z_u, z_v> of every pair (u, v), of n x width embeddings in the dataset's order: the logit of
/// its probability.
[[nodiscard]] std::vector<float> pair_scores(std::span<const learn::Link> pairs,
                                             std::span<const float> embeddings,
                                             std::uint64_t width);
/// The probability of a logit.
[[nodiscard]] double probability_of(float score);
/// The class of each row's largest score.
[[nodiscard]] std::vector<std::int32_t> largest_classes(std::span<const float> scores,
                                                        std::uint64_t classes);

}  // namespace warren::api
