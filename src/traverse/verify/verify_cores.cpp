// SPDX-License-Identifier: Apache-2.0
// A check of core numbers by the sequential algorithm with buckets (Batagelj and Zaversnik: An O(m)
// Algorithm for Cores Decomposition of Networks, 2003): the vertex with the fewest edges left goes
// next.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/traverse/verify.hpp"

namespace warren::traverse {
namespace {

/// The neighbours of each vertex by edges of either direction, each once, itself not, as CSR.
struct BothWays {
  std::vector<EdgeOffset> offsets;
  std::vector<Vertex> targets;
};

BothWays both_ways(const graph::Graph& graph) {
  const bool is_symmetric = graph.symmetry == graph::Symmetry::symmetric;
  BothWays lists;
  lists.offsets.assign(std::uint64_t{graph.vertices} + 1, 0);
  const auto each_edge = [&](auto&& f) {
    for (Vertex u = 0; u < graph.vertices; ++u) {
      for (const Vertex v : graph.neighbours(u)) {
        if (u == v) continue;
        f(u, v);
        if (!is_symmetric) f(v, u);
      }
    }
  };
  each_edge([&](Vertex u, Vertex) { ++lists.offsets[std::uint64_t{u} + 1]; });
  for (std::size_t v = 0; v < graph.vertices; ++v) lists.offsets[v + 1] += lists.offsets[v];
  lists.targets.resize(lists.offsets.back());
  std::vector<EdgeOffset> place(lists.offsets.begin(), lists.offsets.end() - 1);
  each_edge([&](Vertex u, Vertex v) { lists.targets[place[u]++] = v; });
  EdgeOffset kept = 0;
  for (std::size_t v = 0; v < graph.vertices; ++v) {
    const auto first = lists.targets.begin() + static_cast<std::ptrdiff_t>(lists.offsets[v]);
    const auto last = lists.targets.begin() + static_cast<std::ptrdiff_t>(place[v]);
    std::sort(first, last);
    const auto end = std::unique(first, last);
    lists.offsets[v] = kept;
    // Moves to the left, if at all.
    for (auto target = first; target != end; ++target) lists.targets[kept++] = *target;
  }
  lists.offsets.back() = kept;
  lists.targets.resize(kept);
  return lists;
}

/// The vertices by the edges that they have left, in buckets.
class Buckets {
 public:
  explicit Buckets(const BothWays& lists) : left_(lists.offsets.size() - 1) {
    std::uint64_t most = 0;
    for (std::size_t v = 0; v < left_.size(); ++v) {
      left_[v] = lists.offsets[v + 1] - lists.offsets[v];
      most = std::max(most, left_[v]);
    }
    begin_.assign(most + 2, 0);
    for (const std::uint64_t left : left_) ++begin_[left + 1];
    for (std::size_t b = 1; b < begin_.size(); ++b) begin_[b] += begin_[b - 1];
    order_.resize(left_.size());
    place_.resize(left_.size());
    std::vector<std::uint64_t> next(begin_.begin(), begin_.end() - 1);
    for (std::size_t v = 0; v < left_.size(); ++v) {
      place_[v] = next[left_[v]]++;
      order_[place_[v]] = static_cast<Vertex>(v);
    }
  }
  [[nodiscard]] Vertex at(std::size_t i) const { return order_[i]; }
  [[nodiscard]] std::uint64_t left(Vertex v) const { return left_[v]; }
  /// One edge fewer: v changes places with the first of its bucket, which then begins behind it.
  void take_one(Vertex v) {
    const std::uint64_t first = begin_[left_[v]]++;
    const Vertex other = order_[first];
    std::swap(order_[place_[v]], order_[first]);
    std::swap(place_[v], place_[other]);
    --left_[v];
  }

 private:
  std::vector<std::uint64_t> left_, begin_, place_;
  std::vector<Vertex> order_;
};

}  // namespace

Verdict verify_cores(const graph::Graph& graph, std::span<const std::uint32_t> cores) {
  const std::uint64_t n = graph.vertices;
  require(cores.size() == n, fmt::format("{} core numbers for {} vertices", cores.size(), n));
  const BothWays lists = both_ways(graph);
  Buckets buckets(lists);
  Verdict verdict;
  Vertex first_wrong = kNoVertex;
  for (std::size_t i = 0; i < n; ++i) {
    const Vertex v = buckets.at(i);
    const std::uint64_t core = buckets.left(v);
    if (cores[v] != core && v < first_wrong) {
      first_wrong = v;
      verdict = {false, fmt::format("the core number of vertex {} is {}; it should be {}",
                                    graph.original_id(v), cores[v], core)};
    }
    for (EdgeOffset e = lists.offsets[v]; e < lists.offsets[std::uint64_t{v} + 1]; ++e) {
      if (buckets.left(lists.targets[e]) > core) buckets.take_one(lists.targets[e]);
    }
  }
  return verdict;
}

}  // namespace warren::traverse
