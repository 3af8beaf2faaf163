// SPDX-License-Identifier: Apache-2.0
// Gathers in the order of addresses, for both backends: the keys by which a batch is sorted, and
// the move of sorted rows.
#pragma once

#include <algorithm>
#include <cstdint>

#include "memory/row_table.hpp"

namespace warren::memory::detail {

/// A gather whose rows from `far_from` on are in host memory.
struct OrderedMove {
  RowMove move;
  std::uint64_t far_from = 0;
  std::uint32_t window_shift = 0;  ///< Windows of 2^window_shift bytes of the host's rows.
  std::uint32_t near_key = 0;      ///< Behind the last window: rows of no window.
  std::uint64_t bytes_in_flight = 0;
  std::uint32_t* keys = nullptr;
  std::uint32_t* places = nullptr;
  const std::uint32_t* sorted_places = nullptr;
  std::uint64_t* far_rows = nullptr;  ///< On the device: how many rows of the batch are far.
};

WARREN_HD inline std::uint64_t count_of(const RowMove& move) {
  return move.count_at != nullptr && *move.count_at < move.count ? *move.count_at : move.count;
}

/// keys[i]: the window of host memory that row i of the batch lies in, near_key where it lies in
/// none or i is past the batch's end; places[i] = i. Counts the far rows. Tasks: chunks of kChunk
/// rows.
struct KeyRows {
  static constexpr std::uint64_t kChunk = 1024;
  OrderedMove job;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const std::uint64_t count = count_of(job.move);
    const std::uint64_t first = task * kChunk;
    const std::uint64_t left = job.move.count - first;
    std::uint32_t far = 0;
    worker.for_each(left < kChunk ? left : kChunk, [&](std::uint64_t i) {
      const std::uint64_t at = first + i;
      std::uint32_t key = job.near_key;
      if (at < count) {
        const std::uint64_t row =
            job.move.vertices != nullptr ? job.move.vertices[at] : job.move.indices[at];
        if (row >= job.far_from && row < job.move.table.rows) {
          const std::uint64_t byte = (row - job.far_from) * job.move.table.row_bytes;
          key = static_cast<std::uint32_t>(byte >> job.window_shift);
          ++far;
        }
      }
      job.keys[at] = key;
      job.places[at] = static_cast<std::uint32_t>(at);
    });
    far = worker.reduce(far, exec::Plus{});
    if (worker.lane() == 0 && far != 0) exec::atomic_add(*job.far_rows, std::uint64_t{far});
  }
};

/// The far rows, which stand first in the sorted order, are read by groups [0, far_groups), the
/// others by as many groups as near_groups behind them. Groups take turns, so that those at work at
/// a time are near each other in the order. Four rows in flight, as in a plain gather.
template <std::uint32_t kUnitBytes, std::uint32_t kRowsInFlight>
struct GatherInOrder {
  using U = Unit<kUnitBytes>;
  static constexpr std::uint32_t kMostThreads = 1024;
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  static constexpr std::uint32_t kNoPlace = ~std::uint32_t{0};

  RowMove job;
  const std::uint32_t* places;
  const std::uint64_t* far_rows;
  std::uint64_t far_groups;
  std::uint64_t near_groups;
  std::uint64_t units;  // Of a row.

  /// Some of the batch's rows: their numbers, and their places in it; kNoPlace past the end.
  struct Rows {
    std::uint64_t number[kRowsInFlight];
    std::uint32_t place[kRowsInFlight];
  };

  WARREN_HD Rows read(std::uint64_t first, std::uint64_t end) const {
    Rows rows;
    for (std::uint32_t r = 0; r < kRowsInFlight; ++r)
      rows.place[r] = first + r < end ? places[first + r] : kNoPlace;
    for (std::uint32_t r = 0; r < kRowsInFlight; ++r) {
      rows.number[r] = kNone;
      if (rows.place[r] != kNoPlace)
        rows.number[r] =
            job.vertices != nullptr ? job.vertices[rows.place[r]] : job.indices[rows.place[r]];
    }
    return rows;
  }

  /// Rows first, first + 1, ... of the order, and again `stride` behind them, up to `end`.
  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const std::uint64_t far = *far_rows;
    const bool is_far = task < far_groups;
    const std::uint64_t end = is_far ? far : count_of(job);
    const std::uint64_t stride = (is_far ? far_groups : near_groups) * kRowsInFlight;
    std::uint64_t first = is_far ? task * kRowsInFlight : far + (task - far_groups) * kRowsInFlight;
    if (first >= end) return;
    Rows rows = read(first, end);
    for (; first < end; first += stride) {
      U* found[kRowsInFlight];
      find_rows(job.table, rows.number, found);
      std::uint32_t place[kRowsInFlight];
      for (std::uint32_t r = 0; r < kRowsInFlight; ++r) place[r] = rows.place[r];
      if (first + stride < end) rows = read(first + stride, end);
      move(worker, found, place);
      count_missing(worker, kRowsInFlight, job.out_of_range,
                    [&](std::uint32_t r) { return place[r] != kNoPlace && found[r] == nullptr; });
    }
  }

  template <class W>
  WARREN_HD void move(const W& worker, U* const (&found)[kRowsInFlight],
                      const std::uint32_t (&place)[kRowsInFlight]) const {
    U* const local = reinterpret_cast<U*>(job.local);
    if constexpr (std::is_same_v<W, exec::Serial>) {
      for (std::uint32_t r = 0; r < kRowsInFlight; ++r) {
        if (place[r] != kNoPlace) copy_row(local + place[r] * units, found[r], job.table.row_bytes);
      }
    } else {
      for (std::uint64_t u = worker.lane(); u < units; u += worker.size()) {
        U value[kRowsInFlight];
        for (std::uint32_t r = 0; r < kRowsInFlight; ++r) {
          value[r] = {};
          if (found[r] != nullptr) value[r] = load_once(found[r] + u);
        }
        for (std::uint32_t r = 0; r < kRowsInFlight; ++r) {
          if (place[r] != kNoPlace) local[place[r] * units + u] = value[r];
        }
      }
    }
  }
};

struct GroupsOf {
  std::uint64_t far = 0;
  std::uint64_t near = 0;
};

/// How many groups of a GPU read far rows: those that have bytes_in_flight together; the others of
/// what runs at a time read near ones, or where there are none write the rows that do not exist.
inline GroupsOf groups_of(const exec::Device& device, const OrderedMove& job, std::uint32_t lanes) {
  constexpr std::uint64_t kThreadsPerProcessor = 1024;
  constexpr std::uint64_t kRows = kRowsAtOnce<exec::Cuda>;
  const std::uint64_t batches = (job.move.count + kRows - 1) / kRows;
  const std::uint64_t resident = processors_for(device, job.move) * kThreadsPerProcessor / lanes;
  const bool has_near = job.far_from > 0;
  const std::uint64_t turn =
      kRows * std::min<std::uint64_t>(job.move.table.row_bytes, lanes * job.move.unit_bytes);
  const std::uint64_t far =
      std::clamp<std::uint64_t>(job.bytes_in_flight / turn, 1, has_near ? resident / 2 : resident);
  const std::uint64_t near = has_near ? resident - far : kThreadsPerProcessor / lanes;
  return {std::min(far, batches), std::min(near, batches)};
}

template <class Backend>
void key_rows(const exec::Stream& stream, const OrderedMove& job) {
  exec::launch<Backend, exec::Block>(
      stream, (job.move.count + KeyRows::kChunk - 1) / KeyRows::kChunk, KeyRows{job});
}

template <class Backend>
void gather_in_order(const exec::Stream& stream, const OrderedMove& job) {
  constexpr std::uint32_t kRows = kRowsAtOnce<Backend>;
  with_shape<Backend>(job.move, [&](auto workers, auto unit) {
    const std::uint64_t units = job.move.table.row_bytes / unit;
    const std::uint64_t batches = (job.move.count + kRows - 1) / kRows;
    GroupsOf groups{batches, batches};
    if constexpr (!std::is_same_v<Backend, exec::Cpu>)
      groups = groups_of(stream.device(), job, lanes_for(units));
    const GatherInOrder<decltype(unit)::value, kRows> kernel{
        job.move, job.sorted_places, job.far_rows, groups.far, groups.near, units};
    exec::LaunchOptions options;
    if (is_held(stream.device(), job.move)) options.threads_per_block = kernel.kMostThreads;
    exec::launch<Backend, typename decltype(workers)::type>(stream, groups.far + groups.near,
                                                            kernel, options);
  });
}

#if WARREN_HAS_CUDA
extern template void key_rows<exec::Cuda>(const exec::Stream&, const OrderedMove&);
extern template void gather_in_order<exec::Cuda>(const exec::Stream&, const OrderedMove&);
#endif

}  // namespace warren::memory::detail
