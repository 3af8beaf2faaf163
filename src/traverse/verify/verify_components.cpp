// SPDX-License-Identifier: Apache-2.0
// A check of connected components. Labels that are the same along every edge join whole components;
// as many labels as components then keep them apart.
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/traverse/verify.hpp"

#include "traverse/verify/verify_first.hpp"

namespace warren::traverse {
namespace {

/// Components by union-find with path halving, one edge after the other.
std::uint64_t count_components(const graph::Graph& graph) {
  std::vector<Vertex> above(graph.vertices);
  std::iota(above.begin(), above.end(), Vertex{0});
  const auto root_of = [&](Vertex v) {
    while (above[v] != v) v = above[v] = above[above[v]];
    return v;
  };
  std::uint64_t components = graph.vertices;
  for (Vertex u = 0; u < graph.vertices; ++u) {
    for (const Vertex v : graph.neighbours(u)) {
      const Vertex a = root_of(u);
      const Vertex b = root_of(v);
      if (a == b) continue;
      above[a < b ? b : a] = a < b ? a : b;
      --components;
    }
  }
  return components;
}

}  // namespace

Verdict verify_components(const graph::Graph& graph, std::span<const Vertex> label,
                          exec::ThreadPool& pool) {
  const std::uint64_t n = graph.vertices;
  require(label.size() == n, fmt::format("{} labels for {} vertices", label.size(), n));
  const auto name = [&](Vertex v) { return graph.original_id(v); };
  Verdict verdict = first_failure(n, pool, [&](std::uint64_t i) -> std::string {
    const auto v = static_cast<Vertex>(i);
    if (label[v] >= n)
      return fmt::format("the label of vertex {} is {}, which is no vertex", name(v), label[v]);
    if (label[v] > v) {
      return fmt::format("the label of vertex {} is {}; the vertex itself is smaller", name(v),
                         name(label[v]));
    }
    if (label[label[v]] != label[v]) {
      return fmt::format("the label of vertex {} is vertex {}, whose own label is {}", name(v),
                         name(label[v]), label[label[v]]);
    }
    for (const Vertex u : graph.neighbours(v)) {
      if (label[u] != label[v])
        return fmt::format("the edge from {} to {} joins the labels {} and {}", name(v), name(u),
                           label[v], label[u]);
    }
    return {};
  });
  if (!verdict.correct) return verdict;
  std::uint64_t labels = 0;
  for (Vertex v = 0; v < n; ++v) labels += label[v] == v ? 1 : 0;
  const std::uint64_t components = count_components(graph);
  if (labels == components) return {};
  return {false, fmt::format("there are {} labels for {} components", labels, components)};
}

}  // namespace warren::traverse
