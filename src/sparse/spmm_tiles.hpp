// SPDX-License-Identifier: Apache-2.0
// The GPU's kernels of the sparse-dense product.
#pragma once

#include <algorithm>

#include "sparse/spmm_job.hpp"
#include "sparse/tile_rows.hpp"

namespace warren::sparse::detail {

/// Where a group of lanes stands in a task: rows end as their entries are used up.
template <class T, std::uint32_t kWidth>
struct TileWalk {
  const SpmmLane<T, kWidth>& lane;
  const SpmmTask& task;
  typename SpmmLane<T, kWidth>::Pack sum;
  TileRows rows;

  __device__ TileWalk(const SpmmLane<T, kWidth>& lane_, const SpmmTask& task_)
      : lane(lane_), task(task_), rows(lane_.job.a.offsets, task_) {
    sum.clear();
  }
  /// Finishes the rows that end at or before entry i.
  __device__ void reach(std::uint32_t i) {
    while (i >= rows.end()) next();
  }
  __device__ void next() {
    lane.finish(lane.job.a.row_id(std::uint64_t{task.row} + rows.row()), sum);
    sum.clear();
    rows.advance();
  }
  __device__ void end() {
    if (task.partial == SpmmTask::kWhole) {
      while (rows.row() < task.rows) next();
    } else {
      sum.store(lane.job.partials + task.partial * lane.job.partial_stride + lane.mine.column);
    }
  }
};

/// Task `index % tasks` in column tile `index / tasks`, by a group of lanes that each own some
/// columns: four rows of B are on their way together, and the next four entries' numbers with them.
/// Lanes do not wait for each other.
template <class T, std::uint32_t kWidth>
struct SpmmOnTile {
  static constexpr std::uint32_t kInFlight = 4;
  /// Neighbouring tasks on one processor find each other's rows of B in its cache.
  static constexpr std::uint32_t kMostThreads = 1024;
  SpmmJob<T> job;

  template <class W>
  __device__ void operator()(const W& worker, std::uint64_t index) const {
    const SpmmTask task = job.tasks[index % job.task_count];
    const std::uint64_t tile = index / job.task_count;
    LaneColumns columns;
    columns.column = (tile * worker.size() + worker.lane()) * kWidth;
    const bool counts = job.rows_moved != nullptr && tile == 0 && worker.lane() == 0;
    if (columns.column >= job.k) return;
    const SpmmLane<T, kWidth> lane{job, columns};
    TileWalk<T, kWidth> walk(lane, task);
    const auto total = static_cast<std::uint32_t>(task.end - task.begin);
    const bool is_weighted = job.a.is_weighted();
    const auto stride = static_cast<std::uint32_t>(job.b.stride);
    std::uint32_t moved = 0;
    Vertex column[kInFlight];
    if (total > 0) find_columns(job.a, task, total, 0, column);
    for (std::uint32_t i = 0; i < total; i += kInFlight) {
      exec::RawPack<T, kWidth> raw[kInFlight];
      float weight[kInFlight];
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kInFlight; ++u) {
        const T* row = job.b.origin[0] + std::uint64_t{column[u]} * stride;
        if (job.b.parts > 1) {
          const int part = job.b.part(column[u]);
          row = job.b.origin[part] + std::uint64_t{column[u]} * stride;
          if (counts && i + u < total && part != job.b.own) ++moved;
        }
        raw[u] = {};
        if (i + u < total)
          raw[u] = *reinterpret_cast<const exec::RawPack<T, kWidth>*>(row + columns.column);
        weight[u] = 1.0f;
        if (is_weighted)
          weight[u] = job.a.weight(task.begin + entry_or_last(i + u, total), column[u]);
      }
      find_columns(job.a, task, total, i + kInFlight, column);
      const bool is_within = i + kInFlight <= total && i + kInFlight <= walk.rows.end();
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kInFlight; ++u) {
        if (!is_within) {
          if (i + u >= total) break;
          walk.reach(i + u);
        }
        exec::FloatPack<kWidth> values;
        values.set(raw[u]);
        walk.sum.add(weight[u], values);
      }
    }
    walk.end();
    if (moved != 0) exec::atomic_add(*job.rows_moved, std::uint64_t{moved});
  }
};

/// Split row `index % splits` in column tile `index / splits`: groups of `lanes` lanes add up every
/// so many-th of its pieces, the first one adds up the groups' sums.
template <class T, std::uint32_t kWidth>
struct CombineOnBlock {
  static constexpr std::uint32_t kInFlight = 4;
  SpmmJob<T> job;
  std::uint32_t lanes;

  template <class W>
  __device__ void operator()(const W& worker, std::uint64_t index) const {
    const SplitRow split = job.splits[index % job.split_count];
    const std::uint32_t group = worker.lane() / lanes;
    const std::uint32_t groups = worker.size() / lanes;
    LaneColumns columns;
    columns.column = (index / job.split_count * lanes + worker.lane() % lanes) * kWidth;
    columns.is_active = columns.column < job.k;
    exec::FloatPack<kWidth> sum;
    sum.clear();
    const float* pieces =
        job.partials + std::uint64_t{split.first} * job.partial_stride + columns.column;
    for (std::uint32_t p = group; columns.is_active && p < split.count; p += groups * kInFlight) {
      exec::FloatPack<kWidth> piece[kInFlight];
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kInFlight; ++u) {
        piece[u].clear();
        if (p + u * groups < split.count)
          piece[u].load(pieces + std::uint64_t{p + u * groups} * job.partial_stride);
      }
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kInFlight; ++u) sum.add(1.0f, piece[u]);
    }
    auto* const sums = worker.template scratch<exec::FloatPack<kWidth>>();
    sums[worker.lane()] = sum;
    worker.sync();
    if (group == 0 && columns.is_active) {
      for (std::uint32_t g = 1; g < groups; ++g) sum.add(1.0f, sums[g * lanes + worker.lane()]);
      const SpmmLane<T, kWidth> lane{job, columns};
      lane.finish(job.a.row_id(split.row), sum);
    }
    worker.sync();
  }
};

template <class W, class T, std::uint32_t kWidth>
void launch_lanes(const exec::Stream& stream, const SpmmJob<T>& job,
                  const exec::LaunchOptions& options) {
  constexpr std::uint32_t kLanes = exec::detail::kLanes<W>;
  constexpr std::uint64_t kColumns = std::uint64_t{kLanes} * kWidth;
  const std::uint64_t tiles = (job.k + kColumns - 1) / kColumns;
  // Small blocks where large ones would not be some for each processor: these end at more different
  // times.
  constexpr std::uint64_t kBlocksPerProcessor = 16;
  constexpr std::uint32_t kFewThreads = 128;
  exec::LaunchOptions block;
  exec::LaunchOptions shape = options;
  const std::uint64_t blocks = job.task_count * tiles * kLanes / options.threads_per_block;
  if (blocks < kBlocksPerProcessor * static_cast<std::uint64_t>(stream.device().processors()))
    shape.threads_per_block = std::min(shape.threads_per_block, kFewThreads);
  exec::launch<exec::Cuda, W>(stream, job.task_count * tiles, SpmmOnTile<T, kWidth>{job}, shape);
  block.scratch_bytes = block.threads_per_block * kWidth * sizeof(float);
  exec::launch<exec::Cuda, exec::Block>(stream, job.split_count * tiles,
                                        CombineOnBlock<T, kWidth>{job, kLanes}, block);
}

template <class T, std::uint32_t kWidth>
void launch_width(const exec::Stream& stream, const SpmmJob<T>& job,
                  const exec::LaunchOptions& options) {
  const std::uint64_t lanes = (job.k + kWidth - 1) / kWidth;
  if (lanes > 16) return launch_lanes<exec::Warp, T, kWidth>(stream, job, options);
  if (lanes > 8) return launch_lanes<exec::Tile<16>, T, kWidth>(stream, job, options);
  if (lanes > 4) return launch_lanes<exec::Tile<8>, T, kWidth>(stream, job, options);
  return launch_lanes<exec::Tile<4>, T, kWidth>(stream, job, options);
}

/// A lane reads 16 bytes of a row at once where all addresses allow; 8 where only that is possible,
/// or where else fewer than four lanes would share a row.
template <class T>
void launch_spmm_tiles(const exec::Stream& stream, const SpmmJob<T>& job,
                       const exec::LaunchOptions& options) {
  constexpr std::uint64_t kWide = 16 / sizeof(T);
  std::uintptr_t bits = 0;
  for (int q = 0; q < job.b.parts; ++q) bits |= reinterpret_cast<std::uintptr_t>(job.b.origin[q]);
  // Where only B's rows allow it, C's are written element by element.
  const auto go = [&]<std::uint32_t kWidth>() {
    SpmmJob<T> wide = job;
    wide.is_c_narrow = reinterpret_cast<std::uintptr_t>(job.c) % (kWidth * sizeof(T)) != 0 ||
                       (job.k | job.c_stride) % kWidth != 0;
    launch_width<T, kWidth>(stream, wide, options);
  };
  const auto reads = [&](std::uint64_t width) {
    return bits % (width * sizeof(T)) == 0 && job.b.stride % width == 0 &&
           (job.k + width - 1) / width * width <= job.b.stride;
  };
  if constexpr (kWide > 4) {
    if (job.k <= 16 && reads(4)) return go.template operator()<4>();
  }
  if (reads(kWide)) return go.template operator()<kWide>();
  if constexpr (kWide > 4) {
    if (reads(4)) return go.template operator()<4>();
  }
  go.template operator()<1>();
}

}  // namespace warren::sparse::detail
