// SPDX-License-Identifier: Apache-2.0
// Training graph neural networks, and asking them, a call each (docs/training.md).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "warren/api/dataset.hpp"
#include "warren/api/session.hpp"
#include "warren/api/traverse.hpp"
#include "warren/learn/checkpoint.hpp"
#include "warren/learn/trainer.hpp"

namespace warren {

/// A trained model: its parameters by name, in host memory, and what it was trained on and by, as
/// model.safetensors has them. Immutable; copies share it.
class Model {
 public:
  /// Throws InputError for a file that is no model's; messages call it `where`.
  explicit Model(learn::TensorFile file, const std::string& where = "model");

  /// Float32 matrices, row-major; a vector has one row.
  [[nodiscard]] const std::vector<learn::NamedTensor>& weights() const;
  /// Sizes, the kind of the model, and its options.
  [[nodiscard]] const learn::Checkpoint& facts() const;
  [[nodiscard]] const learn::TensorFile& file() const;
  /// Writes model.safetensors into the folder, which is made where there is none. The file appears
  /// whole or not at all. Throws InputError.
  void save(const std::string& folder) const;

 private:
  struct Parts;
  std::shared_ptr<const Parts> parts_;
};

/// The model of a checkpoint's folder. Throws InputError where there is none, or it is damaged.
[[nodiscard]] Model load_model(const std::string& folder);
/// How the dataset was read that the model was trained on: to read it, or another one, likewise.
/// How its files are written, and a generator's features, classes and seed, which is taken for the
/// training's, only for the same name.
[[nodiscard]] DatasetOptions dataset_options(const Model& model, const std::string& name);

/// As the options of the command line (`warren train --help`), with the same defaults. What is left
/// out depends on the model or on the dataset.
struct TrainOptions {
  std::string model = "gcn";              ///< gcn, sage, gat, gatv2, gin.
  std::string mode = "full";              ///< "sampled": batches of sampled neighbourhoods.
  std::string task = "node";              ///< "link": which vertices are linked; of batches.
  std::optional<std::uint64_t> layers{};  ///< 2; sampled: as many as fanouts.
  std::optional<std::uint64_t> hidden{};  ///< Width of hidden layers, all heads together; 64.
  std::uint64_t heads = 8;                ///< Of gat and gatv2.
  std::string aggregate = "mean";         ///< Of sage: mean, sum, max.
  std::string norm{};                     ///< none, batch, layer; empty: none, of gin layer.
  bool residual = false, skip = false;    ///< Adds a layer's input; the same times a matrix.
  /// Of task "node", gcn, sage with mean or sum, gat and gatv2: edges count the dataset's weights,
  /// which are finite, in sums over neighbours, or attention has them as a feature of edges
  /// (docs/training.md, Weights of edges); else 1 each. Of mode "sampled" drawn edges count theirs.
  bool edge_weights = false;
  std::optional<double> dropout{};       ///< 0.5; of gat and gatv2 0.6.
  std::string type = "float32";          ///< Of features and activations: float16, bfloat16.
  double lr = 0.01;                      ///< The learning rate.
  std::optional<double> weight_decay{};  ///< 0.0005; of links 0.
  std::string optimizer = "adam";        ///< adam, adamw, sgd.
  std::string schedule = "constant";     ///< Of the rate: constant, cosine, step.
  std::uint64_t warmup = 0;              ///< Epochs in which the rate rises.
  double clip = 0.0;                     ///< Largest length of the gradient; 0: any.
  std::uint64_t epochs = 200;            ///< At most.
  std::uint64_t patience = 0;            ///< Epochs without a better validation; 0: any number.
  /// What each class counts in the training loss: "balanced" (one over its training vertices),
  /// "none", or a number for each class, 0 or more, with commas (learn::TrainOptions).
  std::optional<std::string> class_weights{};
  std::uint64_t seed = 1;          ///< Of weights, masks, batches and held out links.
  std::string normalize = "auto";  ///< Of features: rows, none (docs/training.md).
  std::string method = "ranges";   ///< Of the partition over ranks.
  std::string reorder = "none";    ///< Order of the vertices before they are cut.

  // Of mode "sampled".
  std::optional<std::vector<std::int64_t>> fanout{};  ///< 15, 10; -1: all neighbours.
  std::optional<std::uint64_t> batch{};      ///< Vertices (links: edges) a rank; see training.md.
  std::optional<std::uint64_t> negatives{};  ///< Of links: false targets an edge; 1.
  bool replace = false;                      ///< Draws are of all neighbours each time.
  bool weighted = false;                     ///< Draws go by the graph's weights, 0 or more.
  std::optional<std::string> evaluation{};   ///< "exact" over the whole graph, "sampled".
  /// Of features: auto, device, replicated, host, cached, exchanged.
  std::optional<std::string> placement{};
  std::optional<double> cached{};         ///< Of "cached": the share of rows; 0.1.
  std::optional<std::string> cache_by{};  ///< Of "cached": degree, presampling.
  std::optional<std::string> edges{};     ///< Of lists: auto, device, replicated, host.
  bool capture_batches = false;           ///< Batches are padded to one shape.

  // Of mode "full" on several ranks, models that sum over neighbours (gcn, gin, sage but "max").
  /// How rows of other ranks enter the sums: a strategy of spmm() with its parameters
  /// ("pull:ps=16"; docs/sparse.md), NAME:auto or "auto": the first epochs try ways, and the
  /// fastest is kept, so that losses repeat up to rounding only. Left out: "staged".
  std::optional<std::string> strategy{};
  int workgroup = 0;           ///< Of strategies "fused" and "auto": ranks of one; 0: by the links.
  bool deterministic = false;  ///< Losses repeat bit for bit by strategies "once" and "auto", too.

  bool recompute = false;             ///< Of mode "full": less memory for more time.
  bool capture = true;                ///< GPUs: an epoch is started by one call.
  bool allow_tf32 = true;             ///< GPUs: of dense products.
  std::optional<bool> tensor_sums{};  ///< GPUs, 16 bits: of gat's sums; left out: where it pays.

  /// A folder for model.safetensors and state.safetensors; empty: none. While the call runs it is
  /// this training's alone.
  std::string checkpoint{};
  std::uint64_t checkpoint_every = 20;   ///< Epochs.
  std::uint64_t checkpoint_batches = 0;  ///< Of mode "sampled", within an epoch; 0: none.
  /// Goes on from the folder's state where there is one: bit for bit on as many ranks.
  bool resume = false;
  bool overwrite = false;      ///< Replaces the folder's model.
  bool allow_changes = false;  ///< Of `resume`: other options of the training than before.

  /// Called after each epoch, in a thread of the session's, which goes on when it returns. It may
  /// not make calls of this session: they would wait for it, and throw UsageError. What it throws
  /// ends the training.
  std::function<void(const learn::EpochRecord&)> progress{};
  bool predictions = true;  ///< Fills TrainResult::scores.

  std::optional<DeviceKind> device{};
  int devices = 0;
  std::optional<Session> session{};
};

namespace api {
struct TrainingReport;
struct PredictionReport;
}  // namespace api

struct TrainResult {
  /// Loss, scores (training, validation, test) and seconds of every epoch, those of before a resume
  /// included.
  std::vector<learn::EpochRecord> history;
  learn::TrainResult summary;  ///< The best epoch, and its validation and test accuracy.
  Model model;                 ///< Of the best epoch.
  /// n x classes, row-major, in the graph's order: what the model says of every vertex, before
  /// softmax or sigmoid, by a pass over the whole graph; of links n x hidden embeddings, by the
  /// edges that were not held out. Empty where `evaluation` is "sampled", and without
  /// `predictions`.
  std::vector<float> scores;
  std::string normalize;          ///< What was done to the features: "rows" or "none".
  std::uint64_t batches = 0;      ///< Of an epoch; 0 of the whole graph.
  std::uint64_t peak_memory = 0;  ///< Bytes, of the rank that held most.
  /// Of mode "full": how rows of other ranks entered the sums ("local" on one rank), and why so.
  std::string strategy, strategy_reason;
  std::vector<std::string> warnings;
  RunInfo info;  ///< Its seconds are the epochs'.
  /// What the command line tells of a training (report_training.hpp).
  std::shared_ptr<const api::TrainingReport> report;
};

/// Trains a model on the dataset's training vertices (task "link": its edges), with softmax
/// cross-entropy, or sigmoid cross-entropy where a vertex has any number of labels. The best epoch
/// is that of the highest validation accuracy, of the lowest validation loss among equals.
/// Parameters and sums are float32. Repeats bit for bit on one device with the same numbers of
/// ranks and threads, but by strategies "once" and "auto" (TrainOptions::deterministic). Throws
/// UsageError for options that are none or do not go together, a dataset without labels, and a
/// training that diverges; InputError for a checkpoint that does not fit or cannot be written;
/// MemoryError, before it takes any, with what would need less; Interrupted.
[[nodiscard]] TrainResult train(const Dataset& dataset, const TrainOptions& options = {});

struct PredictOptions {
  bool embeddings = false;     ///< Fills PredictResult::embeddings.
  bool allow_tf32 = true;      ///< GPUs: of dense products.
  bool allow_changes = false;  ///< Of datasets that were made by other options than for training.
  std::string normalize{};     ///< Empty: as for training.
  std::string method = "ranges";
  std::string reorder = "none";
  std::uint64_t seed = 1;  ///< Of a method or an order that is drawn.
  std::optional<DeviceKind> device{};
  int devices = 0;
  std::optional<Session> session{};
};

struct PredictResult {
  /// n x classes, row-major, in the graph's order, before softmax or sigmoid; of links n x hidden:
  /// the logit of an edge (u, v) is the inner product of rows u and v.
  std::vector<float> scores;
  std::uint64_t columns = 0;  ///< Of scores.
  /// The class of each vertex, that of its largest score. Empty of links, and where a vertex has
  /// any number of labels: those with a score above 0.
  std::vector<std::int32_t> labels;
  std::vector<float> embeddings;  ///< n x hidden: what the last layer reads.
  /// Of training, validation and test vertices, where the dataset has labels.
  std::optional<learn::Scores> accuracy;
  /// Whether the model was trained on this graph and these features, where it says it.
  std::optional<bool> is_trained_on;
  std::vector<std::string> warnings;
  RunInfo info;
  /// What the command line tells of a prediction (report_training.hpp).
  std::shared_ptr<const api::PredictionReport> report;
};

/// What a model says of every vertex, exactly, by a pass over the whole graph. Repeats bit for bit
/// as train(). Throws UsageError for options out of range, InputError for a dataset that does not
/// fit the model (features, classes, how it was read), MemoryError, Interrupted.
[[nodiscard]] PredictResult predict(const Dataset& dataset, const Model& model,
                                    const PredictOptions& options = {});

}  // namespace warren
