// SPDX-License-Identifier: Apache-2.0
// Kernels over the rows of dense matrices, a worker each: activations with bias, residual and
// dropout in one pass, sums over columns, and what layers need beside products.
#pragma once

#include <cmath>

#include "warren/exec/launch.hpp"
#include "warren/learn/elementwise.hpp"

#include "learn/exponential.hpp"

namespace warren::learn::detail {

/// Columns that a lane keeps sums of at a time.
inline constexpr std::uint32_t kTile = 8;

/// f(u, column) for the columns of a tile that are below k.
template <class W, class F>
WARREN_HD void tile_columns(const W& worker, std::uint64_t first, std::uint64_t k, F&& f) {
  const std::uint64_t lanes = worker.size();
  if (first + kTile * lanes <= k) {
    WARREN_UNROLL
    for (std::uint32_t u = 0; u < kTile; ++u) f(u, first + u * lanes + worker.lane());
  } else {
    WARREN_UNROLL
    for (std::uint32_t u = 0; u < kTile; ++u) {
      const std::uint64_t column = first + u * lanes + worker.lane();
      if (column < k) f(u, column);
    }
  }
}

WARREN_HD inline float activate(Activation kind, float slope, float x) {
  if (!(x <= 0.0f) || kind == Activation::none) return x;  // NaN stays NaN.
  if (kind == Activation::relu) return 0.0f;
  return kind == Activation::elu ? exponential(x) - 1.0f : slope * x;
}

/// The derivative, from the activation's result y.
WARREN_HD inline float slope_at(Activation kind, float slope, float y) {
  if (y > 0.0f || kind == Activation::none) return 1.0f;
  if (kind == Activation::relu) return 0.0f;
  return kind == Activation::elu ? y + 1.0f : slope;
}

/// f(g) where g(x) is the activation: a loop over it then has no choice left to make.
template <class F>
WARREN_HD void with_activation(Activation kind, float slope, F&& f) {
  if (kind == Activation::none) return f([](float x) { return x; });
  // NaN stays NaN.
  if (kind == Activation::relu) return f([](float x) { return x < 0.0f ? 0.0f : x; });
  f([kind, slope](float x) { return activate(kind, slope, x); });
}

struct EpilogueKernel {
  Epilogue e;
  std::uint64_t k;
  float* y;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    // Copies, which stores to y cannot change.
    float* at = y + row * k;
    const float* bias = e.bias;
    const float* residual = e.residual == nullptr ? nullptr : e.residual + row * k;
    const Dropout dropout = e.dropout;
    const auto before = [&](std::uint64_t c) {
      return at[c] + (bias == nullptr ? 0.0f : bias[c]) +
             (residual == nullptr ? 0.0f : residual[c]);
    };
    with_activation(e.activation, e.slope, [&](auto&& activation) {
      if (!dropout.is_on()) {
        return worker.for_each(k, [&](std::uint64_t c) { at[c] = activation(before(c)); });
      }
      const std::uint64_t key = dropout.row_key(row);
      worker.for_each(
          k, [&](std::uint64_t c) { at[c] = activation(before(c)) * dropout.factor(key, c); });
    });
  }
};

struct EpilogueBackwardKernel {
  Epilogue e;
  std::uint64_t k;
  const float* y;
  float* dy;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    const float* at = y + row * k;
    float* gradient = dy + row * k;
    const float scale = 1.0f / (1.0f - e.dropout.probability);
    if (e.activation == Activation::relu) {
      // What was dropped is 0, as what is not passed on by the activation.
      worker.for_each(k, [&](std::uint64_t c) { gradient[c] *= at[c] > 0.0f ? scale : 0.0f; });
      return;
    }
    const std::uint64_t key = e.dropout.is_on() ? e.dropout.row_key(row) : 0;
    worker.for_each(k, [&](std::uint64_t c) {
      const float factor = e.dropout.is_on() ? e.dropout.factor(key, c) : 1.0f;
      gradient[c] *= factor * slope_at(e.activation, e.slope, at[c] / scale);
    });
  }
};

struct DropoutKernel {
  Dropout dropout;
  std::uint64_t k;
  const float* x;
  float* y;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    const std::uint64_t key = dropout.row_key(row);
    worker.for_each(
        k, [&](std::uint64_t c) { y[row * k + c] = x[row * k + c] * dropout.factor(key, c); });
  }
};

struct DropoutEntriesKernel {
  Dropout dropout;
  const EdgeOffset* offsets;
  const Vertex* columns;
  const float* x;
  float* y;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    const std::uint64_t key = dropout.row_key(row);
    const EdgeOffset begin = offsets[row];
    worker.for_each(offsets[row + 1] - begin, [&](std::uint64_t i) {
      y[begin + i] = x[begin + i] * dropout.factor(key, columns[begin + i]);
    });
  }
};

/// Rows of a chunk are added up in order, so that sums do not depend on how many threads there are.
struct ColumnSumsKernel {
  static constexpr std::uint64_t kChunk = 256;
  ColumnTerms t;
  std::uint64_t rows;
  float* partial;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t chunk) const {
    const std::uint64_t k = t.k;
    const std::uint64_t begin = chunk * kChunk;
    const std::uint64_t end = begin + kChunk < rows ? begin + kChunk : rows;
    for (std::uint64_t first = 0; first < k; first += kTile * worker.size()) {
      float sum[kTile] = {};
      for (std::uint64_t r = begin; r < end; ++r) {
        tile_columns(worker, first, k, [&](std::uint32_t u, std::uint64_t c) {
          float term = t.a[r * k + c];
          if (t.b != nullptr) term *= t.b[r * k + c];
          if (t.head_scale != nullptr) term *= t.head_scale[r * (k / t.width) + c / t.width];
          sum[u] += term;
        });
      }
      tile_columns(worker, first, k,
                   [&](std::uint32_t u, std::uint64_t c) { partial[chunk * k + c] = sum[u]; });
    }
  }
};

struct AddPartialsKernel {
  std::uint64_t chunks, k;
  const float* partial;
  float* out;
  bool is_one_sum;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t c) const {
    float sum = 0.0f;
    const std::uint64_t count = is_one_sum ? chunks * k : chunks;
    const std::uint64_t stride = is_one_sum ? 1 : k;
    worker.for_each(count, [&](std::uint64_t i) { sum += partial[i * stride + c]; });
    sum = worker.reduce(sum, exec::Plus{});
    if (worker.lane() == 0) out[c] += sum;
  }
};

struct HeadDotsKernel {
  std::uint64_t heads, width;
  const float* a;
  const float* b;
  bool b_is_one_row;
  float* out;
  std::uint64_t stride;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    const std::uint64_t k = heads * width;
    for (std::uint64_t h = 0; h < heads; ++h) {
      const float* left = a + row * k + h * width;
      const float* right = b + (b_is_one_row ? 0 : row * k) + h * width;
      float sum = 0.0f;
      worker.for_each(width, [&](std::uint64_t c) { sum += left[c] * right[c]; });
      sum = worker.reduce(sum, exec::Plus{});
      if (worker.lane() == 0) out[row * stride + h] = sum;
    }
  }
};

struct AddSelfKernel {
  std::uint64_t k;
  const float* epsilon;
  const float* x;
  float* y;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    const float factor = 1.0f + (epsilon == nullptr ? 0.0f : *epsilon);
    worker.for_each(k, [&](std::uint64_t c) { y[row * k + c] += factor * x[row * k + c]; });
  }
};

struct GatherRowsKernel {
  std::uint64_t k;
  const Vertex* rows;
  const float* x;
  float* out;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t i) const {
    const float* from = x + rows[i] * k;
    worker.for_each(k, [&](std::uint64_t c) { out[i * k + c] = from[c]; });
  }
};

struct ScaleRowsKernel {
  std::uint64_t k, stride;
  const float* scale;
  const float* x;
  float* out;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t i) const {
    const float factor = scale == nullptr ? 1.0f : scale[i];
    const float* from = x + i * k;
    float* to = out + i * stride;
    worker.for_each(k, [&](std::uint64_t c) { to[c] = factor * from[c]; });
    worker.for_each(stride - k, [&](std::uint64_t c) { to[k + c] = 0.0f; });
  }
};

struct AddScaledRowsKernel {
  std::uint64_t k;
  const float* scale;
  const float* x;
  float* y;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t i) const {
    const float factor = scale[i];
    worker.for_each(k, [&](std::uint64_t c) { y[i * k + c] += factor * x[i * k + c]; });
  }
};

struct CopyNamedKernel {
  static constexpr std::uint64_t kEach = 256;
  std::uint64_t n;
  const Vertex* from;
  const Vertex* names;
  Vertex* out;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const std::uint64_t first = task * kEach;
    const std::uint64_t size = n - first < kEach ? n - first : kEach;
    worker.for_each(size, [&](std::uint64_t i) { out[first + i] = names[from[first + i]]; });
  }
};

struct RenumberKernel {
  std::uint64_t k;
  const Vertex* names;
  Vertex first;
  Vertex* arg;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    worker.for_each(k, [&](std::uint64_t c) {
      Vertex& at = arg[row * k + c];
      if (names == nullptr) {
        at -= first;
      } else if (at != kNoVertex) {
        at = names[at];
      }
    });
  }
};

template <class Backend, class Kernel>
void run_kernel(const exec::Stream& stream, std::uint64_t tasks, const Kernel& kernel) {
  exec::launch_wide<Backend, exec::Warp>(stream, tasks, kernel);
}

#if WARREN_HAS_CUDA
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const EpilogueKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const EpilogueBackwardKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const DropoutKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const DropoutEntriesKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const ColumnSumsKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const AddPartialsKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const HeadDotsKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const AddSelfKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const GatherRowsKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const ScaleRowsKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const AddScaledRowsKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const CopyNamedKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const RenumberKernel&);
#endif

}  // namespace warren::learn::detail
