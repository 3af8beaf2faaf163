// SPDX-License-Identifier: Apache-2.0
// Edges in a list, as a source for build(), and lists to try it on.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "warren/graph/builder.hpp"

namespace warren::reference {

/// A list of edges with weights, none, integers or floats, as many as edges.
struct EdgeList {
  std::uint64_t vertices = 0;
  std::vector<graph::Edge> edges;
  std::vector<std::int32_t> weights_int;
  std::vector<float> weights_float;

  [[nodiscard]] graph::WeightType weight_type() const {
    if (!weights_int.empty()) return graph::WeightType::int32;
    return weights_float.empty() ? graph::WeightType::none : graph::WeightType::float32;
  }
};

/// The list in `pieces` pieces, each emitted in batches of `batch`.
class ListSource final : public graph::EdgeSource {
 public:
  explicit ListSource(EdgeList list, std::uint64_t pieces = 7, std::uint64_t batch = 100,
                      bool known = true)
      : list_(std::move(list)), pieces_(pieces), batch_(batch), known_(known) {}

  [[nodiscard]] std::uint64_t vertices() const override {
    return known_ ? list_.vertices : kUnknownVertices;
  }
  [[nodiscard]] std::uint64_t vertices_after_first_pass() const override {
    return known_ ? 0 : list_.vertices;
  }
  [[nodiscard]] graph::WeightType weight_type() const override { return list_.weight_type(); }
  [[nodiscard]] std::uint64_t pieces() const override { return pieces_; }
  void read(std::uint64_t piece, graph::EdgeSink& sink) override {
    const std::uint64_t size = list_.edges.size();
    const std::uint64_t end = size * (piece + 1) / pieces_;
    for (std::uint64_t i = size * piece / pieces_; i < end; i += batch_) {
      const std::uint64_t count = std::min(batch_, end - i);
      sink.take(part(list_.edges, i, count), part(list_.weights_int, i, count),
                part(list_.weights_float, i, count));
    }
  }

 private:
  template <class T>
  static std::span<const T> part(const std::vector<T>& all, std::uint64_t first,
                                 std::uint64_t count) {
    if (all.empty()) return {};
    return std::span<const T>(all).subspan(first, count);
  }

  EdgeList list_;
  std::uint64_t pieces_;
  std::uint64_t batch_;
  bool known_;
};

/// `count` random edges among the first `vertices` ids.
inline EdgeList random_list(std::uint64_t vertices, std::uint64_t count, std::uint64_t seed) {
  EdgeList list;
  list.vertices = vertices;
  std::mt19937_64 random(seed);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto source = static_cast<Vertex>(random() % vertices);
    list.edges.push_back({source, static_cast<Vertex>(random() % vertices)});
  }
  return list;
}

/// The shapes that graph code goes wrong on.
inline std::vector<std::pair<std::string, EdgeList>> awkward_lists() {
  std::vector<std::pair<std::string, EdgeList>> lists;
  lists.emplace_back("nothing", EdgeList{});
  lists.emplace_back("one vertex", EdgeList{1, {}, {}, {}});
  lists.emplace_back("isolated vertices", EdgeList{10, {}, {}, {}});
  lists.emplace_back("one self-loop", EdgeList{1, {{0, 0}}, {}, {}});
  lists.emplace_back("self-loops, some twice",
                     EdgeList{4, {{0, 0}, {3, 3}, {0, 0}, {1, 2}}, {}, {}});
  lists.emplace_back("one edge many times",
                     EdgeList{3, std::vector<graph::Edge>(6000, {2, 0}), {}, {}});
  lists.emplace_back("both directions", EdgeList{3, {{0, 1}, {1, 0}, {1, 2}}, {}, {}});
  EdgeList star{6001, {}, {}, {}};
  for (Vertex v = 6000; v > 0; --v) star.edges.push_back({0, v});
  lists.emplace_back("a star", std::move(star));
  EdgeList parts = random_list(50, 200, 5);
  parts.vertices = 200;
  for (std::size_t i = 0; i < 200; ++i)
    parts.edges.push_back({parts.edges[i].source + 100, parts.edges[i].target + 100});
  lists.emplace_back("two parts and isolated vertices", std::move(parts));
  lists.emplace_back("dense, full of duplicates", random_list(20, 5000, 6));
  lists.emplace_back("sparse", random_list(70000, 3000, 7));
  lists.emplace_back("random", random_list(3000, 10000, 8));
  EdgeList far = random_list(100, 3000, 9);
  for (graph::Edge& edge : far.edges)
    edge.target = edge.target * 773;  // Ids of more than two bytes.
  far.vertices = 99 * 773 + 1;
  for (graph::Edge& edge : far.edges) edge.source = edge.source % 3;
  lists.emplace_back("few long rows, far ids", std::move(far));
  return lists;
}

/// The list with random weights of a few values, so that parallel edges have equal and different
/// ones.
inline EdgeList with_int_weights(EdgeList list, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < list.edges.size(); ++i)
    list.weights_int.push_back(static_cast<std::int32_t>(random() % 7) * 300000000 - 900000000);
  return list;
}
inline EdgeList with_float_weights(EdgeList list, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t i = 0; i < list.edges.size(); ++i)
    list.weights_float.push_back(static_cast<float>(random() % 9) * 0.75f - 3.0f);
  return list;
}

}  // namespace warren::reference
