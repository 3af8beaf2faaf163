// SPDX-License-Identifier: Apache-2.0
// What attention computes of rows beside its walk over edges, for both backends. Rows of z, y and
// their like are `stride` apart.
#pragma once

#include <limits>

#include "learn/attention_walk.hpp"
#include "learn/row_kernels.hpp"
#include "sparse/edge_ops_kernels.hpp"

namespace warren::learn::detail {

/// keys[c]: what dropout of edges draws from, of every column.
struct EdgeKeysKernel {
  Dropout dropout;
  const Vertex* ids;
  std::uint32_t* keys;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t column) const {
    if (worker.lane() == 0)
      keys[column] = static_cast<std::uint32_t>(mix(dropout.key ^ mix(ids[column])));
  }
};

/// The largest logit of every row and head: LeakyReLU grows with r_j, so that of the largest r_j;
/// and l beside it.
struct LargestKernel {
  static constexpr std::uint32_t kTogether = 4;
  sparse::detail::RowChoice rows;
  sparse::MatrixView a;
  std::uint64_t heads;
  float slope;
  const float* l;
  TwoParts<float> r;
  float* statistics;

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
        if (heads % kTogether == 0) {
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

/// f(c) for the columns of a head, lanes together.
template <class W, class F>
WARREN_HD void head_columns(const W& worker, std::uint64_t head, std::uint64_t width, F&& f) {
  const std::uint64_t first = head * width;
  worker.for_each(width, [&](std::uint64_t c) { f(first + c); });
}

/// l = <z, left>, r = <z, right> of every row and head.
template <class T>
struct LogitsKernel {
  std::uint64_t heads, width, stride;
  const T* z;
  const float* left;
  const float* right;
  float* l;
  float* r;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    const T* of = z + row * stride;
    for (std::uint64_t h = 0; h < heads; ++h) {
      float to_left = 0.0f;
      float to_right = 0.0f;
      head_columns(worker, h, width, [&](std::uint64_t c) {
        const float value = to_float(of[c]);
        to_left += value * left[c];
        to_right += value * right[c];
      });
      to_left = worker.reduce(to_left, exec::Plus{});
      to_right = worker.reduce(to_right, exec::Plus{});
      if (worker.lane() != 0) continue;
      l[row * heads + h] = to_left;
      r[row * heads + h] = to_right;
    }
  }
};

/// <dy, y> to the statistics, and
/// dl[i][h] = (1 - slope) (<dy_i, positive part of y_i> - share_i <dy_i, y_i>): softmax's gradients
/// add up to 0 over a row, so that only what the slopes differ by is left.
template <class T>
struct LeftGradientKernel {
  std::uint64_t heads, width, stride;
  float slope;
  const T* dy;
  const T* y;
  const T* positive;
  const float* share;
  float* statistics;
  float* dl;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    const std::uint64_t at = row * stride;
    for (std::uint64_t h = 0; h < heads; ++h) {
      float dot = 0.0f;
      float part = 0.0f;
      head_columns(worker, h, width, [&](std::uint64_t c) {
        const float slope_at = to_float(dy[at + c]);
        dot += slope_at * to_float(y[at + c]);
        part += slope_at * to_float(positive[at + c]);
      });
      dot = worker.reduce(dot, exec::Plus{});
      part = worker.reduce(part, exec::Plus{});
      if (worker.lane() != 0) continue;
      const std::uint64_t of = row * heads + h;
      statistics[of * kStatistics + kDot] = dot;
      dl[of] = (1.0f - slope) * (part - share[of] * dot);
    }
  }
};

/// dr[j][h] = <z_j, slope dz_j + (1 - slope) positive part of dz_j> - t[j][h], and then
/// dz_j += dl_j left + dr_j right: what l = <z, left> and r = <z, right> give to it.
template <class T>
struct RightGradientKernel {
  std::uint64_t heads, width, stride;
  float slope;
  const T* z;
  const T* positive;
  const float* t;
  const float* left;
  const float* right;
  const float* dl;
  T* dz;
  float* dr;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    const std::uint64_t at = row * stride;
    for (std::uint64_t h = 0; h < heads; ++h) {
      const std::uint64_t of = row * heads + h;
      float sum = 0.0f;
      head_columns(worker, h, width, [&](std::uint64_t c) {
        sum += to_float(z[at + c]) *
               (slope * to_float(dz[at + c]) + (1.0f - slope) * to_float(positive[at + c]));
      });
      const float to_right = worker.reduce(sum, exec::Plus{}) - t[of];
      const float to_left = dl[of];
      head_columns(worker, h, width, [&](std::uint64_t c) {
        dz[at + c] =
            from_float<T>(to_float(dz[at + c]) + (to_left * left[c] + to_right * right[c]));
      });
      if (worker.lane() == 0) dr[of] = to_right;
    }
  }
};

#if WARREN_HAS_CUDA
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const EdgeKeysKernel&);
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
extern template void run_rows<exec::Cuda, learn::detail::LargestKernel>(
    const exec::Stream&, const MatrixView&, const RowPlan&, learn::detail::LargestKernel);
#endif
}  // namespace warren::sparse::detail
