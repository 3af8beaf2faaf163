// SPDX-License-Identifier: Apache-2.0
// Sums of rows of 16-bit numbers on a GPU's tensor cores.
#pragma once

#include "warren/exec/tensor_cores.hpp"

#include "sparse/spmm_job.hpp"
#include "sparse/tile_pieces.hpp"
#include "sparse/tile_rows.hpp"

namespace warren::sparse::detail {

/// A task by a warp, for matrices without weights, kSpans spans of 64 columns at once.
///
/// Two instructions for each element, one to convert and one to add it, take longer than sums of
/// 16-bit rows have bytes to wait for. A product of the tensor cores adds as much as sixteen of
/// them. Two rows of C are worked on together. Of each four entries lane 4 g + t reads the t-th's
/// row of B, eight columns from 8 g on: four words of two columns. These are A's numbers
/// (multiply_add()) as they lie: the first and second in A's rows g and g + 8, columns 2 t and
/// 2 t + 1, the others there in columns 2 t + 8 and 2 t + 9. B chooses: its column 4 s + 2 h + p
/// has a 1 where the entry is one of the s-th row of C and the number the p-th of its word, above
/// row 8 for h = 0, below for h = 1. So columns 2 t and 2 t + 1 of D's rows g and g + 8 are sums
/// for the (t / 2)-th row of C, in the four columns from 8 g + 4 (t % 2) on: lane 4 g + t writes
/// these.
///
/// 0 x infinity does occur there. Where a sum is not finite, the rest of the task is added up entry
/// by entry.
template <class T, std::uint32_t kSpans, std::uint32_t kHeld, bool kPlain>
struct TensorSums {
  static constexpr std::uint32_t kMostThreads = 1024;
  static constexpr std::uint32_t kSpan = 64;          ///< Columns that a warp reads at once.
  static constexpr std::uint32_t kRead = 8;           ///< Columns that a lane reads at once.
  static constexpr std::uint32_t kWidth = 4;          ///< Columns that it has sums of.
  static constexpr std::uint32_t kRows = 2;           ///< Of C, together.
  static constexpr std::uint32_t kChunk = 4 * kHeld;  ///< Entries whose rows are read at once.
  static constexpr std::uint32_t kWindow = 32;        ///< Entries whose columns of A are.
  static_assert(kWindow % kChunk == 0);
  using Raw = exec::RawPack<T, kRead>;
  using Pack = exec::FloatPack<kWidth>;

  SpmmJob<T> job;

  /// Several spans are whole, so that a lane's columns lie at fixed distances.
  static bool allows(const SpmmJob<T>& job) {
    return job.b.stride < (std::uint64_t{1} << 31) &&
           (kSpans == 1 || job.k % (kSpans * kSpan) == 0);
  }

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t index) const {
    const SpmmTask task = job.tasks[index % job.task_count];
    const std::uint64_t tile = index / job.task_count;
    const std::uint32_t g = worker.lane() / 4, t = worker.lane() % 4;
    const bool is_piece = task.partial != SpmmTask::kWhole;
    const std::uint32_t rows = is_piece ? 1 : task.rows;
    const auto total = static_cast<std::uint32_t>(task.end - task.begin);
    if (total == 0) return add_up_rows(worker, index, 0);
    const Vertex* const ids = job.a.column_ids + task.begin;
    const auto stride = static_cast<std::uint32_t>(job.b.stride * sizeof(T));
    // Lanes behind the last column read it, too.
    const std::uint64_t column = tile * kSpans * kSpan + std::uint64_t{g} * kRead;
    const auto* const origin = reinterpret_cast<const unsigned char*>(
        job.b.origin[0] + (column < job.k ? column : job.k - kRead));
    const std::uint32_t one = exec::kOneBits<T> << (g % 2 * 16);
    const std::uint32_t ones[2] = {exec::made_once(g / 2 % 2 == 0 ? one : 0),
                                   exec::made_once(g / 2 % 2 == 0 ? 0 : one)};

    // Lane r has the first entry of row `row` + r: of these two rows, and of the next two, which
    // are on their way.
    std::uint32_t row = 0;
    std::uint32_t firsts = first_entry(task, total, worker.lane());
    std::uint32_t next_firsts = first_entry(task, total, kRows + worker.lane());
    std::uint32_t window = 0, next_window = ids[entry_or_last(worker.lane(), total)];
    float sums[kSpans][4] = {};
    for (std::uint32_t i = 0; i < total; i += kChunk) {
      if (i % kWindow == 0) {
        window = next_window;
        next_window = ids[entry_or_last(i + kWindow + worker.lane(), total)];
      }
      Raw raw[kHeld][kSpans];
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kHeld; ++u) {
        const std::uint32_t id = worker.broadcast(window, i + u * 4 + t);
        const auto* const from = reinterpret_cast<const T*>(exec::address_of(origin, id, stride));
        WARREN_UNROLL
        for (std::uint32_t j = 0; j < kSpans; ++j)
          raw[u][j] = *reinterpret_cast<const Raw*>(from + j * kSpan);
      }
      for (;;) {
        const std::uint32_t begin = worker.broadcast(firsts, g / 4);
        const std::uint32_t length = worker.broadcast(firsts, g / 4 + 1) - begin;
        WARREN_UNROLL
        for (std::uint32_t u = 0; u < kHeld; ++u) {
          const bool is_chosen = i + u * 4 + t - begin < length;
          const std::uint32_t choice[2] = {is_chosen ? ones[0] : 0, is_chosen ? ones[1] : 0};
          WARREN_UNROLL
          for (std::uint32_t j = 0; j < kSpans; ++j) {
            const std::uint32_t words[4] = {raw[u][j].word(0), raw[u][j].word(1), raw[u][j].word(2),
                                            raw[u][j].word(3)};
            worker.template multiply_add<T>(sums[j], words, choice);
          }
        }
        if (worker.broadcast(firsts, kRows) > i + kChunk) break;
        if (is_piece) return end_piece(worker, index, packs_of(sums));
        if (worker.any(!are_finite(sums))) return add_up_rows(worker, index, row);
        WARREN_UNROLL
        for (std::uint32_t j = 0; j < kSpans; ++j) {
          const std::uint64_t to = column + j * kSpan + t % 2 * kWidth;
          if (row + t / 2 < rows && to < job.k)
            write(std::uint64_t{task.row} + row + t / 2, to, packs_of(sums).span[j]);
          WARREN_UNROLL
          for (float& sum : sums[j]) sum = 0.0f;
        }
        row += kRows;
        if (row >= rows) return;
        firsts = next_firsts;
        next_firsts = first_entry(task, total, row + kRows + worker.lane());
      }
    }
  }

 private:
  struct Packs {
    Pack span[kSpans];
  };
  [[nodiscard]] WARREN_HD static Packs packs_of(const float (&sums)[kSpans][4]) {
    Packs packs;
    WARREN_UNROLL
    for (std::uint32_t j = 0; j < kSpans; ++j) packs.span[j].assign(sums[j]);
    return packs;
  }
  [[nodiscard]] WARREN_HD static bool are_finite(const float (&sums)[kSpans][4]) {
    float test = 0.0f;
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < kSpans * 4; ++i) test += sums[i / 4][i % 4] * 0.0f;
    return test == 0.0f;
  }
  /// The first entry of the task's row `row`, of the task's; all of them for rows behind its last.
  [[nodiscard]] WARREN_HD std::uint32_t first_entry(const SpmmTask& task, std::uint32_t total,
                                                    std::uint32_t row) const {
    if (task.partial != SpmmTask::kWhole) return row == 0 ? 0 : total;
    return static_cast<std::uint32_t>(
               job.a.offsets[task.row + (row < task.rows ? row : task.rows)]) -
           static_cast<std::uint32_t>(task.begin);
  }
  /// `row` of the plan's matrix.
  WARREN_HD void write(std::uint64_t row, std::uint64_t column, Pack sum) const {
    const SpmmLane<T, kWidth> lane{job, {column}};
    if constexpr (kPlain) {
      lane.finish_plainly(row, sum);
    } else {
      lane.finish(job.a.row_id(row), sum);
    }
  }
  [[nodiscard]] WARREN_HD Pack add_up(EdgeOffset begin, EdgeOffset end,
                                      std::uint64_t column) const {
    Pack sum;
    sum.clear();
    for (EdgeOffset e = begin; e < end; ++e) {
      Pack values;
      values.load(job.b.origin[0] + std::uint64_t{job.a.column_ids[e]} * job.b.stride + column);
      sum.add(1.0f, values);
    }
    return sum;
  }
  /// The task's rows from `first` on. A function of its own, since it is next to never needed, that
  /// looks everything up again: the walk does not keep it in registers.
  template <class W>
  WARREN_GPU_NOINLINE WARREN_HD void add_up_rows(const W& worker, std::uint64_t index,
                                                 std::uint32_t first) const {
    const SpmmTask task = job.tasks[index % job.task_count];
    const std::uint32_t g = worker.lane() / 4, t = worker.lane() % 4;
    for (std::uint32_t r = first + t / 2; r < task.rows; r += kRows) {
      const std::uint64_t row = std::uint64_t{task.row} + r;
      for (std::uint32_t j = 0; j < kSpans; ++j) {
        const std::uint64_t column =
            (index / job.task_count * kSpans + j) * kSpan + g * kRead + t % 2 * kWidth;
        if (column < job.k)
          write(row, column, add_up(job.a.offsets[row], job.a.offsets[row + 1], column));
      }
    }
  }
  /// A piece's sum is with the lanes of the first row.
  template <class W>
  WARREN_GPU_NOINLINE WARREN_HD void end_piece(const W& worker, std::uint64_t index,
                                               Packs packs) const {
    const SpmmTask task = job.tasks[index % job.task_count];
    const SplitRow split = job.splits[task.split];
    const std::uint32_t g = worker.lane() / 4, t = worker.lane() % 4;
    WARREN_UNROLL
    for (std::uint32_t j = 0; j < kSpans; ++j) {
      const std::uint64_t tile = index / job.task_count * kSpans + j;
      const std::uint64_t column = tile * kSpan + g * kRead + t % 2 * kWidth;
      const bool is_active = t < 2 && column < job.k;
      Pack sum = packs.span[j];
      float test = 0.0f;
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < kWidth; ++i) test += sum.at(i) * 0.0f;
      if (test != 0.0f && is_active) sum = add_up(task.begin, task.end, column);
      const PieceTree<kWidth> pieces{
          job.partials + std::uint64_t{split.first} * job.partial_stride + (is_active ? column : 0),
          job.partial_stride, job.arrivals + tile * job.pieces + split.first, split.count};
      if (pieces.add(worker, task.partial - split.first, is_active, sum) && is_active)
        SpmmLane<T, kWidth>{job, {column}}.finish(job.a.row_id(split.row), sum);
    }
  }
};

}  // namespace warren::sparse::detail
