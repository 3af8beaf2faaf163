// SPDX-License-Identifier: Apache-2.0
// The kernels of losses, for both backends: a worker a row.
#pragma once

#include <cmath>
#include <limits>

#include "warren/exec/launch.hpp"
#include "warren/learn/loss.hpp"

#include "learn/rows/exponential.hpp"
#include "learn/rows/row_kernels.hpp"

namespace warren::learn::detail {

inline constexpr std::uint64_t kRowNumbers = 3;  // Loss, right, wrong.

/// Scores and gradients are stored as T.
template <class T>
struct LossKernel {
  LossKind kind;
  std::uint64_t k;
  const T* scores;
  const std::int32_t* classes;
  const float* values;
  const std::uint8_t* splits;
  T* gradient;
  float share;              ///< One over the number of training vertices.
  const float* read_share;  ///< The same where it is read when the kernel runs; nullptr: `share`.
  const float* factor;      ///< Of gradients, beside that; nullptr: 1.
  const float* by_class;    ///< Factors of training vertices' cross-entropy; nullptr: 1.
  float* rows;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    const bool is_training = splits[row] == kTrain;
    const T* x = scores + row * k;
    T* dx = gradient == nullptr ? nullptr : gradient + row * k;
    if (dx != nullptr && !is_training) worker.for_each(k, [&](std::uint64_t c) { dx[c] = T{}; });
    if (splits[row] == kNoSplit) return;
    if (!is_training) dx = nullptr;
    float* out = rows + row * kRowNumbers;
    if (kind == LossKind::cross_entropy) return cross_entropy(worker, row, x, dx, out);
    if (kind == LossKind::binary) return binary(worker, row, x, dx, out);
    squared(worker, row, x, dx, out);
  }

 private:
  [[nodiscard]] WARREN_HD float weight() const {
    const float each = read_share == nullptr ? share : *read_share;
    return factor == nullptr ? each : each * *factor;
  }
  template <class W>
  WARREN_HD void cross_entropy(const W& worker, std::uint64_t row, const T* x, T* dx,
                               float* out) const {
    const auto label = static_cast<std::uint64_t>(classes[row]);
    float largest = -std::numeric_limits<float>::infinity();
    worker.for_each(k,
                    [&](std::uint64_t c) { largest = exec::Maximum{}(largest, to_float(x[c])); });
    largest = worker.reduce(largest, exec::Maximum{});
    float sum = 0.0f;
    for (std::uint64_t first = 0; first < k; first += kTile * worker.size()) {
      float power[kTile] = {};
      tile_columns(worker, first, k, [&](std::uint32_t u, std::uint64_t c) {
        power[u] = exponential(to_float(x[c]) - largest);
      });
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kTile; ++u) sum += power[u];
    }
    sum = worker.reduce(sum, exec::Plus{});
    std::uint32_t at = 0xffffffffu;
    worker.for_each(k, [&](std::uint64_t c) {
      if (to_float(x[c]) == largest) at = exec::Minimum{}(at, static_cast<std::uint32_t>(c));
    });
    at = worker.reduce(at, exec::Minimum{});
    const bool is_weighed = by_class != nullptr && splits[row] == kTrain;
    const float of_class = is_weighed ? by_class[label] : 1.0f;
    if (worker.lane() == 0) {
      out[0] = (std::log(sum) + largest - to_float(x[label])) * of_class;
      out[1] = at == label ? 1.0f : 0.0f;
      out[2] = at == label ? 0.0f : 1.0f;
    }
    if (dx == nullptr) return;
    const float of_all = weight() * of_class;
    const float inverse = of_all / sum;
    worker.for_each(k, [&](std::uint64_t c) {
      const float power = exponential(to_float(x[c]) - largest) * inverse;
      dx[c] = from_float<T>(c == label ? power - of_all : power);
    });
  }

  /// Right: twice the classes found; wrong: those found too much or missed. F1 is right over both.
  template <class W>
  WARREN_HD void binary(const W& worker, std::uint64_t row, const T* x, T* dx, float* out) const {
    const float* y = values + row * k;
    float loss = 0.0f;
    float right = 0.0f;
    float wrong = 0.0f;
    worker.for_each(k, [&](std::uint64_t c) {
      const float score = to_float(x[c]);
      const float power = std::exp(-std::abs(score));
      loss += (score > 0.0f ? score : 0.0f) - score * y[c] + std::log1p(power);
      const bool is_found = score > 0.0f;
      const bool is_there = y[c] > 0.5f;
      right += is_found && is_there ? 2.0f : 0.0f;
      wrong += is_found != is_there ? 1.0f : 0.0f;
      if (dx != nullptr) {
        const float sigmoid = (is_found ? 1.0f : power) / (1.0f + power);
        dx[c] = from_float<T>((sigmoid - y[c]) * weight());
      }
    });
    loss = worker.reduce(loss, exec::Plus{});
    right = worker.reduce(right, exec::Plus{});
    wrong = worker.reduce(wrong, exec::Plus{});
    if (worker.lane() != 0) return;
    out[0] = loss;
    out[1] = right;
    out[2] = wrong;
  }

  template <class W>
  WARREN_HD void squared(const W& worker, std::uint64_t row, const T* x, T* dx, float* out) const {
    const float* y = values + row * k;
    float loss = 0.0f;
    worker.for_each(k, [&](std::uint64_t c) {
      const float off = to_float(x[c]) - y[c];
      loss += off * off / static_cast<float>(k);
      if (dx != nullptr) dx[c] = from_float<T>(2.0f * off / static_cast<float>(k) * weight());
    });
    loss = worker.reduce(loss, exec::Plus{});
    if (worker.lane() != 0) return;
    out[0] = loss;
    out[1] = 0.0f;
    out[2] = 1.0f;
  }
};

/// Adds the rows' numbers up by split, a thread a chunk, in the rows' order.
struct LossSumsKernel {
  static constexpr std::uint64_t kChunk = 512;
  std::uint64_t n;
  const std::uint8_t* splits;
  const float* rows;
  double* partial;
  bool adds;  ///< To what is there.

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t chunk) const {
    worker.for_each(kSplits * kRowNumbers, [&](std::uint64_t i) {
      const std::uint64_t split = i / kRowNumbers + 1;
      const std::uint64_t end = (chunk + 1) * kChunk < n ? (chunk + 1) * kChunk : n;
      double& out = partial[chunk * kSplits * kRowNumbers + i];
      double sum = adds ? out : 0.0;
      for (std::uint64_t r = chunk * kChunk; r < end; ++r) {
        if (splits[r] == split) sum += static_cast<double>(rows[r * kRowNumbers + i % kRowNumbers]);
      }
      out = sum;
    });
  }
};

template <class Backend, class Kernel>
void run_loss(const exec::Stream& stream, std::uint64_t tasks, const Kernel& kernel) {
  // Narrow rows' sums cost more than their numbers: two rows to a warp.
  if constexpr (requires { kernel.k; }) {
    constexpr std::uint64_t kNarrow = 64;
    if (kernel.k <= kNarrow)
      return exec::launch_wide<Backend, exec::Tile<16>>(stream, tasks, kernel);
  }
  exec::launch_wide<Backend, exec::Warp>(stream, tasks, kernel);
}

#if WARREN_HAS_CUDA
extern template void run_loss<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                          const LossKernel<float>&);
extern template void run_loss<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                          const LossKernel<Half>&);
extern template void run_loss<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                          const LossKernel<BFloat16>&);
extern template void run_loss<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                          const LossSumsKernel&);
#endif

}  // namespace warren::learn::detail
