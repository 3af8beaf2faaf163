// SPDX-License-Identifier: Apache-2.0
// Attention over narrow rows x of 16-bit numbers on a GPU's tensor cores.
#pragma once

#include "learn/attention_first_lanes.hpp"
#include "learn/weight_words.hpp"

namespace warren::learn::detail {

/// This lane's columns of its head's sums.
template <class Lanes, std::uint32_t kBlocks>
WARREN_HD void store_sums(const Lanes& lanes, const float (&sums)[kBlocks][4], float* to) {
  WARREN_UNROLL
  for (std::uint32_t b = 0; b < kBlocks; ++b) {
    if (lanes.has(b))
      store_floats<4>({sums[b][0], sums[b][1], sums[b][2], sums[b][3]}, to + lanes.column(b));
  }
}

/// How four heads, from `first` on, and the columns of x, up to 32 kBlocks and more than
/// 32 (kBlocks - 1), are shared out to the lanes of a warp, eight entries of a row at a time.
///
/// Lane 4 e + h makes the weight of the e-th entry for the h-th head. Lane 4 g + t reads the t-th's
/// and the (t + 4)-th's four columns from 4 g on in each block of 32: these are A's numbers, as in
/// AttentionTensorWalk, with columns 2 h and 2 h + 1 of B the h-th head's weights. So it ends with
/// the t-th head's sums in the columns that it read.
template <class T, std::uint32_t kBlocks>
struct FirstTensorLanes {
  static constexpr std::uint32_t kHeads = 4;
  static constexpr std::uint32_t kEntries = 8;
  static constexpr std::uint32_t kBlock = 32;  ///< Columns.
  static constexpr std::uint32_t kWidth = 4;   ///< Columns of a lane in a block.
  using Raw = Pack<T, kWidth>;

  const FirstJob<T>& job;
  std::uint32_t lane, head;  ///< The head is this lane's.
  WeightColumn weigh;

  WARREN_HD FirstTensorLanes(const FirstJob<T>& job_, std::uint32_t lane_, std::uint32_t first)
      : job(job_), lane(lane_), head(first + lane_ % kHeads), weigh(lane_ / 4 % 2 == 1) {}

  /// Of the entry that this lane makes a weight of, in a round from e on; the row's last behind its
  /// end, and 0 of rows without entries.
  [[nodiscard]] WARREN_HD Vertex find_column(const RowEntries& entries, EdgeOffset e) const {
    if (entries.begin == entries.end) return 0;
    const EdgeOffset mine = e + lane / kHeads;
    return static_cast<Vertex>(job.a.column(mine < entries.end ? mine : entries.end - 1));
  }
  /// Where this lane's columns of a block begin.
  [[nodiscard]] WARREN_HD std::uint32_t column(std::uint32_t block) const {
    return block * kBlock + lane / 4 * kWidth;
  }
  [[nodiscard]] WARREN_HD bool has(std::uint32_t block) const {
    return block + 1 < kBlocks || column(block) < job.columns;
  }
  /// Of columns behind the last the last four.
  WARREN_HD void load(const T* row, Raw (&raw)[kBlocks]) const {
    WARREN_UNROLL
    for (std::uint32_t b = 0; b < kBlocks; ++b)
      raw[b] = load_pack<kWidth>(row + (has(b) ? column(b) : job.columns - kWidth));
  }
  /// This lane's two entries' rows, of which lanes have the addresses of their own one.
  template <class W>
  WARREN_HD void load_entries(const W& worker, std::uintptr_t row, Raw (&raw)[2][kBlocks]) const {
    WARREN_UNROLL
    for (std::uint32_t u = 0; u < 2; ++u) {
      load(reinterpret_cast<const T*>(worker.broadcast(row, (u * 4 + lane % 4) * kHeads)), raw[u]);
    }
  }
  /// sums += the weights' words times what load_entries() read.
  template <class W>
  WARREN_HD void add(const W& worker, std::uint32_t word, const Raw (&raw)[2][kBlocks],
                     float (&sums)[kBlocks][4]) const {
    const std::uint32_t one = worker.broadcast(word, lane % 4 * kHeads + lane / 8);
    const std::uint32_t two = worker.broadcast(word, (4 + lane % 4) * kHeads + lane / 8);
    WARREN_UNROLL
    for (std::uint32_t b = 0; b < kBlocks; ++b) {
      const std::uint32_t words[4] = {raw[0][b].word(0), raw[0][b].word(1), raw[1][b].word(0),
                                      raw[1][b].word(1)};
      weigh.template multiply_add<T>(worker, sums[b], words, one, two);
    }
  }
  /// The sum over this lane's head's lanes.
  template <class W>
  [[nodiscard]] WARREN_HD float of_head(const W& worker, float mine) const {
    WARREN_UNROLL
    for (std::uint32_t step = kHeads; step < worker.size(); step *= 2)
      mine += worker.shuffle_xor(mine, step);
    return mine;
  }
};

/// Sums of x over neighbours, weighted by attention, of four heads.
template <class T, std::uint32_t kBlocks>
struct FirstTensorForward {
  static constexpr std::uint32_t kMostThreads = 640;
  using Lanes = FirstTensorLanes<T, kBlocks>;
  FirstJob<T> job;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t index) const {
    const sparse::SpmmTask task = job.tasks[index % job.task_count];
    const Lanes lanes(job, worker.lane(),
                      static_cast<std::uint32_t>(index / job.task_count) * Lanes::kHeads);
    const bool is_whole = task.partial == sparse::SpmmTask::kWhole;
    RowEntries next = row_entries(job.a, task, 0);
    Vertex column = lanes.find_column(next, next.begin);
    for (std::uint32_t i = 0; i < task.rows; ++i) {
      const RowEntries entries = next;
      if (i + 1 < task.rows) next = row_entries(job.a, task, i + 1);
      Sums sums;
      walk(worker, lanes, entries, next, column, sums);
      if (is_whole) {
        finish(lanes, entries.row, sums);
      } else {
        store(lanes, task.partial, sums);
      }
    }
  }

 private:
  struct Sums {
    float of[kBlocks][4] = {};
    float powers = 0.0f;
  };

  /// `column` is that of the row's first round, and becomes that of the next row's.
  template <class W>
  WARREN_HD void walk(const W& worker, const Lanes& lanes, const RowEntries& entries,
                      const RowEntries& next, Vertex& column, Sums& sums) const {
    const float* const of = job.statistics + (entries.row * job.heads + lanes.head) * kStatistics;
    const float left = of[kLeft], largest = of[kLargest];
    const std::uint32_t key = job.dropout.key(entries.row);
    if (entries.begin == entries.end) column = lanes.find_column(next, next.begin);
    for (EdgeOffset e = entries.begin; e < entries.end; e += Lanes::kEntries) {
      typename Lanes::Raw raw[2][kBlocks];
      lanes.load_entries(worker, reinterpret_cast<std::uintptr_t>(job.x.row(column)), raw);
      const float right = job.r[column * job.heads + lanes.head];
      const std::uint32_t column_key = job.dropout.key(column);
      const bool is_last = e + Lanes::kEntries >= entries.end;
      column = is_last ? lanes.find_column(next, next.begin)
                       : lanes.find_column(entries, e + Lanes::kEntries);
      const bool is_there = e + worker.lane() / Lanes::kHeads < entries.end;
      const float s = left + right;
      const float power = exponential((s > 0.0f ? s : job.slope * s) - largest);
      sums.powers += is_there ? power : 0.0f;
      const float weight = power * job.dropout.factor(key, column_key, lanes.head);
      lanes.add(worker, is_there ? weight_word<T>(weight) : 0, raw, sums.of);
    }
    sums.powers = lanes.of_head(worker, sums.powers);
  }

  WARREN_HD void finish(const Lanes& lanes, std::uint64_t row, const Sums& sums) const {
    const std::uint64_t of = row * job.heads + lanes.head;
    const float inverse = sums.powers > 0.0f ? 1.0f / sums.powers : 0.0f;
    if (lanes.column(0) == 0) job.statistics[of * kStatistics + kInverse] = inverse;
    T* const to = job.sums + of * job.columns;
    WARREN_UNROLL
    for (std::uint32_t b = 0; b < kBlocks; ++b) {
      if (!lanes.has(b)) break;
      Floats<Lanes::kWidth> scaled;
      WARREN_UNROLL
      for (std::uint32_t c = 0; c < Lanes::kWidth; ++c) scaled.at[c] = sums.of[b][c] * inverse;
      store_pack<Lanes::kWidth>(scaled, to + lanes.column(b));
    }
  }
  /// As FirstCombine reads them.
  WARREN_HD void store(const Lanes& lanes, std::uint64_t piece, const Sums& sums) const {
    float* const to = job.partials + piece * job.piece_stride();
    store_sums(lanes, sums.of, to + lanes.head * job.columns);
    if (lanes.column(0) == 0) to[job.heads * job.columns + lanes.head] = sums.powers;
  }
};

/// The gradients of u_left and u_right, as FirstBackward has them, of four heads.
///
/// <dg_i, x_j> of eight entries and four heads is a product of the tensor cores over columns: A's
/// row g is the g-th entry, of which lane 4 g + t reads four columns of each sixteen; B's columns
/// 2 h are the h-th head's gradient. So D's row e has in column 2 h what lane 4 e + h makes a
/// weight for.
template <class T, std::uint32_t kBlocks>
struct FirstTensorBackward {
  static constexpr std::uint32_t kMostThreads = 384;
  static constexpr std::uint32_t kSteps = 2 * kBlocks;  ///< Of 16 columns.
  static constexpr std::uint32_t kStep = 16;
  using Lanes = FirstTensorLanes<T, kBlocks>;
  using Raw = typename Lanes::Raw;
  FirstJob<T> job;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t index) const {
    const Lanes lanes(job, worker.lane(),
                      static_cast<std::uint32_t>(index / job.workers) * Lanes::kHeads);
    const std::uint64_t mine = index % job.workers;
    float to_left[kBlocks][4] = {}, to_right[kBlocks][4] = {};
    for (std::uint64_t t = mine; t < job.task_count; t += job.workers) {
      const sparse::SpmmTask task = job.tasks[t];
      // Of a task by itself: tensor cores cut off what a long sum does not hold.
      float of_task[kBlocks][4] = {};
      RowEntries next = row_entries(job.a, task, 0);
      Vertex column = lanes.find_column(next, next.begin);
      for (std::uint32_t i = 0; i < task.rows; ++i) {
        const RowEntries entries = next;
        if (i + 1 < task.rows) next = row_entries(job.a, task, i + 1);
        add_row(worker, lanes, entries, next, column, to_left, of_task);
      }
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < kBlocks * 4; ++i)
        to_right[i / 4][i % 4] += of_task[i / 4][i % 4];
    }
    float* const to = job.partials + (mine * 2 * job.heads + lanes.head) * job.columns;
    store_sums(lanes, to_left, to);
    store_sums(lanes, to_right, to + job.heads * job.columns);
  }

 private:
  template <class W>
  WARREN_HD void add_row(const W& worker, const Lanes& lanes, const RowEntries& entries,
                         const RowEntries& next, Vertex& column, float (&to_left)[kBlocks][4],
                         float (&to_right)[kBlocks][4]) const {
    if (entries.begin == entries.end) {
      column = lanes.find_column(next, next.begin);
      return;
    }
    const std::uint64_t of_row = entries.row * job.heads + lanes.head;
    const float* const of = job.statistics + of_row * kStatistics;
    const float left = of[kLeft], largest = of[kLargest], inverse = of[kInverse];
    const std::uint32_t key = job.dropout.key(entries.row);
    Raw gradient[kSteps];
    load_gradient(lanes, entries.row, gradient);
    const float dot = lanes.of_head(worker, inner(lanes, of_row));
    float slopes = 0.0f;
    for (EdgeOffset e = entries.begin; e < entries.end; e += Lanes::kEntries) {
      const T* const own = job.x.row(column);
      const float product = multiply(worker, lanes, own, gradient);
      Raw raw[2][kBlocks];
      lanes.load_entries(worker, reinterpret_cast<std::uintptr_t>(own), raw);
      const float s = left + job.r[column * job.heads + lanes.head];
      const float kept = job.dropout.factor(key, job.dropout.key(column), lanes.head);
      const bool is_last = e + Lanes::kEntries >= entries.end;
      column = is_last ? lanes.find_column(next, next.begin)
                       : lanes.find_column(entries, e + Lanes::kEntries);
      const bool is_positive = s > 0.0f;
      const float weight = exponential((is_positive ? s : job.slope * s) - largest) * inverse;
      const bool is_there = e + worker.lane() / Lanes::kHeads < entries.end;
      const float ds =
          is_there ? (is_positive ? 1.0f : job.slope) * weight * (kept * product - dot) : 0.0f;
      slopes += ds;
      lanes.add(worker, weight_word<T>(ds), raw, to_right);
    }
    slopes = lanes.of_head(worker, slopes);
    Raw own[kBlocks];
    lanes.load(job.x.row(entries.row), own);
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < kBlocks * 4; ++i)
      to_left[i / 4][i % 4] += slopes * own[i / 4].get(i % 4);
  }
  /// Where this lane's columns of 16 begin.
  [[nodiscard]] WARREN_HD static std::uint32_t step_column(const Lanes& lanes, std::uint32_t step) {
    return step * kStep + lanes.lane % 4 * Lanes::kWidth;
  }
  /// Of head lane / 8 of the four; 0 behind the last column.
  WARREN_HD void load_gradient(const Lanes& lanes, std::uint64_t row,
                               Raw (&gradient)[kSteps]) const {
    const std::uint64_t head = lanes.head - lanes.lane % Lanes::kHeads + lanes.lane / 8;
    const T* const from = job.gradients + (row * job.heads + head) * job.columns;
    WARREN_UNROLL
    for (std::uint32_t j = 0; j < kSteps; ++j) {
      const std::uint32_t column = step_column(lanes, j);
      gradient[j] = {};
      if (column < job.columns) gradient[j] = load_pack<Lanes::kWidth>(from + column);
    }
  }
  /// <dg, g> in this lane's columns.
  [[nodiscard]] WARREN_HD float inner(const Lanes& lanes, std::uint64_t of_row) const {
    const std::uint64_t first = of_row * job.columns;
    float sum = 0.0f;
    WARREN_UNROLL
    for (std::uint32_t b = 0; b < kBlocks; ++b) {
      if (!lanes.has(b)) continue;
      const Raw dg = load_pack<Lanes::kWidth>(job.gradients + first + lanes.column(b));
      const Raw g = load_pack<Lanes::kWidth>(job.sums + first + lanes.column(b));
      WARREN_UNROLL
      for (std::uint32_t c = 0; c < Lanes::kWidth; ++c) sum += dg.get(c) * g.get(c);
    }
    return sum;
  }
  /// <dg, x> of this lane's entry, whose row of x `own` is, and head.
  template <class W>
  [[nodiscard]] WARREN_HD float multiply(const W& worker, const Lanes& lanes, const T* own,
                                         const Raw (&gradient)[kSteps]) const {
    Raw x[kSteps];
    WARREN_UNROLL
    for (std::uint32_t j = 0; j < kSteps; ++j) {
      const std::uint32_t column = step_column(lanes, j);
      x[j] = load_pack<Lanes::kWidth>(own + (column < job.columns ? column : 0));
    }
    float products[4] = {};
    WARREN_UNROLL
    for (std::uint32_t j = 0; j < kSteps; ++j) {
      const std::uint32_t words[4] = {x[j].word(0), 0, x[j].word(1), 0};
      const std::uint32_t of_head[2] = {gradient[j].word(0), gradient[j].word(1)};
      worker.template multiply_add<T>(products, words, of_head);
    }
    return products[0];
  }
};

}  // namespace warren::learn::detail
