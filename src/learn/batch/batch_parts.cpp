// SPDX-License-Identifier: Apache-2.0
#include "learn/batch/batch_parts.hpp"

#include "warren/core/error.hpp"
#include "warren/exec/dry_run.hpp"
#include "warren/graph/merged_cuts.hpp"

#include "learn/batch/link_loss.hpp"
#include "learn/batch/link_slots.hpp"

namespace warren::learn {
namespace {

/// Without self-loops, of which blocks then add one to each target.
std::shared_ptr<const graph::Graph> without_loops(std::shared_ptr<const graph::Graph> graph) {
  bool has_loops = false;
  for (Vertex v = 0; v < graph->vertices && !has_loops; ++v) {
    const auto list = graph->neighbours(v);
    has_loops = std::binary_search(list.begin(), list.end(), v);
  }
  if (!has_loops) return graph;
  return std::make_shared<const graph::Graph>(
      filtered(*graph, [](Vertex v, Vertex w) { return v != w; }));
}

graph::Shard shard_of(const Spread& spread, const GraphPair& graphs, const TrainOptions& options) {
  const auto& graph = is_attention(options.model.kind) ? without_loops(graphs.out) : graphs.out;
  return graph::make_shard(spread.team, {graph, nullptr, spread.cuts}, {options.sampled->edges, 0});
}

sample::StoreOptions store_options(const TrainOptions& options) {
  const SampledOptions& sampled = *options.sampled;
  return {.weights = sampled.weighted,
          .edge_weights = options.model.edge_weights,
          .cumulative = sampled.weighted && sampled.replace,
          .replicated = sampled.replicate_edges};
}

/// Beside the lists: on all devices where these are. Empty where nothing is divided by them.
memory::GlobalArray<float> weighted_degrees_of(const Spread& spread, const exec::Stream& stream,
                                               const GraphPair& graphs,
                                               const TrainOptions& options) {
  if (!options.model.edge_weights) return {};
  team::Team& team = spread.team;
  check_edge_weights(*graphs.out, graphs, spread.begin(), spread.end());
  if (options.model.kind != ModelKind::gcn) return {};
  constexpr std::uint64_t kGrain = 1024;
  const bool is_all = options.sampled->replicate_edges;
  memory::GlobalArray<float> degrees(
      team, spread.cuts, 1, is_all ? memory::Placement::replicated : memory::Placement::device,
      memory::Reach::own);
  const std::uint64_t first = is_all ? 0 : spread.begin();
  const std::uint64_t end = is_all ? spread.cuts.back() : spread.end();
  std::vector<float> sums(end - first);
  team.device().pool().parallel_for(
      0, sums.size(), kGrain, [&](std::uint64_t from, std::uint64_t to) {
        for (std::uint64_t i = from; i < to; ++i)
          sums[i] = static_cast<float>(
              1.0 + weighted_degree(*graphs.out, static_cast<Vertex>(first + i)));
      });
  degrees.buffer().upload(stream, sums);
  stream.synchronize();
  team.barrier();
  return degrees;
}

LoaderOptions loader_options(const Model& model, const TrainOptions& options, std::uint64_t seeds,
                             const graph::Graph& graph,
                             const memory::GlobalArray<float>& weighted_degrees) {
  LoaderOptions loader;
  loader.in_flight = batches_in_flight(options, graph.vertices, graph.targets.size());
  loader.type = options.type;
  loader.fanouts = options.sampled->fanouts;
  loader.batch = seeds;
  loader.seed = options.model.seed;
  loader.replace = options.sampled->replace;
  loader.weighted = options.sampled->weighted;
  loader.width = model.options().features;
  loader.gathers_together = options.sampled->exchange_features;
  for (std::size_t l = 0; l < model.options().layers; ++l)
    loader.blocks.push_back(model.block_options(l));
  for (BlockOptions& block : loader.blocks) block.weighted_degrees = weighted_degrees.view();
  return loader;
}

}  // namespace

void add_margins(BatchShape& shape, const std::vector<std::int64_t>& fanouts,
                 std::uint64_t vertices) {
  const auto with_margin = [](std::uint64_t most, std::uint64_t limit) {
    constexpr std::uint64_t kUnit = 64;
    return std::min(limit, (most + most / 8 + kUnit - 1) / kUnit * kUnit);
  };
  for (std::size_t h = 0; h < fanouts.size(); ++h) {
    // No batch has more than that.
    const std::uint64_t edges = exec::bytes_of(
        shape.vertices[h], fanouts[h] < 0 ? vertices : static_cast<std::uint64_t>(fanouts[h]));
    shape.edges[h] = with_margin(shape.edges[h], edges);
    shape.vertices[h + 1] =
        std::max(shape.vertices[h],
                 with_margin(shape.vertices[h + 1], std::min(vertices, shape.vertices[h] + edges)));
  }
}

std::uint64_t seeds_of_batch(const TrainOptions& options, std::uint64_t vertices) {
  const std::uint64_t batch = options.sampled->batch;
  if (!options.links) return batch;
  // Both ends of a link, and its false targets, each vertex once.
  return std::min(exec::bytes_of(batch, options.links->negatives + 2), vertices);
}

std::uint32_t batches_in_flight(const TrainOptions& options, std::uint64_t vertices,
                                std::uint64_t edges) {
  constexpr std::uint64_t kMost = 8;
  constexpr std::uint64_t kMostEdges = std::uint64_t{1} << 21;
  if (!options.sampled->pad) return 1;
  std::uint64_t rows = options.sampled->batch;
  std::uint64_t all = 0;
  for (const std::int64_t fanout : options.sampled->fanouts) {
    const std::uint64_t each = fanout < 0 ? edges : static_cast<std::uint64_t>(fanout);
    const std::uint64_t of_hop = std::min(exec::bytes_of(rows, each), edges);
    all += of_hop;
    rows = std::min(rows + of_hop, vertices);
  }
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(kMostEdges / std::max<std::uint64_t>(all, 1), 1, kMost));
}

BatchParts::BatchParts(team::Team& team, const GraphPair& graphs, const Dataset& dataset,
                       const TrainOptions& given, std::uint64_t seeds)
    : options(given),
      context(team, {.allow_tf32 = given.allow_tf32}, given.type),
      spread{team.of_host(), graph::merged_cuts(graphs.cuts, team.of_host().size())},
      shard(shard_of(spread, graphs, given)),
      weighted_degrees(weighted_degrees_of(spread, context.stream(), graphs, given)),
      store(spread.team, shard, store_options(given)),
      features(make_table(spread, context, graphs, dataset,
                          hot_features(context, graphs, dataset, store, given, seeds),
                          *given.sampled)),
      input_ids(team.device(), graphs.input_ids.size()),
      model(context, sized(given.model, dataset)),
      loader(
          team.device(), store,
          [this](const exec::Stream& stream, const Vertex* vertices, std::uint64_t count,
                 const Dropout& dropout, const float* scale,
                 Numbers out) { features->gather(stream, vertices, count, dropout, scale, out); },
          graphs.input_ids.empty() ? nullptr : input_ids.data(),
          loader_options(model, given, seeds, *graphs.out, weighted_degrees)),
      store_id(graphs.input_ids) {
  context.set_tensor_sums(given.tensor_sums);
  upload(context.stream(), input_ids, graphs.input_ids);
  context.stream().synchronize();
}

namespace {

std::uint64_t max_degree_of(const graph::Graph& graph) {
  std::uint64_t most = 0;
  for (std::uint64_t v = 0; v < graph.vertices; ++v)
    most = std::max<std::uint64_t>(most, graph.offsets[v + 1] - graph.offsets[v]);
  return most;
}

/// What a batch of `rows` has of a list of labels.
template <class T>
void take_labels(const Context& context, memory::Buffer<T>& of_batch, memory::Buffer<T>& of_rank,
                 std::uint64_t rows, std::uint64_t share, std::uint64_t columns) {
  of_rank = memory::Buffer<T>(context.stream().device(), exec::bytes_of(share, columns));
  context.keep(of_batch, exec::bytes_of(rows, columns));
}

/// What link prediction holds beside its batches, in a dry run, but for the embeddings.
class DryLinks {
 public:
  DryLinks(Context& context, const TrainOptions& options)
      : group_(options.links->negatives + 1),
        pairs_(options.sampled->batch * group_),
        judge_(context.team(), *options.links->split, embeddings_),
        slots_(context.stream().device(), LinkBatch::most_words(options.sampled->batch, group_)) {
    loss_.begin_batches(context, pairs_, 0.0);
  }
  void run(Context& context, std::uint64_t seeds, ConstNumbers rows, std::uint64_t width,
           Numbers gradient, const float* scale) {
    const LinkPairs links{.pairs = pairs_, .seeds = seeds, .group = group_};
    loss_.run(context, links, rows, width, 1.0f, gradient, scale);
  }

 private:
  std::uint64_t group_, pairs_;
  memory::GlobalArray<float> embeddings_;
  LinkJudge judge_;
  LinkSlots slots_;
  LinkLoss loss_;
};

}  // namespace

BatchBytes dry_batches(team::Team& team, const GraphPair& graphs, const Dataset& dataset,
                       const TrainOptions& options) {
  const exec::DryRun& run = *exec::DryRun::current();
  const exec::Device& device = team.device();
  Context context(team, {.allow_tf32 = options.allow_tf32}, options.type);
  context.set_tensor_sums(options.tensor_sums);
  context.set_measuring(false);
  const exec::Stream& stream = context.stream();
  const std::uint64_t before = run.use().current;
  Model model(context, options.model);
  Updates updates(stream, options, model.parameters());
  BatchBytes bytes;
  bytes.parameters = run.use().current - before;

  const std::uint64_t seeds = seeds_of_batch(options, graphs.cuts.back());
  const sample::GraphStore store({.vertices = graphs.cuts.back(),
                                  .edges = graphs.out->edges(),
                                  .max_degree = max_degree_of(*graphs.out)},
                                 store_options(options));
  const memory::Buffer<Vertex> input_ids(device, graphs.input_ids.size());
  BatchLoader loader(
      device, store,
      [](const exec::Stream&, const Vertex*, std::uint64_t, const Dropout&, const float*, Numbers) {
      },
      input_ids.data(), loader_options(model, options, seeds, *graphs.out, {}));
  const auto ranks = static_cast<std::uint64_t>(graphs.cuts.size()) - 1;
  const std::uint64_t share = (dataset.vertices + ranks - 1) / ranks;
  const bool lists_none = options.links && options.sampled->exact_evaluation;
  const std::uint64_t most_listed = options.links ? share : std::max(share, seeds);
  const memory::Buffer<Vertex> listed(device, lists_none ? 1 : most_listed);
  Targets targets, of_rank;
  if (!options.links) {
    if (!dataset.labels.empty())
      take_labels(context, targets.classes, of_rank.classes, seeds, share, 1);
    if (!dataset.targets.empty())
      take_labels(context, targets.values, of_rank.values, seeds, share, dataset.classes);
    take_labels(context, targets.splits, of_rank.splits, seeds, share, 1);
  }
  Loss loss(dataset.loss), evaluation_loss(dataset.loss);
  if (!options.links) loss.begin_batches(context, seeds);
  if (!options.links && !options.sampled->exact_evaluation)
    evaluation_loss.begin_batches(context, seeds);
  std::optional<DryLinks> links;
  if (options.links) links.emplace(context, options);
  // A batch for each of the loader's places.
  BatchShape shape;
  for (std::uint64_t i = 0; i < BatchLoader::kPlaces; ++i) {
    if (options.sampled->pad) {
      const sample::BatchCounts most = loader.count(listed.data(), seeds, i);
      const std::size_t hops = options.sampled->fanouts.size();
      shape.vertices.assign(most.vertices, most.vertices + hops + 1);
      shape.edges.assign(most.edges, most.edges + hops);
      add_margins(shape, options.sampled->fanouts, graphs.cuts.back());
      loader.pad_to(&shape);
    }
    loader.start(listed.data(), seeds, i, model.input_dropout(options.model.seed, 1), seeds);
    Batch& batch = loader.take(stream);
    context.set_rows(batch.rows, batch.input_ids);
    for (std::size_t l = 0; l < batch.blocks.size(); ++l) model.set_block(l, batch.blocks[l]);
    context.begin(options.model.seed, 1, true);
    model.parameters().clear_gradients(stream);
    const ConstNumbers scores = model.forward(context, batch.feature_rows, batch.features);
    const Numbers gradient = model.scores_gradient();
    if (links) {
      links->run(context, seeds, scores, options.model.classes, gradient, updates.factor());
    } else {
      loss.run(context, targets, scores, options.model.classes, gradient, updates.factor());
    }
    model.backward(context, gradient,
                   options.sampled->pad ? GradientSums::of_rank : GradientSums::of_team);
    if (options.sampled->pad) model.parameters().reduce_gradients(context);
    updates.update(stream);
    loader.release(stream);
  }
  const BatchLoader::Bytes loaded = loader.bytes();
  bytes.samplers = loaded.samplers;
  bytes.features = loaded.features;
  const std::uint64_t named = bytes.parameters + bytes.samplers + bytes.features;
  bytes.layers = run.use().peak - std::min(run.use().peak, named);
  return bytes;
}

EpochTimer::EpochTimer(BatchParts& parts, std::uint64_t first, std::uint64_t count)
    : parts_(parts), first_(first), count_(count), start_(parts.loader.times()) {}

bool EpochTimer::begin(std::uint64_t i) {
  const exec::Stream& stream = parts_.context.stream();
  while (parts_.spans.size() <= i - first_)
    parts_.spans.emplace_back(exec::Event(stream.device()), exec::Event(stream.device()));
  parts_.spans[i - first_].first.record(stream);
  const bool is_measured = measures(i);
  parts_.context.set_measuring(is_measured);
  return is_measured;
}

void EpochTimer::end(std::uint64_t i, bool is_measured) {
  parts_.spans[i - first_].second.record(parts_.context.stream());
  if (!is_measured) return;
  const auto seconds = parts_.context.take_seconds();
  ++measured_;
  for (std::size_t k = 0; k < kParts; ++k) seconds_.at(k) += seconds.at(k);
}

void EpochTimer::finish(EpochRecord& record) {
  parts_.context.stream().synchronize();
  record.batches = count_ - first_;
  for (std::uint64_t i = 0; i < record.batches; ++i)
    record.train_seconds += parts_.spans[i].second.seconds_since(parts_.spans[i].first);
  const LoaderTimes end = parts_.loader.times();
  record.sample_seconds = end.sample - start_.sample;
  record.gather_seconds = end.gather - start_.gather;
  record.sampled_edges = end.edges - start_.edges;
  const double factor =
      measured_ == 0 ? 0.0 : static_cast<double>(record.batches) / static_cast<double>(measured_);
  for (std::size_t k = 0; k < kParts; ++k) record.part_seconds.at(k) = seconds_.at(k) * factor;
}

}  // namespace warren::learn
