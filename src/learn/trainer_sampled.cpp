// SPDX-License-Identifier: Apache-2.0
// Passes over sampled batches (WholeGraph, section III).
#include <algorithm>
#include <numeric>

#include "warren/core/error.hpp"
#include "warren/learn/batch_loader.hpp"
#include "warren/memory/cached_array.hpp"
#include "warren/sample/hot_rows.hpp"

#include "learn/trainer_parts.hpp"

namespace warren::learn {
namespace {

// Apart from the purposes of layers.
constexpr std::uint64_t kShuffle = 0x73687566;
// Batches of evaluation have numbers from here on.
constexpr std::uint64_t kEvaluation = std::uint64_t{1} << 44;

/// Without self-loops, of which blocks then add one to each target.
std::shared_ptr<const graph::Graph> without_loops(std::shared_ptr<const graph::Graph> graph) {
  bool has_loops = false;
  for (Vertex v = 0; v < graph->vertices && !has_loops; ++v) {
    const auto list = graph->neighbours(v);
    has_loops = std::binary_search(list.begin(), list.end(), v);
  }
  if (!has_loops) return graph;
  auto result = std::make_shared<graph::Graph>();
  result->vertices = graph->vertices;
  result->symmetry = graph->symmetry;
  result->offsets = memory::HostArray<EdgeOffset>(graph->vertices + 1ull);
  result->offsets[0] = 0;
  std::vector<Vertex> targets;
  targets.reserve(graph->targets.size());
  for (Vertex v = 0; v < graph->vertices; ++v) {
    for (const Vertex w : graph->neighbours(v)) {
      if (w != v) targets.push_back(w);
    }
    result->offsets[v + 1ull] = targets.size();
  }
  result->targets = memory::HostArray<Vertex>(targets.size());
  std::copy(targets.begin(), targets.end(), result->targets.data());
  return result;
}

graph::Shard shard_of(team::Team& team, const GraphPair& graphs, ModelKind kind) {
  return graph::make_shard(team, {kind == ModelKind::gat ? without_loops(graphs.out) : graphs.out,
                                  nullptr, graphs.cuts});
}

/// Features over the team's memories.
class FeatureTable {
 public:
  FeatureTable(team::Team& team, const exec::Stream& stream, const GraphPair& graphs,
               const Dataset& dataset, const graph::Shard& shard, const SampledOptions& options)
      : table_(team, graphs.cuts, dataset.width, options.features) {
    require(!dataset.is_sparse(), "sampled batches are of dense features");
    const bool is_all = options.features == memory::Placement::replicated;
    const auto rank = static_cast<std::size_t>(team.rank());
    const std::uint64_t first = is_all ? 0 : graphs.cuts[rank];
    const std::uint64_t end = is_all ? graphs.cuts.back() : graphs.cuts[rank + 1];
    const std::uint64_t width = dataset.width;
    std::vector<float> rows((end - first) * width);
    for (std::uint64_t v = first; v < end; ++v) {
      const std::uint64_t from = graphs.input_ids.empty() ? v : graphs.input_ids[v];
      std::copy_n(dataset.dense.begin() + static_cast<std::ptrdiff_t>(from * width), width,
                  rows.begin() + static_cast<std::ptrdiff_t>((v - first) * width));
    }
    table_.buffer().upload(stream, rows);
    stream.synchronize();
    team.barrier();
    if (options.features != memory::Placement::host || options.cached <= 0.0) return;
    const auto hot =
        static_cast<std::uint64_t>(options.cached * static_cast<double>(graphs.cuts.back()));
    cached_ = std::make_unique<memory::CachedArray<float>>(
        team, table_, sample::hot_rows_by_degree(team, shard, hot));
  }

  void gather(const exec::Stream& stream, const Vertex* vertices, std::uint64_t count, float* out) {
    if (cached_ != nullptr) return cached_->gather_vertices(stream, vertices, count, out);
    memory::gather_vertices(stream, table_.view(), vertices, count, out);
  }
  [[nodiscard]] double hit_rate(const exec::Stream& stream) const {
    return cached_ == nullptr ? 0.0 : cached_->use(stream).hit_rate();
  }

 private:
  memory::GlobalArray<float> table_;
  std::unique_ptr<memory::CachedArray<float>> cached_;
};

LoaderOptions loader_options(const Model& model, const TrainOptions& options) {
  LoaderOptions loader;
  loader.fanouts = options.sampled->fanouts;
  loader.batch = options.sampled->batch;
  loader.seed = options.model.seed;
  loader.width = model.options().features;
  for (std::size_t l = 0; l < model.options().layers; ++l)
    loader.blocks.push_back(model.block_options(l));
  return loader;
}

template <class T>
void upload(const exec::Stream& stream, memory::Buffer<T>& buffer, const std::vector<T>& values) {
  if (buffer.size() < values.size()) buffer = memory::Buffer<T>(stream.device(), values.size());
  if (!values.empty()) exec::copy(stream, buffer.data(), values.data(), values.size() * sizeof(T));
}

}  // namespace

struct SampledPasses::Parts {
  Parts(team::Team& team, const GraphPair& graphs, const Dataset& dataset,
        const TrainOptions& given)
      : options(given),
        context(team, {.allow_tf32 = given.allow_tf32}),
        shard(shard_of(team, graphs, given.model.kind)),
        store(team, shard),
        features(team, context.stream(), graphs, dataset, shard, *given.sampled),
        input_ids(team.device(), graphs.input_ids.size()),
        model(context, sized(given.model, dataset)),
        loader(
            team.device(), store,
            [this](const exec::Stream& stream, const Vertex* vertices, std::uint64_t count,
                   float* out) { features.gather(stream, vertices, count, out); },
            graphs.input_ids.empty() ? nullptr : input_ids.data(), loader_options(model, given)),
        kind(dataset.loss),
        counts(dataset.counts),
        classes(dataset.labels),
        values(dataset.targets),
        splits(dataset.splits),
        training_loss(kind),
        evaluation_loss(kind) {
    upload(context.stream(), input_ids, graphs.input_ids);
    context.stream().synchronize();
    store_ids.resize(graphs.input_ids.size());
    for (std::size_t v = 0; v < store_ids.size(); ++v)
      store_ids[graphs.input_ids[v]] = static_cast<Vertex>(v);
    for (Vertex v = 0; v < splits.size(); ++v) {
      if (splits[v] != kNoSplit) labelled.push_back(v);
      if (splits[v] == kTrain) training.push_back(v);
    }
    targets.counts = counts;
  }

  [[nodiscard]] std::uint64_t ranks() { return static_cast<std::uint64_t>(context.team().size()); }
  /// Rank q's part of a list: from here to that of the next rank.
  [[nodiscard]] std::uint64_t share(std::uint64_t size, std::uint64_t q) {
    return size / ranks() * q + size % ranks() * q / ranks();
  }
  [[nodiscard]] std::uint64_t iterations(std::uint64_t size) {
    const std::uint64_t most = (size + ranks() - 1) / ranks();
    return (most + options.sampled->batch - 1) / options.sampled->batch;
  }
  /// Vertices of all ranks' batches of an iteration.
  [[nodiscard]] std::uint64_t count_of(std::uint64_t size, std::uint64_t iteration) {
    std::uint64_t count = 0;
    for (std::uint64_t q = 0; q < ranks(); ++q) count += batch_of(size, q, iteration).second;
    return count;
  }
  /// Where rank q's batch begins in the list, and its size.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> batch_of(std::uint64_t size,
                                                                 std::uint64_t q,
                                                                 std::uint64_t iteration) {
    const std::uint64_t end = share(size, q + 1);
    const std::uint64_t begin = std::min(end, share(size, q) + iteration * options.sampled->batch);
    return {begin, std::min(end - begin, options.sampled->batch)};
  }

  /// Puts a rank's part of the list, with its labels, on the device.
  void bring(const std::vector<Vertex>& list) {
    const auto rank = static_cast<std::uint64_t>(context.team().rank());
    const std::uint64_t first = share(list.size(), rank);
    std::vector<Vertex> ids;
    std::vector<std::int32_t> labels;
    std::vector<float> rows;
    std::vector<std::uint8_t> of;
    const std::uint64_t width = model.options().classes;
    for (std::uint64_t i = first; i < share(list.size(), rank + 1); ++i) {
      const Vertex v = list[i];
      ids.push_back(store_ids.empty() ? v : store_ids[v]);
      of.push_back(splits[v]);
      if (!classes.empty()) labels.push_back(classes[v]);
      const auto row = values.begin() + static_cast<std::ptrdiff_t>(v * width);
      if (!values.empty()) rows.insert(rows.end(), row, row + static_cast<std::ptrdiff_t>(width));
    }
    const exec::Stream& stream = context.stream();
    upload(stream, seeds, ids);
    upload(stream, all_classes, labels);
    upload(stream, all_values, rows);
    upload(stream, all_splits, of);
    stream.synchronize();
  }

  /// The labels of the batch that begins at `at` of the rank's part.
  void set_targets(std::uint64_t at, std::uint64_t count) {
    const auto copy = [&]<class T>(memory::Buffer<T>& to, const memory::Buffer<T>& from,
                                   std::uint64_t width) {
      if (from.size() == 0) return;
      context.keep(to, options.sampled->batch * width);
      exec::copy(context.stream(), to.data(), from.data() + at * width, count * width * sizeof(T));
    };
    copy(targets.classes, all_classes, 1);
    copy(targets.values, all_values, model.options().classes);
    copy(targets.splits, all_splits, 1);
  }

  /// run(iteration, batch) for every batch of the list from `first` on, the next one being made
  /// meanwhile.
  template <class Run>
  void each_batch(const std::vector<Vertex>& list, std::uint64_t first, std::uint64_t number,
                  Run&& run) {
    bring(list);
    const std::uint64_t count = iterations(list.size());
    const auto rank = static_cast<std::uint64_t>(context.team().rank());
    const std::uint64_t start = share(list.size(), rank);
    const auto begin = [&](std::uint64_t i) {
      if (i >= count) return;
      const auto [at, size] = batch_of(list.size(), rank, i);
      loader.start(size == 0 ? nullptr : seeds.data() + (at - start), size,
                   number + i * ranks() + rank);
    };
    begin(first);
    for (std::uint64_t i = first; i < count; ++i) {
      Batch& batch = loader.take(context.stream());
      context.set_rows(batch.seeds, batch.input_ids);
      for (std::size_t l = 0; l < batch.blocks.size(); ++l) model.set_block(l, batch.blocks[l]);
      set_targets(batch_of(list.size(), rank, i).first - start, batch.seeds);
      run(i, batch);
      loader.release(context.stream());
      begin(i + 1);
    }
  }

  /// The training vertices in an epoch's order.
  [[nodiscard]] std::vector<Vertex> shuffled(std::uint64_t epoch) const {
    std::vector<Vertex> order = training;
    const std::uint64_t key = random_key(options.model.seed, epoch, kShuffle);
    for (std::uint64_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[mix(key + i) % i]);
    return order;
  }

  TrainOptions options;
  Context context;
  graph::Shard shard;
  sample::GraphStore store;
  FeatureTable features;
  memory::Buffer<Vertex> input_ids;
  Model model;
  BatchLoader loader;
  LossKind kind;
  std::array<std::uint64_t, kSplits> counts;
  std::vector<std::int32_t> classes;
  std::vector<float> values;
  std::vector<std::uint8_t> splits;
  std::vector<Vertex> store_ids;           // Of the input's vertices; empty: the same.
  std::vector<Vertex> labelled, training;  // Ids of the input.
  memory::Buffer<Vertex> seeds;
  memory::Buffer<std::int32_t> all_classes;
  memory::Buffer<float> all_values;
  memory::Buffer<std::uint8_t> all_splits;
  Targets targets;
  Loss training_loss, evaluation_loss;
  std::vector<std::pair<exec::Event, exec::Event>> spans;  // Of training, batch by batch.
  std::uint64_t trained = 0;                               // Batches of the epoch.
};

SampledPasses::SampledPasses(team::Team& team, const GraphPair& graphs, const Dataset& dataset,
                             const TrainOptions& options) {
  const SampledOptions& sampled = *options.sampled;
  require(sampled.fanouts.size() == options.model.layers,
          "sampling needs one fanout for each layer");
  require(sampled.batch >= 1, "a batch has one vertex at least");
  require(sampled.cached >= 0.0 && sampled.cached <= 1.0, "a share of rows is from 0 to 1");
  parts_ = std::make_unique<Parts>(team, graphs, dataset, options);
}

SampledPasses::~SampledPasses() = default;

Context& SampledPasses::context() { return parts_->context; }
Model& SampledPasses::model() { return parts_->model; }
std::uint64_t SampledPasses::batches() const { return parts_->iterations(parts_->training.size()); }
double SampledPasses::hit_rate() const {
  return parts_->features.hit_rate(parts_->context.stream());
}

void SampledPasses::train(EpochRecord& record, const Standing& standing,
                          const std::function<void(std::uint64_t)>& update) {
  constexpr std::uint64_t kMeasured = 64;
  Parts& p = *parts_;
  const exec::Stream& stream = p.context.stream();
  const std::uint64_t count = batches();
  const std::uint64_t before = (record.epoch - 1) * count;
  const LoaderTimes start = p.loader.times();
  p.training_loss.begin_batches(p.context, p.options.sampled->batch, standing.sums);
  p.trained = standing.batches;
  std::uint64_t measured = 0;
  std::array<double, kParts> parts{};
  p.each_batch(p.shuffled(record.epoch), standing.batches, before * p.ranks(),
               [&](std::uint64_t i, Batch& batch) {
                 while (p.spans.size() <= i - standing.batches)
                   p.spans.emplace_back(exec::Event(stream.device()), exec::Event(stream.device()));
                 auto& span = p.spans[i - standing.batches];
                 span.first.record(stream);
                 const bool is_measured = i % kMeasured == std::min(kMeasured, count) / 2;
                 p.context.set_measuring(is_measured);
                 p.context.begin(p.options.model.seed, before + i + 1, true);
                 p.model.parameters().clear_gradients(stream);
                 const float* scores = p.model.forward(p.context, batch.vertices, batch.features);
                 p.targets.counts[0] = p.count_of(p.training.size(), i);
                 float* gradient = p.model.scores_gradient();
                 p.training_loss.run(p.context, p.targets, scores, p.model.options().classes,
                                     gradient);
                 p.model.backward(p.context, gradient);
                 p.trained = i + 1;
                 update(i);
                 span.second.record(stream);
                 if (!is_measured) return;
                 const auto seconds = p.context.take_seconds();
                 ++measured;
                 for (std::size_t k = 0; k < kParts; ++k) parts.at(k) += seconds.at(k);
               });
  stream.synchronize();
  const std::uint64_t trained = count - standing.batches;
  for (std::uint64_t i = 0; i < trained; ++i)
    record.train_seconds += p.spans[i].second.seconds_since(p.spans[i].first);
  const LoaderTimes end = p.loader.times();
  record.sample_seconds = end.sample - start.sample;
  record.gather_seconds = end.gather - start.gather;
  record.sampled_edges = end.edges - start.edges;
  record.batches = trained;
  const double factor =
      measured == 0 ? 0.0 : static_cast<double>(trained) / static_cast<double>(measured);
  for (std::size_t k = 0; k < kParts; ++k) record.part_seconds.at(k) = parts.at(k) * factor;
  p.targets.counts = p.counts;
  record.loss = p.training_loss.result(p.context, p.targets)[0].loss;
}

SampledPasses::Standing SampledPasses::standing() {
  return {parts_->trained, parts_->training_loss.sums(parts_->context)};
}

Scores SampledPasses::evaluate() {
  Parts& p = *parts_;
  p.targets.counts = p.counts;
  p.evaluation_loss.begin_batches(p.context, p.options.sampled->batch);
  p.context.set_measuring(false);
  p.each_batch(p.labelled, 0, kEvaluation, [&](std::uint64_t, Batch& batch) {
    p.context.begin(p.options.model.seed, 0, false);
    const float* scores = p.model.forward(p.context, batch.vertices, batch.features);
    p.evaluation_loss.run(p.context, p.targets, scores, p.model.options().classes, nullptr);
  });
  return p.evaluation_loss.result(p.context, p.targets);
}

}  // namespace warren::learn
