// SPDX-License-Identifier: Apache-2.0
// The GPU's kernels of the sparse-dense product.
#pragma once

#include "warren/exec/beside.hpp"
#include "warren/exec/row_address.hpp"
#include "warren/sparse/tile_rows.hpp"

#include "sparse/spmm_job.hpp"
#include "sparse/tile_launch.hpp"
#include "sparse/tile_pieces.hpp"

namespace warren::sparse::detail {

/// Where a group of lanes stands in a task: rows end as their entries are used up. kPlain: C is
/// the sums (SpmmJob::is_plain).
template <class T, std::uint32_t kWidth, bool kPlain>
struct TileWalk {
  const SpmmLane<T, kWidth>& lane;
  const SpmmTask& task;
  typename SpmmLane<T, kWidth>::Pack sum;
  TileRows rows;
  unsigned char* target =
      nullptr;  ///< Of plain jobs: this lane's columns of C in the task's first row.

  __device__ TileWalk(const SpmmLane<T, kWidth>& lane_, const SpmmTask& task_)
      : lane(lane_), task(task_), rows(lane_.job.a.offsets, task_) {
    sum.clear();
    if constexpr (kPlain) {
      target = exec::kept_pointer(reinterpret_cast<unsigned char*>(
          lane.job.c + task.row * lane.job.c_stride + lane.mine.column));
    }
  }
  /// Finishes the rows that end at or before entry i.
  __device__ void reach(std::uint32_t i) {
    while (i >= rows.end()) next();
  }
  __device__ void next() {
    if constexpr (kPlain) {
      sum.store(reinterpret_cast<T*>(exec::row_address(target, rows.row(), lane.job.c_bytes)));
    } else {
      lane.finish(lane.job.a.row_id(std::uint64_t{task.row} + rows.row()), sum);
    }
    sum.clear();
    rows.advance();
  }
  template <class W>
  __device__ void end(const W& worker, std::uint64_t index) {
    // A piece has no rows that end.
    if (rows.count() == 0) return end_piece(lane, worker, index, sum);
    while (rows.row() < rows.count()) next();
  }
  /// A function of its own, which looks the task up again: the walk does not keep what only this
  /// needs in registers.
  template <class W>
  __device__ __noinline__ static void end_piece(SpmmLane<T, kWidth> lane, const W& worker,
                                                std::uint64_t index,
                                                typename SpmmLane<T, kWidth>::Pack sum) {
    const SpmmJob<T>& job = lane.job;
    const TaskPlace place(index, job.task_count);
    const SpmmTask task = job.tasks[place.task];
    const bool is_active =
        (std::uint64_t{place.tile} * worker.size() + worker.lane()) * kWidth < job.k;
    const SplitRow split = job.splits[task.split];
    const PieceTree<kWidth> pieces{
        job.partials + std::uint64_t{split.first} * job.partial_stride + lane.mine.column,
        job.partial_stride, job.arrivals + place.tile * job.pieces + split.first, split.count};
    if (pieces.add(worker, task.partial - split.first, is_active, sum) && is_active)
      lane.finish(job.a.row_id(split.row), sum);
  }
};

/// What a group of lanes does: a task in a tile of columns. Each of its lanes owns some columns.
/// Lanes do not wait for each other but for the pieces of a row: those behind the last column then
/// go along in columns of the first.
template <class T, std::uint32_t kWidth>
struct TileTask {
  SpmmTask task;
  std::uint32_t tile;
  LaneColumns columns;
  bool is_idle;

  template <class W>
  __device__ TileTask(const SpmmJob<T>& job, const W& worker, std::uint64_t index)
      : TileTask(job, worker, TaskPlace(index, job.task_count)) {}
  template <class W>
  __device__ TileTask(const SpmmJob<T>& job, const W& worker, const TaskPlace& place)
      : task(job.tasks[place.task]), tile(place.tile) {
    columns.column = (std::uint64_t{tile} * worker.size() + worker.lane()) * kWidth;
    const bool is_behind = columns.column >= job.k;
    is_idle = is_behind && task.partial == SpmmTask::kWhole;
    if (is_behind) columns.column = 0;
  }
  [[nodiscard]] __device__ std::uint32_t entries() const {
    return static_cast<std::uint32_t>(task.end - task.begin);
  }
};

/// A task of any matrix: four rows of B are on their way together, and the next four entries'
/// numbers with them.
template <class T, std::uint32_t kWidth>
struct SpmmOnTile {
  static constexpr std::uint32_t kInFlight = 4;
  /// Neighbouring tasks on one processor find each other's rows of B in its cache.
  static constexpr std::uint32_t kMostThreads = 1024;
  SpmmJob<T> job;

  template <class W>
  __device__ void operator()(const W& worker, std::uint64_t index) const {
    const TileTask<T, kWidth> mine(job, worker, index);
    if (mine.is_idle) return;
    const SpmmTask& task = mine.task;
    const bool counts = job.rows_moved != nullptr && mine.tile == 0 && worker.lane() == 0;
    const SpmmLane<T, kWidth> lane{job, mine.columns};
    TileWalk<T, kWidth, false> walk(lane, task);
    const std::uint32_t total = mine.entries();
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
          raw[u] = *reinterpret_cast<const exec::RawPack<T, kWidth>*>(row + mine.columns.column);
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
    walk.end(worker, index);
    if (moved != 0) exec::atomic_add(*job.rows_moved, std::uint64_t{moved});
  }
};

/// The same where entries have numbers of columns and no weights, and B has one part, or own rows
/// and halo rows: instructions, of which there are fewer here, take as long as bytes do.
template <class T, std::uint32_t kWidth, bool kPlain, int kParts>
struct SumsOnTile {
  static constexpr std::uint32_t kInFlight = 4;
  static constexpr std::uint32_t kMostThreads = 1024;
  SpmmJob<T> job;

  static bool allows(const SpmmJob<T>& job) {
    constexpr std::uint64_t kMost = (std::uint64_t{1} << 32) / sizeof(T);  // Bytes fit 32 bits.
    return !job.a.is_weighted() && job.a.column_ids != nullptr && job.b.parts == kParts &&
           (kParts == 1 || job.rows_moved == nullptr) && job.b.stride < kMost &&
           (!kPlain || (job.is_plain && job.a.row_ids == nullptr && job.c_stride < kMost));
  }

  template <class W>
  __device__ void operator()(const W& worker, std::uint64_t index) const {
    using Raw = exec::RawPack<T, kWidth>;
    const TileTask<T, kWidth> mine(job, worker, index);
    if (mine.is_idle) return;
    const SpmmLane<T, kWidth> lane{job, mine.columns};
    TileWalk<T, kWidth, kPlain> walk(lane, mine.task);
    const std::uint32_t total = mine.entries();
    const Vertex* ids = exec::kept_pointer(job.a.column_ids + mine.task.begin);
    const auto* const origin = exec::kept_pointer(
        reinterpret_cast<const unsigned char*>(job.b.origin[0] + mine.columns.column));
    const auto* const halo_rows = exec::kept_pointer(
        reinterpret_cast<const unsigned char*>(job.b.origin[kParts - 1] + mine.columns.column));
    const auto first_halo_row = static_cast<Vertex>(job.b.first[kParts - 1]);
    const auto row_of = [&](Vertex column) {
      const auto* const from = kParts == 1 || column < first_halo_row ? origin : halo_rows;
      return *reinterpret_cast<const Raw*>(exec::row_address(from, column, job.b_bytes));
    };
    const auto add = [&](const Raw& raw) {
      exec::FloatPack<kWidth> values;
      values.set(raw);
      walk.sum.add(1.0f, values);
    };
    Vertex column[kInFlight];
    if (total > 0) {
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kInFlight; ++u) column[u] = ids[entry_or_last(u, total)];
    }
    std::uint32_t i = 0;
    for (; i + kInFlight <= total; i += kInFlight) {
      Raw raw[kInFlight];
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kInFlight; ++u) raw[u] = row_of(column[u]);
      // Behind the last entry any row will do: those at hand are not asked for again.
      const std::uint32_t left = total - (i + kInFlight);
      ids += kInFlight;
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kInFlight; ++u) {
        if (u < left) column[u] = ids[u];
      }
      // Where a row ends in one of a warp's groups, all go its way: one after the other they would
      // convert and add twice.
      bool has_end = i + kInFlight > walk.rows.end();
      if constexpr (sizeof(T) == 2 && W::size() < 32) has_end = exec::any_beside(has_end);
      if (!has_end) {
        WARREN_UNROLL
        for (std::uint32_t u = 0; u < kInFlight; ++u) add(raw[u]);
      } else {
        WARREN_UNROLL
        for (std::uint32_t u = 0; u < kInFlight; ++u) {
          walk.reach(i + u);
          add(raw[u]);
        }
      }
    }
    if (i < total) {
      Raw raw[kInFlight - 1];
      WARREN_UNROLL
      for (std::uint32_t u = 0; u + 1 < kInFlight; ++u) raw[u] = row_of(column[u]);
      WARREN_UNROLL
      for (std::uint32_t u = 0; u + 1 < kInFlight; ++u) {
        if (i + u >= total) break;
        walk.reach(i + u);
        add(raw[u]);
      }
    }
    walk.end(worker, index);
  }
};

template <class W, class T, std::uint32_t kWidth>
void launch_lanes(const exec::Stream& stream, const SpmmJob<T>& job,
                  const exec::LaunchOptions& options) {
  constexpr std::uint32_t kLanes = exec::detail::kLanes<W>;
  constexpr std::uint64_t kColumns = std::uint64_t{kLanes} * kWidth;
  const std::uint64_t tiles = (job.k + kColumns - 1) / kColumns;
  const std::uint64_t all = job.task_count * tiles;
  const exec::LaunchOptions shape = shape_of(stream, job.all_tasks * tiles, kLanes, options);
  const auto with_sums = [&]<bool kPlain, int kParts>() {
    using Sums = SumsOnTile<T, kWidth, kPlain, kParts>;
    if (!Sums::allows(job)) return false;
    exec::launch<exec::Cuda, W>(stream, all, Sums{job}, shape);
    return true;
  };
  if (with_sums.template operator()<true, 1>() || with_sums.template operator()<false, 1>() ||
      with_sums.template operator()<true, 2>() || with_sums.template operator()<false, 2>())
    return;
  exec::launch<exec::Cuda, W>(stream, all, SpmmOnTile<T, kWidth>{job}, shape);
}

template <class T, std::uint32_t kWidth>
void launch_width(const exec::Stream& stream, const SpmmJob<T>& job,
                  const exec::LaunchOptions& options) {
  const std::uint64_t lanes = (job.k + kWidth - 1) / kWidth;
  with_lanes(lanes, [&]<class W>() { launch_lanes<W, T, kWidth>(stream, job, options); });
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
    wide.b_bytes = static_cast<std::uint32_t>(job.b.stride * sizeof(T));
    wide.c_bytes = static_cast<std::uint32_t>(job.c_stride * sizeof(T));
    wide.is_c_narrow = reinterpret_cast<std::uintptr_t>(job.c) % (kWidth * sizeof(T)) != 0 ||
                       (job.k | job.c_stride) % kWidth != 0;
    wide.is_plain = !wide.is_c_narrow && job.a.self == nullptr && job.a.row_scale == nullptr &&
                    job.alpha == 1.0f && job.beta == 0.0f;
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
