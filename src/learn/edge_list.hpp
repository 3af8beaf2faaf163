// SPDX-License-Identifier: Apache-2.0
// Edges in memory as a source to build a graph from.
#pragma once

#include <utility>
#include <vector>

#include "warren/graph/builder.hpp"

namespace warren::learn {

class EdgeList final : public graph::EdgeSource {
 public:
  EdgeList(std::uint64_t vertices, std::vector<graph::Edge> edges)
      : vertices_(vertices), edges_(std::move(edges)) {}
  [[nodiscard]] std::uint64_t vertices() const override { return vertices_; }
  [[nodiscard]] graph::WeightType weight_type() const override { return graph::WeightType::none; }
  [[nodiscard]] std::uint64_t pieces() const override { return 1; }
  void read(std::uint64_t, graph::EdgeSink& sink) override { sink.take(edges_, {}, {}); }

 private:
  std::uint64_t vertices_;
  std::vector<graph::Edge> edges_;
};

}  // namespace warren::learn
