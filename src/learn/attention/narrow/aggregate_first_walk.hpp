// SPDX-License-Identifier: Apache-2.0
// Attention over narrow rows x before they are multiplied by W: what is summed over a vertex'
// neighbours are rows of x, once for every head, and only targets are multiplied. On the CPU a
// thread has all of a row's columns.
#pragma once

#include "learn/attention/narrow/aggregate_first_lanes.hpp"
#include "learn/attention/narrow/aggregate_first_tensor.hpp"

namespace warren::learn::detail {

/// Sums of x over neighbours, weighted by attention, of heads [first, first + kHeads).
template <class T, std::uint32_t kHeads>
struct FirstForward {
  static constexpr std::uint32_t kMostThreads = 512;
  FirstJob<T> job;

  /// A row's results, unnormalised until finish().
  template <class Lanes>
  struct Sums {
    Floats<Lanes::kColumns> of[kHeads] = {};
    float powers[kHeads] = {};
  };

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t index) const {
    using Lanes = FirstLanes<W, kHeads>;
    const Lanes lanes{worker, job.columns};
    const sparse::SpmmTask task = job.tasks[index % job.task_count];
    const auto first = static_cast<std::uint32_t>(index / job.task_count) * kHeads;
    for (std::uint32_t i = 0; i < task.rows; ++i) {
      const RowEntries entries = row_entries(job.a, task, i);
      Sums<Lanes> sums;
      walk(lanes, entries, first, sums);
      if (task.partial == sparse::SpmmTask::kWhole) {
        finish(lanes, entries.row, first, sums);
      } else {
        store(lanes, task.partial, first, sums);
      }
    }
  }

  template <class Lanes>
  WARREN_HD void walk(const Lanes& lanes, const RowEntries& entries, std::uint32_t first,
                      Sums<Lanes>& sums) const {
    float left[Lanes::kMine], largest[Lanes::kMine], powers[Lanes::kMine];
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < Lanes::kMine; ++i) {
      const float* of =
          job.statistics + (entries.row * job.heads + first + lanes.pair(i) % kHeads) * kStatistics;
      left[i] = of[kLeft];
      largest[i] = of[kLargest];
      powers[i] = 0.0f;
    }
    const std::uint32_t key = job.dropout.key(entries.row);
    Vertex column[Lanes::kMine];
    find_columns(lanes, job.a, entries, entries.begin, column);
    for (EdgeOffset e = entries.begin; e < entries.end; e += Lanes::kEntries) {
      Floats<Lanes::kColumns> x[Lanes::kEntries];
      PairLoads<Lanes> pairs;
      load_pairs(lanes, job, first, entries, e, column, x, pairs);
      find_columns(lanes, job.a, entries, e + Lanes::kEntries, column);
      float weight[Lanes::kMine];
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < Lanes::kMine; ++i) {
        const std::uint32_t p = lanes.pair(i);
        const bool is_there = e + p / kHeads < entries.end;
        const float s = left[i] + pairs.right[i];
        const float power = exponential((s > 0.0f ? s : job.slope * s) - largest[i]);
        powers[i] += is_there ? power : 0.0f;
        weight[i] =
            is_there ? power * job.dropout.factor(key, pairs.key[i], first + p % kHeads) : 0.0f;
      }
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < Lanes::kEntries; ++u) {
        if (!has_half_of<Lanes>(entries, e, u)) continue;
        WARREN_UNROLL
        for (std::uint32_t h = 0; h < kHeads; ++h) {
          const float w = lanes.of_pair(weight, u * kHeads + h);
          lanes.each_column([&](std::uint32_t c) { sums.of[h].at[c] += w * x[u].at[c]; });
        }
      }
    }
    lanes.of_heads(powers, sums.powers);
  }

  template <class Lanes>
  WARREN_HD void finish(const Lanes& lanes, std::uint64_t row, std::uint32_t first,
                        const Sums<Lanes>& sums) const {
    WARREN_UNROLL
    for (std::uint32_t h = 0; h < kHeads; ++h) {
      const std::uint64_t of = row * job.heads + first + h;
      const float inverse = sums.powers[h] > 0.0f ? 1.0f / sums.powers[h] : 0.0f;
      if (lanes.worker.lane() == 0) job.statistics[of * kStatistics + kInverse] = inverse;
      Floats<Lanes::kColumns> scaled;
      lanes.each_column([&](std::uint32_t c) { scaled.at[c] = sums.of[h].at[c] * inverse; });
      lanes.store(scaled, job.sums + of * job.columns);
    }
  }
  template <class Lanes>
  WARREN_HD void store(const Lanes& lanes, std::uint64_t piece, std::uint32_t first,
                       const Sums<Lanes>& sums) const {
    float* const to = job.partials + piece * job.piece_stride();
    WARREN_UNROLL
    for (std::uint32_t h = 0; h < kHeads; ++h) {
      lanes.store(sums.of[h], to + (first + h) * job.columns);
      if (lanes.worker.lane() == 0) to[job.heads * job.columns + first + h] = sums.powers[h];
    }
  }
};

/// Rows that were cut: their pieces' sums.
template <class T, std::uint32_t kHeads>
struct FirstCombine {
  static constexpr std::uint32_t kMostThreads = 512;
  FirstForward<T, kHeads> forward;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t index) const {
    using Lanes = FirstLanes<W, kHeads>;
    const FirstJob<T>& job = forward.job;
    const Lanes lanes{worker, job.columns};
    const sparse::SplitRow split = job.splits[index % job.split_count];
    const auto first = static_cast<std::uint32_t>(index / job.split_count) * kHeads;
    typename FirstForward<T, kHeads>::template Sums<Lanes> sums;
    for (std::uint32_t p = 0; p < split.count; ++p) {
      const float* from = job.partials + (std::uint64_t{split.first} + p) * job.piece_stride();
      WARREN_UNROLL
      for (std::uint32_t h = 0; h < kHeads; ++h) {
        const Floats<Lanes::kColumns> piece = lanes.load(from + (first + h) * job.columns);
        lanes.each_column([&](std::uint32_t c) { sums.of[h].at[c] += piece.at[c]; });
        sums.powers[h] += from[job.heads * job.columns + first + h];
      }
    }
    forward.finish(lanes, split.row, first, sums);
  }
};

/// The gradients of u_left and u_right, of which l_i = <x_i, u_left> and r_j = <x_j, u_right>: with
///
///   ds_ij = LeakyReLU'(l_i + r_j) a_ij (d_ij <dg_i, x_j> - <dg_i, g_i>)
///
/// they are the sums over all edges of ds_ij x_i and of ds_ij x_j. Every worker leaves its own.
template <class T, std::uint32_t kHeads>
struct FirstBackward {
  static constexpr std::uint32_t kMostThreads = 384;
  FirstJob<T> job;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t index) const {
    using Lanes = FirstLanes<W, kHeads>;
    const Lanes lanes{worker, job.columns};
    const std::uint64_t mine = index % job.workers;
    const auto first = static_cast<std::uint32_t>(index / job.workers) * kHeads;
    Floats<Lanes::kColumns> to_left[kHeads] = {}, to_right[kHeads] = {};
    for (std::uint64_t t = mine; t < job.task_count; t += job.workers) {
      const sparse::SpmmTask task = job.tasks[t];
      for (std::uint32_t i = 0; i < task.rows; ++i)
        add_row(lanes, row_entries(job.a, task, i), first, to_left, to_right);
    }
    float* const to = job.partials + mine * 2 * job.heads * job.columns;
    WARREN_UNROLL
    for (std::uint32_t h = 0; h < kHeads; ++h) {
      float* const left = to + (first + h) * job.columns;
      lanes.store(to_left[h], left);
      lanes.store(to_right[h], left + job.heads * job.columns);
    }
  }

  template <class Lanes>
  WARREN_HD void add_row(const Lanes& lanes, const RowEntries& entries, std::uint32_t first,
                         Floats<Lanes::kColumns> (&to_left)[kHeads],
                         Floats<Lanes::kColumns> (&to_right)[kHeads]) const {
    if (entries.begin == entries.end) return;
    const std::uint64_t of_row = entries.row * job.heads + first;
    Floats<Lanes::kColumns> gradient[kHeads];
    float inner[kHeads];
    WARREN_UNROLL
    for (std::uint32_t h = 0; h < kHeads; ++h) {
      gradient[h] = lanes.load(job.gradients + (of_row + h) * job.columns);
      const auto sum = lanes.load(job.sums + (of_row + h) * job.columns);
      inner[h] = 0.0f;
      lanes.each_column([&](std::uint32_t c) { inner[h] += gradient[h].at[c] * sum.at[c]; });
    }
    float dot[Lanes::kMine], slopes[Lanes::kMine] = {};
    lanes.spread(inner, dot);
    float left[Lanes::kMine], largest[Lanes::kMine], inverse[Lanes::kMine];
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < Lanes::kMine; ++i) {
      const float* of = job.statistics + (of_row + lanes.pair(i) % kHeads) * kStatistics;
      left[i] = of[kLeft];
      largest[i] = of[kLargest];
      inverse[i] = of[kInverse];
    }
    const std::uint32_t key = job.dropout.key(entries.row);
    Vertex column[Lanes::kMine];
    find_columns(lanes, job.a, entries, entries.begin, column);
    for (EdgeOffset e = entries.begin; e < entries.end; e += Lanes::kEntries) {
      Floats<Lanes::kColumns> x[Lanes::kEntries];
      PairLoads<Lanes> pairs;
      load_pairs(lanes, job, first, entries, e, column, x, pairs);
      find_columns(lanes, job.a, entries, e + Lanes::kEntries, column);
      float products[Lanes::kPairs];
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < Lanes::kEntries; ++u) {
        WARREN_UNROLL
        for (std::uint32_t h = 0; h < kHeads; ++h) {
          float sum = 0.0f;
          if (has_half_of<Lanes>(entries, e, u))
            lanes.each_column([&](std::uint32_t c) { sum += gradient[h].at[c] * x[u].at[c]; });
          products[u * kHeads + h] = sum;
        }
      }
      float ds[Lanes::kMine];
      lanes.spread(products, ds);
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < Lanes::kMine; ++i) {
        const std::uint32_t p = lanes.pair(i);
        const std::uint32_t head = first + p % kHeads;
        const float s = left[i] + pairs.right[i];
        const bool is_positive = s > 0.0f;
        const float weight =
            exponential((is_positive ? s : job.slope * s) - largest[i]) * inverse[i];
        const float kept = job.dropout.factor(key, pairs.key[i], head);
        const float slope = is_positive ? 1.0f : job.slope;
        ds[i] = e + p / kHeads < entries.end ? slope * weight * (kept * ds[i] - dot[i]) : 0.0f;
        slopes[i] += ds[i];
      }
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < Lanes::kEntries; ++u) {
        if (!has_half_of<Lanes>(entries, e, u)) continue;
        WARREN_UNROLL
        for (std::uint32_t h = 0; h < kHeads; ++h) {
          const float d = lanes.of_pair(ds, u * kHeads + h);
          lanes.each_column([&](std::uint32_t c) { to_right[h].at[c] += d * x[u].at[c]; });
        }
      }
    }
    float all[kHeads];
    lanes.of_heads(slopes, all);
    const auto own = lanes.load(job.x.row(entries.row));
    WARREN_UNROLL
    for (std::uint32_t h = 0; h < kHeads; ++h)
      lanes.each_column([&](std::uint32_t c) { to_left[h].at[c] += all[h] * own.at[c]; });
  }
};

/// Whether a GPU's tensor cores walk, where they are asked for.
template <class T>
[[nodiscard]] bool fits_tensor_cores(std::uint64_t heads) {
  return sizeof(T) == 2 && heads % 4 == 0;
}

/// How many workers the backward pass has: as many as a GPU then holds.
[[nodiscard]] inline std::uint64_t first_workers(const exec::Device& device, bool on_tensor_cores) {
  const std::uint64_t of_processor = !device.is_cuda() ? 4 : on_tensor_cores ? 16 : 12;
  return static_cast<std::uint64_t>(device.processors()) * of_processor;
}

#if defined(__CUDACC__)
/// Of 16-bit numbers and four heads together, on tensor cores.
template <class T, std::uint32_t kTiles>
void walk_on_tensor_cores(const exec::Stream& stream, const FirstJob<T>& job,
                          std::uint64_t groups) {
  const auto launch = [&]<class Walk>(std::uint64_t tasks, const Walk& walk) {
    static_assert(sizeof(typename Walk::Shared) <= exec::kLeastSharedBytes);
    exec::launch<exec::Cuda, exec::Warp>(
        stream, tasks * groups, walk,
        {.scratch_bytes = sizeof(typename Walk::Shared),
         .threads_per_block = exec::fitting_threads(stream.device(), Walk::kThreads,
                                                    sizeof(typename Walk::Shared))});
  };
  if (job.workers != 0) return launch(job.workers, FirstTensorBackward<T, kTiles>{job});
  launch(job.task_count, FirstTensorForward<T, kTiles>{job});
}
#endif

/// Over the edges; forward without what pieces of rows add up to.
template <class Backend, class T, std::uint32_t kHeads>
void walk_first(const exec::Stream& stream, const FirstJob<T>& job, std::uint64_t groups) {
#if defined(__CUDACC__)
  if constexpr (std::is_same_v<Backend, exec::Cuda> && sizeof(T) == 2 && kHeads == 4) {
    if (job.tensor_sums) {
      if (job.columns <= 32) return walk_on_tensor_cores<T, 2>(stream, job, groups);
      if (job.columns <= 64) return walk_on_tensor_cores<T, 4>(stream, job, groups);
      if (job.columns <= 112) return walk_on_tensor_cores<T, 7>(stream, job, groups);
      return walk_on_tensor_cores<T, 8>(stream, job, groups);
    }
  }
#endif
  if (job.workers != 0) {
    return exec::launch_wide<Backend, exec::Warp>(
        stream, job.workers * groups, FirstBackward<T, kHeads>{job}, {.threads_per_block = 128});
  }
  exec::launch_wide<Backend, exec::Warp>(stream, job.task_count * groups,
                                         FirstForward<T, kHeads>{job});
}

template <class Backend, class T, std::uint32_t kHeads>
void run_first(const exec::Stream& stream, const FirstJob<T>& job) {
  const std::uint64_t groups = job.heads / kHeads;
  walk_first<Backend, T, kHeads>(stream, job, groups);
  if (job.workers != 0) return;
  // Of few rows: not worth code for each width of a CPU's vectors.
  exec::launch<Backend, exec::Warp>(stream, job.split_count * groups,
                                    FirstCombine<T, kHeads>{{job}});
}

/// The walk forward, or that backward where there are workers for it.
template <class Backend, class T>
void run_first(const exec::Stream& stream, const FirstJob<T>& job) {
  if (job.heads % 4 == 0) return run_first<Backend, T, 4>(stream, job);
  if (job.heads % 2 == 0) return run_first<Backend, T, 2>(stream, job);
  run_first<Backend, T, 1>(stream, job);
}

#if WARREN_HAS_CUDA
extern template void run_first<exec::Cuda>(const exec::Stream&, const FirstJob<float>&);
extern template void run_first<exec::Cuda>(const exec::Stream&, const FirstJob<Half>&);
extern template void run_first<exec::Cuda>(const exec::Stream&, const FirstJob<BFloat16>&);
#endif

}  // namespace warren::learn::detail
