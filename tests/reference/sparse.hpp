// SPDX-License-Identifier: Apache-2.0
// Products with sparse matrices, entry by entry in double precision.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "warren/graph/graph.hpp"

namespace warren::reference {

struct Entry3 {
  std::uint64_t row, column;
  double value;
};

inline double weight(const graph::Graph& graph, EdgeOffset e) {
  if (graph.weight_type == graph::WeightType::int32) return graph.weights_int[e];
  if (graph.weight_type == graph::WeightType::float32)
    return static_cast<double>(graph.weights_float[e]);
  return 1.0;
}

enum class Norm { none, row_mean, symmetric };

/// The entries of the normalised matrix.
inline std::vector<Entry3> entries_of(const graph::Graph& graph, Norm norm = Norm::none,
                                      bool self_loops = false) {
  std::vector<Entry3> all;
  std::vector<double> degree(graph.vertices, 0.0);
  for (Vertex v = 0; v < graph.vertices; ++v) {
    for (EdgeOffset e = graph.offsets[v]; e < graph.offsets[v + 1ull]; ++e)
      all.push_back({v, graph.targets[e], weight(graph, e)});
    if (self_loops) all.push_back({v, v, 1.0});
  }
  for (const Entry3& entry : all) degree[entry.row] += entry.value;
  for (Entry3& entry : all) {
    if (norm == Norm::row_mean) entry.value /= degree[entry.row];
    if (norm == Norm::symmetric) {
      const double both = degree[entry.row] * degree[entry.column];
      entry.value = both == 0.0 ? 0.0 : entry.value / std::sqrt(both);
    }
  }
  return all;
}

/// sum[i][c] = sum of value * b[column][c], and the same of absolute values.
struct Product {
  std::vector<double> sum, size;
};
inline Product multiply(const std::vector<Entry3>& entries, std::uint64_t rows, std::uint64_t k,
                        const std::vector<double>& b) {
  Product product{std::vector<double>(rows * k, 0.0), std::vector<double>(rows * k, 0.0)};
  for (const Entry3& entry : entries) {
    for (std::uint64_t c = 0; c < k; ++c) {
      const double term = entry.value * b[entry.column * k + c];
      product.sum[entry.row * k + c] += term;
      product.size[entry.row * k + c] += std::abs(term);
    }
  }
  return product;
}

inline std::vector<Entry3> transposed(std::vector<Entry3> entries) {
  for (Entry3& entry : entries) std::swap(entry.row, entry.column);
  return entries;
}

}  // namespace warren::reference
