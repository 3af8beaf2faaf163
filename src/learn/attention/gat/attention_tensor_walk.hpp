// SPDX-License-Identifier: Apache-2.0
// Attention's walk over rows of 16-bit numbers on a GPU's tensor cores.
#pragma once

#include "warren/exec/staged_tiles.hpp"

#include "learn/attention/gat/attention_shared_walk.hpp"
#include "learn/rows/weight_words.hpp"

namespace warren::learn::detail {

/// Task `index % tasks` in span `index / tasks` of 64 columns, all of one head, by a warp.
///
/// Rows come into shared memory behind the work on others: sixteen entries' at once, eight lanes
/// side by side in a row. From there tensor cores take them transposed (exec/staged_tiles.hpp): A's
/// row is a column of the rows, A's column an entry, and D = A B has the weighted sums over sixteen
/// entries. Two rows of the result are worked on together; B weighs: its column 4 s + 2 a + p has
/// the p-th number of the weight (weight_words.hpp), for a = 1 only where the logit is positive, if
/// the entry is one of the s-th row, and else 0. So lane 4 g + t ends with the sums for row t / 2,
/// of all entries (t even) or of those with positive logits (t odd), in the columns g, g + 8, ...
///
/// Lanes make the weights of 32 entries together, each that of one of its own, and leave them in
/// shared memory by their row's parity.
///
/// A row's numbers are multiplied by 0 for other rows' entries of the same sixteen: one that is not
/// finite may make neighbouring rows' results NaN.
template <class Side, bool kIsWhole>
struct AttentionTensorWalk {
  using T = typename Side::Element;
  static constexpr std::uint32_t kMostThreads = 768;
  static constexpr std::uint32_t kThreads = 384;  ///< Of a block.
  static constexpr std::uint32_t kSpan = 64;      ///< Columns that a warp reads of a row.
  static constexpr std::uint32_t kWidth = 8;      ///< Columns of a lane: 16 bytes.
  static constexpr std::uint32_t kPieces = kSpan / kWidth;
  static constexpr std::uint32_t kTile = 16;    ///< Columns of a product.
  static constexpr std::uint32_t kChunk = 16;   ///< Entries of a product.
  static constexpr std::uint32_t kWindow = 32;  ///< Entries whose weights are made together.
  static constexpr std::uint32_t kStages = kWindow / kChunk;
  static constexpr std::uint32_t kRows = 2;
  static constexpr std::uint32_t kSums = 2 * kRows;  ///< All and positive, of each row.

  static constexpr std::uint32_t kPieceBytes = 16;
  static constexpr std::uint32_t kRowBytes = (kPieces + 1) * kPieceBytes;  ///< In other banks.
  static constexpr std::uint32_t kStageBytes = kChunk * kRowBytes;

  struct Shared {
    alignas(kPieceBytes) unsigned char stages[kStages * kStageBytes];
    /// The weights of each stage's entries, by fours: 0 where the row is not of that parity or, for
    /// positive ones, the logit is not. A row more keeps lanes of different stages apart in banks.
    WeightWords words[kStages][kSums + 1][kChunk / 4];
    alignas(kPieceBytes) float sums[kSums][kSpan + kWidth];
  };

  AttentionJob<Side> job;

  [[nodiscard]] static bool allows(const AttentionJob<Side>& job) {
    const bool fits = job.heads == 1 ? job.k > kSpan / 2
                                     : job.width % kSpan == 0 && job.heads * job.width == job.k;
    return fits && job.k % kWidth == 0 && job.x.stride < (std::uint64_t{1} << 31) &&
           job.a.column_ids != nullptr;
  }
  [[nodiscard]] WARREN_HD static std::uint64_t spans(const AttentionJob<Side>& job) {
    return (job.k + kSpan - 1) / kSpan;
  }

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t index) const {
    // Spans of one task side by side: they have its columns and weights in common.
    const std::uint64_t spans_here = spans(job);
    const sparse::SpmmTask task = job.tasks[index / spans_here];
    const std::uint32_t first_column = static_cast<std::uint32_t>(index % spans_here) * kSpan;
    const std::uint32_t head =
        job.heads == 1 ? 0 : first_column / static_cast<std::uint32_t>(job.width);
    auto& shared = *worker.template scratch<Shared>();
    const auto total = static_cast<std::uint32_t>(task.end - task.begin);

    OwnEntries<Side, kIsWhole> own(job, task, head, worker.lane());
    const Stages stages(*this, worker, shared, first_column);
    if (total > 0) {
      for (std::uint32_t c = 0; c < kStages; ++c)
        stages.fill(worker, c, own.column(), c * kChunk < total);
      own.find(kWindow + worker.lane());
    }
    Rows rows(*this, worker, task);
    float sums[kSpan / kTile][4] = {};
    HeadSums of_head;
    const auto next = [&] {
      Results results(*this, worker, shared, first_column, head, of_head, sums);
      finish(results, std::uint64_t{task.row} + rows.row, task.rows - rows.row);
      of_head = {};
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < kSpan / kTile * 4; ++i) sums[i / 4][i % 4] = 0.0f;
      rows.advance(*this, worker, task);
    };
    for (std::uint32_t i = 0; i < total; i += kWindow) {
      const EdgeWeight edge = own.weigh(i + worker.lane());
      const Vertex next_column = own.column();
      own.load();
      own.find(i + 2 * kWindow + worker.lane());
      put_weight(shared, worker.lane(), own.row() % kRows, edge);
      for (std::uint32_t e = i; e < i + kWindow && e < total; e += kChunk) {
        const std::uint32_t c = e / kChunk % kStages;
        exec::wait_for_copies<kStages - 1>();
        worker.sync();
        const Weights weights(shared, worker.lane(), c);
        for (;;) {
          add(worker, stages, c, weights, rows, e, sums);
          if (rows.first[kRows] > e + kChunk) break;
          of_head.add(edge, i + worker.lane(), rows);
          next();
        }
        worker.sync();
        stages.fill(worker, c, next_column, e + kWindow < total);
      }
      of_head.add(edge, i + worker.lane(), rows);
    }
    if (task.partial != sparse::SpmmTask::kWhole) {
      return store_piece({*this, worker, shared, first_column, head, of_head, sums}, task.partial);
    }
    while (rows.row < task.rows) next();
  }

 private:
  /// Two rows of a task: their first entries and the end; of the next two these are on their way,
  /// lane r has the r-th. A piece is its task's only row.
  struct Rows {
    std::uint32_t row = 0;
    std::uint32_t first[kRows + 1];
    std::uint32_t ahead;

    template <class W>
    WARREN_HD Rows(const AttentionTensorWalk& walk, const W& worker, const sparse::SpmmTask& task) {
      take(worker, walk.first_entry(task, worker.lane()));
      ahead = walk.first_entry(task, kRows + worker.lane());
    }
    template <class W>
    WARREN_HD void advance(const AttentionTensorWalk& walk, const W& worker,
                           const sparse::SpmmTask& task) {
      row += kRows;
      take(worker, ahead);
      ahead = walk.first_entry(task, row + kRows + worker.lane());
    }

   private:
    /// Behind the task's last row, rows do not end.
    template <class W>
    WARREN_HD void take(const W& worker, std::uint32_t firsts) {
      WARREN_UNROLL
      for (std::uint32_t r = 0; r <= kRows; ++r) first[r] = worker.broadcast(firsts, r);
    }
  };
  /// What this lane's entries add to the head's sums of either row.
  struct HeadSums {
    float first[kRows] = {}, second[kRows] = {};

    /// For its entry `e` of the task.
    WARREN_HD void add(const EdgeWeight& edge, std::uint32_t e, const Rows& rows) {
      WARREN_UNROLL
      for (std::uint32_t r = 0; r < kRows; ++r) {
        const bool is_of_row = e - rows.first[r] < rows.first[r + 1] - rows.first[r];
        first[r] += is_of_row ? edge.term : 0.0f;
        if constexpr (Side::kHasSecond)
          second[r] += is_of_row && edge.is_positive ? edge.term : 0.0f;
      }
    }
    /// The sums over all lanes, of row `row` of the two. Halves of the warp, then quarters, take
    /// half of the numbers each.
    template <class W>
    WARREN_HD void reduce(const W& worker, std::uint32_t row, float& first_of,
                          float& second_of) const {
      const bool is_upper = worker.lane() / 16 == 1, is_odd = worker.lane() / 8 % 2 == 1;
      float mine =
          (is_upper ? first[1] : first[0]) + worker.shuffle_xor(is_upper ? first[0] : first[1], 16);
      second_of = 0.0f;
      if constexpr (Side::kHasSecond) {
        const float other = (is_upper ? second[1] : second[0]) +
                            worker.shuffle_xor(is_upper ? second[0] : second[1], 16);
        mine = (is_odd ? other : mine) + worker.shuffle_xor(is_odd ? mine : other, 8);
      } else {
        mine += worker.shuffle_xor(mine, 8);
      }
      WARREN_UNROLL
      for (std::uint32_t step = 4; step > 0; step /= 2) mine += worker.shuffle_xor(mine, step);
      first_of = worker.broadcast(mine, row * 16);
      if constexpr (Side::kHasSecond) second_of = worker.broadcast(mine, row * 16 + 8);
    }
  };

  /// The first entry of the task's row `row`, of the task's; behind the last one all entries, and
  /// then never.
  [[nodiscard]] WARREN_HD std::uint32_t first_entry(const sparse::SpmmTask& task,
                                                    std::uint32_t row) const {
    constexpr std::uint32_t kNever = sparse::detail::TileRows::kNever;
    const bool is_piece = task.partial != sparse::SpmmTask::kWhole;
    if (is_piece) return row == 0 ? 0 : kNever;
    if (row >= task.rows + kRows) return kNever;
    return static_cast<std::uint32_t>(
               job.a.offsets[task.row + (row < task.rows ? row : task.rows)]) -
           static_cast<std::uint32_t>(task.begin);
  }
  /// Entries stand in a stage in the order that lets a lane take four weights in turn: B's rows 2 t
  /// and 2 t + 1, 2 t + 8 and 2 t + 9 are entries 4 t to 4 t + 3.
  [[nodiscard]] WARREN_HD static constexpr std::uint32_t entry_at(std::uint32_t place) {
    return place % 8 / 2 * 4 + place / 8 * 2 + place % 2;
  }
  /// How a lane fills and reads stages.
  struct Stages {
    const unsigned char* from;    ///< Its columns of row 0.
    exec::SharedPlace put, take;  ///< Where its copies go, and the row that it has the place of.
    std::uint32_t stride, first_entry;

    /// Lanes behind the last column read the span's first ones.
    template <class W>
    WARREN_HD Stages(const AttentionTensorWalk& walk, const W& worker, Shared& shared,
                     std::uint32_t first_column)
        : put(shared.stages,
              worker.lane() / kPieces * kRowBytes + worker.lane() % kPieces * kPieceBytes),
          take(shared.stages, (worker.lane() / 16 * 8 + worker.lane() % 8) * kRowBytes +
                                  worker.lane() / 8 % 2 * kPieceBytes),
          stride(static_cast<std::uint32_t>(walk.job.x.stride * sizeof(T))),
          first_entry(exec::made_once(entry_at(worker.lane() / kPieces))) {
      const std::uint32_t column = first_column + worker.lane() % kPieces * kWidth;
      from = exec::made_once(reinterpret_cast<const unsigned char*>(
          walk.job.template origin<kIsWhole>() + (column < walk.job.k ? column : first_column)));
    }
    /// Begins to fill a stage with the rows of a window, lane l having the l-th entry's column.
    template <class W>
    WARREN_HD void fill(const W& worker, std::uint32_t stage, Vertex column, bool is_there) const {
      constexpr std::uint32_t kRowsTogether = 32 / kPieces;
      if (is_there) {
        const std::uint32_t entry = stage * kChunk + first_entry;
        const exec::SharedPlace to = put + stage * kStageBytes;
        WARREN_UNROLL
        for (std::uint32_t place = 0; place < kChunk; place += kRowsTogether) {
          const Vertex of = worker.broadcast(column, entry + entry_at(place));
          exec::copy_behind<kPieceBytes>(to + place * kRowBytes,
                                         exec::row_address(from, of, stride));
        }
      }
      exec::end_copies();
    }
    /// A of columns [tile x 16, tile x 16 + 16).
    template <class W>
    WARREN_HD void load(const W& worker, std::uint32_t stage, std::uint32_t tile,
                        std::uint32_t (&a)[4]) const {
      exec::load_tiles<true>(worker, take + stage * kStageBytes + tile * 2 * kPieceBytes, a);
    }
  };
  WARREN_HD static void put_weight(Shared& shared, std::uint32_t lane, std::uint32_t parity,
                                   const EdgeWeight& edge) {
    const std::uint32_t word = weight_word<T>(edge.weight);
    const std::uint32_t e = lane % kChunk;
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < kSums; ++i) {
      const bool counts = parity == i / 2 && (i % 2 == 0 || edge.is_positive);
      shared.words[lane / kChunk][i][e / 4].at[e % 4] = counts ? word : 0;
    }
  }
  /// B of a stage.
  struct Weights {
    std::uint32_t of[2];
    std::uint32_t first_entry;

    WARREN_HD Weights(const Shared& shared, std::uint32_t lane, std::uint32_t stage) {
      const std::uint32_t g = lane / 4, t = lane % 4;
      shared.words[stage][g / 2][t].put(g % 2 == 1, of);
      first_entry = t * 4;
    }
    /// Those of entries of the two rows alone, the first of all being `e`.
    WARREN_HD void mask(const Rows& rows, std::uint32_t e, std::uint32_t (&b)[2]) const {
      const std::uint32_t first = e + first_entry - rows.first[0];
      const std::uint32_t count = rows.first[kRows] - rows.first[0];
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < 2; ++i) {
        const std::uint32_t low = first + 2 * i < count ? 0xffffu : 0u;
        const std::uint32_t high = first + 2 * i + 1 < count ? 0xffff0000u : 0u;
        b[i] = of[i] & (low | high);
      }
    }
  };
  /// sums += the two rows' entries of a stage, whose first is `e`.
  template <class W>
  WARREN_HD static void add(const W& worker, const Stages& stages, std::uint32_t stage,
                            const Weights& weights, const Rows& rows, std::uint32_t e,
                            float (&sums)[kSpan / kTile][4]) {
    std::uint32_t b[2] = {weights.of[0], weights.of[1]};
    if (rows.first[0] > e || rows.first[kRows] < e + kChunk) weights.mask(rows, e, b);
    WARREN_UNROLL
    for (std::uint32_t tile = 0; tile < kSpan / kTile; ++tile) {
      std::uint32_t a[4];
      stages.load(worker, stage, tile, a);
      worker.template multiply_add<T>(sums[tile], a, b);
    }
  }
  /// What a lane writes: eight columns side by side of one of the four sums.
  struct Results {
    Floats<kWidth> of;
    float first = 0.0f, second = 0.0f;  ///< The head's, of the row.
    std::uint32_t column, head, row;
    bool is_positive;
    bool is_of_head;  ///< Writes the head's numbers of its row.

    /// By all lanes, which hand each other their columns.
    template <class W>
    WARREN_HD Results(const AttentionTensorWalk& walk, const W& worker, Shared& shared,
                      std::uint32_t first_column, std::uint32_t head_, const HeadSums& of_head,
                      const float (&sums)[kSpan / kTile][4])
        : head(head_) {
      const std::uint32_t g = worker.lane() / 4, t = worker.lane() % 4;
      worker.sync();
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < kPieces; ++i) {
        const float(&tile)[4] = sums[i / 2];
        shared.sums[t][i * 8 + g] = tile[i % 2 * 2] + tile[i % 2 * 2 + 1];
      }
      worker.sync();
      const std::uint32_t mine = worker.lane() / kPieces, piece = worker.lane() % kPieces;
      row = mine / 2;
      is_positive = mine % 2 == 1;
      column = first_column + piece * kWidth;
      is_of_head = !is_positive && column == head * walk.job.width;
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < kWidth; i += 4) {
        const Floats<4> four = load_floats<4>(&shared.sums[mine][piece * kWidth + i]);
        WARREN_UNROLL
        for (std::uint32_t c = 0; c < 4; ++c) of.at[i + c] = four.at[c];
      }
      of_head.reduce(worker, row, first, second);
    }
  };
  /// Rows `row` and, if there are `rows` > 1, the next; of parts after the first the sums are added
  /// to `results`.
  WARREN_HD void finish(Results& results, std::uint64_t row, std::uint32_t rows) const {
    if (results.row >= rows || results.column >= job.k) return;
    row += results.row;
    const bool is_first = !kIsWhole && job.part == WalkPart::first;
    const bool is_rest = !kIsWhole && job.part == WalkPart::rest;
    float* const before =
        is_first || is_rest ? job.sums + (row * job.heads + results.head) * 2 : nullptr;
    // Made once, so that its 16 bytes are stored at once.
    T* const to = exec::made_once((results.is_positive ? job.positive : job.all) + row * job.k +
                                  results.column);
    if (is_rest) {
      results.first += before[0];
      results.second += before[1];
      const Pack<T, kWidth> old = load_pack<kWidth>(to);
      WARREN_UNROLL
      for (std::uint32_t c = 0; c < kWidth; ++c) results.of.at[c] += old.get(c);
    }
    const float scale = is_first ? 1.0f : job.side.scale(results.first);
    WARREN_UNROLL
    for (std::uint32_t c = 0; c < kWidth; ++c) results.of.at[c] *= scale;
    store_pack<kWidth>(results.of, to);
    if (!is_first && !results.is_positive)
      job.side.template store<true>(row, results.column, results.of);
    if (!results.is_of_head) return;
    if (is_first) {
      before[0] = results.first;
      before[1] = results.second;
    } else {
      job.side.finish_head(row, results.head, scale, results.first, results.second);
    }
  }
  /// As AttentionLane::load() has them.
  WARREN_HD void store_piece(const Results& results, std::uint64_t piece) const {
    if (results.row != 0 || results.column >= job.k) return;
    float* const to = job.partials + piece * job.partial_stride;
    store_floats<kWidth>(results.of, to + (results.is_positive ? job.k : 0) + results.column);
    if (!results.is_of_head) return;
    to[2 * job.k + results.head] = results.first;
    to[2 * job.k + job.heads + results.head] = results.second;
  }
};

}  // namespace warren::learn::detail
