// SPDX-License-Identifier: Apache-2.0
// A graph whose vertices were put in another order, asked by the input's ids.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "warren/learn/neighbours.hpp"

namespace warren::learn {

/// Where the input's vertices stand in the order that they were put in.
class Places {
 public:
  explicit Places(const std::vector<Vertex>& input_ids) : place_(input_ids.size()) {
    for (std::size_t v = 0; v < place_.size(); ++v) place_[input_ids[v]] = static_cast<Vertex>(v);
  }
  [[nodiscard]] Vertex operator()(Vertex input) const {
    return place_.empty() ? input : place_[input];
  }

 private:
  std::vector<Vertex> place_;  // Empty: the same.
};

class InputGraph {
 public:
  explicit InputGraph(const GraphPair& graphs)
      : graph_(graphs.out), input_ids_(graphs.input_ids), place_(graphs.input_ids) {}
  [[nodiscard]] Vertex vertices() const { return graph_->vertices; }
  [[nodiscard]] Vertex place(Vertex v) const { return place_(v); }
  [[nodiscard]] Vertex input_id(Vertex v) const { return input_ids_.empty() ? v : input_ids_[v]; }
  [[nodiscard]] bool has_edge(Vertex source, Vertex target) const {
    const auto list = graph_->neighbours(place(source));
    return std::binary_search(list.begin(), list.end(), place(target));
  }
  /// Different neighbours, ascending.
  void neighbours(Vertex v, std::vector<Vertex>& list) const {
    list.clear();
    for (const Vertex w : graph_->neighbours(place(v))) list.push_back(input_id(w));
    if (!input_ids_.empty()) std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }

 private:
  std::shared_ptr<const graph::Graph> graph_;
  std::vector<Vertex> input_ids_;
  Places place_;
};

}  // namespace warren::learn
