// SPDX-License-Identifier: Apache-2.0
// The sampled dense-dense product on either backend, and the CPU's kernel.
#pragma once

#include "sparse/sddmm_job.hpp"
#if defined(__CUDACC__)
#include "sparse/sddmm_tiles.hpp"
#endif

namespace warren::sparse::detail {

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

template <class Backend, class T>
void run_sddmm(const exec::Stream& stream, const SddmmJob<T>& job) {
  if constexpr (std::is_same_v<Backend, exec::Cpu>) {
    exec::launch_wide<exec::Cpu, exec::Serial>(stream, job.task_count, SddmmOnCpu<T>{job},
                                               {.grain = 1});
  } else {
#if defined(__CUDACC__)
    launch_sddmm_tiles(stream, job);
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
