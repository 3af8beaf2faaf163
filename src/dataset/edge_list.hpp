// SPDX-License-Identifier: Apache-2.0
// Edges in memory as a source to build a graph from.
#pragma once

#include <algorithm>
#include <span>

#include "warren/graph/builder.hpp"

namespace warren::learn {

class EdgeList final : public graph::EdgeSource {
 public:
  /// The edges must outlive the list.
  EdgeList(std::uint64_t vertices, std::span<const graph::Edge> edges)
      : vertices_(vertices), edges_(edges) {}
  [[nodiscard]] std::uint64_t vertices() const override { return vertices_; }
  [[nodiscard]] graph::WeightType weight_type() const override { return graph::WeightType::none; }
  [[nodiscard]] std::uint64_t pieces() const override {
    return (edges_.size() + kPiece - 1) / kPiece;
  }
  void read(std::uint64_t piece, graph::EdgeSink& sink) override {
    const std::uint64_t first = piece * kPiece;
    sink.take(edges_.subspan(first, std::min(kPiece, edges_.size() - first)), {}, {});
  }

 private:
  static constexpr std::uint64_t kPiece = std::uint64_t{1} << 18;

  std::uint64_t vertices_;
  std::span<const graph::Edge> edges_;
};

}  // namespace warren::learn
