// SPDX-License-Identifier: Apache-2.0
// The GPU's kernel of the column-wise product: a group of lanes reads a remote row into its
// registers, 16 bytes a lane, and adds it to each of its results by one vector reduction a lane,
// whose outcome nobody waits for.
#pragma once

#include <algorithm>

#include "warren/exec/atomic.hpp"
#include "warren/exec/float_pack.hpp"

#include "sparse/once_job.hpp"
#include "sparse/tile_launch.hpp"

namespace warren::sparse::detail {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
inline constexpr bool kHasVectorReductions = true;
#else
inline constexpr bool kHasVectorReductions = false;
#endif

/// at[i] += values[i] in global memory, 16 bytes aligned where there are four. Nothing of the
/// kernel's reads what it adds to, so that loads may pass it.
template <std::uint32_t kWidth>
__device__ void add_to_global(float* at, const exec::FloatPack<kWidth>& values) {
  const std::uint64_t address = __cvta_generic_to_global(at);
  if constexpr (kWidth == 4 && kHasVectorReductions) {
    asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(address), "f"(values.at(0)), "f"(values.at(1)), "f"(values.at(2)),
                   "f"(values.at(3)));
  } else {
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < kWidth; ++i)
      asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;"
                   :
                   : "l"(address + i * sizeof(float)), "f"(values.at(i)));
  }
}

/// Batches of four columns, whose rows of B are on their way together. Batches group, group +
/// groups, ... are one group of lanes'; those of neighbouring columns are under way at the same
/// time and find each other's rows of C in the second-level cache.
template <std::uint32_t kWidth>
struct OnceOnTile {
  static constexpr std::uint32_t kInFlight = 4;
  static constexpr std::uint32_t kMostThreads = 256;
  OnceJob job;
  std::uint64_t groups;

  template <class W>
  __device__ void operator()(const W& worker, std::uint64_t group) const {
    const std::uint64_t batches = (job.columns + kInFlight - 1) / kInFlight;
    const std::uint64_t step = std::uint64_t{W::size()} * kWidth;
    std::uint64_t moved = 0;
    for (std::uint64_t batch = group; batch < batches; batch += groups) {
      const std::uint64_t first = batch * kInFlight;
      const std::uint64_t left = job.columns - first;
      const auto here = static_cast<std::uint32_t>(left < kInFlight ? left : kInFlight);
      const float* row[kInFlight];
      EdgeOffset end[kInFlight];
      const EdgeOffset begin = job.offsets[first];
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kInFlight; ++u) {
        const std::uint64_t column = first + (u < here ? u : here - 1);
        const std::uint64_t from = job.rows[column];
        end[u] = job.offsets[column + 1];
        row[u] = job.b.origin[job.b.part(from)] + from * job.b.stride;
      }
      for (std::uint64_t j = std::uint64_t{worker.lane()} * kWidth; j < job.k; j += step)
        add_columns(row, begin, end, here, j);
      moved += here;
    }
    if (job.rows_moved != nullptr && moved != 0 && worker.lane() == 0)
      exec::atomic_add(*job.rows_moved, moved);
  }

  /// Elements j and on of up to four rows, to all rows of C that their entries name.
  __device__ void add_columns(const float* const (&row)[kInFlight], EdgeOffset begin,
                              const EdgeOffset (&end)[kInFlight], std::uint32_t here,
                              std::uint64_t j) const {
    exec::FloatPack<kWidth> values[kInFlight];
    WARREN_UNROLL
    for (std::uint32_t u = 0; u < kInFlight; ++u) {
      values[u].clear();
      if (u < here) values[u].load(row[u] + j);
    }
    const bool is_plain = job.is_plain();
    const EdgeOffset last = end[kInFlight - 1] - 1;
    EdgeOffset e = begin;
    Vertex target = job.row_ids[e];
    WARREN_UNROLL
    for (std::uint32_t u = 0; u < kInFlight; ++u) {
      values[u].scale(job.alpha);
      // Behind the last column `end` is the last one's again: there is nothing left.
      for (; e < end[u]; ++e) {
        const Vertex next = job.row_ids[e < last ? e + 1 : last];
        float* const to = job.c + std::uint64_t{target} * job.c_stride + j;
        if (is_plain) {
          add_to_global(to, values[u]);
        } else {
          exec::FloatPack<kWidth> scaled = values[u];
          scaled.scale(job.factor(e));
          add_to_global(to, scaled);
        }
        target = next;
      }
    }
  }
};

/// As many groups of lanes as are resident beside another kernel, so that each has further batches.
template <std::uint32_t kWidth>
void launch_once_width(const exec::Stream& stream, const OnceJob& job) {
  constexpr std::uint64_t kThreadsPerProcessor = 512;
  using Kernel = OnceOnTile<kWidth>;
  with_lanes((job.k + kWidth - 1) / kWidth, [&]<class W>() {
    const std::uint64_t batches = (job.columns + Kernel::kInFlight - 1) / Kernel::kInFlight;
    const std::uint64_t resident = static_cast<std::uint64_t>(stream.device().processors()) *
                                   kThreadsPerProcessor / exec::detail::kLanes<W>;
    const std::uint64_t groups = std::min(batches, resident);
    exec::launch<exec::Cuda, W>(stream, groups, Kernel{job, groups},
                                {.threads_per_block = Kernel::kMostThreads});
  });
}

inline void launch_once_tiles(const exec::Stream& stream, const OnceJob& job) {
  constexpr std::uint64_t kWide = 4;
  auto bits = reinterpret_cast<std::uintptr_t>(job.c);
  for (int q = 0; q < job.b.parts; ++q) bits |= reinterpret_cast<std::uintptr_t>(job.b.origin[q]);
  const bool is_wide = bits % (kWide * sizeof(float)) == 0 && job.k % kWide == 0 &&
                       job.b.stride % kWide == 0 && job.c_stride % kWide == 0;
  if (is_wide) return launch_once_width<kWide>(stream, job);
  launch_once_width<1>(stream, job);
}

}  // namespace warren::sparse::detail
