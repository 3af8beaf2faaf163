// SPDX-License-Identifier: Apache-2.0
// Graphs as ordered maps: what the builder and the transforms must come to, written to be read and
// not to be fast.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "warren/graph/graph.hpp"

#include "reference/graph_source.hpp"

namespace warren::reference {

/// Every edge with the weights of its parallel copies; weights as doubles (exact for both types), 0
/// where there are none.
using EdgeMap = std::map<std::pair<Vertex, Vertex>, std::multiset<double>>;

inline double weight_of(const EdgeList& list, std::size_t i) {
  if (!list.weights_int.empty()) return list.weights_int[i];
  return list.weights_float.empty() ? 0.0 : static_cast<double>(list.weights_float[i]);
}

inline EdgeMap merged(EdgeMap edges) {
  for (auto& [ends, weights] : edges) weights = {*weights.begin()};
  return edges;
}

inline EdgeMap symmetrized(const EdgeMap& edges) {
  EdgeMap result = edges;
  for (const auto& [ends, weights] : edges) {
    if (ends.first != ends.second)
      result[{ends.second, ends.first}].insert(weights.begin(), weights.end());
  }
  return result;
}

inline EdgeMap transposed(const EdgeMap& edges) {
  EdgeMap result;
  for (const auto& [ends, weights] : edges) result[{ends.second, ends.first}] = weights;
  return result;
}

inline EdgeMap relabelled(const EdgeMap& edges, const std::vector<Vertex>& new_id) {
  EdgeMap result;
  for (const auto& [ends, weights] : edges)
    result[{new_id[ends.first], new_id[ends.second]}] = weights;
  return result;
}

/// What build() makes of a list.
inline EdgeMap build(const EdgeList& list, const graph::BuildOptions& options) {
  EdgeMap edges;
  for (std::size_t i = 0; i < list.edges.size(); ++i) {
    const auto [source, target] = list.edges[i];
    if (options.drop_self_loops && source == target) continue;
    edges[{source, target}].insert(weight_of(list, i));
  }
  if (options.symmetrize) edges = symmetrized(edges);
  return options.keep_duplicates ? edges : merged(edges);
}

/// A graph's edges in the order of its arrays: (source, target, weight).
struct Entry {
  Vertex source;
  Vertex target;
  double weight;
  friend bool operator==(const Entry&, const Entry&) = default;
};

inline std::vector<Entry> entries(const EdgeMap& edges) {
  std::vector<Entry> result;
  for (const auto& [ends, weights] : edges) {
    for (const double weight : weights) result.push_back({ends.first, ends.second, weight});
  }
  return result;
}

inline std::vector<Entry> entries(const graph::Graph& graph) {
  std::vector<Entry> result;
  for (Vertex v = 0; v < graph.vertices; ++v) {
    for (EdgeOffset e = graph.offsets[v]; e < graph.offsets[std::uint64_t{v} + 1]; ++e) {
      double weight = 0.0;
      if (graph.weight_type == graph::WeightType::int32) weight = graph.weights_int[e];
      if (graph.weight_type == graph::WeightType::float32)
        weight = static_cast<double>(graph.weights_float[e]);
      result.push_back({v, graph.targets[e], weight});
    }
  }
  return result;
}

inline EdgeMap edge_map(const graph::Graph& graph) {
  EdgeMap edges;
  for (const Entry& entry : entries(graph))
    edges[{entry.source, entry.target}].insert(entry.weight);
  return edges;
}

}  // namespace warren::reference
