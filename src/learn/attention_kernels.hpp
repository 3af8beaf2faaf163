// SPDX-License-Identifier: Apache-2.0
// The kernels of attention, for both backends.
#pragma once

#include <limits>

#include "warren/learn/attention.hpp"

#include "learn/exponential.hpp"
#include "learn/row_kernels.hpp"
#include "sparse/edge_ops_kernels.hpp"

namespace warren::learn::detail {

using sparse::detail::RowChoice;

/// Rows of `stride` floats, a rank's own ones and those that were brought.
struct TwoParts {
  const float* own;
  const float* pulled;
  std::uint64_t rows, stride;
  [[nodiscard]] WARREN_HD const float* row(std::uint64_t column) const {
    return column < rows ? own + column * stride : pulled + (column - rows) * stride;
  }
};

/// Places in a row's statistics, in units of heads.
inline constexpr std::uint64_t kLeft = 0, kLargest = 1, kInverse = 2, kDot = 3, kStatistics = 4;

/// What the edge from row i to column j, by their input's ids, is multiplied by for a head.
WARREN_HD inline float edge_factor(const Dropout& dropout, std::uint64_t row_key, Vertex column,
                                   std::uint64_t heads, std::uint64_t head) {
  return dropout.is_on() ? dropout.factor(row_key, column * heads + head) : 1.0f;
}

/// Weights d_ij a_ij, with the sign of l_i + r_j, and
/// each row's statistics.
struct AttentionWeightsKernel {
  RowChoice rows;
  sparse::MatrixView a;
  const Vertex* ids;
  Dropout dropout;
  std::uint64_t heads;
  float slope;
  const float* l;
  TwoParts r;
  float* weights;
  float* statistics;
  float* share;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    std::uint64_t row = 0;
    EdgeOffset begin = 0;
    EdgeOffset end = 0;
    if (!rows.find(task, row, begin, end)) return;
    const std::uint64_t key = mix(dropout.key ^ mix(ids[row]));
    for (std::uint64_t h = 0; h < heads; ++h) {
      const float left = l[row * heads + h];
      const auto logit = [&](EdgeOffset e) {
        const float x = left + r.row(a.column(e))[h];
        return x > 0.0f ? x : slope * x;
      };
      float largest = -std::numeric_limits<float>::infinity();
      worker.for_each(end - begin, [&](std::uint64_t i) {
        largest = exec::Maximum{}(largest, logit(begin + i));
      });
      largest = worker.reduce(largest, exec::Maximum{});
      float sum = 0.0f;
      worker.for_each(end - begin,
                      [&](std::uint64_t i) { sum += exponential(logit(begin + i) - largest); });
      sum = worker.reduce(sum, exec::Plus{});
      const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
      float positive = 0.0f;
      worker.for_each(end - begin, [&](std::uint64_t i) {
        const EdgeOffset e = begin + i;
        const std::uint64_t column = a.column(e);
        const float x = logit(e);
        const float weight = exponential(x - largest) * inverse;
        const float dropped = weight * edge_factor(dropout, key, ids[column], heads, h);
        weights[e * heads + h] = x > 0.0f ? dropped : -dropped;
        positive += x > 0.0f ? weight : 0.0f;
      });
      positive = worker.reduce(positive, exec::Plus{});
      if (worker.lane() == 0) {
        float* at = statistics + row * kStatistics * heads + h;
        at[kLeft * heads] = left;
        at[kLargest * heads] = largest;
        at[kInverse * heads] = inverse;
        share[row * heads + h] = positive;
      }
    }
  }
};

/// The same weights by columns: row j's entries are the rows i that j is a neighbour of. And
/// t[j][h] = sum over i of LeakyReLU'(l_i + r_j) a_ij <dy_i, y_i>.
struct AttentionColumnWeightsKernel {
  RowChoice rows;
  sparse::MatrixView a;
  const Vertex* ids;
  Dropout dropout;
  std::uint64_t heads;
  float slope;
  const float* r;
  TwoParts statistics;
  float* weights;
  float* t;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    std::uint64_t row = 0;
    EdgeOffset begin = 0;
    EdgeOffset end = 0;
    if (!rows.find(task, row, begin, end)) return;
    for (std::uint64_t h = 0; h < heads; ++h) {
      const float right = r[row * heads + h];
      float sum = 0.0f;
      worker.for_each(end - begin, [&](std::uint64_t i) {
        const EdgeOffset e = begin + i;
        const std::uint64_t column = a.column(e);
        const float* of = statistics.row(column) + h;
        const float x = of[kLeft * heads] + right;
        const float weight =
            exponential((x > 0.0f ? x : slope * x) - of[kLargest * heads]) * of[kInverse * heads];
        const std::uint64_t key = mix(dropout.key ^ mix(ids[column]));
        const float dropped = weight * edge_factor(dropout, key, ids[row], heads, h);
        weights[e * heads + h] = x > 0.0f ? dropped : -dropped;
        sum += (x > 0.0f ? 1.0f : slope) * weight * of[kDot * heads];
      });
      sum = worker.reduce(sum, exec::Plus{});
      if (worker.lane() == 0) t[row * heads + h] = sum;
    }
  }
};

/// y_i = sum |w| x_j, and the part of it with positive w.
struct AttentionSumKernel {
  RowChoice rows;
  sparse::MatrixView a;
  std::uint64_t heads, width;
  const float* weights;
  TwoParts x;
  float* y;
  float* positive;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    std::uint64_t row = 0;
    EdgeOffset begin = 0;
    EdgeOffset end = 0;
    if (!rows.find(task, row, begin, end)) return;
    const std::uint64_t k = heads * width;
    for (std::uint64_t first = 0; first < k; first += kTile * worker.size()) {
      float all[kTile] = {};
      float some[kTile] = {};
      for (EdgeOffset e = begin; e < end; ++e) {
        const float* from = x.row(a.column(e));
        const float* weight = weights + e * heads;
        tile_columns(worker, first, k, [&](std::uint32_t u, std::uint64_t c) {
          const float w = weight[static_cast<std::uint32_t>(c) / static_cast<std::uint32_t>(width)];
          const float value = from[c];
          all[u] += std::abs(w) * value;
          some[u] += w > 0.0f ? w * value : 0.0f;
        });
      }
      tile_columns(worker, first, k, [&](std::uint32_t u, std::uint64_t c) {
        y[row * k + c] = all[u];
        positive[row * k + c] = some[u];
      });
    }
  }
};

/// dl[i][h] = (1 - slope) (<dy_i, positive part of y_i> - share_i <dy_i, y_i>): softmax's gradients
/// add up to 0 over a row, so that only what the slopes differ by is left.
struct LeftGradientKernel {
  std::uint64_t heads, width;
  float slope;
  const float* dy;
  const float* positive;
  const float* share;
  const float* statistics;
  float* dl;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    for (std::uint64_t h = 0; h < heads; ++h) {
      const std::uint64_t at = (row * heads + h) * width;
      float sum = 0.0f;
      worker.for_each(width, [&](std::uint64_t c) { sum += dy[at + c] * positive[at + c]; });
      sum = worker.reduce(sum, exec::Plus{});
      const float dot = statistics[(row * kStatistics + kDot) * heads + h];
      if (worker.lane() == 0)
        dl[row * heads + h] = (1.0f - slope) * (sum - share[row * heads + h] * dot);
    }
  }
};

/// dr[j][h] = <z_j, slope dz_j + (1 - slope) positive part of dz_j> - t[j][h].
struct RightGradientKernel {
  std::uint64_t heads, width;
  float slope;
  const float* z;
  const float* dz;
  const float* positive;
  const float* t;
  float* dr;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    for (std::uint64_t h = 0; h < heads; ++h) {
      const std::uint64_t at = (row * heads + h) * width;
      float sum = 0.0f;
      worker.for_each(width, [&](std::uint64_t c) {
        sum += z[at + c] * (slope * dz[at + c] + (1.0f - slope) * positive[at + c]);
      });
      sum = worker.reduce(sum, exec::Plus{});
      if (worker.lane() == 0) dr[row * heads + h] = sum - t[row * heads + h];
    }
  }
};

/// dz[r][h][c] += dl[r][h] left[h][c] + dr[r][h] right[h][c].
struct AddOuterKernel {
  std::uint64_t heads, width;
  const float* dl;
  const float* left;
  const float* dr;
  const float* right;
  float* dz;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    const std::uint64_t k = heads * width;
    worker.for_each(k, [&](std::uint64_t c) {
      const std::uint64_t h = row * heads + c / width;
      dz[row * k + c] += dl[h] * left[c] + dr[h] * right[c];
    });
  }
};

#if WARREN_HAS_CUDA
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const LeftGradientKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const RightGradientKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const AddOuterKernel&);
#endif

}  // namespace warren::learn::detail

namespace warren::sparse::detail {
#if WARREN_HAS_CUDA
extern template void run_rows<exec::Cuda, learn::detail::AttentionWeightsKernel>(
    const exec::Stream&, const MatrixView&, const RowPlan&, learn::detail::AttentionWeightsKernel);
extern template void run_rows<exec::Cuda, learn::detail::AttentionColumnWeightsKernel>(
    const exec::Stream&, const MatrixView&, const RowPlan&,
    learn::detail::AttentionColumnWeightsKernel);
extern template void run_rows<exec::Cuda, learn::detail::AttentionSumKernel>(
    const exec::Stream&, const MatrixView&, const RowPlan&, learn::detail::AttentionSumKernel);
#endif
}  // namespace warren::sparse::detail
