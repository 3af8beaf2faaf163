// SPDX-License-Identifier: Apache-2.0
// What attention computes of rows beside its walk over edges, for both backends. Rows of z, y and
// their like are `stride` apart.
#pragma once

#include <limits>

#include "warren/sparse/edge_ops_kernels.hpp"

#include "learn/attention/gat/attention_walk.hpp"
#include "learn/rows/head_rows.hpp"
#include "learn/rows/row_kernels.hpp"

namespace warren::learn::detail {

/// keys[c]: what dropout of edges draws from, of every column; a worker for a chunk of them.
struct EdgeKeysKernel {
  static constexpr std::uint64_t kChunk = 256;
  Dropout dropout;
  const Vertex* ids;
  std::uint64_t columns;
  std::uint32_t* keys;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t chunk) const {
    const std::uint64_t first = chunk * kChunk;
    const std::uint64_t left = columns - first;
    worker.for_each(left < kChunk ? left : kChunk, [&](std::uint64_t i) {
      keys[first + i] = static_cast<std::uint32_t>(dropout.vertex_key(ids[first + i]));
    });
  }
};

/// The largest logit of every row and head: LeakyReLU grows with r_j, so that of the largest r_j,
/// of weighted edges of the largest r_j + w_ij c; and l beside it.
template <bool kIsWeighted>
struct LargestKernel {
  static constexpr std::uint32_t kTogether = 4;
  sparse::detail::RowChoice rows;
  sparse::MatrixView a;
  std::uint64_t heads;
  float slope;
  const float* l;
  TwoParts<float> r;
  float* statistics;
  const float* by_weight = nullptr;  ///< c of every head, of weighted edges.

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    std::uint64_t row = 0;
    EdgeOffset begin = 0;
    EdgeOffset end = 0;
    if (!rows.find(task, row, begin, end)) return;
    for (std::uint64_t first = 0; first < heads; first += kTogether) {
      float largest[kTogether];
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kTogether; ++u)
        largest[u] = -std::numeric_limits<float>::infinity();
      worker.for_each(end - begin, [&](std::uint64_t i) {
        const float* of = r.row(a.column(begin + i)) + first;
        if constexpr (kIsWeighted) {
          const float value = a.values[begin + i];
          WARREN_UNROLL
          for (std::uint32_t u = 0; u < kTogether; ++u) {
            if (first + u < heads)
              largest[u] = exec::Maximum{}(largest[u], of[u] + value * by_weight[first + u]);
          }
        } else if (heads % kTogether == 0) {
          const Floats<kTogether> values = load_floats<kTogether>(of);
          WARREN_UNROLL
          for (std::uint32_t u = 0; u < kTogether; ++u)
            largest[u] = exec::Maximum{}(largest[u], values.at[u]);
        } else {
          WARREN_UNROLL
          for (std::uint32_t u = 0; u < kTogether; ++u) {
            if (first + u < heads) largest[u] = exec::Maximum{}(largest[u], of[u]);
          }
        }
      });
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kTogether; ++u) {
        if (first + u >= heads) break;
        const float right = worker.reduce(largest[u], exec::Maximum{});
        if (worker.lane() != 0) continue;
        const std::uint64_t at = row * heads + first + u;
        const float x = l[at] + right;
        statistics[at * kStatistics + kLeft] = l[at];
        statistics[at * kStatistics + kLargest] = x > 0.0f ? x : slope * x;
      }
    }
  }
};

/// l = <z, left>, r = <z, right> of every row and head.
template <class T>
struct LogitsKernel {
  static constexpr bool kSpreads = false;
  HeadShape shape;
  const T* z;
  const float* left;
  const float* right;
  float* l;
  float* r;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    each_head<T>(worker, shape, row, *this);
  }
  template <std::uint32_t N>
  WARREN_HD Pack<T, N> load(std::uint64_t at) const {
    return load_pack<N>(z + at);
  }
  template <std::uint32_t N>
  WARREN_HD TwoSums sum(const Pack<T, N>& of, std::uint64_t column) const {
    const std::uint64_t end = shape.heads * shape.width;
    const Floats<N> to_left = load_below<N>(left, column, end);
    const Floats<N> to_right = load_below<N>(right, column, end);
    TwoSums sums;
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) {
      sums.first += of.get(i) * to_left.at[i];
      sums.second += of.get(i) * to_right.at[i];
    }
    return sums;
  }
  WARREN_HD void done(std::uint64_t row, std::uint64_t head, const TwoSums& sums) const {
    l[row * shape.heads + head] = sums.first;
    r[row * shape.heads + head] = sums.second;
  }
};

/// <dy, y> to the statistics, and
/// dl[i][h] = (1 - slope) (<dy_i, positive part of y_i> - share_i <dy_i, y_i>): softmax's gradients
/// add up to 0 over a row, so that only what the slopes differ by is left.
template <class T>
struct LeftGradientKernel {
  static constexpr bool kSpreads = false;
  HeadShape shape;
  float slope;
  const T* dy;
  const T* y;
  const T* positive;
  const float* share;
  float* statistics;
  float* dl;

  template <std::uint32_t N>
  struct Loaded {
    Pack<T, N> dy, y, positive;
  };
  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    each_head<T>(worker, shape, row, *this);
  }
  template <std::uint32_t N>
  WARREN_HD Loaded<N> load(std::uint64_t at) const {
    return {load_pack<N>(dy + at), load_pack<N>(y + at), load_pack<N>(positive + at)};
  }
  template <std::uint32_t N>
  WARREN_HD TwoSums sum(const Loaded<N>& of, std::uint64_t) const {
    TwoSums sums;
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) {
      sums.first += of.dy.get(i) * of.y.get(i);
      sums.second += of.dy.get(i) * of.positive.get(i);
    }
    return sums;
  }
  WARREN_HD void done(std::uint64_t row, std::uint64_t head, const TwoSums& sums) const {
    const std::uint64_t of = row * shape.heads + head;
    statistics[of * kStatistics + kDot] = sums.first;
    dl[of] = (1.0f - slope) * (sums.second - share[of] * sums.first);
  }
};

/// dr[j][h] = <z_j, slope dz_j + (1 - slope) positive part of dz_j> - t[j][h], and then
/// dz_j += dl_j left + dr_j right: what l = <z, left> and r = <z, right> give to it.
template <class T>
struct RightGradientKernel {
  static constexpr bool kSpreads = true;
  HeadShape shape;
  float slope;
  const T* z;
  const T* positive;
  const float* t;
  const float* left;
  const float* right;
  const float* dl;
  T* dz;
  float* dr;

  template <std::uint32_t N>
  struct Loaded {
    Pack<T, N> z, dz, positive;
  };
  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    each_head<T>(worker, shape, row, *this);
  }
  template <std::uint32_t N>
  WARREN_HD Loaded<N> load(std::uint64_t at) const {
    return {load_pack<N>(z + at), load_pack<N>(dz + at), load_pack<N>(positive + at)};
  }
  template <std::uint32_t N>
  WARREN_HD TwoSums sum(const Loaded<N>& of, std::uint64_t) const {
    TwoSums sums;
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i)
      sums.first += of.z.get(i) * (slope * of.dz.get(i) + (1.0f - slope) * of.positive.get(i));
    return sums;
  }
  WARREN_HD void done(std::uint64_t row, std::uint64_t head, const TwoSums& sums) const {
    const std::uint64_t of = row * shape.heads + head;
    dr[of] = sums.first - t[of];
  }
  template <std::uint32_t N>
  WARREN_HD void spread(std::uint64_t at, std::uint64_t row, std::uint64_t head,
                        std::uint64_t column, const Loaded<N>& of, const TwoSums& sums) const {
    const std::uint64_t end = shape.heads * shape.width;
    const float to_left = dl[row * shape.heads + head];
    const float to_right = sums.first - t[row * shape.heads + head];
    const Floats<N> by_left = load_below<N>(left, column, end);
    const Floats<N> by_right = load_below<N>(right, column, end);
    Floats<N> result;
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i)
      result.at[i] = of.dz.get(i) + (to_left * by_left.at[i] + to_right * by_right.at[i]);
    store_pack<N>(result, dz + at);
  }
};

/// What weighted edges' logits have of every row and head: terms[j][h] = <z_j, weighted_j> -
/// terms[j][h].
template <class T>
struct WeightedGradientKernel {
  static constexpr bool kSpreads = false;
  HeadShape shape;
  const T* z;
  const float* weighted;
  float* terms;

  template <std::uint32_t N>
  struct Loaded {
    Pack<T, N> z;
    Floats<N> weighted;
  };
  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    each_head<T>(worker, shape, row, *this);
  }
  template <std::uint32_t N>
  WARREN_HD Loaded<N> load(std::uint64_t at) const {
    return {load_pack<N>(z + at), load_floats<N>(weighted + at)};
  }
  template <std::uint32_t N>
  WARREN_HD TwoSums sum(const Loaded<N>& of, std::uint64_t) const {
    TwoSums sums;
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) sums.first += of.z.get(i) * of.weighted.at[i];
    return sums;
  }
  WARREN_HD void done(std::uint64_t row, std::uint64_t head, const TwoSums& sums) const {
    float& term = terms[row * shape.heads + head];
    term = sums.first - term;
  }
};

#if WARREN_HAS_CUDA
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const EdgeKeysKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const WeightedGradientKernel<float>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const WeightedGradientKernel<Half>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const WeightedGradientKernel<BFloat16>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const LogitsKernel<float>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const LeftGradientKernel<float>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const RightGradientKernel<float>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const LogitsKernel<Half>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const LeftGradientKernel<Half>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const RightGradientKernel<Half>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const LogitsKernel<BFloat16>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const LeftGradientKernel<BFloat16>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const RightGradientKernel<BFloat16>&);
#endif

}  // namespace warren::learn::detail

namespace warren::sparse::detail {
#if WARREN_HAS_CUDA
extern template void run_rows<exec::Cuda, learn::detail::LargestKernel<false>>(
    const exec::Stream&, const MatrixView&, const RowPlan&, learn::detail::LargestKernel<false>);
extern template void run_rows<exec::Cuda, learn::detail::LargestKernel<true>>(
    const exec::Stream&, const MatrixView&, const RowPlan&, learn::detail::LargestKernel<true>);
#endif
}  // namespace warren::sparse::detail
