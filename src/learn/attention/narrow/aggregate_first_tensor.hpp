// SPDX-License-Identifier: Apache-2.0
// Attention over narrow rows x of 16-bit numbers on a GPU's tensor cores.
#pragma once

#include "learn/attention/narrow/aggregate_first_rounds.hpp"

namespace warren::learn::detail {

/// Sums of x over neighbours, weighted by attention, of four heads.
template <class T, std::uint32_t kTiles>
struct FirstTensorForward {
  static constexpr std::uint32_t kMostThreads = 640;
  static constexpr std::uint32_t kThreads = 320;  ///< Of a block.
  using Lanes = FirstTensorLanes<T, kTiles>;
  using Shared = typename Lanes::Shared;
  FirstJob<T> job;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t index) const {
    const sparse::SpmmTask task = job.tasks[index % job.task_count];
    const Lanes lanes(job, *worker.template scratch<Shared>(), worker.lane(),
                      static_cast<std::uint32_t>(index / job.task_count) * Lanes::kHeads);
    Sums<W> sums{worker, lanes, task};
    lanes.walk(worker, task, sums);
    sums.end();
  }

 private:
  template <class W>
  struct Sums {
    const W& worker;
    const Lanes& lanes;
    const sparse::SpmmTask& task;
    float of[kTiles][4] = {};
    float powers[Lanes::kMine] = {};
    std::uint32_t done = 0;  ///< Of the task's rows.

    WARREN_HD void begin(const FirstRound&) const {}
    WARREN_HD void fill(const FirstRound&) const {}
    WARREN_HD void add(const FirstRound& round, const typename Lanes::Loads& loads,
                       std::uint32_t stage) {
      const bool is_there = lanes.entry() < round.count;
      float weight[Lanes::kMine];
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < Lanes::kMine; ++i) {
        const float s = loads.of[i].at[kLeft] + loads.right.at[i];
        const float power =
            exponential((s > 0.0f ? s : lanes.job.slope * s) - loads.of[i].at[kLargest]);
        powers[i] += is_there ? power : 0.0f;
        const float kept = lanes.job.dropout.factor(loads.row_key, loads.column_key, lanes.head(i));
        weight[i] = is_there ? power * kept : 0.0f;
      }
      lanes.put(weight);
      worker.sync();
      lanes.add(worker, stage, of);
      if (!round.ends) return;
      clear(round.row);
      float sum = 0.0f;
      Floats<Lanes::kWidth> pieces[Lanes::kPieces];
      take(stage, sum, pieces);
      finish(round.row, sum > 0.0f ? 1.0f / sum : 0.0f, pieces);
      done = round.row + 1;
    }
    /// Behind the last round.
    WARREN_HD void end() {
      if (task.partial == sparse::SpmmTask::kWhole) return clear(task.rows);
      float sum = 0.0f;
      Floats<Lanes::kWidth> pieces[Lanes::kPieces];
      take(0, sum, pieces);
      store(sum, pieces);
    }

   private:
    /// The sums of head lane / 8, which become 0.
    WARREN_HD void take(std::uint32_t stage, float& sum,
                        Floats<Lanes::kWidth> (&pieces)[Lanes::kPieces]) {
      sum = lanes.of_head(worker, powers);
      lanes.hand_over(worker, stage, of, pieces);
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < kTiles * 4; ++i) of[i / 4][i % 4] = 0.0f;
      WARREN_UNROLL
      for (float& power : powers) power = 0.0f;
    }
    /// Rows before `row` that have no entries.
    WARREN_HD void clear(std::uint32_t row) {
      const Floats<Lanes::kWidth> zeros[Lanes::kPieces] = {};
      for (; done < row; ++done) finish(done, 0.0f, zeros);
    }
    WARREN_HD void finish(std::uint32_t row, float inverse,
                          const Floats<Lanes::kWidth> (&pieces)[Lanes::kPieces]) const {
      const std::uint64_t of_row =
          (std::uint64_t{task.row} + row) * lanes.job.heads + lanes.first + lanes.lane / 8;
      if (lanes.lane % 8 == 0) lanes.job.statistics[of_row * kStatistics + kInverse] = inverse;
      T* const to = lanes.job.sums + of_row * lanes.job.columns;
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < Lanes::kPieces; ++i) {
        if (lanes.column(i) >= lanes.job.columns) break;
        Floats<Lanes::kWidth> scaled;
        WARREN_UNROLL
        for (std::uint32_t c = 0; c < Lanes::kWidth; ++c) scaled.at[c] = pieces[i].at[c] * inverse;
        store_pack<Lanes::kWidth>(scaled, to + lanes.column(i));
      }
    }
    /// As FirstCombine reads them.
    WARREN_HD void store(float sum, const Floats<Lanes::kWidth> (&pieces)[Lanes::kPieces]) const {
      const std::uint32_t head = lanes.first + lanes.lane / 8;
      float* const to = lanes.job.partials + task.partial * lanes.job.piece_stride();
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < Lanes::kPieces; ++i) {
        if (lanes.column(i) < lanes.job.columns)
          store_floats<Lanes::kWidth>(pieces[i], to + head * lanes.job.columns + lanes.column(i));
      }
      if (lanes.lane % 8 == 0) to[lanes.job.heads * lanes.job.columns + head] = sum;
    }
  };
};

/// The gradients of u_left and u_right, as FirstBackward has them, of four heads. A row's gradients
/// and sums come into shared memory, too, behind the work on the row before.
template <class T, std::uint32_t kTiles>
struct FirstTensorBackward {
  /// In so many registers, what spills is what a task's end alone needs.
  static constexpr std::uint32_t kMostThreads = 512;
  static constexpr std::uint32_t kThreads = 128;  ///< Of a block.
  using Lanes = FirstTensorLanes<T, kTiles>;
  struct Shared : Lanes::Shared {
    alignas(16) unsigned char gradients[Lanes::kHeads * Lanes::kRowBytes];
    alignas(16) unsigned char sums[Lanes::kHeads * Lanes::kRowBytes];
  };
  FirstJob<T> job;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t index) const {
    const std::uint64_t mine = index % job.workers;
    auto& shared = *worker.template scratch<Shared>();
    const Lanes lanes(job, shared, worker.lane(),
                      static_cast<std::uint32_t>(index / job.workers) * Lanes::kHeads);
    Sums<W> sums{worker, lanes, shared};
    for (std::uint64_t t = mine; t < job.task_count; t += job.workers) {
      const sparse::SpmmTask task = job.tasks[t];
      sums.row = task.row;
      lanes.walk(worker, task, sums);
      sums.end(task);
    }
    sums.store(job.partials + mine * 2 * job.heads * job.columns);
  }

 private:
  template <class W>
  struct Sums {
    const W& worker;
    const Lanes& lanes;
    Shared& shared;
    std::uint64_t row = 0;  ///< The task's first.
    float to_right[2 * kTiles] = {};
    Floats<Lanes::kWidth> to_left[Lanes::kPieces] = {};
    float of_task[kTiles][4] = {};  ///< Tensor cores cut off what a long sum does not hold.
    std::uint32_t gradient[(kTiles + 1) / 2][4] = {};
    float dot[Lanes::kMine] = {};
    float slopes[Lanes::kMine] = {};

    /// The round's row to registers, if it is a new one: its gradient, and <dg, g>.
    WARREN_HD void begin(const FirstRound& round) {
      if (!round.starts) return;
      const exec::SharedPlace from =
          exec::SharedPlace(shared.gradients) +
          (lanes.lane % Lanes::kHeads * Lanes::kRowBytes + lanes.lane / 8 * 16);
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < (kTiles + 1) / 2; ++i)
        exec::load_tiles<false>(worker, from + i * 2 * Lanes::kTile * 2, gradient[i]);
      float sum = 0.0f;
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < Lanes::kPieces; ++i) {
        if (lanes.column(i) >= kTiles * Lanes::kTile) break;
        const std::uint32_t at = place(i);
        const auto dg = load_pack<Lanes::kWidth>(reinterpret_cast<const T*>(shared.gradients + at));
        const auto g = load_pack<Lanes::kWidth>(reinterpret_cast<const T*>(shared.sums + at));
        WARREN_UNROLL
        for (std::uint32_t c = 0; c < Lanes::kWidth; ++c) sum += dg.get(c) * g.get(c);
      }
      WARREN_UNROLL
      for (std::uint32_t step = 1; step < 8; step *= 2) sum += worker.shuffle_xor(sum, step);
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < Lanes::kMine; ++i)
        dot[i] = worker.broadcast(sum, (lanes.lane % 2 * Lanes::kMine + i) * 8);
      worker.sync();
    }
    WARREN_HD void fill(const FirstRound& round) const {
      if (!round.starts) return;
      const exec::SharedPlace gradients(shared.gradients), sums(shared.sums);
      const std::uint64_t from =
          ((row + round.row) * lanes.job.heads + lanes.first + lanes.lane / 8) * lanes.job.columns;
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < Lanes::kPieces; ++i) {
        const std::uint32_t column = lanes.column(i);
        if (column >= kTiles * Lanes::kTile) break;
        const bool is_there = column < lanes.job.columns;
        const std::uint64_t at = from + (is_there ? column : 0);
        exec::copy_or_clear<Lanes::kPieceBytes>(gradients + place(i), lanes.job.gradients + at,
                                                is_there);
        exec::copy_or_clear<Lanes::kPieceBytes>(sums + place(i), lanes.job.sums + at, is_there);
      }
    }
    WARREN_HD void add(const FirstRound& round, const typename Lanes::Loads& loads,
                       std::uint32_t stage) {
      float product[Lanes::kMine];
      multiply(stage, product);
      const bool is_there = lanes.entry() < round.count;
      float ds[Lanes::kMine];
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < Lanes::kMine; ++i) {
        const float s = loads.of[i].at[kLeft] + loads.right.at[i];
        const bool is_positive = s > 0.0f;
        const float weight =
            exponential((is_positive ? s : lanes.job.slope * s) - loads.of[i].at[kLargest]) *
            loads.of[i].at[kInverse];
        const float kept = lanes.job.dropout.factor(loads.row_key, loads.column_key, lanes.head(i));
        ds[i] = is_there
                    ? (is_positive ? 1.0f : lanes.job.slope) * weight * (kept * product[i] - dot[i])
                    : 0.0f;
        slopes[i] += ds[i];
      }
      lanes.put(ds);
      worker.sync();
      lanes.add(worker, stage, of_task);
      if (round.ends) add_left(row + round.row);
    }
    /// Behind the task's last round.
    WARREN_HD void end(const sparse::SpmmTask& task) {
      if (task.partial != sparse::SpmmTask::kWhole) add_left(row);
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < 2 * kTiles; ++i) {
        to_right[i] += of_task[i / 2][i % 2 * 2] + of_task[i / 2][i % 2 * 2 + 1];
        of_task[i / 2][i % 2 * 2] = of_task[i / 2][i % 2 * 2 + 1] = 0.0f;
      }
    }
    WARREN_HD void store(float* to) const {
      const std::uint32_t lane = lanes.lane;
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < Lanes::kPieces; ++i) {
        if (lanes.column(i) >= lanes.job.columns) break;
        store_floats<Lanes::kWidth>(
            to_left[i], to + (lanes.first + lane / 8) * lanes.job.columns + lanes.column(i));
      }
      float* const right = to + (lanes.job.heads + lanes.first + lane % 4) * lanes.job.columns;
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < 2 * kTiles; ++i) {
        const std::uint32_t column = i * 8 + lane / 4;
        if (column < lanes.job.columns) right[column] = to_right[i];
      }
    }

   private:
    /// Of this lane's piece i of the row, in bytes.
    [[nodiscard]] WARREN_HD std::uint32_t place(std::uint32_t i) const {
      return lanes.lane / 8 * Lanes::kRowBytes + lanes.column(i) * 2;
    }
    /// <dg, x> of this lane's entry and heads.
    WARREN_HD void multiply(std::uint32_t stage, float (&product)[Lanes::kMine]) const {
      const std::uint32_t matrix = lanes.lane / 8, r = lanes.lane % 8;
      const exec::SharedPlace from =
          lanes.stages +
          (stage * Lanes::kStageBytes + (matrix % 2 * 8 + r) * Lanes::kRowBytes + matrix / 2 * 16);
      float products[4] = {};
      WARREN_UNROLL
      for (std::uint32_t tile = 0; tile < kTiles; ++tile) {
        std::uint32_t a[4];
        exec::load_tiles<false>(worker, from + tile * Lanes::kTile * 2, a);
        const std::uint32_t b[2] = {gradient[tile / 2][tile % 2 * 2],
                                    gradient[tile / 2][tile % 2 * 2 + 1]};
        worker.template multiply_add<T>(products, a, b);
      }
      const bool is_lower = lanes.lane / 2 % 2 == 1;
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < Lanes::kMine; ++i)
        product[i] = is_lower ? products[2 + i] : products[i];
    }
    /// The slopes, which become 0, times row `of` of x.
    WARREN_HD void add_left(std::uint64_t of) {
      const T* const x = lanes.job.x.row(of);
      const float slope = lanes.of_head(worker, slopes);
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < Lanes::kPieces; ++i) {
        if (lanes.column(i) >= lanes.job.columns) break;
        const auto values = load_pack<Lanes::kWidth>(x + lanes.column(i));
        WARREN_UNROLL
        for (std::uint32_t c = 0; c < Lanes::kWidth; ++c) to_left[i].at[c] += slope * values.get(c);
      }
      WARREN_UNROLL
      for (float& of_head : slopes) of_head = 0.0f;
    }
  };
};

}  // namespace warren::learn::detail
