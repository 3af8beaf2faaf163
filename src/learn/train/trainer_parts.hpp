// SPDX-License-Identifier: Apache-2.0
// What a trainer holds, for training and for checkpoints.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "warren/learn/trainer.hpp"

#include "learn/train/exchange_choice.hpp"
#include "learn/train/repeated_pass.hpp"

namespace warren::learn {

/// Throws InputError, naming `where`, unless both are "node" or both are "link".
void check_task(const std::string& where, const std::string& stored, const std::string& given);
/// A model's options with the dataset's sizes.
[[nodiscard]] ModelOptions sized(ModelOptions options, const Dataset& dataset);
[[nodiscard]] double slowest(team::Team& team, double seconds);
/// The most vertices that sampling a batch begins from.
[[nodiscard]] std::uint64_t seeds_of_batch(const TrainOptions& options, std::uint64_t vertices);
/// Batches that are sampled together: several where they are small and padded, since starting their
/// kernels then takes longer than running them.
[[nodiscard]] std::uint32_t batches_in_flight(const TrainOptions& options, std::uint64_t vertices,
                                              std::uint64_t edges);

/// What parameters are updated by, and those of the best epoch.
struct Updates {
  Updates(const exec::Stream& stream, const TrainOptions& options, Parameters& parameters);
  /// Of the loss's gradient, on the device; nullptr: 1.
  [[nodiscard]] const float* factor() const { return scale ? scale->factor() : nullptr; }
  /// By the parameters' gradients, summed over the ranks, for the step that the optimizer has
  /// begun.
  void update(const exec::Stream& stream) { optimizer.update(stream, scale ? &*scale : nullptr); }

  Optimizer optimizer;
  std::optional<LossScale> scale;  // Of float16.
  memory::Buffer<float> best;
};

/// How large a rank's part of the whole graph and of its dataset is: all that WholeGraph's memory
/// depends on beside the options.
struct WholeSizes {
  NeighbourSizes out, in;  ///< Of a symmetric graph one.
  bool is_symmetric = false;
  std::uint64_t rows = 0, width = 0, classes = 0;
  bool is_sparse = false;
  SparseOperandSizes sparse;
  bool has_labels = false, has_targets = false;
  LossKind loss = LossKind::cross_entropy;
};

/// The whole graph on the devices, with a model over it.
struct WholeGraph {
  WholeGraph(team::Team& team, const GraphPair& graphs, const Dataset& dataset,
             const TrainOptions& options);
  /// The memory of one alone, for dry runs (exec::DryRun): `options` are as large as the dataset
  /// says (sized()).
  WholeGraph(team::Team& team, const WholeSizes& sizes, const TrainOptions& options);
  /// An epoch, counted from 1. Collective.
  void train(Updates& updates, std::uint64_t seed, std::uint64_t epoch, float rate);
  /// A pass without dropout that takes the scores of the model's parameters.
  void enqueue_evaluation(std::uint64_t seed);
  /// The same, and what it found.
  Scores evaluate(std::uint64_t seed);

  Context context;
  Model model;
  Features features;
  Targets targets;
  Loss training_loss, evaluation_loss;
  RepeatedPass training_pass, evaluation_pass;
};

/// Passes over sampled batches.
class SampledPasses {
 public:
  SampledPasses() = default;
  virtual ~SampledPasses() = default;
  SampledPasses(const SampledPasses&) = delete;
  SampledPasses& operator=(const SampledPasses&) = delete;

  [[nodiscard]] virtual Context& context() = 0;
  [[nodiscard]] virtual Model& model() = 0;
  /// Of an epoch, on every rank the same number.
  [[nodiscard]] virtual std::uint64_t batches() const = 0;
  [[nodiscard]] virtual double hit_rate() const = 0;

  /// Where an epoch stands: batches that were trained, and their losses.
  struct Standing {
    std::uint64_t batches = 0;
    Loss::Sums sums{};
  };
  /// Trains from `standing` to the epoch's end; `update(batch)` after each batch's gradients are
  /// there, summed over the ranks; gradients times *factor (nullptr: 1). Collective.
  virtual void train(EpochRecord& record, const Standing& standing, const float* factor,
                     const std::function<void(std::uint64_t batch)>& update) = 0;
  /// What was trained of the epoch so far. Collective. Synchronises.
  [[nodiscard]] virtual Standing standing() = 0;
  /// Exact, with the whole graph on the devices; or by batches (nullptr). Collective. Synchronises.
  [[nodiscard]] virtual Scores evaluate(WholeGraph* whole) = 0;
};
/// Throws UsageError, MemoryError. Collective.
[[nodiscard]] std::unique_ptr<SampledPasses> make_sampled_passes(team::Team& team,
                                                                 const GraphPair& graphs,
                                                                 const Dataset& dataset,
                                                                 const TrainOptions& options);
/// Of TrainOptions::links.
[[nodiscard]] std::unique_ptr<SampledPasses> make_link_passes(team::Team& team,
                                                              const GraphPair& graphs,
                                                              const Dataset& dataset,
                                                              const TrainOptions& options);

/// What validation reaches without anything learnt.
struct Chance {
  double accuracy = 0.0;  ///< As chance_of(); of links, whose measure is the area under ROC, 0.5.
  double beaten_at =
      0.0;  ///< Two standard errors above it, at most half way to 1; without a measure below all.
};
[[nodiscard]] Chance chance_of(const Dataset& dataset, const TrainOptions& options);

struct Trainer::Parts {
  Parts(team::Team& team, const GraphPair& graphs, const Dataset& dataset,
        const TrainOptions& given);
  /// Keeps the parameters of an epoch that is the best so far.
  void note(const EpochRecord& record);
  /// Whether validation has not got better for so long that the training ends.
  [[nodiscard]] bool has_lost_patience() const;
  /// Of what is trained.
  [[nodiscard]] Context& context() { return sampled ? sampled->context() : whole->context; }
  [[nodiscard]] Model& model() { return sampled ? sampled->model() : whole->model; }
  /// A forward pass over the whole graph without dropout: this rank's scores, or what the last
  /// layer reads, `width` numbers a row. Collective. Synchronises.
  [[nodiscard]] std::vector<float> whole_pass(std::uint64_t width, bool of_scores);
  /// Throws UsageError: `what` says what is no number any more.
  [[noreturn]] void diverged(const std::string& what, std::uint64_t epoch) const;
  /// Throws UsageError, saying the epoch, for a loss that is no number.
  void check_losses(const EpochRecord& record) const;
  /// The same of what a checkpoint is to keep.
  void check_state(const TensorFile& state) const;
  /// What the files of a checkpoint would now hold, by their paths. Makes their folder. Throws
  /// UsageError for numbers that are none.
  [[nodiscard]] std::vector<std::pair<std::string, TensorFile>> checkpoint_content();
  /// The best epoch's parameters; before the first one has ended those that are.
  [[nodiscard]] std::vector<float> best_values(const std::vector<float>& current);
  /// What model.safetensors would hold.
  [[nodiscard]] TensorFile model_file(const std::vector<float>& best_ones);
  /// Throws InputError where there is no room for the files of a checkpoint. Collective.
  void check_room();
  /// Where training stands, and how it came there.
  void describe_progress(TensorFile& state) const;
  /// As describe_progress() left it, but for what stands within an epoch. Throws InputError for
  /// numbers that no training has.
  void take_progress(const TensorFile& file, const std::string& path);

  struct Progress {
    std::uint64_t epochs = 0, best_epoch = 0;
    double best_validation = 0.0, best_loss = 0.0, test_accuracy = 0.0, test_mrr = 0.0;
    SampledPasses::Standing standing = {};  ///< Of the epoch after those.
    std::vector<EpochRecord> history = {};  ///< Of `epochs`, all that checkpoints keep of them.
  };

  TrainOptions options;
  DatasetMark mark;  // Where there are checkpoints.
  LossKind loss;
  std::unique_ptr<WholeGraph> whole;       // Not where all is sampled.
  std::unique_ptr<SampledPasses> sampled;  // Of SampledOptions.
  std::optional<ExchangeChoice> exchange;  // Not of those.
  Updates updates;
  exec::Event begin, end;
  Progress progress;
  Chance chance;
  bool has_checkpoint = false;  // Of this training: resumed from, or written.
};

}  // namespace warren::learn
