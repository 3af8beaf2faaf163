// SPDX-License-Identifier: Apache-2.0
// How attention over narrow rows x is shared out to the lanes of a warp: it has a task of the
// sparse-dense product's plan, four columns a lane and up to four heads together; the weights of
// eight entries and their heads are made by a lane each.
#pragma once

#include <type_traits>

#include "learn/attention/gat/attention_walk.hpp"
#include "learn/rows/row_kernels.hpp"

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
  bool tensor_sums;       ///< Of GPUs, on tensor cores where they can.

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
  /// The same of a row of x, with whatever numbers in lanes that have no columns.
  template <class T>
  WARREN_HD Floats<kColumns> load_any(const T* row) const {
    if constexpr (kIsAlone) {
      return load(row);
    } else {
      return floats_of<T, 4>(load_pack<4>(row + (is_active() ? first() : 0)));
    }
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
/// Whether a round from e on has entries at place u or behind it in the same half.
template <class Lanes>
[[nodiscard]] WARREN_HD bool has_half_of(const RowEntries& entries, EdgeOffset e, std::uint32_t u) {
  constexpr std::uint32_t kHalf = Lanes::kEntries / 2;
  return u < kHalf || e + kHalf < entries.end;
}
/// All that a round reads of its columns, before any of it is used. Addresses are made once, by the
/// lanes that have the entries.
template <class Lanes, class T>
WARREN_HD void load_pairs(const Lanes& lanes, const FirstJob<T>& job, std::uint32_t first,
                          const RowEntries& entries, EdgeOffset e,
                          const Vertex (&column)[Lanes::kMine],
                          Floats<Lanes::kColumns> (&x)[Lanes::kEntries], PairLoads<Lanes>& pairs) {
  std::uint64_t row[Lanes::kMine];
  WARREN_UNROLL
  for (std::uint32_t i = 0; i < Lanes::kMine; ++i)
    row[i] = reinterpret_cast<std::uintptr_t>(job.x.row(column[i]));
  WARREN_UNROLL
  for (std::uint32_t u = 0; u < Lanes::kEntries; ++u) {
    if (has_half_of<Lanes>(entries, e, u)) {
      x[u] =
          lanes.load_any(reinterpret_cast<const T*>(lanes.of_pair(row, u * Lanes::kHeadsTogether)));
    }
  }
  WARREN_UNROLL
  for (std::uint32_t i = 0; i < Lanes::kMine; ++i) {
    const std::uint32_t head = first + lanes.pair(i) % Lanes::kHeadsTogether;
    pairs.right[i] = job.r[column[i] * job.heads + head];
    pairs.key[i] = job.dropout.key(column[i]);
  }
}

}  // namespace warren::learn::detail
