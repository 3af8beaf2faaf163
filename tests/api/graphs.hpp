// SPDX-License-Identifier: Apache-2.0
// Graphs that calls are tried on, made by way of the calls themselves.
#pragma once

#include <string>
#include <vector>

#include "warren/warren.hpp"

#include "reference/graph_source.hpp"

namespace warren::fixtures {

/// The list through from_edges().
inline Graph graph_of(const reference::EdgeList& list, const ArrayOptions& options = {}) {
  std::vector<Vertex> sources, targets;
  for (const graph::Edge& edge : list.edges) {
    sources.push_back(edge.source);
    targets.push_back(edge.target);
  }
  return from_edges(
      sources, targets,
      list.weights_int.empty() ? Weights(list.weights_float) : Weights(list.weights_int),
      list.vertices, options);
}

/// Weights of 0 to 6.
inline reference::EdgeList with_small_weights(reference::EdgeList list, bool are_floats) {
  for (std::size_t i = 0; i < list.edges.size(); ++i) {
    const auto weight = static_cast<std::int32_t>((i * 7919) % 7);
    if (are_floats)
      list.weights_float.push_back(static_cast<float>(weight) * 0.75f);
    else
      list.weights_int.push_back(weight);
  }
  return list;
}

}  // namespace warren::fixtures
