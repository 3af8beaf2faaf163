// SPDX-License-Identifier: Apache-2.0
// The kernels of the sparse-dense product, for both backends.
#pragma once

#include <cstdint>

#include "warren/exec/atomic.hpp"
#include "warren/exec/float_pack.hpp"
#include "warren/exec/launch.hpp"
#include "warren/sparse/spmm.hpp"

namespace warren::sparse::detail {

/// One product, as its kernels see it.
template <class T>
struct SpmmJob {
  MatrixView a;
  RowTable<T> b;
  T* c = nullptr;
  std::uint64_t c_stride = 0;
  std::uint64_t k = 0;
  const SpmmTask* tasks = nullptr;
  std::uint64_t task_count = 0;
  const SplitRow* splits = nullptr;
  std::uint64_t split_count = 0;
  float* partials = nullptr;
  std::uint64_t partial_stride = 0;
  std::uint64_t* rows_moved = nullptr;
  float alpha = 1.0f;
  float beta = 0.0f;
};

/// The columns that one lane works on: kWidth from `column` on, of which the first `done` are
/// another's results already.
struct LaneColumns {
  std::uint64_t column = 0;
  std::uint32_t done = 0;
  bool is_active = true;
};

template <class T, std::uint32_t kWidth>
struct SpmmLane {
  using Pack = exec::FloatPack<kWidth>;

  const SpmmJob<T>& job;
  LaneColumns mine;

  WARREN_HD const T* address(std::uint64_t row) const {
    const int q = job.b.parts == 1 ? 0 : job.b.part(row);
    return job.b.origin[q] + row * job.b.stride;
  }

  /// C[row] = alpha row_scale (sum + self B[row]) + beta C[row] in this lane's columns.
  WARREN_HD void finish(std::uint64_t row, Pack& sum) const {
    if (!mine.is_active) return;
    if (job.a.self != nullptr) {
      Pack own;
      own.load(address(job.a.self_first + row) + mine.column);
      sum.add(job.a.self[row], own);
    }
    const float scale = job.a.row_scale == nullptr ? 1.0f : job.a.row_scale[row];
    sum.scale(job.alpha * scale);
    T* const target = job.c + row * job.c_stride + mine.column;
    if (job.beta != 0.0f) {
      Pack old;
      old.load(target);
      sum.add(job.beta, old);
    }
    if (mine.done == 0) {
      sum.store(target);
    } else {
      // All of the pack's places, so that a GPU need not index its registers.
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < kWidth; ++i) {
        if (i >= mine.done) target[i] = from_float<T>(sum.at(i));
      }
    }
  }
};

/// Where a walk over a task's entries stands: rows end as their entries are used up.
template <class T, std::uint32_t kWidth>
struct RowWalk {
  const SpmmLane<T, kWidth>& lane;
  const SpmmTask& task;
  typename SpmmLane<T, kWidth>::Pack sum;
  std::uint64_t row;
  EdgeOffset row_end;

  WARREN_HD RowWalk(const SpmmLane<T, kWidth>& lane_, const SpmmTask& task_)
      : lane(lane_), task(task_), row(task_.row) {
    sum.clear();
    row_end = task.partial == SpmmTask::kWhole ? end_of(row) : ~EdgeOffset{0};
  }
  WARREN_HD EdgeOffset end_of(std::uint64_t r) const { return lane.job.a.offsets[r + 1]; }

  /// Finishes the rows that end at or before entry e.
  WARREN_HD void reach(EdgeOffset e) {
    while (e >= row_end) {
      next();
    }
  }
  WARREN_HD void next() {
    lane.finish(lane.job.a.row_id(row), sum);
    sum.clear();
    ++row;
    const bool is_last = row >= std::uint64_t{task.row} + task.rows;
    row_end = is_last ? ~EdgeOffset{0} : end_of(row);
  }
  WARREN_HD void end() {
    if (task.partial == SpmmTask::kWhole) {
      while (row < std::uint64_t{task.row} + task.rows) next();
    } else if (lane.mine.is_active) {
      float* const target =
          lane.job.partials + task.partial * lane.job.partial_stride + lane.mine.column;
      if (lane.mine.done == 0) {
        sum.store(target);
      } else {
        WARREN_UNROLL
        for (std::uint32_t i = 0; i < kWidth; ++i) {
          if (i >= lane.mine.done) target[i] = sum.at(i);
        }
      }
    }
  }
};

/// A task in the columns of each lane, by a thread of the CPU: the rows of B that come next are
/// asked for ahead of their use.
template <std::uint32_t kWidth, class T>
inline void multiply_serially(const SpmmJob<T>& job, const SpmmTask& task, LaneColumns columns) {
  constexpr EdgeOffset kAhead = 16;
  constexpr std::uint64_t kLine = 64;
  const SpmmLane<T, kWidth> lane{job, columns};
  RowWalk<T, kWidth> walk(lane, task);
  const bool is_weighted = job.a.is_weighted();
  for (EdgeOffset e = task.begin; e < task.end; ++e) {
    walk.reach(e);
    if (e + kAhead < task.end) {
      const auto* ahead =
          reinterpret_cast<const char*>(lane.address(job.a.column(e + kAhead)) + columns.column);
      for (std::uint64_t at = 0; at < kWidth * sizeof(T); at += kLine)
        __builtin_prefetch(ahead + at);
    }
    const std::uint64_t column = job.a.column(e);
    exec::FloatPack<kWidth> row;
    row.load(lane.address(column) + columns.column);
    walk.sum.add(is_weighted ? job.a.weight(e, column) : 1.0f, row);
  }
  walk.end();
}

template <class T>
inline void count_moved(const SpmmJob<T>& job, const SpmmTask& task) {
  if (job.rows_moved == nullptr || job.b.parts == 1) return;
  std::uint64_t moved = 0;
  for (EdgeOffset e = task.begin; e < task.end; ++e)
    moved += job.b.part(job.a.column(e)) == job.b.own ? 0 : 1;
  if (moved != 0) exec::atomic_add(*job.rows_moved, moved);
}

/// Calls f.template operator()<kWidth>(columns) for column tiles that cover [0, k): as wide as fit;
/// a last one of 4 or more overlaps the one before.
template <class F>
inline void each_tile(std::uint64_t k, F&& f) {
  std::uint64_t column = 0;
  for (; k - column >= 128; column += 128) f.template operator()<128>(LaneColumns{column, 0, true});
  for (; k - column >= 64; column += 64) f.template operator()<64>(LaneColumns{column, 0, true});
  for (; k - column >= 32; column += 32) f.template operator()<32>(LaneColumns{column, 0, true});
  for (; k - column >= 16; column += 16) f.template operator()<16>(LaneColumns{column, 0, true});
  const std::uint64_t rest = k - column;
  if (rest == 0) return;
  if (k >= 16) {
    f.template operator()<16>(LaneColumns{k - 16, static_cast<std::uint32_t>(16 - rest), true});
    return;
  }
  for (; k - column >= 4; column += 4) f.template operator()<4>(LaneColumns{column, 0, true});
  if (k == column) return;
  if (k >= 4) {
    const auto done = static_cast<std::uint32_t>(4 - (k - column));
    f.template operator()<4>(LaneColumns{k - 4, done, true});
    return;
  }
  for (; column < k; ++column) f.template operator()<1>(LaneColumns{column, 0, true});
}

/// Task by task, all columns, on the CPU.
template <class T>
struct SpmmOnCpu {
  SpmmJob<T> job;

  template <class W>
  void operator()(const W&, std::uint64_t index) const {
    const SpmmTask task = job.tasks[index];
    each_tile(job.k, [&]<std::uint32_t kWidth>(LaneColumns columns) {
      multiply_serially<kWidth>(job, task, columns);
    });
    count_moved(job, task);
  }
};

/// The sums of split rows, from their pieces'.
template <class T>
struct CombineOnCpu {
  SpmmJob<T> job;

  template <class W>
  void operator()(const W&, std::uint64_t index) const {
    const SplitRow split = job.splits[index];
    each_tile(job.k, [&]<std::uint32_t kWidth>(LaneColumns columns) {
      const SpmmLane<T, kWidth> lane{job, columns};
      exec::FloatPack<kWidth> sum;
      sum.clear();
      for (std::uint64_t p = split.first; p < std::uint64_t{split.first} + split.count; ++p) {
        exec::FloatPack<kWidth> piece;
        piece.load(job.partials + p * job.partial_stride + columns.column);
        sum.add(1.0f, piece);
      }
      lane.finish(job.a.row_id(split.row), sum);
    });
  }
};

#if defined(__CUDACC__)
/// Task `index % tasks` in column tile `index / tasks`, by a group of lanes: each lane finds the
/// addresses of some of the next entries' rows, and all read those rows together, four at a time.
template <class T, std::uint32_t kWidth>
struct SpmmOnTile {
  static constexpr std::uint32_t kRowsInFlight = 4;
  SpmmJob<T> job;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t index) const {
    const SpmmTask task = job.tasks[index % job.task_count];
    const std::uint64_t tile = index / job.task_count;
    LaneColumns columns;
    columns.column = (tile * worker.size() + worker.lane()) * kWidth;
    columns.is_active = columns.column < job.k;
    const SpmmLane<T, kWidth> lane{job, columns};
    RowWalk<T, kWidth> walk(lane, task);
    const bool is_weighted = job.a.is_weighted();
    std::uint64_t moved = 0;
    for (EdgeOffset base = task.begin; base < task.end; base += worker.size()) {
      const EdgeOffset e = base + worker.lane();
      const T* row = nullptr;
      float weight = 1.0f;
      if (e < task.end) {
        const std::uint64_t column = job.a.column(e);
        row = lane.address(column);
        if (is_weighted) weight = job.a.weight(e, column);
        if (job.rows_moved != nullptr && job.b.part(column) != job.b.own) ++moved;
      }
      const EdgeOffset left = task.end - base;
      const auto count = static_cast<std::uint32_t>(left < worker.size() ? left : worker.size());
      for (std::uint32_t first = 0; first < count; first += kRowsInFlight)
        use(worker, walk, columns, base, first, count, row, weight, is_weighted);
    }
    walk.end();
    if (job.rows_moved != nullptr && tile == 0 && moved != 0)
      exec::atomic_add(*job.rows_moved, moved);
  }

  template <class W>
  WARREN_HD void use(const W& worker, RowWalk<T, kWidth>& walk, const LaneColumns& columns,
                     EdgeOffset base, std::uint32_t first, std::uint32_t count, const T* row,
                     float weight, bool is_weighted) const {
    exec::RawPack<T, kWidth> raw[kRowsInFlight];
    WARREN_UNROLL
    for (std::uint32_t u = 0; u < kRowsInFlight; ++u) {
      const auto address = worker.broadcast(reinterpret_cast<std::uintptr_t>(row), first + u);
      raw[u] = {};
      if (first + u < count && columns.is_active) {
        raw[u] = *reinterpret_cast<const exec::RawPack<T, kWidth>*>(
            reinterpret_cast<const T*>(address) + columns.column);
      }
    }
    WARREN_UNROLL
    for (std::uint32_t u = 0; u < kRowsInFlight; ++u) {
      const float factor = is_weighted ? worker.broadcast(weight, first + u) : 1.0f;
      if (first + u >= count) continue;
      walk.reach(base + first + u);
      exec::FloatPack<kWidth> values;
      values.set(raw[u]);
      walk.sum.add(factor, values);
    }
  }
};

/// Split row `index % splits` in column tile `index / splits`.
template <class T, std::uint32_t kWidth>
struct CombineOnTile {
  SpmmJob<T> job;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t index) const {
    const SplitRow split = job.splits[index % job.split_count];
    LaneColumns columns;
    columns.column = (index / job.split_count * worker.size() + worker.lane()) * kWidth;
    columns.is_active = columns.column < job.k;
    if (!columns.is_active) return;
    const SpmmLane<T, kWidth> lane{job, columns};
    exec::FloatPack<kWidth> sum;
    sum.clear();
    for (std::uint32_t p = 0; p < split.count; ++p) {
      const float* piece =
          job.partials + (std::uint64_t{split.first} + p) * job.partial_stride + columns.column;
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < kWidth; ++i) sum.element[i] += piece[i];
    }
    lane.finish(job.a.row_id(split.row), sum);
  }
};

template <class W, class T, std::uint32_t kWidth>
void launch_tiles(const exec::Stream& stream, const SpmmJob<T>& job,
                  const exec::LaunchOptions& options) {
  const std::uint64_t width = std::uint64_t{exec::detail::kLanes<W>} * kWidth;
  const std::uint64_t tiles = (job.k + width - 1) / width;
  exec::launch<exec::Cuda, W>(stream, job.task_count * tiles, SpmmOnTile<T, kWidth>{job}, options);
  exec::launch<exec::Cuda, W>(stream, job.split_count * tiles, CombineOnTile<T, kWidth>{job},
                              options);
}

template <class T, std::uint32_t kWidth>
void launch_width(const exec::Stream& stream, const SpmmJob<T>& job,
                  const exec::LaunchOptions& options) {
  const std::uint64_t lanes = (job.k + kWidth - 1) / kWidth;
  if (lanes > 16) return launch_tiles<exec::Warp, T, kWidth>(stream, job, options);
  if (lanes > 8) return launch_tiles<exec::Tile<16>, T, kWidth>(stream, job, options);
  if (lanes > 4) return launch_tiles<exec::Tile<8>, T, kWidth>(stream, job, options);
  return launch_tiles<exec::Tile<4>, T, kWidth>(stream, job, options);
}
#endif

/// Columns that a lane reads at once: 16 bytes where all addresses allow.
template <class T>
[[nodiscard]] bool reads_wide(const SpmmJob<T>& job) {
  constexpr std::uint64_t kWide = 16 / sizeof(T);
  std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(job.c);
  for (int q = 0; q < job.b.parts; ++q) bits |= reinterpret_cast<std::uintptr_t>(job.b.origin[q]);
  return bits % 16 == 0 && (job.k | job.b.stride | job.c_stride) % kWide == 0;
}

template <class Backend, class T>
void run_spmm(const exec::Stream& stream, const SpmmJob<T>& job,
              [[maybe_unused]] const exec::LaunchOptions& options) {
  if constexpr (std::is_same_v<Backend, exec::Cpu>) {
    exec::launch_wide<exec::Cpu, exec::Serial>(stream, job.task_count, SpmmOnCpu<T>{job},
                                               {.grain = 1});
    exec::launch_wide<exec::Cpu, exec::Serial>(stream, job.split_count, CombineOnCpu<T>{job},
                                               {.grain = 1});
  } else {
#if defined(__CUDACC__)
    if (reads_wide(job)) {
      launch_width<T, 16 / sizeof(T)>(stream, job, options);
    } else {
      launch_width<T, 1>(stream, job, options);
    }
#endif
  }
}

#if WARREN_HAS_CUDA
extern template void run_spmm<exec::Cuda, float>(const exec::Stream&, const SpmmJob<float>&,
                                                 const exec::LaunchOptions&);
extern template void run_spmm<exec::Cuda, Half>(const exec::Stream&, const SpmmJob<Half>&,
                                                const exec::LaunchOptions&);
extern template void run_spmm<exec::Cuda, BFloat16>(const exec::Stream&, const SpmmJob<BFloat16>&,
                                                    const exec::LaunchOptions&);
#endif

}  // namespace warren::sparse::detail
