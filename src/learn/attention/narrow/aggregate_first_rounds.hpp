// SPDX-License-Identifier: Apache-2.0
// Attention over narrow rows x of 16-bit numbers on a GPU's tensor cores: how a warp goes through a
// task's entries, and what it does with sixteen of a row for four heads.
#pragma once

#include <bit>

#include "warren/exec/staged_tiles.hpp"
#include "warren/sparse/tile_rows.hpp"

#include "learn/attention/narrow/aggregate_first_lanes.hpp"
#include "learn/rows/weight_words.hpp"

namespace warren::learn::detail {

/// Up to sixteen entries of one row.
struct FirstRound {
  std::uint32_t row = 0;    ///< Of the task's.
  std::uint32_t count = 0;  ///< Of entries; 0 behind the last round.
  bool starts = false;      ///< Its row.
  bool ends = false;        ///< Its row; never a piece of one.
};

/// A task's rounds in turn. Rows without entries have none.
class FirstRounds {
 public:
  static constexpr std::uint32_t kEntries = 16;

  WARREN_HD FirstRounds(const EdgeOffset* offsets, const sparse::SpmmTask& task)
      : rows_(offsets, task), total_(static_cast<std::uint32_t>(task.end - task.begin)) {
    skip();
  }
  /// The first entry, of the task's.
  [[nodiscard]] WARREN_HD std::uint32_t entry() const { return entry_; }
  [[nodiscard]] WARREN_HD FirstRound get() const {
    const std::uint32_t left = end() - entry_;
    return {rows_.row(), left < kEntries ? left : kEntries, starts_,
            left <= kEntries && left > 0 && rows_.end() != sparse::detail::TileRows::kNever};
  }
  WARREN_HD void advance() {
    const std::uint32_t left = end() - entry_;
    entry_ += left < kEntries ? left : kEntries;
    starts_ = left <= kEntries;
    skip();
  }

 private:
  [[nodiscard]] WARREN_HD std::uint32_t end() const {
    return rows_.end() < total_ ? rows_.end() : total_;
  }
  WARREN_HD void skip() {
    while (entry_ < total_ && entry_ >= rows_.end()) rows_.advance();
  }

  sparse::detail::TileRows rows_;
  std::uint32_t total_;
  std::uint32_t entry_ = 0;
  bool starts_ = true;
};

/// How four heads, from `first` on, and up to 16 kTiles columns of x are shared out to the lanes of
/// a warp.
///
/// Rows of a round come into shared memory behind the work on the round before, lanes side by side
/// in them. For its sums A's rows are columns of x and its columns are entries; B's column 2 h + p
/// is the p-th number of the entries' weights (weight_words.hpp) for the h-th head: lane 4 g + t
/// ends with the t-th head's sums in columns g, g + 8, ... Lane 4 g + t makes the weights of entry
/// g + 8 (t / 2) for the heads 2 (t % 2) and the next: those of which it has the inner products,
/// where A's rows are entries and B's columns h and h + 4 the h-th head's.
template <class T, std::uint32_t kTiles>
struct FirstTensorLanes {
  static constexpr std::uint32_t kHeads = 4;
  static constexpr std::uint32_t kMine = 2;  ///< Heads of a lane.
  static constexpr std::uint32_t kEntries = FirstRounds::kEntries;
  static constexpr std::uint32_t kTile = 16;  ///< Columns.
  static constexpr std::uint32_t kWidth = 4;  ///< Columns that a lane copies: 8 bytes.
  static constexpr std::uint32_t kPieceBytes = 8;
  static constexpr std::uint32_t kRowLanes = std::bit_ceil(kTiles * kTile / kWidth);
  static constexpr std::uint32_t kRowBytes = kTiles * kTile * 2 + 16;  ///< In other banks.
  static constexpr std::uint32_t kStageBytes = kEntries * kRowBytes;
  /// Floats of a head among those that lanes hand each other, by lane 8 h + i's pieces i, i + 8,
  /// ...
  static constexpr std::uint32_t kPitch = (kTiles + 1) / 2 * 32 + 8;
  static constexpr std::uint32_t kPieces = (kTiles + 1) / 2;  ///< Of a lane.
  static_assert(kTiles <= 8 && kHeads * kPitch * sizeof(float) <= kStageBytes);

  struct alignas(16) TwoRows {
    std::uintptr_t at[2];
  };
  struct Shared {
    alignas(16) unsigned char stages[2 * kStageBytes];
    WeightWords words[kHeads][kEntries / 4 + 2];  ///< Heads are apart in banks.
    TwoRows rows[kEntries / 2];                   ///< Of x, of the next round.
  };
  /// What a round's weights are made of, of this lane's entry and heads.
  struct Loads {
    Floats<kMine> right = {};
    Floats<kStatistics> of[kMine] = {};
    std::uint32_t row_key = 0, column_key = 0;
  };

  const FirstJob<T>& job;
  Shared& shared;
  exec::SharedPlace stages;
  std::uint32_t lane, first;

  WARREN_HD FirstTensorLanes(const FirstJob<T>& job_, Shared& shared_, std::uint32_t lane_,
                             std::uint32_t first_)
      : job(job_), shared(shared_), stages(shared_.stages), lane(lane_), first(first_) {}

  [[nodiscard]] WARREN_HD std::uint32_t entry() const { return lane / 4 + lane / 2 % 2 * 8; }
  [[nodiscard]] WARREN_HD std::uint32_t head(std::uint32_t i) const {
    return first + lane % 2 * kMine + i;
  }
  /// The column of its entry of a round; of the last one behind that.
  [[nodiscard]] WARREN_HD Vertex find(const sparse::SpmmTask& task,
                                      const FirstRounds& rounds) const {
    const FirstRound round = rounds.get();
    if (round.count == 0) return 0;
    const std::uint32_t mine = entry() < round.count ? entry() : round.count - 1;
    return static_cast<Vertex>(job.a.column(task.begin + rounds.entry() + mine));
  }
  [[nodiscard]] WARREN_HD Loads load(const sparse::SpmmTask& task, const FirstRound& round,
                                     Vertex column) const {
    Loads loads;
    if (round.count == 0) return loads;
    const std::uint64_t row = std::uint64_t{task.row} + round.row;
    const float* const of = job.statistics + (row * job.heads + head(0)) * kStatistics;
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < kMine; ++i)
      loads.of[i] = load_floats<kStatistics>(of + i * kStatistics);
    loads.right = load_floats<kMine>(job.r + std::uint64_t{column} * job.heads + head(0));
    loads.row_key = job.dropout.key(row);
    loads.column_key = job.dropout.key(column);
    return loads;
  }
  /// Leaves the address of its entry's row to the others.
  WARREN_HD void put_row(Vertex column) const {
    if (lane % 2 == 1) return;  // Its neighbour has the same.
    shared.rows[entry() / 2].at[entry() % 2] = reinterpret_cast<std::uintptr_t>(job.x.row(column));
  }
  /// Begins to fill a stage with the rows that lanes have put, of a round; zeros behind the last
  /// entry and the last column.
  WARREN_HD void fill(std::uint32_t stage, const FirstRound& round) const {
    if (round.count == 0) return;
    const std::uint32_t piece = lane % kRowLanes, among = lane / kRowLanes;
    if (piece * kWidth >= kTiles * kTile) return;
    const bool has_columns = piece * kWidth < job.columns;
    const std::uint32_t count = has_columns ? round.count : 0;
    const std::uintptr_t column = has_columns ? piece * kPieceBytes : 0;
    const exec::SharedPlace to =
        stages + (stage * kStageBytes + 2 * among * kRowBytes + piece * kPieceBytes);
    // A lane has two rows side by side of each so many. It reads some addresses before it copies:
    // loads of shared memory and copies to it wait for each other.
    constexpr std::uint32_t kStep = 2 * (32 / kRowLanes);
    constexpr std::uint32_t kHeld = kEntries / kStep < 4 ? kEntries / kStep : 4;
    WARREN_UNROLL
    for (std::uint32_t from = 0; from < kEntries; from += kHeld * kStep) {
      TwoRows rows[kHeld];
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < kHeld; ++i)
        rows[i] = shared.rows[(from + i * kStep) / 2 + among];
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < 2 * kHeld; ++i) {
        const std::uint32_t e = from + i / 2 * kStep + i % 2;
        exec::copy_or_clear<kPieceBytes>(
            to + e * kRowBytes, reinterpret_cast<const void*>(rows[i / 2].at[i % 2] + column),
            e + 2 * among < count);
      }
    }
  }
  /// Leaves this lane's weights to the others.
  WARREN_HD void put(const float (&weight)[kMine]) const {
    // Four entries of a lane side by side: B's rows 2 t, 2 t + 1, 2 t + 8 and 2 t + 9.
    const std::uint32_t e = entry() % 8 / 2 * 4 + entry() / 8 * 2 + entry() % 2;
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < kMine; ++i)
      shared.words[lane % 2 * kMine + i][e / 4].at[e % 4] = weight_word<T>(weight[i]);
  }
  /// sums += the weights that lanes have put times a stage's rows.
  template <class W>
  WARREN_HD void add(const W& worker, std::uint32_t stage, float (&sums)[kTiles][4]) const {
    std::uint32_t b[2];
    shared.words[lane / 8][lane % 4].put(lane / 4 % 2 == 1, b);
    const std::uint32_t matrix = lane / 8, r = lane % 8;
    const exec::SharedPlace from =
        stages + (stage * kStageBytes + (matrix / 2 * 8 + r) * kRowBytes + matrix % 2 * 16);
    WARREN_UNROLL
    for (std::uint32_t tile = 0; tile < kTiles; ++tile) {
      std::uint32_t a[4];
      exec::load_tiles<true>(worker, from + tile * kTile * 2, a);
      worker.template multiply_add<T>(sums[tile], a, b);
    }
  }
  /// This lane's pieces of head lane / 8, four columns each: piece i is at column(i). Lanes hand
  /// each other their sums in a stage that is filled again after the next round's begin at the
  /// earliest. By all lanes.
  template <class W>
  WARREN_HD void hand_over(const W& worker, std::uint32_t stage, const float (&sums)[kTiles][4],
                           Floats<kWidth> (&pieces)[kPieces]) const {
    auto* const at = reinterpret_cast<float*>(shared.stages + stage * kStageBytes);
    worker.sync();
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < 2 * kTiles; ++i) {
      const float(&tile)[4] = sums[i / 2];
      at[lane % 4 * kPitch + i * 8 + lane / 4] = tile[i % 2 * 2] + tile[i % 2 * 2 + 1];
    }
    worker.sync();
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < kPieces; ++i)
      pieces[i] = load_floats<kWidth>(at + lane / 8 * kPitch + column(i));
  }
  [[nodiscard]] WARREN_HD std::uint32_t column(std::uint32_t piece) const {
    return (piece * 8 + lane % 8) * kWidth;
  }
  /// What lanes have of their heads' numbers to the lanes of head lane / 8, summed up over entries.
  template <class W>
  [[nodiscard]] WARREN_HD float of_head(const W& worker, float (&mine)[kMine]) const {
    WARREN_UNROLL
    for (std::uint32_t step = 2; step < 32; step *= 2) {
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < kMine; ++i) mine[i] += worker.shuffle_xor(mine[i], step);
    }
    const float even = worker.broadcast(mine[0], lane / 16);
    const float odd = worker.broadcast(mine[1], lane / 16);
    return lane / 8 % 2 == 0 ? even : odd;
  }

  /// Calls sink.begin(round) where the round's rows are there, sink.fill(next) where copies for the
  /// next one may begin, and sink.add(round, loads, stage), for all of a task's rounds.
  template <class W, class Sink>
  WARREN_HD void walk(const W& worker, const sparse::SpmmTask& task, Sink& sink) const {
    FirstRounds rounds(job.a.offsets, task);
    FirstRound next = rounds.get();
    if (next.count == 0) return;
    Vertex column = find(task, rounds);
    worker.sync();
    put_row(column);
    worker.sync();
    fill(0, next);
    sink.fill(next);
    worker.sync();
    Loads next_loads = load(task, next, column);
    rounds.advance();
    column = find(task, rounds);
    for (std::uint32_t stage = 0; next.count > 0; stage ^= 1) {
      const FirstRound round = next;
      const Loads loads = next_loads;
      next = rounds.get();
      put_row(column);
      exec::end_copies();
      exec::wait_for_copies<0>();
      worker.sync();
      sink.begin(round);
      fill(stage ^ 1, next);
      if (next.count > 0) sink.fill(next);
      next_loads = load(task, next, column);
      rounds.advance();
      column = find(task, rounds);
      sink.add(round, loads, stage);
    }
  }
};

}  // namespace warren::learn::detail
