// SPDX-License-Identifier: Apache-2.0
// Passes over sampled batches of edges: link prediction.
#include "warren/core/error.hpp"

#include "learn/batch/batch_parts.hpp"
#include "learn/batch/link_loss.hpp"
#include "learn/batch/link_slots.hpp"

namespace warren::learn {
namespace {

/// Of all vertices, each rank's in its memory. Of ranks on several hosts each host has all.
memory::GlobalArray<float> embeddings_of(team::Team& team, const std::vector<std::uint64_t>& cuts,
                                         std::uint64_t width) {
  if (!team.spans_hosts()) return {team, cuts, width, memory::Placement::device};
  return {team, cuts, width, memory::Placement::replicated, memory::Reach::published};
}

class LinkPasses final : public SampledPasses {
 public:
  LinkPasses(team::Team& team, const GraphPair& graphs, const Dataset& dataset,
             const TrainOptions& options)
      : parts_(team, graphs, dataset, options, seeds_of_batch(options, graphs.cuts.back())),
        shares_(parts_.shares(options.sampled->batch)),
        drawer_(graphs, options.links->split, options.links->negatives, options.model.seed),
        cuts_(graphs.cuts),
        embeddings_(embeddings_of(team, cuts_, parts_.model.options().classes)),
        judge_(team, parts_.context.stream(), drawer_, embeddings_),
        slots_(team.device(), LinkBatch::most_words(options.sampled->batch, drawer_.group())) {}

  Context& context() override { return parts_.context; }
  Model& model() override { return parts_.model; }
  [[nodiscard]] std::uint64_t batches() const override {
    return shares_.iterations(drawer_.links());
  }
  [[nodiscard]] double hit_rate() const override {
    return parts_.features->hit_rate(parts_.context.stream());
  }
  void train(EpochRecord& record, const Standing& standing, const float* factor,
             const std::function<void(std::uint64_t)>& update) override;
  [[nodiscard]] Standing standing() override { return {trained_, {loss_.sum(parts_.context)}}; }
  Scores evaluate(WholeGraph* whole) override;

 private:
  void train_batch(const Batch& batch, std::uint64_t number, std::uint64_t links,
                   const float* scale);
  /// The embeddings of this rank's vertices, by the whole graph.
  void embed(WholeGraph& whole);
  /// By batches of them.
  void embed();

  BatchParts parts_;
  BatchShares shares_;
  LinkDrawer drawer_;
  std::vector<std::uint64_t> cuts_;
  memory::GlobalArray<float> embeddings_;
  LinkJudge judge_;
  LinkSlots slots_;
  LinkLoss loss_;
  memory::Buffer<Vertex> own_;  // This rank's vertices, for embed().
  std::uint64_t trained_ = 0;   // Batches of the epoch.
};

void LinkPasses::train_batch(const Batch& batch, std::uint64_t number, std::uint64_t links,
                             const float* scale) {
  BatchParts& p = parts_;
  const LinkPairs pairs = slots_.take();
  p.context.begin(p.options.model.seed, number, true);
  p.model.parameters().clear_gradients(p.context.stream());
  const ConstNumbers rows = p.model.forward(p.context, batch.vertices, batch.features);
  const Numbers gradient = p.model.scores_gradient();
  const std::uint64_t width = p.model.options().classes;
  const float factor = 1.0f / static_cast<float>(links * pairs.group);
  loss_.run(p.context, pairs, rows, width, factor, gradient, scale);
  slots_.release(p.context.stream());
  p.model.backward(p.context, gradient, GradientSums::of_team);
}

void LinkPasses::train(EpochRecord& record, const Standing& standing, const float* factor,
                       const std::function<void(std::uint64_t)>& update) {
  BatchParts& p = parts_;
  const std::uint64_t size = drawer_.links();
  const std::uint64_t count = batches();
  const std::uint64_t before = (record.epoch - 1) * count;
  const std::uint64_t rank = p.rank();
  drawer_.begin_epoch(record.epoch);
  loss_.begin_batches(p.context, shares_.batch * drawer_.group(), standing.sums[0]);
  trained_ = standing.batches;
  EpochTimer timer(p, standing.batches, count);
  p.each_batch(
      standing.batches, count,
      [&](std::uint64_t i) {
        const auto [at, links] = shares_.batch_of(size, rank, i);
        const Vertex* seeds = slots_.bring(p.loader.stream(), drawer_, at, links);
        p.loader.start(seeds, slots_.seeds_brought(), (before + i) * shares_.ranks + rank,
                       p.model.input_dropout(p.options.model.seed, before + i + 1));
      },
      [&](std::uint64_t i, const Batch& batch) {
        timer.batch(i, [&] {
          train_batch(batch, before + i + 1, shares_.count_of(size, i), factor);
          trained_ = i + 1;
          update(i);
        });
      });
  timer.finish(record);
  record.loss =
      loss_.sum(p.context) / (static_cast<double>(size) * static_cast<double>(drawer_.group()));
}

void LinkPasses::embed(WholeGraph& whole) {
  whole.context.begin(parts_.options.model.seed, 0, false);
  convert_rows(whole.context.stream(), embeddings_.view().local_rows(), embeddings_.view().width,
               whole.model.forward(whole.context, whole.features), embeddings_.local_data());
  (void)whole.context.take_seconds();
  whole.context.stream().synchronize();
}

void LinkPasses::embed() {
  BatchParts& p = parts_;
  const std::uint64_t most = seeds_of_batch(p.options, cuts_.back());
  const std::uint64_t width = p.model.options().classes;
  std::uint64_t iterations = 0;
  for (std::size_t q = 0; q + 1 < cuts_.size(); ++q)
    iterations = std::max(iterations, (cuts_[q + 1] - cuts_[q] + most - 1) / most);
  const std::uint64_t first = cuts_[p.rank()], size = cuts_[p.rank() + 1] - first;
  if (own_.size() == 0 && size != 0) {
    std::vector<Vertex> ids(size);
    for (std::uint64_t i = 0; i < size; ++i) ids[i] = static_cast<Vertex>(first + i);
    upload(p.context.stream(), own_, ids);
    p.context.stream().synchronize();
  }
  const auto count_at = [&](std::uint64_t i) {
    return std::min(size - std::min(size, i * most), most);
  };
  p.context.set_measuring(false);
  p.each_batch(
      0, iterations,
      [&](std::uint64_t i) {
        const std::uint64_t count = count_at(i);
        p.loader.start(count == 0 ? nullptr : own_.data() + i * most, count,
                       kEvaluation + i * shares_.ranks + p.rank());
      },
      [&](std::uint64_t i, const Batch& batch) {
        p.context.begin(p.options.model.seed, 0, false);
        convert_rows(p.context.stream(), count_at(i), width,
                     p.model.forward(p.context, batch.vertices, batch.features),
                     embeddings_.local_data() + i * most * width);
      });
  p.context.stream().synchronize();
}

Scores LinkPasses::evaluate(WholeGraph* whole) {
  parts_.context.stream().synchronize();
  if (whole != nullptr) {
    embed(*whole);
  } else {
    embed();
  }
  const team::Shown own{.data = embeddings_.local_data(),
                        .bytes = exec::bytes_of(embeddings_.local_size(), sizeof(float))};
  parts_.context.team().publish({&own, 1});
  return judge_.scores(parts_.context);
}

}  // namespace

std::unique_ptr<SampledPasses> make_link_passes(team::Team& team, const GraphPair& graphs,
                                                const Dataset& dataset,
                                                const TrainOptions& options) {
  require(options.links->split != nullptr, "link prediction needs a split of the edges");
  require(options.links->negatives >= 1,
          "link prediction needs one false target of each edge at least");
  // Entries are twice a pair and one bit.
  require(
      options.sampled->batch <= (std::uint64_t{1} << 31) / (options.links->negatives + 1),
      "a batch has 2^31 pairs of vertices or more: a smaller --batch or fewer --negatives would "
      "fit");
  return std::make_unique<LinkPasses>(team, graphs, dataset, options);
}

}  // namespace warren::learn
