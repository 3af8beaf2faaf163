// SPDX-License-Identifier: Apache-2.0
// Passes over sampled batches of vertices with labels (WholeGraph, section III).
#include "warren/core/error.hpp"

#include "learn/batch/batch_parts.hpp"
#include "learn/rows/set_kernel.hpp"
#include "learn/train/class_weights.hpp"

namespace warren::learn {
namespace {

// Apart from the purposes of layers.
constexpr std::uint64_t kShuffle = 0x73687566;

class VertexPasses final : public SampledPasses {
 public:
  VertexPasses(team::Team& team, const GraphPair& graphs, const Dataset& dataset,
               const TrainOptions& options)
      : parts_(team, graphs, dataset, options, options.sampled->batch),
        shares_(parts_.shares(options.sampled->batch)),
        counts_(dataset.counts),
        classes_(dataset.labels),
        values_(dataset.targets),
        splits_(dataset.splits),
        training_loss_(dataset.loss),
        evaluation_loss_(dataset.loss),
        share_(team.device(), 1) {
    for (Vertex v = 0; v < splits_.size(); ++v) {
      if (splits_[v] != kNoSplit) labelled_.push_back(v);
      if (splits_[v] == kTrain) training_.push_back(v);
    }
    targets_.counts = counts_;
    if (options.class_weights)
      training_loss_.weigh(parts_.context.stream(), class_factors(dataset, options));
    // Where ranks share a GPU NCCL does not carry what they exchange.
    const bool is_apart = team.size() == 1 || std::string_view(team.collectives_name()) == "nccl";
    passes_.assign(2 * BatchLoader::kPlaces, RepeatedPass(options.capture && is_apart, true));
  }

  Context& context() override { return parts_.context; }
  Model& model() override { return parts_.model; }
  [[nodiscard]] std::uint64_t batches() const override {
    return shares_.iterations(training_.size());
  }
  [[nodiscard]] double hit_rate() const override {
    return parts_.features->hit_rate(parts_.context.stream());
  }
  void train(EpochRecord& record, const Standing& standing, const float* factor,
             const std::function<void(std::uint64_t)>& update) override;
  [[nodiscard]] Standing standing() override {
    return {trained_, training_loss_.sums(parts_.context)};
  }
  Scores evaluate(WholeGraph* whole) override;

 private:
  /// Puts a rank's part of the list, with its labels, on the device.
  void bring(const std::vector<Vertex>& list);
  /// The labels of the batch that begins at `at` of the rank's part; none of padding.
  void set_targets(std::uint64_t at, const Batch& batch);
  /// From the first batches that are trained on, so that it is the same where training goes on.
  void choose_shape();
  /// Forward and backward pass of a batch of `training` vertices over the team.
  void train_batch(const Batch& batch, bool is_measured, std::uint64_t training,
                   const float* factor, EpochRecord& record);
  /// run(iteration, batch) for every batch of the list from `first` on, whose features are dropped
  /// by dropout(iteration).
  template <class Drop, class Run>
  void each_batch(const std::vector<Vertex>& list, std::uint64_t first, std::uint64_t number,
                  Drop&& dropout, Run&& run) {
    bring(list);
    const std::uint64_t rank = parts_.rank();
    const std::uint64_t start = shares_.share(list.size(), rank);
    const std::uint64_t end = shares_.share(list.size(), rank + 1);
    // A rank's numbers follow each other, so that it can have several batches sampled together.
    const std::uint64_t of_rank = number + rank * shares_.iterations(list.size());
    const auto begin = [&](std::uint64_t i) {
      const auto [at, size] = shares_.batch_of(list.size(), rank, i);
      parts_.loader.start(size == 0 ? nullptr : seeds_.data() + (at - start), size, of_rank + i,
                          dropout(i), end - at);
    };
    parts_.each_batch(first, shares_.iterations(list.size()), begin,
                      [&](std::uint64_t i, Batch& batch) {
                        set_targets(shares_.batch_of(list.size(), rank, i).first - start, batch);
                        run(i, batch);
                      });
  }
  /// The training vertices in an epoch's order.
  [[nodiscard]] std::vector<Vertex> shuffled(std::uint64_t epoch) const {
    std::vector<Vertex> order = training_;
    const std::uint64_t key = random_key(parts_.options.model.seed, epoch, kShuffle);
    for (std::uint64_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[mix(key + i) % i]);
    return order;
  }

  BatchParts parts_;
  BatchShares shares_;
  std::array<std::uint64_t, kSplits> counts_;
  std::vector<std::int32_t> classes_;
  std::vector<float> values_;
  std::vector<std::uint8_t> splits_;
  std::vector<Vertex> labelled_, training_;  // Ids of the input.
  memory::Buffer<Vertex> seeds_;
  memory::Buffer<std::int32_t> all_classes_;
  memory::Buffer<float> all_values_;
  memory::Buffer<std::uint8_t> all_splits_;
  Targets targets_;
  Loss training_loss_, evaluation_loss_;
  std::uint64_t trained_ = 0;  // Batches of the epoch.
  // Of padded batches.
  BatchShape shape_;
  memory::Buffer<float> share_;       // One over an iteration's training vertices.
  std::vector<RepeatedPass> passes_;  // Of each of the loader's places, without and with times.
};

void VertexPasses::bring(const std::vector<Vertex>& list) {
  const std::uint64_t rank = parts_.rank();
  std::vector<Vertex> ids;
  std::vector<std::int32_t> labels;
  std::vector<float> rows;
  std::vector<std::uint8_t> of;
  const std::uint64_t width = parts_.model.options().classes;
  const std::uint64_t end = shares_.share(list.size(), rank + 1);
  for (std::uint64_t i = shares_.share(list.size(), rank); i < end; ++i) {
    const Vertex v = list[i];
    ids.push_back(parts_.store_id(v));
    of.push_back(splits_[v]);
    if (!classes_.empty()) labels.push_back(classes_[v]);
    for (std::uint64_t c = 0; c < width && !values_.empty(); ++c)
      rows.push_back(values_[v * width + c]);
  }
  const exec::Stream& stream = parts_.context.stream();
  upload(stream, seeds_, ids);
  upload(stream, all_classes_, labels);
  upload(stream, all_values_, rows);
  upload(stream, all_splits_, of);
  stream.synchronize();
}

void VertexPasses::set_targets(std::uint64_t at, const Batch& batch) {
  const std::uint64_t count = batch.seeds;
  const auto copy = [&]<class T>(memory::Buffer<T>& to, const memory::Buffer<T>& from,
                                 std::uint64_t width) {
    if (from.size() == 0) return;
    parts_.context.keep(to, shares_.batch * width);
    exec::copy(parts_.context.stream(), to.data(), from.data() + at * width,
               count * width * sizeof(T));
  };
  copy(targets_.classes, all_classes_, 1);
  copy(targets_.values, all_values_, parts_.model.options().classes);
  copy(targets_.splits, all_splits_, 1);
  if (batch.rows != count)
    exec::fill_bytes(parts_.context.stream(), targets_.splits.data() + count, kNoSplit,
                     batch.rows - count);
}

void VertexPasses::choose_shape() {
  constexpr std::uint64_t kLooks = 16;
  const std::size_t hops = parts_.options.sampled->fanouts.size();
  const std::uint64_t rank = parts_.rank();
  shape_.vertices.assign(hops + 1, 0);
  shape_.edges.assign(hops, 0);
  for (std::uint64_t look = 0; look < kLooks && !training_.empty(); ++look) {
    const std::uint64_t i = look % batches();
    if (i == 0) bring(shuffled(look / batches() + 1));
    const auto [at, size] = shares_.batch_of(training_.size(), rank, i);
    if (size == 0) continue;
    const std::uint64_t number = (look - i) * shares_.ranks + rank * batches() + i;
    const sample::BatchCounts counts = parts_.loader.count(
        seeds_.data() + (at - shares_.share(training_.size(), rank)), size, number);
    for (std::size_t h = 0; h <= hops; ++h)
      shape_.vertices[h] = std::max<std::uint64_t>(shape_.vertices[h], counts.vertices[h]);
    for (std::size_t h = 0; h < hops; ++h)
      shape_.edges[h] = std::max<std::uint64_t>(shape_.edges[h], counts.edges[h]);
  }
  const std::uint64_t most_of_rank = (training_.size() + shares_.ranks - 1) / shares_.ranks;
  shape_.vertices[0] = std::min(shares_.batch, std::max<std::uint64_t>(1, most_of_rank));
  add_margins(shape_, parts_.options.sampled->fanouts, splits_.size());
}

void VertexPasses::train_batch(const Batch& batch, bool is_measured, std::uint64_t training,
                               const float* factor, EpochRecord& record) {
  BatchParts& p = parts_;
  // What is captured waits for no other rank, whose batch may not fit its shape: all ranks then sum
  // all gradients after the pass.
  const bool sums_after = p.options.sampled->pad;
  const auto pass = [&](const float* share) {
    p.model.parameters().clear_gradients(p.context.stream());
    const ConstNumbers scores = p.model.forward(p.context, batch.feature_rows, batch.features);
    const Numbers gradient = p.model.scores_gradient();
    training_loss_.run(p.context, targets_, scores, p.model.options().classes, gradient, factor,
                       share);
    p.model.backward(p.context, gradient,
                     sums_after ? GradientSums::of_rank : GradientSums::of_team);
  };
  targets_.counts[0] = training;
  if (batch.is_padded) {
    detail::set_value(p.context.stream(), Loss::share_of(training), share_.data());
    RepeatedPass& repeated = passes_[2 * batch.place + (is_measured ? 1 : 0)];
    repeated.run(p.context, [&] { pass(share_.data()); });
    ++record.padded_batches;
    record.captured_batches += repeated.is_captured() ? 1 : 0;
  } else {
    pass(nullptr);
  }
  if (sums_after) p.model.parameters().reduce_gradients(p.context);
}

void VertexPasses::train(EpochRecord& record, const Standing& standing, const float* factor,
                         const std::function<void(std::uint64_t)>& update) {
  BatchParts& p = parts_;
  const std::uint64_t count = batches();
  const std::uint64_t before = (record.epoch - 1) * count;
  training_loss_.begin_batches(p.context, shares_.batch, standing.sums);
  trained_ = standing.batches;
  EpochTimer timer(p, standing.batches, count);
  if (p.options.sampled->pad && shape_.vertices.empty()) choose_shape();
  p.loader.pad_to(p.options.sampled->pad ? &shape_ : nullptr);
  const std::uint64_t seed = p.options.model.seed;
  const auto dropout = [&](std::uint64_t i) { return p.model.input_dropout(seed, before + i + 1); };
  each_batch(shuffled(record.epoch), standing.batches, before * shares_.ranks, dropout,
             [&](std::uint64_t i, Batch& batch) {
               timer.batch(i, [&] {
                 p.context.begin(seed, before + i + 1, true);
                 train_batch(batch, timer.measures(i), shares_.count_of(training_.size(), i),
                             factor, record);
                 trained_ = i + 1;
                 update(i);
               });
             });
  timer.finish(record);
  p.loader.pad_to(nullptr);
  targets_.counts = counts_;
  record.loss = training_loss_.result(p.context, targets_)[0].loss;
}

Scores VertexPasses::evaluate(WholeGraph* whole) {
  BatchParts& p = parts_;
  p.context.stream().synchronize();
  if (whole != nullptr) return whole->evaluate(p.options.model.seed);
  targets_.counts = counts_;
  evaluation_loss_.begin_batches(p.context, shares_.batch);
  p.context.set_measuring(false);
  const auto none = [](std::uint64_t) { return Dropout{}; };
  each_batch(labelled_, 0, kEvaluation, none, [&](std::uint64_t, Batch& batch) {
    p.context.begin(p.options.model.seed, 0, false);
    const ConstNumbers scores = p.model.forward(p.context, batch.vertices, batch.features);
    evaluation_loss_.run(p.context, targets_, scores, p.model.options().classes, nullptr);
  });
  return evaluation_loss_.result(p.context, targets_);
}

}  // namespace

std::unique_ptr<SampledPasses> make_sampled_passes(team::Team& team, const GraphPair& graphs,
                                                   const Dataset& dataset,
                                                   const TrainOptions& options) {
  const SampledOptions& sampled = *options.sampled;
  require(sampled.fanouts.size() == options.model.layers,
          "sampling needs one fanout for each layer");
  require(sampled.batch >= 1, "a batch has one seed at least");
  require(sampled.cached >= 0.0 && sampled.cached <= 1.0, "a share of rows is from 0 to 1");
  require(!sampled.exchange_features || sampled.features == memory::Placement::device,
          "features that are exchanged are in the memory of the ranks' devices");
  require(!sampled.exchange_features || !team.device().is_cuda(),
          "features that are exchanged (--placement exchanged) are those of ranks on the CPU: "
          "give --placement device, or --device cpu");
  require(!sampled.pad || !options.links, "batches of links are not padded");
  require(!sampled.pad || options.model.norm != NormKind::batch,
          "batches with batch norms are not padded: their moments would be of padding, too");
  if (options.links) return make_link_passes(team, graphs, dataset, options);
  return std::make_unique<VertexPasses>(team, graphs, dataset, options);
}

}  // namespace warren::learn
