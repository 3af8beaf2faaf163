// SPDX-License-Identifier: Apache-2.0
// Attention's walk over rows of 16-bit numbers on a GPU's tensor cores.
#pragma once

#include "learn/attention_shared_walk.hpp"
#include "learn/weight_words.hpp"

namespace warren::learn::detail {

/// Task `index % tasks` in span `index / tasks` of 64 columns, all of one head, by a warp.
///
/// Lanes make the weights of 32 entries, each that of one of its own, and leave them in shared
/// memory as words (weight_words.hpp). Two rows of the result are worked on together. Of each eight
/// entries lane 4 g + t reads the rows of the t-th and the (t + 4)-th in four columns from 4 g on
/// and four from 32 + 4 g: each two words of two columns. For either four these are A's numbers
/// (exec/tensor_cores.hpp) as they lie: columns 2 t and 2 t + 1 of A's rows g and g + 8 are the
/// t-th entry's first and second word, columns 2 t + 8 and 2 t + 9 the (t + 4)-th's. B weighs: its
/// column 4 s + 2 a + p has the entry's weight, for a = 1 only where the logit is positive, if the
/// entry is one of the s-th row and the number the p-th of its word, and else 0. So columns 2 t and
/// 2 t + 1 of D's rows g and g + 8 are four columns' sums for the (t / 2)-th row, of all entries (t
/// even) or of those with positive logits (t odd).
///
/// A row's numbers are multiplied by 0 for other rows' entries of the same eight: one that is not
/// finite may make neighbouring rows' results NaN.
template <class Side, bool kIsWhole>
struct AttentionTensorWalk {
  using T = typename Side::Element;
  static constexpr std::uint32_t kMostThreads = 640;
  static constexpr std::uint32_t kSpan = 64;          ///< Columns that a warp reads at once.
  static constexpr std::uint32_t kWidth = 4;          ///< Columns that a lane has side by side.
  static constexpr std::uint32_t kHalves = 2;         ///< And how often.
  static constexpr std::uint32_t kHeld = 4;           ///< Entries of a lane, on their way together.
  static constexpr std::uint32_t kChunk = 4 * kHeld;  ///< Entries of the warp.
  static constexpr std::uint32_t kWindow = 32;        ///< Entries whose weights are made together.
  static constexpr std::uint32_t kRows = 2;
  using Raw = Pack<T, kWidth>;

  /// What lanes leave for each other, of each entry of the window.
  struct Shared {
    std::uint32_t words[kWindow][2];  ///< The weight and, where the logit is positive, it again.
    Vertex columns[kWindow];
  };

  AttentionJob<Side> job;

  [[nodiscard]] static bool allows(const AttentionJob<Side>& job) {
    const bool fits = job.heads == 1 ? job.k > kSpan / 2
                                     : job.width % kSpan == 0 && job.heads * job.width == job.k;
    return fits && job.k % 8 == 0 && job.x.stride < (std::uint64_t{1} << 31);
  }
  [[nodiscard]] static std::uint64_t spans(const AttentionJob<Side>& job) {
    return (job.k + kSpan - 1) / kSpan;
  }

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t index) const {
    const sparse::SpmmTask task = job.tasks[index % job.task_count];
    const Lane lane(*this, worker, index / job.task_count);
    const std::uint32_t g = worker.lane() / 4, t = worker.lane() % 4;
    auto& shared = *worker.template scratch<Shared>();
    // Lanes behind the last column read it, too.
    const unsigned char* x[kHalves];
    WARREN_UNROLL
    for (std::uint32_t h = 0; h < kHalves; ++h) {
      const std::uint64_t column = lane.column(h);
      x[h] = reinterpret_cast<const unsigned char*>(job.template origin<kIsWhole>() +
                                                    (column < job.k ? column : job.k - kWidth));
    }
    const auto stride = static_cast<std::uint32_t>(job.x.stride * sizeof(T));
    const auto total = static_cast<std::uint32_t>(task.end - task.begin);
    const WeightColumn weigh(g % 2 == 1);
    const bool is_second = g / 4 == 1;

    OwnEntries<Side> own(job, task, lane.head, worker.lane());
    Rows rows(*this, worker, task);
    float sums[kHalves][4] = {};
    HeadSums of_head;
    const auto next = [&] {
      finish(worker, lane, std::uint64_t{task.row} + rows.row, task.rows - rows.row, of_head, sums);
      of_head = {};
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < 8; ++i) sums[i / 4][i % 4] = 0.0f;
      rows.advance(*this, worker, task);
    };
    for (std::uint32_t i = 0; i < total; i += kWindow) {
      const EdgeWeight edge = own.weigh(i + worker.lane());
      const std::uint32_t word = weight_word<T>(edge.weight);
      worker.sync();
      shared.words[worker.lane()][0] = word;
      shared.words[worker.lane()][1] = edge.is_positive ? word : 0;
      shared.columns[worker.lane()] = own.column();
      worker.sync();
      own.find(i + kWindow + worker.lane());
      for (std::uint32_t c = 0; c < kWindow && i + c < total; c += kChunk) {
        Raw raw[kHeld][kHalves];
        std::uint32_t weight[kHeld];
        WARREN_UNROLL
        for (std::uint32_t u = 0; u < kHeld; ++u) {
          const std::uint32_t e = c + u * 4 + t;
          const Vertex to = shared.columns[e];
          WARREN_UNROLL
          for (std::uint32_t h = 0; h < kHalves; ++h)
            raw[u][h] = *reinterpret_cast<const Raw*>(exec::address_of(x[h], to, stride));
          weight[u] = shared.words[e][g / 2 % 2];
        }
        if (c == 0) own.load();
        for (;;) {
          const std::uint32_t begin = is_second ? rows.first[1] : rows.first[0];
          const std::uint32_t length = (is_second ? rows.first[2] : rows.first[1]) - begin;
          WARREN_UNROLL
          for (std::uint32_t u = 0; u < kHeld; u += 2) {
            const std::uint32_t one = i + c + u * 4 + t - begin < length ? weight[u] : 0;
            const std::uint32_t two = i + c + u * 4 + 4 + t - begin < length ? weight[u + 1] : 0;
            WARREN_UNROLL
            for (std::uint32_t h = 0; h < kHalves; ++h) {
              const std::uint32_t words[4] = {raw[u][h].word(0), raw[u][h].word(1),
                                              raw[u + 1][h].word(0), raw[u + 1][h].word(1)};
              weigh.template multiply_add<T>(worker, sums[h], words, one, two);
            }
          }
          if (rows.first[kRows] > i + c + kChunk) break;
          of_head.add(edge, i + worker.lane(), rows);
          next();
        }
      }
      of_head.add(edge, i + worker.lane(), rows);
    }
    if (task.partial != sparse::SpmmTask::kWhole)
      return store_piece(worker, lane, task.partial, of_head, sums);
    while (rows.row < task.rows) next();
  }

 private:
  /// What a lane writes: columns [column(h), column(h) + 4) of row `row` of the two.
  struct Lane {
    std::uint64_t first_column;
    std::uint32_t head, row;
    bool is_positive;  ///< Sums of entries with positive logits.
    bool is_of_head;   ///< Writes the head's numbers of its row.

    template <class W>
    WARREN_HD Lane(const AttentionTensorWalk& walk, const W& worker, std::uint64_t span) {
      const std::uint32_t g = worker.lane() / 4, t = worker.lane() % 4;
      first_column = span * kSpan + std::uint64_t{g} * kWidth;
      head = walk.job.heads == 1 ? 0 : static_cast<std::uint32_t>(span * kSpan / walk.job.width);
      row = t / 2;
      is_positive = t % 2 == 1;
      is_of_head = t % 2 == 0 && first_column == head * walk.job.width;
    }
    [[nodiscard]] WARREN_HD std::uint64_t column(std::uint32_t half) const {
      return first_column + half * (kSpan / kHalves);
    }
  };
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
  /// Rows `row` and, if there are `rows` > 1, the next.
  template <class W>
  WARREN_HD void finish(const W& worker, const Lane& lane, std::uint64_t row, std::uint32_t rows,
                        const HeadSums& of_head, const float (&sums)[kHalves][4]) const {
    float first = 0.0f, second = 0.0f;
    of_head.reduce(worker, lane.row, first, second);
    if (lane.row >= rows) return;
    row += lane.row;
    const bool is_first = !kIsWhole && job.part == WalkPart::first;
    const bool is_rest = !kIsWhole && job.part == WalkPart::rest;
    float* const before =
        is_first || is_rest ? job.sums + (row * job.heads + lane.head) * 2 : nullptr;
    if (is_rest) {
      first += before[0];
      second += before[1];
    }
    const float scale = is_first ? 1.0f : job.side.scale(first);
    T* const to = (lane.is_positive ? job.positive : job.all) + row * job.k;
    WARREN_UNROLL
    for (std::uint32_t h = 0; h < kHalves; ++h) {
      const std::uint64_t column = lane.column(h);
      if (column >= job.k) break;
      Floats<kWidth> result;
      if (is_rest) {
        const Raw old = load_pack<kWidth>(to + column);
        WARREN_UNROLL
        for (std::uint32_t c = 0; c < kWidth; ++c) result.at[c] = (sums[h][c] + old.get(c)) * scale;
      } else {
        WARREN_UNROLL
        for (std::uint32_t c = 0; c < kWidth; ++c) result.at[c] = sums[h][c] * scale;
      }
      store_pack<kWidth>(result, to + column);
      if (!is_first && !lane.is_positive) job.side.template store<true>(row, column, result);
    }
    if (!lane.is_of_head) return;
    if (is_first) {
      before[0] = first;
      before[1] = second;
    } else {
      job.side.finish_head(row, lane.head, scale, first, second);
    }
  }
  /// As AttentionLane::load() has them.
  template <class W>
  WARREN_HD void store_piece(const W& worker, const Lane& lane, std::uint64_t piece,
                             const HeadSums& of_head, const float (&sums)[kHalves][4]) const {
    float first = 0.0f, second = 0.0f;
    of_head.reduce(worker, lane.row, first, second);
    if (lane.row != 0) return;
    float* const to = job.partials + piece * job.partial_stride;
    WARREN_UNROLL
    for (std::uint32_t h = 0; h < kHalves; ++h) {
      if (lane.column(h) >= job.k) break;
      store_floats<kWidth>({sums[h][0], sums[h][1], sums[h][2], sums[h][3]},
                           to + (lane.is_positive ? job.k : 0) + lane.column(h));
    }
    if (!lane.is_of_head) return;
    to[2 * job.k + lane.head] = first;
    to[2 * job.k + job.heads + lane.head] = second;
  }
};

}  // namespace warren::learn::detail
