// SPDX-License-Identifier: Apache-2.0
#include "warren/learn/dataset_mark.hpp"

#include <bit>

#include <fmt/format.h>

#include "warren/dataset/random.hpp"

namespace warren::learn {
namespace {

constexpr std::uint64_t kSample = std::uint64_t{1} << 16;
// Keys that set the hashes apart.
constexpr std::uint64_t kEdgesOf = 0x65646765, kWeightsOf = 0x77676874, kFeaturesOf = 0x66656174,
                        kLabelsOf = 0x6c61626c;

/// One vertex in 2^k is chosen, about kSample of them.
std::uint64_t sample_mask(std::uint64_t vertices) {
  return std::bit_ceil(std::max<std::uint64_t>(1, vertices / kSample)) - 1;
}

std::uint64_t hash_of(std::uint64_t key, std::uint64_t row, std::uint64_t column,
                      std::uint64_t value) {
  return mix(mix(key ^ (row << 32 | column)) ^ value);
}

/// Adds v's edges to the mark. Sums of hashes, so that the order in which edges and elements come
/// does not matter.
void add_edges(const GraphPair& graphs, Vertex v, std::uint64_t id, DatasetMark& mark) {
  const graph::Graph& graph = *graphs.out;
  for (EdgeOffset e = graph.offsets[v]; e < graph.offsets[v + 1ull]; ++e) {
    const Vertex w = graph.targets[e];
    std::uint64_t weight = 0;
    if (graph.weight_type == graph::WeightType::int32)
      weight = static_cast<std::uint32_t>(graph.weights_int[e]);
    if (graph.weight_type == graph::WeightType::float32)
      weight = std::bit_cast<std::uint32_t>(graph.weights_float[e]);
    const std::uint64_t other = graphs.input_ids.empty() ? w : graphs.input_ids[w];
    mark.graph_hash += hash_of(kEdgesOf, id, other, 0);
    if (graph.weight_type != graph::WeightType::none)
      mark.weights_hash += hash_of(kWeightsOf, id, other, weight);
  }
}

std::uint64_t features_hash(const Dataset& dataset, std::uint64_t id) {
  std::uint64_t sum = 0;
  const auto add = [&](std::uint64_t column, float value) {
    if (value != 0.0f) sum += hash_of(kFeaturesOf, id, column, std::bit_cast<std::uint32_t>(value));
  };
  if (dataset.is_sparse()) {
    for (EdgeOffset e = dataset.sparse.offsets[id]; e < dataset.sparse.offsets[id + 1]; ++e)
      add(dataset.sparse.column_ids[e], dataset.sparse.values[e]);
  } else {
    for (std::uint64_t c = 0; c < dataset.width; ++c) add(c, dataset.dense[id * dataset.width + c]);
  }
  return sum;
}

std::uint64_t labels_hash(const Dataset& dataset, std::uint64_t id) {
  std::uint64_t sum = hash_of(kLabelsOf, id, 0, dataset.splits[id]);
  if (!dataset.labels.empty())
    sum += hash_of(kLabelsOf, id, 1, static_cast<std::uint32_t>(dataset.labels[id]));
  for (std::uint64_t c = 0; c < dataset.classes && !dataset.targets.empty(); ++c)
    sum += hash_of(kLabelsOf, id, 2 + c,
                   std::bit_cast<std::uint32_t>(dataset.targets[id * dataset.classes + c]));
  return sum;
}

std::string sizes(const DatasetMark& mark) {
  return fmt::format("{} vertices, {} edges, {} features and {} classes", mark.vertices, mark.edges,
                     mark.features, mark.classes);
}

}  // namespace

DatasetMark mark_of(const GraphPair& graphs, const Dataset& dataset) {
  DatasetMark mark;
  mark.vertices = dataset.vertices;
  mark.edges = graphs.out->edges();
  mark.features = dataset.width;
  mark.classes = dataset.classes;
  const std::uint64_t mask = sample_mask(dataset.vertices);
  for (Vertex v = 0; v < graphs.out->vertices; ++v) {
    const std::uint64_t id = graphs.input_ids.empty() ? v : graphs.input_ids[v];
    if ((mix(id) & mask) != 0) continue;
    add_edges(graphs, v, id, mark);
    mark.features_hash += features_hash(dataset, id);
    mark.labels_hash += labels_hash(dataset, id);
  }
  return mark;
}

bool has_same_inputs(const DatasetMark& a, const DatasetMark& b) {
  return a.vertices == b.vertices && a.edges == b.edges && a.features == b.features &&
         a.graph_hash == b.graph_hash && a.features_hash == b.features_hash;
}

std::string difference(const DatasetMark& stored, const DatasetMark& given) {
  if (stored == given) return "";
  if (sizes(stored) != sizes(given))
    return fmt::format("it is of {}, but this dataset has {}", sizes(stored), sizes(given));
  std::string text;
  const auto add = [&](bool differs, const char* what) {
    if (differs) text += (text.empty() ? "" : ", ") + std::string(what);
  };
  add(stored.graph_hash != given.graph_hash, "edges");
  add(stored.weights_hash != given.weights_hash, "weights");
  add(stored.features_hash != given.features_hash, "features");
  add(stored.labels_hash != given.labels_hash, "labels or splits");
  return fmt::format("this dataset is as large as its own, {}, but has other {}", sizes(stored),
                     text);
}

}  // namespace warren::learn
