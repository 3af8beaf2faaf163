// SPDX-License-Identifier: Apache-2.0
// The kernels of normalisation, for both backends.
#pragma once

#include "learn/row_kernels.hpp"

namespace warren::learn::detail {

inline constexpr float kNormEpsilon = 1e-5f;

/// x[r][c] -= sums[c] share.
struct CenterKernel {
  std::uint64_t k;
  const float* sums;
  float share;
  float* x;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    worker.for_each(k, [&](std::uint64_t c) { x[row * k + c] -= sums[c] * share; });
  }
};

/// normal = x / sqrt(squares share + epsilon), x = weight normal.
struct ScaleKernel {
  std::uint64_t k;
  const float* squares;
  float share;
  const float* weight;
  float* x;
  float* normal;  ///< May be nullptr.

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    worker.for_each(k, [&](std::uint64_t c) {
      const std::uint64_t i = row * k + c;
      const float value = x[i] / std::sqrt(squares[c] * share + kNormEpsilon);
      if (normal != nullptr) normal[i] = value;
      x[i] = weight[c] * value;
    });
  }
};

/// running <- 0.9 running + 0.1 sums share, for both statistics; one task.
struct RunningKernel {
  std::uint64_t k;
  const float* sums;
  const float* squares;
  float share, unbiased;
  float* mean;
  float* variance;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t) const {
    worker.for_each(k, [&](std::uint64_t c) {
      mean[c] = 0.9f * mean[c] + 0.1f * sums[c] * share;
      variance[c] = 0.9f * variance[c] + 0.1f * squares[c] * unbiased;
    });
  }
};

/// dx = weight (dy - sums share - normal products share) / sqrt(squares share + epsilon).
struct BatchBackwardKernel {
  std::uint64_t k;
  const float* squares;
  const float* sums;      ///< Of dy.
  const float* products;  ///< Of dy normal.
  float share;
  const float* weight;
  const float* normal;
  float* dy;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    worker.for_each(k, [&](std::uint64_t c) {
      const std::uint64_t i = row * k + c;
      const float inverse = 1.0f / std::sqrt(squares[c] * share + kNormEpsilon);
      dy[i] = weight[c] * inverse * (dy[i] - (sums[c] + normal[i] * products[c]) * share);
    });
  }
};

struct LayerNormKernel {
  std::uint64_t k;
  const float* weight;
  float* x;
  float* normal;
  float* inverse;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    float* at = x + row * k;
    const auto width = static_cast<float>(k);
    float sum = 0.0f;
    worker.for_each(k, [&](std::uint64_t c) { sum += at[c]; });
    const float mean = worker.reduce(sum, exec::Plus{}) / width;
    float squares = 0.0f;
    worker.for_each(k, [&](std::uint64_t c) { squares += (at[c] - mean) * (at[c] - mean); });
    squares = worker.reduce(squares, exec::Plus{});
    const float scale = 1.0f / std::sqrt(squares / width + kNormEpsilon);
    worker.for_each(k, [&](std::uint64_t c) {
      const float value = (at[c] - mean) * scale;
      normal[row * k + c] = value;
      at[c] = weight[c] * value;
    });
    if (worker.lane() == 0) inverse[row] = scale;
  }
};

struct LayerBackwardKernel {
  std::uint64_t k;
  const float* weight;
  const float* normal;
  const float* inverse;
  float* dy;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    float* at = dy + row * k;
    const float* value = normal + row * k;
    const auto width = static_cast<float>(k);
    float sum = 0.0f;
    float product = 0.0f;
    worker.for_each(k, [&](std::uint64_t c) {
      const float scaled = weight[c] * at[c];
      sum += scaled;
      product += scaled * value[c];
    });
    sum = worker.reduce(sum, exec::Plus{}) / width;
    product = worker.reduce(product, exec::Plus{}) / width;
    const float scale = inverse[row];
    worker.for_each(k, [&](std::uint64_t c) {
      at[c] = scale * (weight[c] * at[c] - sum - value[c] * product);
    });
  }
};

#if WARREN_HAS_CUDA
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const CenterKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const ScaleKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const RunningKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const BatchBackwardKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const LayerNormKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const LayerBackwardKernel&);
#endif

}  // namespace warren::learn::detail
