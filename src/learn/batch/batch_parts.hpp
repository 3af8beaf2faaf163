// SPDX-License-Identifier: Apache-2.0
// What passes over sampled batches share, whatever a batch's seeds are: the graph and the features
// over the team's memories, the model, the loader, and an epoch's times.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "warren/learn/batch_loader.hpp"

#include "learn/batch/feature_table.hpp"
#include "learn/batch/hot_features.hpp"
#include "learn/batch/input_graph.hpp"
#include "learn/batch/spread.hpp"
#include "learn/train/trainer_parts.hpp"

namespace warren::learn {

/// Batches of evaluation have numbers from here on.
inline constexpr std::uint64_t kEvaluation = std::uint64_t{1} << 44;

/// How a list is dealt out: an equal part for each rank, `batch` elements of it at a time.
struct BatchShares {
  std::uint64_t ranks = 1, batch = 1;

  /// Rank q's part of a list: from here to that of the next rank.
  [[nodiscard]] std::uint64_t share(std::uint64_t size, std::uint64_t q) const {
    return size / ranks * q + size % ranks * q / ranks;
  }
  [[nodiscard]] std::uint64_t iterations(std::uint64_t size) const {
    const std::uint64_t most = (size + ranks - 1) / ranks;
    return (most + batch - 1) / batch;
  }
  /// Where rank q's batch begins in the list, and its size.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> batch_of(std::uint64_t size,
                                                                 std::uint64_t q,
                                                                 std::uint64_t iteration) const {
    const std::uint64_t end = share(size, q + 1);
    const std::uint64_t begin = std::min(end, share(size, q) + iteration * batch);
    return {begin, std::min(end - begin, batch)};
  }
  /// Elements of all ranks' batches of an iteration.
  [[nodiscard]] std::uint64_t count_of(std::uint64_t size, std::uint64_t iteration) const {
    std::uint64_t count = 0;
    for (std::uint64_t q = 0; q < ranks; ++q) count += batch_of(size, q, iteration).second;
    return count;
  }
};

/// Of the most of some batches, a shape that has somewhat more, as far as there can be more of a
/// graph of so many vertices.
void add_margins(BatchShape& shape, const std::vector<std::int64_t>& fanouts,
                 std::uint64_t vertices);

struct BatchParts {
  /// `seeds`: the most of a batch.
  BatchParts(team::Team& team, const GraphPair& graphs, const Dataset& dataset,
             const TrainOptions& given, std::uint64_t seeds);

  [[nodiscard]] std::uint64_t rank() { return static_cast<std::uint64_t>(context.team().rank()); }
  [[nodiscard]] BatchShares shares(std::uint64_t batch) {
    return {static_cast<std::uint64_t>(context.team().size()), batch};
  }
  /// start(i) begins batch i of [first, count); run(i, batch) uses it, the next one being made
  /// meanwhile.
  template <class Start, class Run>
  void each_batch(std::uint64_t first, std::uint64_t count, Start&& start, Run&& run) {
    if (first < count) start(first);
    for (std::uint64_t i = first; i < count; ++i) {
      Batch& batch = loader.take(context.stream());
      context.set_rows(batch.rows, batch.input_ids);
      for (std::size_t l = 0; l < batch.blocks.size(); ++l) model.set_block(l, batch.blocks[l]);
      run(i, batch);
      loader.release(context.stream());
      if (i + 1 < count) start(i + 1);
    }
  }

  TrainOptions options;
  Context context;  ///< Of the team of all ranks, which add up their gradients.
  Spread spread;
  graph::Shard shard;
  /// 1 + the sum of the weights of each vertex' edges, where GCN divides by it.
  memory::GlobalArray<float> weighted_degrees;
  sample::GraphStore store;
  std::unique_ptr<FeatureTable> features;
  memory::Buffer<Vertex> input_ids;
  Model model;
  BatchLoader loader;
  Places store_id;                                         ///< Of the input's vertices.
  std::vector<std::pair<exec::Event, exec::Event>> spans;  ///< Of training, batch by batch.
};

/// What training on batches holds on a rank's device beside the graph's lists and the table of
/// features, in bytes.
struct BatchBytes {
  std::uint64_t parameters = 0;  ///< And what updates them.
  std::uint64_t samplers = 0;
  std::uint64_t features = 0;  ///< Of the batches.
  std::uint64_t layers = 0;    ///< Blocks, and what layers and the loss make of them.
};
/// In a dry run (exec::DryRun), on the graphs' team (team::dry_team()): of the largest batches that
/// there can be. `options` are as large as the dataset says (sized()).
[[nodiscard]] BatchBytes dry_batches(team::Team& team, const GraphPair& graphs,
                                     const Dataset& dataset, const TrainOptions& options);

/// Times of an epoch's batches [first, count): all of training, and the parts of every 64th.
class EpochTimer {
 public:
  EpochTimer(BatchParts& parts, std::uint64_t first, std::uint64_t count);
  /// train() puts batch i's training on the stream.
  template <class Train>
  void batch(std::uint64_t i, Train&& train) {
    const bool is_measured = begin(i);
    train();
    end(i, is_measured);
  }
  /// Whether the parts of batch i's time are measured.
  [[nodiscard]] bool measures(std::uint64_t i) const {
    constexpr std::uint64_t kMeasured = 64;
    return i % kMeasured == std::min(kMeasured, count_) / 2;
  }
  /// Synchronises.
  void finish(EpochRecord& record);

 private:
  bool begin(std::uint64_t i);
  void end(std::uint64_t i, bool is_measured);

  BatchParts& parts_;
  std::uint64_t first_, count_, measured_ = 0;
  LoaderTimes start_;
  std::array<double, kParts> seconds_{};
};

/// Copies host values to the stream's device, into a buffer that grows where it is too small. The
/// values must stay until the stream has got there.
template <class T>
void upload(const exec::Stream& stream, memory::Buffer<T>& buffer, const std::vector<T>& values) {
  if (buffer.size() < values.size()) buffer = memory::Buffer<T>(stream.device(), values.size());
  if (!values.empty()) exec::copy(stream, buffer.data(), values.data(), values.size() * sizeof(T));
}

/// The edges (v, w) for which keep(v, w), lists in the same order.
template <class Keep>
[[nodiscard]] graph::Graph filtered(const graph::Graph& graph, Keep&& keep) {
  graph::Graph result;
  result.vertices = graph.vertices;
  result.symmetry = graph.symmetry;
  result.offsets = memory::HostArray<EdgeOffset>(graph.vertices + 1ull);
  result.offsets[0] = 0;
  std::vector<EdgeOffset> kept;
  kept.reserve(graph.targets.size());
  for (Vertex v = 0; v < graph.vertices; ++v) {
    for (EdgeOffset e = graph.offsets[v]; e < graph.offsets[v + 1ull]; ++e) {
      if (keep(v, graph.targets[e])) kept.push_back(e);
    }
    result.offsets[v + 1ull] = kept.size();
  }
  const auto copy = [&]<class T>(const memory::HostArray<T>& from, memory::HostArray<T>& to) {
    if (from.size() == 0) return;
    to = memory::HostArray<T>(kept.size());
    for (std::size_t e = 0; e < kept.size(); ++e) to[e] = from[kept[e]];
  };
  result.weight_type = graph.weight_type;
  copy(graph.targets, result.targets);
  copy(graph.weights_int, result.weights_int);
  copy(graph.weights_float, result.weights_float);
  return result;
}

}  // namespace warren::learn
