// SPDX-License-Identifier: Apache-2.0
// The kernels of normalisation, for both backends.
#pragma once

#include <cmath>

#include "learn/rows/row_kernels.hpp"

namespace warren::learn::detail {

inline constexpr float kNormEpsilon = 1e-5f;

/// Sums of x - s and (x - s)^2, s the first row of the tile: near enough to the tile's values that
/// their squares' sums do not swallow the variance.
template <class T>
struct StatisticsBody : PlainRows {
  static constexpr std::uint32_t kSums = 2;
  static constexpr std::uint32_t kInFlight = 2 * kRowsOf4<T>;
  const T* x;

  template <class F>
  WARREN_HD void specialised(F&& f) const {
    f(*this);
  }
  [[nodiscard]] std::uintptr_t addresses() const { return address(x); }
  template <std::uint32_t N>
  WARREN_HD Floats<N> column(std::uint64_t first, std::uint64_t c) const {
    return floats_of(load_pack<N>(x + first * k + c));
  }
  template <std::uint32_t N>
  WARREN_HD Pack<T, N> load(const Row& row, std::uint64_t c) const {
    return load_pack<N>(x + row.at + c);
  }
  template <std::uint32_t N>
  WARREN_HD void use(const Row&, const Floats<N>& shift, std::uint64_t, const Pack<T, N>& loaded,
                     Floats<N>* terms) const {
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) {
      terms[0].at[i] = loaded.get(i) - shift.at[i];
      terms[1].at[i] = terms[0].at[i] * terms[0].at[i];
    }
  }
};

/// sums[c] = sum of x[.][c], from what StatisticsBody left; a task is a column.
template <class T>
struct TotalsKernel {
  RowTiles tiles;
  std::uint64_t k;
  const T* x;
  const float* partial;
  float* sums;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t c) const {
    float sum = 0.0f;
    worker.for_each(tiles.count(), [&](std::uint64_t s) {
      const auto rows = static_cast<float>(tiles.end(s) - tiles.begin(s));
      sum += rows * to_float(x[tiles.begin(s) * k + c]) + partial[s * 2 * k + c];
    });
    sum = worker.reduce(sum, exec::Plus{});
    if (worker.lane() == 0) sums[c] = sum;
  }
};

/// squares[c] = sum of (x[.][c] - mean)^2, mean = sums[c] share: of each tile that about its own
/// mean, and what the two means differ by (Chan, Golub and LeVeque, 1983).
template <class T>
struct SquaresKernel {
  RowTiles tiles;
  std::uint64_t k;
  const T* x;
  const float* partial;
  const float* sums;
  float share;
  float* squares;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t c) const {
    const float mean = sums[c] * share;
    float sum = 0.0f;
    worker.for_each(tiles.count(), [&](std::uint64_t s) {
      const auto rows = static_cast<float>(tiles.end(s) - tiles.begin(s));
      const float* at = partial + s * 2 * k + c;
      const float offset = at[0] / rows;
      const float within = at[k] - at[0] * offset;
      const float between = to_float(x[tiles.begin(s) * k + c]) - mean + offset;
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
template <class T>
struct BatchBackwardBody : PlainRows {
  static constexpr std::uint32_t kSums = 0;
  static constexpr std::uint32_t kInFlight = kRowsOf4<T>;
  const float* mean;
  const float* inverse;
  const float* weight;
  const float* sums;      ///< Of dy.
  const float* products;  ///< Of dy normal.
  float share;
  const T* x;
  T* dy;

  template <std::uint32_t N>
  struct Column {
    Floats<N> mean, scale, sum, slope;
  };
  template <std::uint32_t N>
  struct Loaded {
    Pack<T, N> x, dy;
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
    return {load_pack<N>(x + row.at + c), load_pack<N>(dy + row.at + c)};
  }
  template <std::uint32_t N>
  WARREN_HD void use(const Row& row, const Column<N>& column, std::uint64_t c,
                     const Loaded<N>& loaded, Floats<N>*) const {
    Floats<N> result;
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) {
      const float centred = loaded.x.get(i) - column.mean.at[i];
      result.at[i] =
          column.scale.at[i] * (loaded.dy.get(i) - column.sum.at[i] - centred * column.slope.at[i]);
    }
    store_pack<N>(result, dy + row.at + c);
  }
};

template <class T>
struct LayerNormKernel {
  std::uint64_t k;
  const float* weight;
  T* x;
  T* normal;
  float* inverse;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    T* at = x + row * k;
    const auto width = static_cast<float>(k);
    float sum = 0.0f;
    worker.for_each(k, [&](std::uint64_t c) { sum += to_float(at[c]); });
    const float mean = worker.reduce(sum, exec::Plus{}) / width;
    float squares = 0.0f;
    worker.for_each(k, [&](std::uint64_t c) {
      const float off = to_float(at[c]) - mean;
      squares += off * off;
    });
    squares = worker.reduce(squares, exec::Plus{});
    const float scale = 1.0f / std::sqrt(squares / width + kNormEpsilon);
    worker.for_each(k, [&](std::uint64_t c) {
      const float value = (to_float(at[c]) - mean) * scale;
      normal[row * k + c] = from_float<T>(value);
      at[c] = from_float<T>(weight[c] * value);
    });
    if (worker.lane() == 0) inverse[row] = scale;
  }
};

template <class T>
struct LayerBackwardKernel {
  std::uint64_t k;
  const float* weight;
  const T* normal;
  const float* inverse;
  T* dy;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    T* at = dy + row * k;
    const T* value = normal + row * k;
    const auto width = static_cast<float>(k);
    float sum = 0.0f;
    float product = 0.0f;
    worker.for_each(k, [&](std::uint64_t c) {
      const float scaled = weight[c] * to_float(at[c]);
      sum += scaled;
      product += scaled * to_float(value[c]);
    });
    sum = worker.reduce(sum, exec::Plus{}) / width;
    product = worker.reduce(product, exec::Plus{}) / width;
    const float scale = inverse[row];
    worker.for_each(k, [&](std::uint64_t c) {
      at[c] =
          from_float<T>(scale * (weight[c] * to_float(at[c]) - sum - to_float(value[c]) * product));
    });
  }
};

#if WARREN_HAS_CUDA
extern template void run_pass<exec::Cuda>(const exec::Stream&, const StatisticsBody<float>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const BatchBackwardBody<float>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_blocks<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const TotalsKernel<float>&);
extern template void run_blocks<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const SquaresKernel<float>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const LayerNormKernel<float>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const LayerBackwardKernel<float>&);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const StatisticsBody<Half>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const BatchBackwardBody<Half>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_blocks<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const TotalsKernel<Half>&);
extern template void run_blocks<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const SquaresKernel<Half>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const LayerNormKernel<Half>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const LayerBackwardKernel<Half>&);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const StatisticsBody<BFloat16>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_pass<exec::Cuda>(const exec::Stream&, const BatchBackwardBody<BFloat16>&,
                                          std::uint64_t, std::uint64_t, float*);
extern template void run_blocks<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const TotalsKernel<BFloat16>&);
extern template void run_blocks<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const SquaresKernel<BFloat16>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const LayerNormKernel<BFloat16>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const LayerBackwardKernel<BFloat16>&);
extern template void run_blocks<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const MomentsKernel&);
#endif

}  // namespace warren::learn::detail
