// SPDX-License-Identifier: Apache-2.0
// The kernels of normalisation, for both backends.
#pragma once

#include <cmath>

#include "learn/row_kernels.hpp"

namespace warren::learn::detail {

inline constexpr float kNormEpsilon = 1e-5f;

/// Sums of x - s and (x - s)^2, s the first row of the slab: near enough to the slab's values that
/// their squares' sums do not swallow the variance.
struct StatisticsBody : PlainRows {
  static constexpr std::uint32_t kSums = 2;
  static constexpr std::uint32_t kInFlight = 8;
  const float* x;

  template <class F>
  WARREN_HD void specialised(F&& f) const {
    f(*this);
  }
  [[nodiscard]] std::uintptr_t addresses() const { return address(x); }
  template <std::uint32_t N>
  WARREN_HD Floats<N> column(std::uint64_t first, std::uint64_t c) const {
    return load_floats<N>(x + first * k + c);
  }
  template <std::uint32_t N>
  WARREN_HD Floats<N> load(const Row& row, std::uint64_t c) const {
    return load_floats<N>(x + row.at + c);
  }
  template <std::uint32_t N>
  WARREN_HD void use(const Row&, const Floats<N>& shift, std::uint64_t, const Floats<N>& loaded,
                     Floats<N>* terms) const {
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) {
      terms[0].at[i] = loaded.at[i] - shift.at[i];
      terms[1].at[i] = terms[0].at[i] * terms[0].at[i];
    }
  }
};

/// sums[c] = sum of x[.][c], from what StatisticsBody left; a task is a column.
struct TotalsKernel {
  Slabs slabs;
  std::uint64_t k;
  const float* x;
  const float* partial;
  float* sums;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t c) const {
    float sum = 0.0f;
    worker.for_each(slabs.count(), [&](std::uint64_t s) {
      const auto rows = static_cast<float>(slabs.end(s) - slabs.begin(s));
      sum += rows * x[slabs.begin(s) * k + c] + partial[s * 2 * k + c];
    });
    sum = worker.reduce(sum, exec::Plus{});
    if (worker.lane() == 0) sums[c] = sum;
  }
};

/// squares[c] = sum of (x[.][c] - mean)^2, mean = sums[c] share: of each slab that about its own
/// mean, and what the two means differ by (Chan, Golub and LeVeque, 1983).
struct SquaresKernel {
  Slabs slabs;
  std::uint64_t k;
  const float* x;
  const float* partial;
  const float* sums;
  float share;
  float* squares;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t c) const {
    const float mean = sums[c] * share;
    float sum = 0.0f;
    worker.for_each(slabs.count(), [&](std::uint64_t s) {
      const auto rows = static_cast<float>(slabs.end(s) - slabs.begin(s));
      const float* at = partial + s * 2 * k + c;
      const float offset = at[0] / rows;
      const float within = at[k] - at[0] * offset;
      const float between = x[slabs.begin(s) * k + c] - mean + offset;
      sum += (within > 0.0f ? within : 0.0f) + rows * between * between;
    });
    sum = worker.reduce(sum, exec::Plus{});
    if (worker.lane() == 0) squares[c] = sum;
  }
};

/// mean = sums share, inverse = 1 / sqrt(squares share + epsilon); and
/// running <- 0.9 running + 0.1 of both statistics. One task.
struct MomentsKernel {
  std::uint64_t k;
  const float* sums;
  const float* squares;
  float share, unbiased;
  float* mean;
  float* inverse;
  float* running_mean;  ///< nullptr: they stay.
  float* running_variance;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t) const {
    worker.for_each(k, [&](std::uint64_t c) {
      mean[c] = sums[c] * share;
      inverse[c] = 1.0f / std::sqrt(squares[c] * share + kNormEpsilon);
      if (running_mean == nullptr) return;
      running_mean[c] = 0.9f * running_mean[c] + 0.1f * mean[c];
      running_variance[c] = 0.9f * running_variance[c] + 0.1f * squares[c] * unbiased;
    });
  }
};

/// dy = weight inverse (dy - sums share - normal products share), normal = (x - mean) inverse.
struct BatchBackwardBody : PlainRows {
  static constexpr std::uint32_t kSums = 0;
  static constexpr std::uint32_t kInFlight = 4;
  const float* mean;
  const float* inverse;
  const float* weight;
  const float* sums;      ///< Of dy.
  const float* products;  ///< Of dy normal.
  float share;
  const float* x;
  float* dy;

  template <std::uint32_t N>
  struct Column {
    Floats<N> mean, scale, sum, slope;
  };
  template <std::uint32_t N>
  struct Loaded {
    Floats<N> x, dy;
  };
  template <class F>
  WARREN_HD void specialised(F&& f) const {
    f(*this);
  }
  [[nodiscard]] std::uintptr_t addresses() const { return address(x) | address(dy); }
  template <std::uint32_t N>
  WARREN_HD Column<N> column(std::uint64_t, std::uint64_t c) const {
    Column<N> column;
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) {
      column.mean.at[i] = mean[c + i];
      column.scale.at[i] = weight[c + i] * inverse[c + i];
      column.sum.at[i] = sums[c + i] * share;
      column.slope.at[i] = products[c + i] * share * inverse[c + i];
    }
    return column;
  }
  template <std::uint32_t N>
  WARREN_HD Loaded<N> load(const Row& row, std::uint64_t c) const {
    return {load_floats<N>(x + row.at + c), load_floats<N>(dy + row.at + c)};
  }
  template <std::uint32_t N>
  WARREN_HD void use(const Row& row, const Column<N>& column, std::uint64_t c,
                     const Loaded<N>& loaded, Floats<N>*) const {
    Floats<N> result;
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) {
      const float centred = loaded.x.at[i] - column.mean.at[i];
      result.at[i] =
          column.scale.at[i] * (loaded.dy.at[i] - column.sum.at[i] - centred * column.slope.at[i]);
    }
    store_floats<N>(result, dy + row.at + c);
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
extern template void run_pass<exec::Cuda>(const exec::Stream&, const StatisticsBody&, std::uint64_t,
                                          std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const BatchBackwardBody&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_blocks<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const TotalsKernel&);
extern template void run_blocks<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const SquaresKernel&);
extern template void run_blocks<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const MomentsKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const LayerNormKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const LayerBackwardKernel&);
#endif

}  // namespace warren::learn::detail
