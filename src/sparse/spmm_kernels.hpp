// SPDX-License-Identifier: Apache-2.0
// The sparse-dense product on either backend, and the CPU's kernels.
#pragma once

#include "sparse/spmm_job.hpp"
#if defined(__CUDACC__)
#include "sparse/spmm_tiles.hpp"
#endif

namespace warren::sparse::detail {

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

/// sum += factor * from, a SIMD register at a time: a whole row that is loaded first goes through
/// memory.
template <std::uint32_t kWidth, class T>
[[gnu::always_inline]] inline void add_row(exec::FloatPack<kWidth>& sum, float factor,
                                           const T* from) {
  using Pack = exec::FloatPack<kWidth>;
  for (std::uint32_t i = 0; i < Pack::kParts; ++i) {
    exec::FloatPack<Pack::kWide> piece;
    piece.load(from + i * Pack::kWide);
    sum.part[i] += factor * piece.part[0];
  }
}

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
    add_row(walk.sum, is_weighted ? job.a.weight(e, column) : 1.0f,
            lane.address(column) + columns.column);
  }
  walk.end();
}

/// The same where B's rows are in one place, or own ones and halo rows in two, entry by entry of a
/// row, so that nothing but its column is looked up for an entry and the sums stay in registers.
template <bool kWeighted, int kParts, std::uint32_t kWidth, class T>
inline void multiply_in_place(const SpmmJob<T>& job, const SpmmTask& task, LaneColumns columns) {
  constexpr EdgeOffset kAhead = kWidth * sizeof(T) > 64 ? 16 : 32;
  constexpr std::uint64_t kLine = 64;
  const SpmmLane<T, kWidth> lane{job, columns};
  RowWalk<T, kWidth> walk(lane, task);
  const MatrixView a = job.a;
  const T* const rows[] = {job.b.origin[0] + columns.column,
                           job.b.origin[kParts - 1] + columns.column};
  const std::uint64_t stride = job.b.stride;
  const std::uint64_t first_halo_row = job.b.first[1];
  const auto row_of = [&](std::uint64_t column) {
    return rows[kParts == 2 && column >= first_halo_row ? 1 : 0] + column * stride;
  };
  for (EdgeOffset e = task.begin; e < task.end;) {
    walk.reach(e);
    const EdgeOffset end = walk.row_end < task.end ? walk.row_end : task.end;
    exec::FloatPack<kWidth> sum;
    sum.clear();
    for (; e < end; ++e) {
      const EdgeOffset next = e + kAhead < task.end ? e + kAhead : task.end - 1;
      const auto* ahead = reinterpret_cast<const char*>(row_of(a.column_ids[next]));
      for (std::uint64_t at = 0; at < kWidth * sizeof(T); at += kLine)
        __builtin_prefetch(ahead + at);
      const std::uint64_t column = a.column_ids[e];
      add_row(sum, kWeighted ? a.weight(e, column) : 1.0f, row_of(column));
    }
    walk.sum = sum;
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
template <std::uint32_t kWidest = 128, class F>
inline void each_tile(std::uint64_t k, F&& f) {
  std::uint64_t column = 0;
  if constexpr (kWidest >= 256) {
    for (; k - column >= 256; column += 256)
      f.template operator()<256>(LaneColumns{column, 0, true});
  }
  for (; k - column >= 128; column += 128) f.template operator()<128>(LaneColumns{column, 0, true});
  for (; k - column >= 64; column += 64) f.template operator()<64>(LaneColumns{column, 0, true});
  for (; k - column >= 32; column += 32) f.template operator()<32>(LaneColumns{column, 0, true});
  // One call of each width: flattened, each is compiled for all of the CPU's instructions.
  const auto cover = [&]<std::uint32_t kWidth>() {
    for (; column < k; column += kWidth) {
      const std::uint64_t rest = k - column;
      f.template operator()<kWidth>(
          rest >= kWidth
              ? LaneColumns{column, 0, true}
              : LaneColumns{k - kWidth, static_cast<std::uint32_t>(kWidth - rest), true});
    }
  };
  if (k >= 16) return cover.template operator()<16>();
  if (k >= 4) return cover.template operator()<4>();
  for (; column < k; ++column) f.template operator()<1>(LaneColumns{column, 0, true});
}

/// Task by task, all columns, on the CPU.
template <class T>
struct SpmmOnCpu {
  SpmmJob<T> job;

  template <class W>
  void operator()(const W&, std::uint64_t index) const {
    const SpmmTask task = job.tasks[index];
    if (job.a.column_ids != nullptr) {
      if (job.b.parts == 1) return in_place<1>(task);
      if (job.b.parts == 2 && job.rows_moved == nullptr) return in_place<2>(task);
    }
    each_tile(job.k, [&]<std::uint32_t kWidth>(LaneColumns columns) {
      multiply_serially<kWidth>(job, task, columns);
    });
    count_moved(job, task);
  }

  template <int kParts>
  void in_place(const SpmmTask& task) const {
    if (job.a.is_weighted()) {
      in_place<true, kParts>(task);
    } else {
      in_place<false, kParts>(task);
    }
  }
  template <bool kWeighted, int kParts>
  void in_place(const SpmmTask& task) const {
    // Rows of 1 KiB are read from end to end while their pages are at hand.
    each_tile<sizeof(T) == 4 ? 256 : 128>(job.k, [&]<std::uint32_t kWidth>(LaneColumns columns) {
      multiply_in_place<kWeighted, kParts, kWidth>(job, task, columns);
    });
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

/// Task t has rows [t each, (t + 1) each).
struct EvenTasks {
  const EdgeOffset* offsets;
  std::uint64_t rows;
  std::uint32_t each;
  SpmmTask* tasks;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t t) const {
    const std::uint64_t first = t * each;
    const std::uint64_t end = first + each < rows ? first + each : rows;
    tasks[t] = {offsets[first],
                offsets[end],
                static_cast<Vertex>(first),
                static_cast<std::uint32_t>(end - first),
                SpmmTask::kWhole,
                0};
  }
};
template <class Backend>
void make_tasks(const exec::Stream& stream, std::uint64_t count, const EvenTasks& kernel) {
  exec::launch<Backend, exec::Thread>(stream, count, kernel);
}

template <class Backend, class T>
void run_spmm(const exec::Stream& stream, const SpmmJob<T>& job,
              [[maybe_unused]] const exec::LaunchOptions& options) {
  if constexpr (std::is_same_v<Backend, exec::Cpu>) {
    exec::launch_wide<exec::Cpu, exec::Serial>(stream, job.task_count, SpmmOnCpu<T>{job},
                                               {.grain = 1});
    if (!job.is_last) return;
    exec::launch_wide<exec::Cpu, exec::Serial>(stream, job.split_count, CombineOnCpu<T>{job},
                                               {.grain = 1});
  } else {
#if defined(__CUDACC__)
    launch_spmm_tiles(stream, job, options);
#endif
  }
}

// A source each: compiled for all of the CPU's instructions they take long.
extern template void run_spmm<exec::Cpu, float>(const exec::Stream&, const SpmmJob<float>&,
                                                const exec::LaunchOptions&);
extern template void run_spmm<exec::Cpu, Half>(const exec::Stream&, const SpmmJob<Half>&,
                                               const exec::LaunchOptions&);
extern template void run_spmm<exec::Cpu, BFloat16>(const exec::Stream&, const SpmmJob<BFloat16>&,
                                                   const exec::LaunchOptions&);
#if WARREN_HAS_CUDA
extern template void make_tasks<exec::Cuda>(const exec::Stream&, std::uint64_t, const EvenTasks&);
extern template void run_spmm<exec::Cuda, float>(const exec::Stream&, const SpmmJob<float>&,
                                                 const exec::LaunchOptions&);
extern template void run_spmm<exec::Cuda, Half>(const exec::Stream&, const SpmmJob<Half>&,
                                                const exec::LaunchOptions&);
extern template void run_spmm<exec::Cuda, BFloat16>(const exec::Stream&, const SpmmJob<BFloat16>&,
                                                    const exec::LaunchOptions&);
#endif

}  // namespace warren::sparse::detail
