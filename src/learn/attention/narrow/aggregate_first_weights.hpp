// SPDX-License-Identifier: Apache-2.0
// What attention over narrow rows x does with its parameters: u = W a for both sides of every head,
// W where the heads' sums can be multiplied by it, and their gradients.
#pragma once

#include "learn/rows/row_kernels.hpp"

namespace warren::learn::detail {

/// The parameters of a layer: W of columns x (heads x width), left and right of heads x width.
struct FirstWeights {
  std::uint64_t heads, columns, width;
  const float* w;
  const float* left;
  const float* right;
  [[nodiscard]] WARREN_HD std::uint64_t out() const { return heads * width; }
};

/// u[s][h][c] = <W's row c of head h, left or right of it>. A task each.
struct FoldKernel {
  FirstWeights of;
  float* u;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const std::uint64_t c = task % of.columns;
    const std::uint64_t h = task / of.columns % of.heads;
    const float* with = (task < of.heads * of.columns ? of.left : of.right) + h * of.width;
    const float* row = of.w + c * of.out() + h * of.width;
    float sum = 0.0f;
    worker.for_each(of.width, [&](std::uint64_t i) { sum += row[i] * with[i]; });
    sum = worker.reduce(sum, exec::Plus{});
    if (worker.lane() == 0) u[task] = sum;
  }
};

/// W of every head where its columns are, zeros elsewhere: (heads x columns) x out. A row a task.
struct BlockDiagonalKernel {
  FirstWeights of;
  float* to;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    const std::uint64_t h = row / of.columns;
    const float* from = of.w + row % of.columns * of.out();
    worker.for_each(of.out(), [&](std::uint64_t i) {
      to[row * of.out() + i] = i / of.width == h ? from[i] : 0.0f;
    });
  }
};

/// dW += the diagonal blocks' gradient and what u_left and u_right give to it. A row of W a task.
struct UnfoldKernel {
  FirstWeights of;
  const float* blocks;
  const float* du;  ///< As u.
  float* dw;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t c) const {
    worker.for_each(of.out(), [&](std::uint64_t i) {
      const std::uint64_t at = i / of.width * of.columns + c;
      const float to_left = du[at], to_right = du[of.heads * of.columns + at];
      dw[c * of.out() + i] +=
          blocks[at * of.out() + i] + (to_left * of.left[i] + to_right * of.right[i]);
    });
  }
};

/// d left and d right += W^T du. A task for each of their elements.
struct UnfoldSidesKernel {
  FirstWeights of;
  const float* du;
  float* left;
  float* right;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t i) const {
    const float* from = du + i / of.width * of.columns;
    float to_left = 0.0f;
    float to_right = 0.0f;
    worker.for_each(of.columns, [&](std::uint64_t c) {
      const float value = of.w[c * of.out() + i];
      to_left += value * from[c];
      to_right += value * from[of.heads * of.columns + c];
    });
    to_left = worker.reduce(to_left, exec::Plus{});
    to_right = worker.reduce(to_right, exec::Plus{});
    if (worker.lane() != 0) return;
    left[i] += to_left;
    right[i] += to_right;
  }
};

#if WARREN_HAS_CUDA
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const FoldKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const BlockDiagonalKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const UnfoldKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const UnfoldSidesKernel&);
#endif

}  // namespace warren::learn::detail
