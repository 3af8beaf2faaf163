// SPDX-License-Identifier: Apache-2.0
// The kernels of operations over the entries of rows, for both backends.
#pragma once

#include <cmath>
#include <limits>

#include "warren/exec/launch.hpp"
#include "warren/sparse/edge_ops.hpp"

namespace warren::sparse::detail {

/// Which rows a launch is for: those below the limit, or a list of longer ones.
struct RowChoice {
  const EdgeOffset* offsets = nullptr;
  const Vertex* listed = nullptr;  ///< nullptr: all rows of `most` entries or fewer.
  EdgeOffset most = 0;

  /// False: another launch's row.
  WARREN_HD bool find(std::uint64_t task, std::uint64_t& row, EdgeOffset& begin,
                      EdgeOffset& end) const {
    row = listed == nullptr ? task : listed[task];
    begin = offsets[row];
    end = offsets[row + 1];
    return listed != nullptr || end - begin <= most;
  }
};

struct Softmax {
  RowChoice rows;
  std::uint64_t heads;
  const float* x;
  float* y;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    std::uint64_t row = 0;
    EdgeOffset begin = 0;
    EdgeOffset end = 0;
    if (!rows.find(task, row, begin, end) || begin == end) return;
    for (std::uint64_t h = 0; h < heads; ++h) {
      const float* in = x + begin * heads + h;
      float* out = y + begin * heads + h;
      float largest = -std::numeric_limits<float>::infinity();
      worker.for_each(end - begin,
                      [&](std::uint64_t i) { largest = exec::Maximum{}(largest, in[i * heads]); });
      largest = worker.reduce(largest, exec::Maximum{});
      float sum = 0.0f;
      worker.for_each(end - begin, [&](std::uint64_t i) {
        const float power = std::exp(in[i * heads] - largest);
        out[i * heads] = power;
        sum += power;
      });
      sum = worker.reduce(sum, exec::Plus{});
      worker.for_each(end - begin, [&](std::uint64_t i) { out[i * heads] /= sum; });
    }
  }
};

struct SoftmaxBackward {
  RowChoice rows;
  std::uint64_t heads;
  const float* y;
  const float* dy;
  float* dx;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    std::uint64_t row = 0;
    EdgeOffset begin = 0;
    EdgeOffset end = 0;
    if (!rows.find(task, row, begin, end) || begin == end) return;
    for (std::uint64_t h = 0; h < heads; ++h) {
      const std::uint64_t first = begin * heads + h;
      float sum = 0.0f;
      worker.for_each(end - begin, [&](std::uint64_t i) {
        sum += y[first + i * heads] * dy[first + i * heads];
      });
      sum = worker.reduce(sum, exec::Plus{});
      worker.for_each(end - begin, [&](std::uint64_t i) {
        const std::uint64_t at = first + i * heads;
        dx[at] = y[at] * (dy[at] - sum);
      });
    }
  }
};

/// Lanes share the columns out.
struct SegmentMax {
  RowChoice rows;
  MatrixView a;
  std::uint64_t k;
  const float* b;
  float* c;
  Vertex* arg;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    std::uint64_t row = 0;
    EdgeOffset begin = 0;
    EdgeOffset end = 0;
    if (!rows.find(task, row, begin, end)) return;
    worker.for_each(k, [&](std::uint64_t j) {
      float largest = 0.0f;
      Vertex of = kNoVertex;
      for (EdgeOffset e = begin; e < end; ++e) {
        const std::uint64_t column = a.column(e);
        const float value = b[column * k + j];
        // A NaN, which is the first entry's, gives way to any number.
        const bool is_first_number = largest != largest && value == value;
        if (of == kNoVertex || value > largest || is_first_number) {
          largest = value;
          of = static_cast<Vertex>(column);
        }
      }
      c[row * k + j] = largest;
      if (arg != nullptr) arg[row * k + j] = of;
    });
  }
};

struct SegmentMaxBackward {
  RowChoice rows;
  MatrixView a;
  std::uint64_t k;
  const float* dc;
  const Vertex* arg;
  float* db;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    std::uint64_t row = 0;
    EdgeOffset begin = 0;
    EdgeOffset end = 0;
    if (!rows.find(task, row, begin, end)) return;
    worker.for_each(k, [&](std::uint64_t j) {
      float sum = 0.0f;
      std::uint64_t before = kNoVertex;
      for (EdgeOffset e = begin; e < end; ++e) {
        const std::uint64_t of = a.column(e);
        if (of != before && arg[of * k + j] == row) sum += dc[of * k + j];
        before = of;
      }
      db[row * k + j] = sum;
    });
  }
};

/// All rows: a warp each for most, a block for the long ones.
template <class Backend, class Kernel>
void run_rows(const exec::Stream& stream, const MatrixView& a, const RowPlan& plan, Kernel kernel) {
  kernel.rows = {a.offsets, nullptr, plan.most_entries()};
  exec::launch<Backend, exec::Warp>(stream, a.rows, kernel);
  kernel.rows.listed = plan.long_row_data();
  exec::launch<Backend, exec::Block>(stream, plan.long_rows(), kernel);
}

#if WARREN_HAS_CUDA
extern template void run_rows<exec::Cuda, Softmax>(const exec::Stream&, const MatrixView&,
                                                   const RowPlan&, Softmax);
extern template void run_rows<exec::Cuda, SoftmaxBackward>(const exec::Stream&, const MatrixView&,
                                                           const RowPlan&, SoftmaxBackward);
extern template void run_rows<exec::Cuda, SegmentMax>(const exec::Stream&, const MatrixView&,
                                                      const RowPlan&, SegmentMax);
extern template void run_rows<exec::Cuda, SegmentMaxBackward>(const exec::Stream&,
                                                              const MatrixView&, const RowPlan&,
                                                              SegmentMaxBackward);
#endif

}  // namespace warren::sparse::detail
