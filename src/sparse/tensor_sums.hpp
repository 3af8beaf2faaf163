// SPDX-License-Identifier: Apache-2.0
// Sums of rows of 16-bit numbers on a GPU's tensor cores, a task to each group of lanes.
#pragma once

#include "warren/exec/row_address.hpp"
#include "warren/exec/tensor_cores.hpp"

#include "sparse/spmm_job.hpp"
#include "sparse/tile_pieces.hpp"
#include "sparse/tile_rows.hpp"

namespace warren::sparse::detail {

/// For matrices without weights. Groups of kLanes lanes of a warp have a task each, and lanes eight
/// columns each: what they read of a row of B lies side by side.
///
/// Two instructions for each element, one to convert and one to add it, take longer than sums of
/// 16-bit rows have bytes to wait for. Here a product of the tensor cores adds four numbers of each
/// lane to four sums of that lane (multiply_add()): two words of a lane are numbers of A's rows g
/// and g + 8 in columns 2 t and 2 t + 1, and B is the identity. Groups do not meet in these
/// products, so each is at rows of its own. Where rows end within the entries at hand, these are
/// masked and added row by row.
///
/// 0 x infinity does occur there. From the first sum on that is not finite, a task's rows are added
/// up entry by entry.
template <class T, std::uint32_t kLanes, bool kPlain>
struct TensorSums {
  static constexpr std::uint32_t kMostThreads = 1024;
  static constexpr std::uint32_t kWidth = 8;  ///< Columns of a lane.
  static constexpr std::uint32_t kGroups = 32 / kLanes;
  static constexpr std::uint32_t kColumns = kLanes * kWidth;  ///< Of a group.
  static constexpr std::uint32_t kHeld = 4;  ///< Entries whose rows are read at once.
  static_assert(kLanes % kHeld == 0 && kLanes >= 4 && kLanes <= 32);
  using Raw = exec::RawPack<T, kWidth>;
  using Pack = exec::FloatPack<kWidth>;

  SpmmJob<T> job;

  static bool allows(const SpmmJob<T>& job) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 31;
    return job.b.stride < kMost && job.k < kMost;
  }
  /// Warps' tasks of a product.
  static std::uint64_t tasks(const SpmmJob<T>& job) {
    return sets(job) * ((job.k + kColumns - 1) / kColumns);
  }

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t index) const {
    const std::uint32_t l = worker.lane() % kLanes;
    const Place place(job, index, worker.lane() / kLanes);
    const SpmmTask& task = place.task;
    const std::uint32_t column = place.column(l);
    // Lanes behind the last column read it, too.
    const auto k = static_cast<std::uint32_t>(job.k);
    const auto* const origin = exec::kept_pointer(reinterpret_cast<const unsigned char*>(
        job.b.origin[0] + (column < k ? column : k - kWidth)));
    const auto stride = static_cast<std::uint32_t>(job.b.stride * sizeof(T));
    const bool is_piece = task.partial != SpmmTask::kWhole;
    const auto total = static_cast<std::uint32_t>(task.end - task.begin);
    const std::uint32_t most = kGroups == 1 ? total : worker.reduce(total, exec::Maximum{});
    const Vertex* const ids = job.a.column_ids + task.begin;
    // Behind the last entry any row will do that an entry names: B need not have others.
    const std::uint32_t any_id =
        most == 0 ? 0 : worker.reduce(total > 0 ? ids[total - 1] : Vertex{0}, exec::Maximum{});
    const auto id = [&](std::uint32_t e, std::uint32_t other) {
      return e < total ? ids[e] : other;
    };
    const std::uint32_t g = worker.lane() / 4, t = worker.lane() % 4;
    const std::uint32_t identity =
        exec::made_once(g / 2 == t ? exec::kOneBits<T> << g % 2 * 16 : 0u);

    // Lane r of a group has the end of its row r, and of the entry r of a window.
    std::uint32_t row = 0;
    std::uint32_t ends = row_end(task, l);
    std::uint32_t end = worker.template broadcast_in_group<kLanes>(ends, 0);
    std::uint32_t window = 0, next_window = id(l, any_id);
    float sums[2][4] = {};
    std::uint32_t first_left = TileRows::kNever;  // The first row whose sum is not finite.
    for (std::uint32_t i = 0; i < most; i += kHeld) {
      if (i % kLanes == 0) {
        window = next_window;
        next_window = id(i + kLanes + l, window);
      }
      Raw raw[kHeld];
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kHeld; ++u) {
        const std::uint32_t of = worker.template broadcast_in_group<kLanes>(window, i + u);
        raw[u] = *reinterpret_cast<const Raw*>(exec::row_address(origin, of, stride));
      }
      // A task that is through adds up what is never looked at.
      const bool is_within = i + kHeld <= total && i + kHeld < end;
      if (!worker.any(!is_within && (is_piece || i < total))) {
        add(
            worker, raw, [](std::uint32_t, std::uint32_t word) { return word; }, identity, sums);
        continue;
      }
      for (std::uint32_t from = i;;) {
        const std::uint32_t stop = end < total ? end : total;
        const std::uint32_t count = from < stop ? stop - from : 0;
        add(
            worker, raw,
            [&](std::uint32_t u, std::uint32_t word) { return i + u - from < count ? word : 0; },
            identity, sums);
        from = i + kHeld;
        if (end <= i + kHeld && i < total) {
          finish(task, row, column, sums, first_left);
          from = end;
          if (++row % kLanes == 0) ends = row_end(task, row + l);
        }
        end = worker.template broadcast_in_group<kLanes>(ends, row);
        if (!worker.any(from < i + kHeld && from < total)) break;
      }
    }
    for (std::uint32_t q = 0; q < kGroups; ++q) {
      if (worker.broadcast(is_piece ? 1u : 0u, q * kLanes) != 0)
        end_piece(worker, index, q, pack_of(sums));
    }
    if (!is_piece) end_rows(index, worker.lane(), row < first_left ? row : first_left);
  }

 private:
  static WARREN_HD std::uint64_t sets(const SpmmJob<T>& job) {
    return (job.task_count + kGroups - 1) / kGroups;
  }
  /// A group's task. Those behind the last have none: no entries and no rows.
  struct Place {
    SpmmTask task{};
    std::uint32_t tile;

    WARREN_HD Place(const SpmmJob<T>& job, std::uint64_t index, std::uint32_t group)
        : Place(job, TaskPlace(index, sets(job)), group) {}
    WARREN_HD Place(const SpmmJob<T>& job, const TaskPlace& place, std::uint32_t group)
        : tile(place.tile) {
      const std::uint64_t of = place.task * kGroups + group;
      task.partial = SpmmTask::kWhole;
      if (of < job.task_count) task = job.tasks[of];
    }
    [[nodiscard]] WARREN_HD std::uint32_t column(std::uint32_t lane) const {
      return tile * kColumns + lane * kWidth;
    }
  };

  /// The end of the task's row `row`, counted from the task's first entry. A piece's has none.
  [[nodiscard]] WARREN_HD std::uint32_t row_end(const SpmmTask& task, std::uint32_t row) const {
    if (row >= task.rows || task.partial != SpmmTask::kWhole) return TileRows::kNever;
    return static_cast<std::uint32_t>(job.a.offsets[std::uint64_t{task.row} + row + 1]) -
           static_cast<std::uint32_t>(task.begin);
  }

  /// Adds the four rows' words, as `mask(entry, word)` has them.
  template <class W, class Mask>
  WARREN_HD static void add(const W& worker, const Raw (&raw)[kHeld], Mask&& mask,
                            std::uint32_t identity, float (&sums)[2][4]) {
    WARREN_UNROLL
    for (std::uint32_t u = 0; u < kHeld; ++u) {
      WARREN_UNROLL
      for (std::uint32_t h = 0; h < 2; ++h) {
        const std::uint32_t words[2] = {mask(u, raw[u].word(2 * h)),
                                        mask(u, raw[u].word(2 * h + 1))};
        worker.template multiply_add<T>(sums[h], words, identity);
      }
    }
  }
  [[nodiscard]] WARREN_HD static Pack pack_of(const float (&sums)[2][4]) {
    float all[kWidth];
    WARREN_UNROLL
    for (std::uint32_t c = 0; c < kWidth; ++c) all[c] = sums[c / 4][c % 4];
    Pack pack;
    pack.assign(all);
    return pack;
  }
  [[nodiscard]] WARREN_HD static bool is_finite(const Pack& sum) {
    float test = 0.0f;
    WARREN_UNROLL
    for (std::uint32_t c = 0; c < kWidth; ++c) test += sum.at(c) * 0.0f;
    return test == 0.0f;
  }
  /// Writes the task's row `row`, and begins the next.
  WARREN_HD void finish(const SpmmTask& task, std::uint32_t row, std::uint32_t column,
                        float (&sums)[2][4], std::uint32_t& first_left) const {
    Pack sum = pack_of(sums);
    WARREN_UNROLL
    for (std::uint32_t c = 0; c < kWidth; ++c) sums[c / 4][c % 4] = 0.0f;
    if (first_left == TileRows::kNever && !is_finite(sum)) first_left = row;
    if (first_left == TileRows::kNever) write(std::uint64_t{task.row} + row, column, sum);
  }
  WARREN_HD void write(std::uint64_t row, std::uint32_t column, Pack& sum) const {
    if (column >= job.k) return;
    const SpmmLane<T, kWidth> lane{job, {column}};
    if constexpr (kPlain) {
      lane.finish_plainly(row, sum);
    } else {
      lane.finish(job.a.row_id(row), sum);
    }
  }
  [[nodiscard]] WARREN_HD Pack add_up(EdgeOffset begin, EdgeOffset end,
                                      std::uint32_t column) const {
    Pack sum;
    sum.clear();
    for (EdgeOffset e = begin; e < end; ++e) {
      Pack values;
      values.load(job.b.origin[0] + std::uint64_t{job.a.column_ids[e]} * job.b.stride + column);
      sum.add(1.0f, values);
    }
    return sum;
  }
  /// The task's rows from `first` on, entry by entry: those without entries at its end, and next to
  /// never others. A function of its own, that looks everything up again: the walk does not keep it
  /// in registers.
  WARREN_GPU_NOINLINE WARREN_HD void end_rows(std::uint64_t index, std::uint32_t lane,
                                              std::uint32_t first) const {
    const Place place(job, index, lane / kLanes);
    const std::uint32_t column = place.column(lane % kLanes);
    if (column >= job.k) return;
    for (std::uint32_t r = first; r < place.task.rows; ++r) {
      const std::uint64_t row = std::uint64_t{place.task.row} + r;
      Pack sum = add_up(job.a.offsets[row], job.a.offsets[row + 1], column);
      write(row, column, sum);
    }
  }
  /// Adds group `q`'s piece of a row to the others; the warp goes along.
  template <class W>
  WARREN_GPU_NOINLINE WARREN_HD void end_piece(const W& worker, std::uint64_t index,
                                               std::uint32_t q, Pack sum) const {
    const Place place(job, index, q);
    const SplitRow split = job.splits[place.task.split];
    const std::uint32_t column = place.column(worker.lane() % kLanes);
    const bool is_active = worker.lane() / kLanes == q && column < job.k;
    if (is_active && !is_finite(sum)) sum = add_up(place.task.begin, place.task.end, column);
    const PieceTree<kWidth> pieces{
        job.partials + std::uint64_t{split.first} * job.partial_stride + (is_active ? column : 0),
        job.partial_stride, job.arrivals + place.tile * job.pieces + split.first, split.count};
    if (pieces.add(worker, place.task.partial - split.first, is_active, sum) && is_active)
      SpmmLane<T, kWidth>{job, {column}}.finish(job.a.row_id(split.row), sum);
  }
};

}  // namespace warren::sparse::detail
