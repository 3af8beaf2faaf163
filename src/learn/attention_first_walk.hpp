// SPDX-License-Identifier: Apache-2.0
// Attention over narrow rows x before they are multiplied by W: what is summed over a vertex'
// neighbours are rows of x, once for every head, and only targets are multiplied. A warp has a task
// of the sparse-dense product's plan, four columns a lane and up to four heads together; the
// weights of eight entries and their heads are made by a lane each. On the CPU a thread has all of
// a row's columns.
#pragma once

#include <type_traits>

#include "learn/attention_walk.hpp"
#include "learn/row_kernels.hpp"

namespace warren::learn::detail {

/// Columns of x, at most: four for each lane of a warp.
inline constexpr std::uint32_t kFirstColumns = 128;

template <class T>
struct FirstJob {
  sparse::MatrixView a;
  const sparse::SpmmTask* tasks;
  std::uint64_t task_count;
  const sparse::SplitRow* splits;
  std::uint64_t split_count;
  std::uint64_t heads;
  std::uint32_t columns;
  float slope;
  EdgeDropout dropout;
  TwoParts<T> x;
  const float* r;         ///< Of every column and head.
  float* statistics;      ///< Of every row and head, as in the walk over z.
  T* sums;                ///< Of every row and head: the weighted sum of x. Set by forward.
  const T* gradients;     ///< Of them, in backward.
  float* partials;        ///< Forward: pieces' sums. Backward: workers' sums.
  std::uint64_t workers;  ///< Of backward; 0: forward.

  /// Of a piece: sums and the sum of powers of every head. A multiple of a lane's columns.
  [[nodiscard]] WARREN_HD std::uint64_t piece_stride() const {
    return (heads * (columns + 1) + 3) / 4 * 4;
  }
};

/// How a worker shares a row's columns, and entries with their heads, out to its lanes.
template <class W, std::uint32_t kHeads>
struct FirstLanes {
  static constexpr bool kIsAlone = std::is_same_v<W, exec::Serial>;
  static constexpr std::uint32_t kColumns = kIsAlone ? kFirstColumns : 4;  ///< Of a lane.
  static constexpr std::uint32_t kEntries = kIsAlone ? 1 : 8;              ///< Together.
  static constexpr std::uint32_t kHeadsTogether = kHeads;
  static constexpr std::uint32_t kPairs = kEntries * kHeads;  ///< Of an entry and a head.
  static constexpr std::uint32_t kMine = kIsAlone ? kHeads : 1;

  const W& worker;
  std::uint32_t columns;

  [[nodiscard]] WARREN_HD std::uint32_t first() const { return worker.lane() * kColumns; }
  [[nodiscard]] WARREN_HD bool is_active() const { return first() < columns; }
  /// This lane's i-th pair; several lanes may have one.
  [[nodiscard]] WARREN_HD std::uint32_t pair(std::uint32_t i) const {
    return (worker.lane() + i) % kPairs;
  }
  /// Of pair p, whoever has it.
  template <class V>
  WARREN_HD V of_pair(const V (&mine)[kMine], std::uint32_t p) const {
    if constexpr (kIsAlone) return mine[p];
    return worker.broadcast(mine[0], p);
  }
  /// mine <- the sums over lanes of values[pair].
  template <std::uint32_t kValues>
  WARREN_HD void spread(float (&values)[kValues], float (&mine)[kMine]) const {
    if constexpr (kIsAlone) {
      for (std::uint32_t i = 0; i < kMine; ++i) mine[i] = values[i];
    } else {
#if defined(__CUDA_ARCH__)
      halve<kValues / 2>(values);
      mine[0] = values[0];
      WARREN_UNROLL
      for (std::uint32_t step = kValues; step < 32; step *= 2)
        mine[0] += __shfl_xor_sync(0xffffffffu, mine[0], step);
#endif
    }
  }
  /// One half of the values stays, each the sum of two lanes'; and so on. Steps are constants, or
  /// the values would stand in memory.
  template <std::uint32_t kStep, std::uint32_t kValues>
  WARREN_HD void halve([[maybe_unused]] float (&values)[kValues]) const {
#if defined(__CUDA_ARCH__)
    if constexpr (kStep > 0) {
      const bool is_upper = (worker.lane() & kStep) != 0;
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < kStep; ++i) {
        const float sent = is_upper ? values[i] : values[i + kStep];
        const float kept = is_upper ? values[i + kStep] : values[i];
        values[i] = kept + __shfl_xor_sync(0xffffffffu, sent, kStep);
      }
      halve<kStep / 2>(values);
    }
#endif
  }
  /// sums[h] <- the sum over all entries of what their pairs' owners have.
  WARREN_HD void of_heads(float (&mine)[kMine], float (&sums)[kHeads]) const {
    if constexpr (!kIsAlone) {
#if defined(__CUDA_ARCH__)
      WARREN_UNROLL
      for (std::uint32_t step = kHeads; step < kPairs; step *= 2)
        mine[0] += __shfl_xor_sync(0xffffffffu, mine[0], step);
#endif
    }
    WARREN_UNROLL
    for (std::uint32_t h = 0; h < kHeads; ++h) sums[h] = of_pair(mine, h);
  }
  template <class T>
  WARREN_HD Floats<kColumns> load(const T* row) const {
    Floats<kColumns> values{};
    if constexpr (kIsAlone) {
      for (std::uint32_t c = 0; c < columns; ++c) values.at[c] = to_float(row[c]);
    } else {
      if (is_active()) values = floats_of<T, 4>(load_pack<4>(row + first()));
    }
    return values;
  }
  template <class T>
  WARREN_HD void store(const Floats<kColumns>& values, T* row) const {
    if constexpr (kIsAlone) {
      for (std::uint32_t c = 0; c < columns; ++c) row[c] = from_float<T>(values.at[c]);
    } else {
      if (is_active()) store_pack<4>(values, row + first());
    }
  }
  /// f(c) for the lane's columns.
  template <class F>
  WARREN_HD void each_column(F&& f) const {
    if constexpr (kIsAlone) {
      for (std::uint32_t c = 0; c < columns; ++c) f(c);
    } else {
      WARREN_UNROLL
      for (std::uint32_t c = 0; c < kColumns; ++c) f(c);
    }
  }
};

/// A row of a task, or the piece of one that the task is.
struct RowEntries {
  std::uint64_t row;
  EdgeOffset begin, end;
};
[[nodiscard]] WARREN_HD inline RowEntries row_entries(const sparse::MatrixView& a,
                                                      const sparse::SpmmTask& task,
                                                      std::uint32_t i) {
  const std::uint64_t row = std::uint64_t{task.row} + i;
  if (task.partial != sparse::SpmmTask::kWhole) return {row, task.begin, task.end};
  return {row, a.offsets[row], a.offsets[row + 1]};
}

/// The columns of the entries from e on, of the lane's pairs; the row's last one behind its end.
template <class Lanes>
WARREN_HD void find_columns(const Lanes& lanes, const sparse::MatrixView& a,
                            const RowEntries& entries, EdgeOffset e,
                            Vertex (&column)[Lanes::kMine]) {
  if (entries.begin == entries.end) return;
  WARREN_UNROLL
  for (std::uint32_t i = 0; i < Lanes::kMine; ++i) {
    const EdgeOffset mine = e + lanes.pair(i) / Lanes::kHeadsTogether;
    column[i] = static_cast<Vertex>(a.column(mine < entries.end ? mine : entries.end - 1));
  }
}
/// What the lane's pairs need of their columns.
template <class Lanes>
struct PairLoads {
  float right[Lanes::kMine];
  std::uint32_t key[Lanes::kMine];
};
/// All that a round reads of its columns, before any of it is used.
template <class Lanes, class T>
WARREN_HD void load_pairs(const Lanes& lanes, const FirstJob<T>& job, std::uint32_t first,
                          const Vertex (&column)[Lanes::kMine],
                          Floats<Lanes::kColumns> (&x)[Lanes::kEntries], PairLoads<Lanes>& pairs) {
  WARREN_UNROLL
  for (std::uint32_t u = 0; u < Lanes::kEntries; ++u)
    x[u] = lanes.load(job.x.row(lanes.of_pair(column, u * Lanes::kHeadsTogether)));
  WARREN_UNROLL
  for (std::uint32_t i = 0; i < Lanes::kMine; ++i) {
    const std::uint32_t head = first + lanes.pair(i) % Lanes::kHeadsTogether;
    pairs.right[i] = job.r[column[i] * job.heads + head];
    pairs.key[i] = job.dropout.key(column[i]);
  }
}

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
      load_pairs(lanes, job, first, column, x, pairs);
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
      load_pairs(lanes, job, first, column, x, pairs);
      find_columns(lanes, job.a, entries, e + Lanes::kEntries, column);
      float products[Lanes::kPairs];
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < Lanes::kEntries; ++u) {
        WARREN_UNROLL
        for (std::uint32_t h = 0; h < kHeads; ++h) {
          float sum = 0.0f;
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

/// r = <x, u_right> of every column and head, l = <x, u_left> of every row and head.
template <class T>
struct FirstLogits {
  static constexpr std::uint32_t kTogether = 4;  ///< Heads.
  std::uint64_t heads, columns, rows;
  TwoParts<T> x;
  const float* u;  ///< Of the left and then of the right.
  float* l;
  float* r;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    using Lanes = FirstLanes<W, 2 * kTogether>;
    const Lanes lanes{worker, static_cast<std::uint32_t>(columns)};
    const T* of = x.row(row);
    for (std::uint64_t first = 0; first < heads; first += kTogether) {
      const float* left = u + first * columns;
      const float* right = left + heads * columns;
      const std::uint64_t here = heads - first < kTogether ? heads - first : kTogether;
      float sums[2 * kTogether] = {};
      worker.for_each(columns, [&](std::uint64_t c) {
        const float value = to_float(of[c]);
        WARREN_UNROLL
        for (std::uint32_t h = 0; h < kTogether; ++h) {
          if (h >= here) continue;
          sums[h] += value * left[h * columns + c];
          sums[kTogether + h] += value * right[h * columns + c];
        }
      });
      float mine[Lanes::kMine];
      lanes.spread(sums, mine);
      for (std::uint32_t i = 0; i < Lanes::kMine; ++i) {
        const std::uint32_t sum = worker.lane() + i;
        const std::uint32_t h = sum % kTogether;
        if (sum >= 2 * kTogether || h >= here) continue;
        const std::uint64_t at = row * heads + first + h;
        if (sum >= kTogether) {
          r[at] = mine[i];
        } else if (row < rows) {
          l[at] = mine[i];
        }
      }
    }
  }
};

/// The parameters of a layer: W of columns x (heads x width), left and right of heads x width.
struct FirstWeights {
  std::uint64_t heads, columns, width;
  const float* w;
  const float* left;
  const float* right;
  [[nodiscard]] WARREN_HD std::uint64_t out() const { return heads * width; }
};

/// u[s][h][c] = <W's row c of head h, left or right of it>. A task each.
struct FoldKernel {
  FirstWeights of;
  float* u;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const std::uint64_t c = task % of.columns;
    const std::uint64_t h = task / of.columns % of.heads;
    const float* with = (task < of.heads * of.columns ? of.left : of.right) + h * of.width;
    const float* row = of.w + c * of.out() + h * of.width;
    float sum = 0.0f;
    worker.for_each(of.width, [&](std::uint64_t i) { sum += row[i] * with[i]; });
    sum = worker.reduce(sum, exec::Plus{});
    if (worker.lane() == 0) u[task] = sum;
  }
};

/// W of every head where its columns are, zeros elsewhere: (heads x columns) x out. A row a task.
struct BlockDiagonalKernel {
  FirstWeights of;
  float* to;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t row) const {
    const std::uint64_t h = row / of.columns;
    const float* from = of.w + row % of.columns * of.out();
    worker.for_each(of.out(), [&](std::uint64_t i) {
      to[row * of.out() + i] = i / of.width == h ? from[i] : 0.0f;
    });
  }
};

/// dW += the diagonal blocks' gradient and what u_left and u_right give to it. A row of W a task.
struct UnfoldKernel {
  FirstWeights of;
  const float* blocks;
  const float* du;  ///< As u.
  float* dw;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t c) const {
    worker.for_each(of.out(), [&](std::uint64_t i) {
      const std::uint64_t at = i / of.width * of.columns + c;
      const float to_left = du[at], to_right = du[of.heads * of.columns + at];
      dw[c * of.out() + i] +=
          blocks[at * of.out() + i] + (to_left * of.left[i] + to_right * of.right[i]);
    });
  }
};

/// d left and d right += W^T du. A task for each of their elements.
struct UnfoldSidesKernel {
  FirstWeights of;
  const float* du;
  float* left;
  float* right;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t i) const {
    const float* from = du + i / of.width * of.columns;
    float to_left = 0.0f;
    float to_right = 0.0f;
    worker.for_each(of.columns, [&](std::uint64_t c) {
      const float value = of.w[c * of.out() + i];
      to_left += value * from[c];
      to_right += value * from[of.heads * of.columns + c];
    });
    to_left = worker.reduce(to_left, exec::Plus{});
    to_right = worker.reduce(to_right, exec::Plus{});
    if (worker.lane() != 0) return;
    left[i] += to_left;
    right[i] += to_right;
  }
};

/// How many workers the backward pass has.
[[nodiscard]] inline std::uint64_t first_workers(const exec::Device& device) {
  return static_cast<std::uint64_t>(device.processors()) * (device.is_cuda() ? 12 : 4);
}

template <class Backend, class T, std::uint32_t kHeads>
void run_first(const exec::Stream& stream, const FirstJob<T>& job) {
  const std::uint64_t groups = job.heads / kHeads;
  if (job.workers != 0)
    return exec::launch_wide<Backend, exec::Warp>(
        stream, job.workers * groups, FirstBackward<T, kHeads>{job}, {.threads_per_block = 128});
  const FirstForward<T, kHeads> forward{job};
  exec::launch_wide<Backend, exec::Warp>(stream, job.task_count * groups, forward);
  exec::launch_wide<Backend, exec::Warp>(stream, job.split_count * groups,
                                         FirstCombine<T, kHeads>{forward});
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
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const FirstLogits<float>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const FirstLogits<Half>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const FirstLogits<BFloat16>&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t, const FoldKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const BlockDiagonalKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const UnfoldKernel&);
extern template void run_kernel<exec::Cuda>(const exec::Stream&, std::uint64_t,
                                            const UnfoldSidesKernel&);
#endif

}  // namespace warren::learn::detail
