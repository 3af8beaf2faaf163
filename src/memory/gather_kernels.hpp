// SPDX-License-Identifier: Apache-2.0
// Moving given rows between a table that is cut over several memories and a local array, for both
// backends.
//
// A group of lanes shares a row: each lane moves a unit of up to 16 bytes at a time, as many lanes
// as the row has units. A group has four rows in flight, since one is not enough to cover the
// latency of a remote load, and asks for the row numbers of its next four before it moves the
// present ones. The owner of a row is found without branches, and its address with one
// multiplication. (The access pattern is that of WholeGraph, section III-C.)
#pragma once

#include <algorithm>
#include <cstdint>

#include "memory/row_table.hpp"

namespace warren::memory::detail {

enum class Direction { gather, scatter };

template <Direction kDirection, std::uint32_t kUnitBytes, std::uint32_t kRowsInFlight>
struct MoveRows {
  using U = Unit<kUnitBytes>;
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  static constexpr std::uint32_t kMostThreads = 1024;

  RowTable table;
  const std::uint64_t* indices;
  const Vertex* vertices;
  std::uint64_t most;
  const std::uint32_t* count_at;
  U* local;
  std::uint64_t* out_of_range;
  std::uint64_t groups;  // Lane groups of the launch: the distance between the batches of one.
  std::uint64_t units;   // Of a row.

  WARREN_HD void read_indices(std::uint64_t batch, std::uint64_t count,
                              std::uint64_t (&rows)[kRowsInFlight]) const {
    if (vertices != nullptr) return read(vertices, batch, count, rows);
    read(indices, batch, count, rows);
  }
  template <class Index>
  WARREN_HD static void read(const Index* from, std::uint64_t batch, std::uint64_t count,
                             std::uint64_t (&rows)[kRowsInFlight]) {
    for (std::uint32_t r = 0; r < kRowsInFlight; ++r) {
      const std::uint64_t i = batch * kRowsInFlight + r;
      rows[r] = i < count ? from[i] : kNone;
    }
  }

  /// Batches task, task + groups, ... of four rows each.
  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const std::uint64_t count = count_at != nullptr && *count_at < most ? *count_at : most;
    const std::uint64_t batches = (count + kRowsInFlight - 1) / kRowsInFlight;
    if (task >= batches) return;
    std::uint64_t rows[kRowsInFlight];
    read_indices(task, count, rows);
    for (std::uint64_t batch = task; batch < batches; batch += groups) {
      U* remote[kRowsInFlight];
      find_rows(table, rows, remote);
      if (batch + groups < batches) read_indices(batch + groups, count, rows);
      const std::uint64_t first = batch * kRowsInFlight;
      const std::uint64_t here = count - first < kRowsInFlight ? count - first : kRowsInFlight;
      move(worker, first, here, remote);
    }
  }

  template <class W>
  WARREN_HD void move(const W& worker, std::uint64_t first, std::uint64_t here,
                      U* const (&remote)[kRowsInFlight]) const {
    U* const mine = local + first * units;
    if constexpr (std::is_same_v<W, exec::Serial>) {
      // A CPU's thread is fastest with whole rows, one after the other. It overlaps short ones by
      // itself.
      constexpr std::uint64_t kLong = 256;
      if (table.row_bytes >= kLong) {
        for (std::uint32_t r = 0; r < here; ++r) prefetch(remote[r]);
      }
      for (std::uint32_t r = 0; r < here; ++r) move_row(mine + r * units, remote[r]);
    } else {
      move_pieces(worker, here, mine, remote);
    }
    count_missing(worker, kRowsInFlight, out_of_range,
                  [&](std::uint32_t r) { return r < here && remote[r] == nullptr; });
  }

  WARREN_HD void prefetch([[maybe_unused]] const U* row) const {
#if !defined(__CUDA_ARCH__)
    constexpr std::uint64_t kLine = 64;
    constexpr std::uint64_t kAhead =
        4 * kLine;  // The rest of a row comes by the processor's own foresight.
    for (std::uint64_t at = 0; at < kAhead; at += kLine)
      __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(row) + at));
#endif
  }

  WARREN_HD void move_row(U* mine, U* remote) const {
    if constexpr (kDirection == Direction::scatter) {
      if (remote != nullptr) std::memcpy(remote, mine, table.row_bytes);
    } else {
      copy_row(mine, remote, table.row_bytes);
    }
  }

  template <class W>
  WARREN_HD void move_pieces(const W& worker, std::uint64_t here, U* mine,
                             U* const (&remote)[kRowsInFlight]) const {
    for (std::uint64_t u = worker.lane(); u < units; u += worker.size()) {
      U value[kRowsInFlight];
      for (std::uint32_t r = 0; r < kRowsInFlight; ++r) {
        value[r] = {};
        if constexpr (kDirection == Direction::gather) {
          if (remote[r] != nullptr) value[r] = load_once(remote[r] + u);
        } else {
          if (r < here) value[r] = load_once(mine + r * units + u);
        }
      }
      for (std::uint32_t r = 0; r < kRowsInFlight; ++r) {
        if constexpr (kDirection == Direction::gather) {
          if (r < here) mine[r * units + u] = value[r];
        } else {
          if (remote[r] != nullptr) remote[r][u] = value[r];
        }
      }
    }
  }
};

template <class Backend, class W, Direction kDirection, std::uint32_t kUnitBytes>
void launch_move(const exec::Stream& stream, const RowMove& job, std::uint32_t lanes) {
  constexpr std::uint32_t kRows = kRowsAtOnce<Backend>;
  const std::uint64_t batches = (job.count + kRows - 1) / kRows;
  std::uint64_t groups = batches;
  exec::LaunchOptions options;
  if constexpr (!std::is_same_v<Backend, exec::Cpu>) {
    // As many as run at a time, so that each has a next batch to look forward to.
    constexpr std::uint32_t kThreadsPerProcessor = 1024;
    const std::uint64_t processors = processors_for(stream.device(), job);
    if (is_held(stream.device(), job) && !job.is_beside)
      options.threads_per_block = kThreadsPerProcessor;
    groups = std::min(batches, processors * kThreadsPerProcessor / lanes);
  }
  const MoveRows<kDirection, kUnitBytes, kRows> kernel{
      job.table,        job.indices,  job.vertices,
      job.count,        job.count_at, reinterpret_cast<Unit<kUnitBytes>*>(job.local),
      job.out_of_range, groups,       job.table.row_bytes / kUnitBytes};
  exec::launch<Backend, W>(stream, groups, kernel, options);
}

template <class Backend, Direction kDirection>
void move_rows(const exec::Stream& stream, const RowMove& job) {
  with_shape<Backend>(job, [&](auto workers, auto unit) {
    launch_move<Backend, typename decltype(workers)::type, kDirection, decltype(unit)::value>(
        stream, job, lanes_for(job.table.row_bytes / unit));
  });
}

#if WARREN_HAS_CUDA
extern template void move_rows<exec::Cuda, Direction::gather>(const exec::Stream&, const RowMove&);
extern template void move_rows<exec::Cuda, Direction::scatter>(const exec::Stream&, const RowMove&);
#endif

}  // namespace warren::memory::detail
