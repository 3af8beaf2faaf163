// SPDX-License-Identifier: Apache-2.0
// What the weights of edges, the one feature that they have, are multiplied by in GAT's logits: of
// every head c = <attention, weight>, two vectors that are learnt (lin_edge and att_edge of PyTorch
// Geometric's GATConv).
#pragma once

#include "learn/rows/row_kernels.hpp"

namespace warren::learn::detail {

/// c[h] = sum over k of attention[h][k] weight[h][k]. A worker for each head.
struct ByWeightKernel {
  std::uint64_t width;
  const float* attention;
  const float* weight;
  float* c;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t head) const {
    const std::uint64_t first = head * width;
    float sum = 0.0f;
    worker.for_each(width,
                    [&](std::uint64_t k) { sum += attention[first + k] * weight[first + k]; });
    sum = worker.reduce(sum, exec::Plus{});
    if (worker.lane() == 0) c[head] = sum;
  }
};

/// The vectors' gradients, to which it adds, from dc. A worker for each head.
struct ByWeightGradientKernel {
  std::uint64_t width;
  const float* attention;
  const float* weight;
  const float* dc;
  float* attention_gradient;
  float* weight_gradient;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t head) const {
    const std::uint64_t first = head * width;
    worker.for_each(width, [&](std::uint64_t k) {
      attention_gradient[first + k] += dc[head] * weight[first + k];
      weight_gradient[first + k] += dc[head] * attention[first + k];
    });
  }
};

#if WARREN_HAS_CUDA
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const ByWeightKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const ByWeightGradientKernel&);
#endif

}  // namespace warren::learn::detail
