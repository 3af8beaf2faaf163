// SPDX-License-Identifier: Apache-2.0
// Training: every epoch is one exact pass over all vertices of all ranks, or a pass over sampled
// batches of the training vertices.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "warren/dataset/dataset.hpp"
#include "warren/graph/shard.hpp"
#include "warren/learn/checkpoint.hpp"
#include "warren/learn/dataset_mark.hpp"
#include "warren/learn/links.hpp"
#include "warren/learn/loss.hpp"
#include "warren/learn/model.hpp"
#include "warren/learn/optimizer.hpp"
#include "warren/learn/settings.hpp"
#include "warren/learn/tensor_core_use.hpp"
#include "warren/memory/global_array.hpp"
#include "warren/sparse/tuner.hpp"

namespace warren::learn {

/// Which rows of features in host memory devices keep.
enum class CacheBy {
  degree,      ///< Those of the vertices that most edges lead to.
  presampling  ///< Those that occurred most in batches sampled beforehand (Trainer's constructor).
};

/// Mini-batches of training vertices with sampled neighbourhoods.
struct SampledOptions {
  /// Neighbours of each vertex, hop by hop from the batch's own vertices: one a layer, -1 for all.
  std::vector<std::int64_t> fanouts;
  std::uint64_t batch = 1024;  ///< Vertices (of links: edges) of a batch, on each rank.
  /// Each draw is of all neighbours: the same one may come again.
  bool replace = false;
  /// Draws have probabilities in proportion to the edges' weights, which the graphs must have.
  /// With `replace`, a mean over those sampled is then, on average, the weighted mean of all.
  bool weighted = false;
  /// Where the lists that are sampled lie: device, or host.
  graph::EdgesPlacement edges = graph::EdgesPlacement::device;
  /// Of lists on devices: every device has all of them.
  bool replicate_edges = false;
  /// Evaluation by passes over the whole graph, which then stands on the devices with all of its
  /// layers' outputs; else by sampled batches, too.
  bool exact_evaluation = true;
  /// Of the features: device, replicated, host.
  memory::Placement features = memory::Placement::device;
  /// Of features on devices, which are CPUs: each row is on one rank of all hosts, and the rows of
  /// a batch are asked of their ranks and sent. Else each host has all rows, and ranks read them
  /// where they lie.
  bool exchange_features = false;
  /// Of features in host memory: the share of rows that devices keep, and which ones.
  double cached = 0.0;
  CacheBy cache_by = CacheBy::degree;
  /// Training batches are padded to one shape, somewhat larger than the largest of some that are
  /// looked at first, each rank's own; larger ones stay as they are. Numbers are the same up to
  /// rounding, and repeat as well. With TrainOptions::capture their forward and backward passes are
  /// then captured, on GPUs, where no two ranks share one. Neither of links nor with batch norms,
  /// whose moments would be of padding, too.
  bool pad = false;
};

/// Batches of edges: which pairs of vertices are linked is learnt, instead of classes. A rank's
/// batch is SampledOptions::batch training edges, each with `negatives` false targets drawn by
/// draw_negative() from the vertices that its source has no training edge to; the loss is the mean
/// binary cross-entropy of z_u . z_v over all these pairs, of the ranks' batches together, where z
/// is the model's output.
struct LinkOptions {
  std::shared_ptr<const LinkSplit> split;  ///< Of the trainer's graphs; shared by all ranks.
  std::uint64_t negatives = 1;
};

/// How sums over neighbours on several ranks use rows of other ranks, in passes over the whole
/// graph. Sums in another order are the same up to rounding.
struct ExchangeOptions {
  /// Nothing: DistributedMatrix's own way, which is Strategy::staged. Of Strategy::fused without a
  /// size of workgroups, the measured links' groups.
  std::optional<sparse::DistributedOptions> product;
  /// The first epochs try ways; then the fastest is kept, and remembered in `table`. The choice
  /// follows measured times, and the last bits of the sums the choice: never where
  /// `is_deterministic`.
  bool is_tuned = false;
  std::optional<sparse::Strategy> strategy;  ///< Only this one is tried, with its parameters.
  int workgroup = 0;                         ///< Of ways that are tried; 0: by the links.
  std::string table;                         ///< sparse::plan_table_path(); empty: none.
  bool is_deterministic = false;             ///< Sums repeat bit for bit by every strategy.
  bool explains = false;                     ///< Fills ExchangeReport::candidates in any case.
};

/// What was chosen, and why.
struct ExchangeReport {
  sparse::DistributedOptions product;
  bool is_local = false;  ///< One rank exchanges nothing.
  std::string reason;
  std::vector<sparse::Candidate> candidates;  ///< Where they were predicted or tried.
};

struct TrainOptions {
  ModelOptions model;  ///< Features and classes are taken from the dataset.
  OptimizerOptions optimizer;
  std::uint64_t epochs = 200;
  /// Epochs without a better validation after which it stops; 0: never. They count from where the
  /// best validation is above chance (TrainResult::chance) by two standard errors, or half way to
  /// 1 if that is less: a training that has learnt nothing yet is not ended. At a rate of 0 they
  /// always count.
  std::uint64_t patience = 0;
  bool allow_tf32 = true;
  /// GPUs, types of 16 bits: GAT's sums over neighbours by tensor cores, where rows are wide
  /// enough. The numbers are others in their last bits, and repeat as well; beside a number that is
  /// not finite others may be NaN.
  TensorCoreUse tensor_sums = TensorCoreUse::automatic;
  /// Of cross-entropy: a number for each class, 0 or more; empty: one over the class's training
  /// vertices. Scaled so that training vertices have 1 on average, they are factors of the training
  /// vertices' losses: an epoch's loss is sum of w[y] l / sum of w[y], as PyTorch's weighted mean;
  /// of a batch, whose own sum of w[y] is not taken, an unbiased estimate of its gradient.
  /// Without: every vertex counts alike. Losses of validation and test are never weighted.
  std::optional<std::vector<float>> class_weights;
  /// What features, activations and their gradients are stored as; parameters, their gradients and
  /// what updates them are float32 with every type. Of float16 the loss is scaled.
  NumberType type = NumberType::float32;
  LossScaleOptions loss_scale;
  ExchangeOptions exchange;
  /// GPUs, passes over the whole graph: once an epoch takes no more memory, its training and its
  /// evaluation are captured and started by one call each, with the same numbers. With several
  /// ranks where NCCL carries what they exchange. Of sampled batches see SampledOptions::pad.
  bool capture = true;
  /// A folder for model.safetensors (the best epoch's parameters) and state.safetensors (all that
  /// it takes to go on); empty: none.
  std::string checkpoint;
  /// Without a checkpoint, too, model_file() says which dataset the model was trained on.
  bool keeps_mark = false;
  /// What was done to the dataset before the trainer sees it ("normalize", "symmetrize", ...),
  /// which checkpoints keep as they are.
  Settings inputs;
  std::uint64_t checkpoint_every = 20;   ///< Epochs.
  std::uint64_t checkpoint_batches = 0;  ///< Batches of an epoch between checkpoints; 0: none.
  std::optional<SampledOptions> sampled;
  /// Needs `sampled`, and a dataset after drop_labels(). The graphs are those that hold_out_links()
  /// leaves.
  std::optional<LinkOptions> links;
};

struct EpochRecord {
  std::uint64_t epoch = 0;  ///< From 1.
  double loss = 0.0;        ///< Of the training vertices, as the gradient was taken.
  Scores scores;            ///< After the update, without dropout.
  double seconds = 0.0;     ///< Forward, backward and update, on the slowest rank.
  /// This rank's, evaluation excluded; of batches an estimate from every 64th.
  std::array<double, kParts> part_seconds{};
  std::uint64_t batches = 0;    ///< This rank's.
  double train_seconds = 0.0;   ///< In which this rank's batches trained.
  double sample_seconds = 0.0;  ///< Of the loader, most of it meanwhile.
  double gather_seconds = 0.0;
  std::uint64_t sampled_edges = 0;
  float loss_scale = 1.0f;             ///< After the epoch.
  std::uint32_t skipped_steps = 0;     ///< So far: updates left out because gradients overflowed.
  bool is_captured = false;            ///< Whether it was started by one call.
  std::uint64_t padded_batches = 0;    ///< This rank's, of SampledOptions::pad.
  std::uint64_t captured_batches = 0;  ///< Of these: which were started by one call.
};

struct TrainResult {
  std::uint64_t epochs = 0;  ///< Done, in all runs together.
  std::uint64_t best_epoch = 0;
  double best_validation = 0.0;
  double test_accuracy = 0.0;  ///< Of the best epoch.
  double test_mrr = 0.0;       ///< Of the best epoch, of links.
  bool has_stopped_early = false;
  double chance = 0.0;  ///< What one answer for all vertices reaches on validation; of links 0.5.
};

/// One rank's part in training. All functions are collective.
class Trainer {
 public:
  /// Throws UsageError, MemoryError. `graphs` and `dataset` are the whole ones, which ranks share;
  /// they are not needed afterwards (of links the trainer keeps graphs.out).
  Trainer(team::Team& team, const GraphPair& graphs, const Dataset& dataset,
          const TrainOptions& options);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// One epoch: the numbers are the same on every rank and, up to rounding, for every team. Throws
  /// UsageError, saying the epoch, when a loss is no number any more, before the update or after
  /// it.
  EpochRecord epoch();
  /// All epochs so far, those before resume() included, of which losses, scores and seconds are
  /// known.
  [[nodiscard]] const std::vector<EpochRecord>& history() const;
  /// Epochs until the last, or until patience is at its end. `seen` is called after each.
  /// The best epoch is the one of the highest validation accuracy, of the lowest validation loss
  /// among equals; the model then has its parameters.
  TrainResult run(const std::function<void(const EpochRecord&)>& seen);

  /// Batches of an epoch; 0 of the whole graph.
  [[nodiscard]] std::uint64_t batches() const;
  /// Of features with a cache: the share of gathered rows that were in it, on this rank.
  [[nodiscard]] double hit_rate() const;

  /// How rows of other ranks enter the sums; not of sampled batches.
  [[nodiscard]] const ExchangeReport& exchange() const;

  /// Scores of the current parameters, without dropout.
  Scores evaluate();
  /// Scores of this rank's vertices, rows x classes, in host memory. Throws UsageError where
  /// evaluation is sampled.
  [[nodiscard]] std::vector<float> predict();
  /// The same of what the last layer reads: rows x hidden, after activation. Throws UsageError for
  /// a model of one layer, too.
  [[nodiscard]] std::vector<float> embed();

  /// Writes the checkpoint, by rank 0; before an epoch has ended, the parameters as they are stand
  /// in for the best ones. Throws InputError, and UsageError where a number to be kept is not
  /// finite; what was there stays then.
  void save();
  /// Goes on from state.safetensors: bit for bit on a team of the same size with the same type. The
  /// state of a training with another type is taken up as it is, being float32; the loss's scale
  /// then begins anew. Throws InputError for the state of another model, optimiser or dataset: the
  /// message says what differs. Whether other options are as they were, check_settings() tells.
  void resume();
  /// Takes the parameters of model.safetensors. Returns whether they were trained on this graph and
  /// these features; nothing where the file does not say it.
  std::optional<bool> load_model();
  /// The same of parameters in memory, which messages call `where`.
  std::optional<bool> load_model(const TensorFile& file, const std::string& where);
  /// What model.safetensors holds, or would: the best epoch's parameters, of which before the first
  /// epoch has ended those that are stand in. Synchronises; not collective.
  [[nodiscard]] TensorFile model_file();

  [[nodiscard]] Model& model();
  [[nodiscard]] Context& context();

 private:
  EpochRecord train_epoch();
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Throws UsageError, naming the option, for numbers that make no training (of TrainOptions and
/// OptimizerOptions; of the model see check(ModelOptions)).
void check(const TrainOptions& options);

/// What a checkpoint says about its model: the options that `predict` goes by.
[[nodiscard]] ModelOptions read_model_options(const std::string& folder);
/// Everything that predict needs to know of a checkpoint.
struct Checkpoint {
  ModelOptions model;
  NumberType type = NumberType::float32;
  LossKind loss = LossKind::cross_entropy;
  bool is_of_links = false;
  /// As settings_of() made them; empty of a checkpoint that does not have them.
  Settings settings;
  std::optional<DatasetMark> dataset;
};
/// Of model.safetensors. Throws InputError where there is none, or it is damaged.
[[nodiscard]] Checkpoint read_checkpoint(const std::string& folder);
/// Of what such a file holds; messages call it `where`.
[[nodiscard]] Checkpoint checkpoint_of(const TensorFile& file, const std::string& where);
/// The path of the model in a checkpoint's folder.
[[nodiscard]] std::string model_path(const std::string& folder);
/// Settings of state.safetensors, likewise.
[[nodiscard]] Settings read_state_settings(const std::string& folder);
/// Whether there is a state to go on from.
[[nodiscard]] bool has_state(const std::string& folder);
/// Throws UsageError where a folder has a model or a state, which a new training would replace.
void check_is_free(const std::string& folder);
[[nodiscard]] NumberType parse_type(const std::string& name);  ///< "bf16" and "fp16", too.
[[nodiscard]] ModelKind parse_model(const std::string& name);
[[nodiscard]] std::string name_of(ModelKind kind);
[[nodiscard]] std::string name_of(OptimizerKind kind);
[[nodiscard]] std::string name_of(Schedule schedule);
[[nodiscard]] NormKind parse_norm(const std::string& name);
[[nodiscard]] std::string name_of(NormKind norm);
[[nodiscard]] SageAggregate parse_aggregate(const std::string& name);
[[nodiscard]] std::string name_of(SageAggregate aggregate);

}  // namespace warren::learn
