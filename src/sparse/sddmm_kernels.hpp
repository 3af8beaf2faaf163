// SPDX-License-Identifier: Apache-2.0
// The kernels of the sampled dense-dense product, for both backends.
#pragma once

#include <cstdint>

#include "warren/exec/float_pack.hpp"
#include "warren/exec/launch.hpp"
#include "warren/sparse/sddmm.hpp"

namespace warren::sparse::detail {

template <class T>
struct SddmmJob {
  MatrixView a;
  const T* x = nullptr;
  std::uint64_t x_stride = 0;
  const T* y = nullptr;
  std::uint64_t y_stride = 0;
  std::uint64_t k = 0;
  float* out = nullptr;
  const SpmmTask* tasks = nullptr;
  std::uint64_t task_count = 0;

  [[nodiscard]] WARREN_HD float scaled(float dot, EdgeOffset e, std::uint64_t row,
                                       std::uint64_t column) const {
    const float scale = a.row_scale == nullptr ? 1.0f : a.row_scale[row];
    return a.is_weighted() ? dot * scale * a.weight(e, column) : dot * scale;
  }
};

/// The row of a task's entry, as entries are walked in order.
struct RowOfEntry {
  const EdgeOffset* offsets;
  std::uint64_t row;
  WARREN_HD std::uint64_t reach(EdgeOffset e) {
    while (e >= offsets[row + 1]) ++row;
    return row;
  }
};

template <class T>
struct SddmmOnCpu {
  SddmmJob<T> job;

  template <class W>
  void operator()(const W&, std::uint64_t index) const {
    constexpr EdgeOffset kAhead = 8;
    constexpr std::uint64_t kLine = 64;
    constexpr std::uint64_t kMost = 512;  // What the processor does not foresee by itself.
    const SpmmTask task = job.tasks[index];
    const std::uint64_t bytes = job.k * sizeof(T) < kMost ? job.k * sizeof(T) : kMost;
    RowOfEntry walk{job.a.offsets, task.row};
    for (EdgeOffset e = task.begin; e < task.end; ++e) {
      if (e + kAhead < task.end) {
        const auto* ahead =
            reinterpret_cast<const char*>(job.y + job.a.column(e + kAhead) * job.y_stride);
        for (std::uint64_t at = 0; at < bytes; at += kLine) __builtin_prefetch(ahead + at);
      }
      const std::uint64_t row = job.a.row_id(walk.reach(e));
      const std::uint64_t column = job.a.column(e);
      const float product = dot(job.x + row * job.x_stride, job.y + column * job.y_stride);
      job.out[e] = job.scaled(product, e, row, column);
    }
  }

  [[gnu::always_inline]] float dot(const T* x, const T* y) const {
    float sum = 0.0f;
    std::uint64_t c = 0;
    sum += wide<64>(x, y, c);
    sum += wide<16>(x, y, c);
    for (; c < job.k; ++c) sum += to_float(x[c]) * to_float(y[c]);
    return sum;
  }
  template <std::uint32_t kWidth>
  [[gnu::always_inline]] float wide(const T* x, const T* y, std::uint64_t& c) const {
    if (job.k - c < kWidth) return 0.0f;
    exec::FloatPack<kWidth> total;
    total.clear();
    for (; job.k - c >= kWidth; c += kWidth) {
      exec::FloatPack<kWidth> left;
      exec::FloatPack<kWidth> right;
      left.load(x + c);
      right.load(y + c);
      total.add_product(left, right);
    }
    return total.sum();
  }
};

#if defined(__CUDACC__)
/// As SpmmOnTile: lanes find the rows of entries, then all lanes read four of them at a time and
/// add up the products of their columns.
template <class T, std::uint32_t kWidth>
struct SddmmOnTile {
  static constexpr std::uint32_t kRowsInFlight = 4;
  SddmmJob<T> job;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t index) const {
    const SpmmTask task = job.tasks[index];
    RowOfEntry walk{job.a.offsets, task.row};
    for (EdgeOffset base = task.begin; base < task.end; base += worker.size()) {
      const EdgeOffset left = task.end - base;
      const auto count = static_cast<std::uint32_t>(left < worker.size() ? left : worker.size());
      std::uint64_t column = 0;
      if (worker.lane() < count) column = job.a.column(base + worker.lane());
      float mine = 0.0f;
      std::uint64_t my_row = 0;
      for (std::uint32_t first = 0; first < count; first += kRowsInFlight) {
        float product[kRowsInFlight];
        std::uint64_t row[kRowsInFlight];
        const T* y[kRowsInFlight];
        WARREN_UNROLL
        for (std::uint32_t u = 0; u < kRowsInFlight; ++u) {
          product[u] = 0.0f;
          row[u] = walk.row;
          if (first + u < count) row[u] = walk.reach(base + first + u);
          row[u] = job.a.row_id(row[u]);
          y[u] = job.y + worker.broadcast(column, first + u) * job.y_stride;
        }
        for (std::uint64_t c = worker.lane() * kWidth; c < job.k;
             c += std::uint64_t{worker.size()} * kWidth) {
          exec::FloatPack<kWidth> values[kRowsInFlight];
          WARREN_UNROLL
          for (std::uint32_t u = 0; u < kRowsInFlight; ++u) {
            values[u].clear();
            if (first + u < count) values[u].load(y[u] + c);
          }
          WARREN_UNROLL
          for (std::uint32_t u = 0; u < kRowsInFlight; ++u) {
            exec::FloatPack<kWidth> left_row;
            left_row.load(job.x + row[u] * job.x_stride + c);
            product[u] += left_row.dot(values[u]);
          }
        }
        WARREN_UNROLL
        for (std::uint32_t u = 0; u < kRowsInFlight; ++u) {
          const float sum = worker.reduce(product[u], exec::Plus{});
          if (worker.lane() == first + u) {
            mine = sum;
            my_row = row[u];
          }
        }
      }
      if (worker.lane() < count) {
        const EdgeOffset e = base + worker.lane();
        job.out[e] = job.scaled(mine, e, my_row, column);
      }
    }
  }
};

template <class T, std::uint32_t kWidth>
void launch_sddmm(const exec::Stream& stream, const SddmmJob<T>& job) {
  const SddmmOnTile<T, kWidth> kernel{job};
  const std::uint64_t lanes = (job.k + kWidth - 1) / kWidth;
  if (lanes > 16) return exec::launch<exec::Cuda, exec::Warp>(stream, job.task_count, kernel);
  if (lanes > 8) return exec::launch<exec::Cuda, exec::Tile<16>>(stream, job.task_count, kernel);
  return exec::launch<exec::Cuda, exec::Tile<8>>(stream, job.task_count, kernel);
}
#endif

template <class Backend, class T>
void run_sddmm(const exec::Stream& stream, const SddmmJob<T>& job) {
  if constexpr (std::is_same_v<Backend, exec::Cpu>) {
    exec::launch_wide<exec::Cpu, exec::Serial>(stream, job.task_count, SddmmOnCpu<T>{job},
                                               {.grain = 1});
  } else {
#if defined(__CUDACC__)
    constexpr std::uint64_t kWide = 16 / sizeof(T);
    const bool is_aligned =
        (reinterpret_cast<std::uintptr_t>(job.x) | reinterpret_cast<std::uintptr_t>(job.y)) % 16 ==
            0 &&
        (job.k | job.x_stride | job.y_stride) % kWide == 0;
    if (is_aligned) {
      launch_sddmm<T, kWide>(stream, job);
    } else {
      launch_sddmm<T, 1>(stream, job);
    }
#endif
  }
}

#if WARREN_HAS_CUDA
extern template void run_sddmm<exec::Cuda, float>(const exec::Stream&, const SddmmJob<float>&);
extern template void run_sddmm<exec::Cuda, Half>(const exec::Stream&, const SddmmJob<Half>&);
extern template void run_sddmm<exec::Cuda, BFloat16>(const exec::Stream&,
                                                     const SddmmJob<BFloat16>&);
#endif

}  // namespace warren::sparse::detail
