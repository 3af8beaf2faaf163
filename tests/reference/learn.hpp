// SPDX-License-Identifier: Apache-2.0
// Layers of graph neural networks and losses in double precision, by plain loops over lists of
// edges, as their papers write them; derivatives are taken by differences.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace warren::reference {

using Values = std::vector<double>;
/// Edges (i, j): i gathers from j.
struct Edges {
  std::uint64_t n = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> list;
  std::vector<double> weights = {};  ///< Of each, for what says that it looks at them.
};

inline Values product(const Values& x, const Values& w, std::uint64_t n, std::uint64_t in,
                      std::uint64_t out) {
  Values y(n * out, 0.0);
  for (std::uint64_t i = 0; i < n; ++i)
    for (std::uint64_t j = 0; j < in; ++j)
      for (std::uint64_t c = 0; c < out; ++c) y[i * out + c] += x[i * in + j] * w[j * out + c];
  return y;
}

inline std::vector<double> out_degrees(const Edges& edges) {
  std::vector<double> degree(edges.n, 0.0);
  for (const auto& [i, j] : edges.list) degree[i] += 1.0;
  return degree;
}

inline Values neighbour_sum(const Edges& edges, const Values& x, std::uint64_t k) {
  Values y(edges.n * k, 0.0);
  for (const auto& [i, j] : edges.list)
    for (std::uint64_t c = 0; c < k; ++c) y[i * k + c] += x[j * k + c];
  return y;
}

inline Values neighbour_mean(const Edges& edges, const Values& x, std::uint64_t k) {
  Values y = neighbour_sum(edges, x, k);
  const auto degree = out_degrees(edges);
  for (std::uint64_t i = 0; i < y.size(); ++i) {
    if (degree[i / k] > 0.0) y[i] /= degree[i / k];
  }
  return y;
}

inline Values neighbour_max(const Edges& edges, const Values& x, std::uint64_t k) {
  Values y(edges.n * k, 0.0);
  std::vector<bool> any(edges.n, false);
  for (const auto& [i, j] : edges.list) {
    for (std::uint64_t c = 0; c < k; ++c)
      y[i * k + c] = any[i] ? std::max(y[i * k + c], x[j * k + c]) : x[j * k + c];
    any[i] = true;
  }
  return y;
}

/// D^-1/2 (A + I) D^-1/2 x W.
inline Values gcn(Edges edges, const Values& x, const Values& w, std::uint64_t in,
                  std::uint64_t out) {
  for (std::uint64_t i = 0; i < edges.n; ++i) edges.list.emplace_back(i, i);
  const auto degree = out_degrees(edges);
  const Values z = product(x, w, edges.n, in, out);
  Values y(edges.n * out, 0.0);
  for (const auto& [i, j] : edges.list)
    for (std::uint64_t c = 0; c < out; ++c)
      y[i * out + c] += z[j * out + c] / std::sqrt(degree[i] * degree[j]);
  return y;
}

/// The same of weights: d_i = 1 + the weights of i's edges; rows i and columns j of a d that is not
/// above 0 are 0.
inline Values weighted_gcn(const Edges& edges, const Values& x, const Values& w, std::uint64_t in,
                           std::uint64_t out) {
  std::vector<double> degree(edges.n, 1.0);
  for (std::size_t e = 0; e < edges.list.size(); ++e)
    degree[edges.list[e].first] += edges.weights[e];
  const Values z = product(x, w, edges.n, in, out);
  Values y(edges.n * out, 0.0);
  const auto add = [&](std::uint64_t i, std::uint64_t j, double weight) {
    if (degree[i] <= 0.0 || degree[j] <= 0.0) return;
    for (std::uint64_t c = 0; c < out; ++c)
      y[i * out + c] += weight * z[j * out + c] / (std::sqrt(degree[i]) * std::sqrt(degree[j]));
  };
  for (std::size_t e = 0; e < edges.list.size(); ++e)
    add(edges.list[e].first, edges.list[e].second, edges.weights[e]);
  for (std::uint64_t i = 0; i < edges.n; ++i) add(i, i, 1.0);
  return y;
}

/// The sum of w_ij x_j over i's edges; `is_mean`: divided by how many there are.
inline Values weighted_neighbours(const Edges& edges, const Values& x, std::uint64_t k,
                                  bool is_mean) {
  Values y(edges.n * k, 0.0);
  const auto degree = out_degrees(edges);
  for (std::size_t e = 0; e < edges.list.size(); ++e) {
    const auto [i, j] = edges.list[e];
    const double weight = is_mean ? edges.weights[e] / degree[i] : edges.weights[e];
    for (std::uint64_t c = 0; c < k; ++c) y[i * k + c] += weight * x[j * k + c];
  }
  return y;
}

inline Values sum_of(Values a, const Values& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

/// (x - mean) / sqrt(variance + 1e-5) times a weight a column: over all rows (`kind` 1), or over
/// each row (2).
inline Values normalized(Values x, std::uint64_t n, std::uint64_t k, int kind,
                         const Values& weight) {
  const std::uint64_t groups = kind == 1 ? k : n;
  const std::uint64_t size = kind == 1 ? n : k;
  for (std::uint64_t g = 0; g < groups; ++g) {
    const auto at = [&](std::uint64_t i) -> double& {
      return kind == 1 ? x[i * k + g] : x[g * k + i];
    };
    double mean = 0.0;
    double variance = 0.0;
    for (std::uint64_t i = 0; i < size; ++i) mean += at(i) / static_cast<double>(size);
    for (std::uint64_t i = 0; i < size; ++i)
      variance += (at(i) - mean) * (at(i) - mean) / static_cast<double>(size);
    for (std::uint64_t i = 0; i < size; ++i)
      at(i) = (at(i) - mean) / std::sqrt(variance + 1e-5) * weight[kind == 1 ? g : i];
  }
  return x;
}

inline Values gin(const Edges& edges, const Values& x, double epsilon, const Values& w1,
                  const Values& b1, const Values& w2, std::uint64_t in, std::uint64_t out,
                  int norm = 0, const Values& norm_weight = {}) {
  Values s = neighbour_sum(edges, x, in);
  for (std::size_t i = 0; i < s.size(); ++i) s[i] += (1.0 + epsilon) * x[i];
  Values h = product(s, w1, edges.n, in, out);
  if (norm != 0) h = normalized(h, edges.n, out, norm, norm_weight);
  for (std::size_t i = 0; i < h.size(); ++i) h[i] = std::max(0.0, h[i] + b1[i % out]);
  return product(h, w2, edges.n, out, out);
}

/// (i, i) of every i that has none.
inline Edges with_loops(Edges edges) {
  std::vector<bool> has_loop(edges.n, false);
  for (const auto& [i, j] : edges.list) has_loop[i] = has_loop[i] || i == j;
  for (std::uint64_t i = 0; i < edges.n; ++i) {
    if (!has_loop[i]) edges.list.emplace_back(i, i);
  }
  return edges;
}

/// Columns [begin, end) of rows of k: y_i += sum over edges (i, j) of weight / total_i z_j.
inline void add_weighted(const Edges& edges, const Values& weight, const std::vector<double>& total,
                         const Values& z, std::uint64_t k, std::uint64_t begin, std::uint64_t end,
                         Values& y) {
  for (std::size_t e = 0; e < edges.list.size(); ++e) {
    const auto [i, j] = edges.list[e];
    for (std::uint64_t c = begin; c < end; ++c) y[i * k + c] += weight[e] / total[i] * z[j * k + c];
  }
}

/// Neighbours and, where it is not among them, the vertex itself.
inline Values gat(const Edges& given, const Values& x, const Values& w, const Values& left,
                  const Values& right, std::uint64_t in, std::uint64_t heads, std::uint64_t width) {
  const Edges edges = with_loops(given);
  const std::uint64_t k = heads * width;
  const Values z = product(x, w, edges.n, in, k);
  Values y(edges.n * k, 0.0);
  for (std::uint64_t h = 0; h < heads; ++h) {
    std::vector<double> total(edges.n, 0.0);
    Values weight(edges.list.size());
    for (std::size_t e = 0; e < edges.list.size(); ++e) {
      const auto [i, j] = edges.list[e];
      double score = 0.0;
      for (std::uint64_t c = h * width; c < (h + 1) * width; ++c)
        score += z[i * k + c] * left[c] + z[j * k + c] * right[c];
      weight[e] = std::exp(score > 0.0 ? score : 0.2 * score);
      total[i] += weight[e];
    }
    add_weighted(edges, weight, total, z, k, h * width, (h + 1) * width, y);
  }
  return y;
}

/// GATv2 (Brody et al., equation 7).
inline Values gatv2(const Edges& edges, const Values& x, const Values& source, const Values& target,
                    const Values& a, std::uint64_t in, std::uint64_t heads, std::uint64_t width) {
  const std::uint64_t k = heads * width;
  const Values z = product(x, source, edges.n, in, k);
  const Values q = product(x, target, edges.n, in, k);
  Values y(edges.n * k, 0.0);
  for (std::uint64_t h = 0; h < heads; ++h) {
    std::vector<double> total(edges.n, 0.0);
    std::vector<double> largest(edges.n, -1e300);
    Values weight(edges.list.size(), 0.0);
    for (std::size_t e = 0; e < edges.list.size(); ++e) {
      const auto [i, j] = edges.list[e];
      for (std::uint64_t c = h * width; c < (h + 1) * width; ++c) {
        const double u = q[i * k + c] + z[j * k + c];
        weight[e] += a[c] * (u > 0.0 ? u : 0.2 * u);
      }
      largest[i] = std::max(largest[i], weight[e]);
    }
    for (std::size_t e = 0; e < edges.list.size(); ++e) {
      const std::uint64_t i = edges.list[e].first;
      weight[e] = std::exp(weight[e] - largest[i]);
      total[i] += weight[e];
    }
    add_weighted(edges, weight, total, z, k, h * width, (h + 1) * width, y);
  }
  return y;
}

/// Without loops that are there, and with (i, i) of every i, whose weight is the mean of those of
/// i's other edges: 0 where there are none.
inline Edges with_mean_loops(const Edges& edges) {
  Edges found{edges.n, {}, {}};
  std::vector<double> sum(edges.n, 0.0), count(edges.n, 0.0);
  for (std::size_t e = 0; e < edges.list.size(); ++e) {
    const auto [i, j] = edges.list[e];
    if (i == j) continue;
    found.list.emplace_back(i, j);
    found.weights.push_back(edges.weights[e]);
    sum[i] += edges.weights[e];
    count[i] += 1.0;
  }
  for (std::uint64_t i = 0; i < edges.n; ++i) {
    found.list.emplace_back(i, i);
    found.weights.push_back(count[i] > 0.0 ? sum[i] / count[i] : 0.0);
  }
  return found;
}

/// y_i = sum over edges (i, j) of z_j by the softmax of logit(e, h) over i's edges.
inline Values softmax_sums(const Edges& edges, const Values& z, std::uint64_t heads,
                           std::uint64_t width,
                           const std::function<double(std::size_t, std::uint64_t)>& logit) {
  const std::uint64_t k = heads * width;
  Values y(edges.n * k, 0.0);
  for (std::uint64_t h = 0; h < heads; ++h) {
    std::vector<double> total(edges.n, 0.0), largest(edges.n, -1e300);
    Values weight(edges.list.size(), 0.0);
    for (std::size_t e = 0; e < edges.list.size(); ++e) {
      weight[e] = logit(e, h);
      double& most = largest[edges.list[e].first];
      most = std::max(most, weight[e]);
    }
    for (std::size_t e = 0; e < edges.list.size(); ++e) {
      const std::uint64_t i = edges.list[e].first;
      weight[e] = std::exp(weight[e] - largest[i]);
      total[i] += weight[e];
    }
    add_weighted(edges, weight, total, z, k, h * width, (h + 1) * width, y);
  }
  return y;
}

/// GAT whose edges have a feature, their weight, as PyTorch Geometric's GATConv(edge_dim=1): `line`
/// is lin_edge, `edge` att_edge. Of these edges alone.
inline Values weighted_gat(const Edges& edges, const Values& x, const Values& w, const Values& left,
                           const Values& right, const Values& line, const Values& edge,
                           std::uint64_t in, std::uint64_t heads, std::uint64_t width) {
  const std::uint64_t k = heads * width;
  const Values z = product(x, w, edges.n, in, k);
  return softmax_sums(edges, z, heads, width, [&](std::size_t e, std::uint64_t h) {
    const auto [i, j] = edges.list[e];
    double score = 0.0;
    for (std::uint64_t c = h * width; c < (h + 1) * width; ++c)
      score +=
          z[i * k + c] * left[c] + z[j * k + c] * right[c] + edges.weights[e] * line[c] * edge[c];
    return score > 0.0 ? score : 0.2 * score;
  });
}

/// The same of GATv2Conv(edge_dim=1).
inline Values weighted_gatv2(const Edges& edges, const Values& x, const Values& source,
                             const Values& target, const Values& a, const Values& line,
                             std::uint64_t in, std::uint64_t heads, std::uint64_t width) {
  const std::uint64_t k = heads * width;
  const Values z = product(x, source, edges.n, in, k);
  const Values q = product(x, target, edges.n, in, k);
  return softmax_sums(edges, z, heads, width, [&](std::size_t e, std::uint64_t h) {
    const auto [i, j] = edges.list[e];
    double score = 0.0;
    for (std::uint64_t c = h * width; c < (h + 1) * width; ++c) {
      const double u = q[i * k + c] + z[j * k + c] + edges.weights[e] * line[c];
      score += a[c] * (u > 0.0 ? u : 0.2 * u);
    }
    return score;
  });
}

/// d f / d values[i] by a difference in both directions.
inline double derivative(const std::function<double()>& f, double& value) {
  constexpr double kStep = 1e-6;
  const double before = value;
  value = before + kStep;
  const double above = f();
  value = before - kStep;
  const double below = f();
  value = before;
  return (above - below) / (2.0 * kStep);
}

}  // namespace warren::reference
