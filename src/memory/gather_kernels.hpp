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

#include <cstdint>

#include "warren/exec/atomic.hpp"
#include "warren/exec/launch.hpp"

namespace warren::memory::detail {

/// Where the rows are: row i of rank q lies at origin[q] + i * row_bytes.
struct RowTable {
  static constexpr int kMostParts = 2 * kMaxRanks;  ///< Each rank's cached rows, and its others.
  std::uintptr_t origin[kMostParts] = {};
  std::uint64_t first[kMostParts] = {};  ///< Rank q's first row.
  std::uint64_t rows = 0;
  std::uint64_t row_bytes = 0;
  int ranks = 1;
};

/// One call of gather (table to local) or scatter (local to table).
struct RowMove {
  RowTable table;
  const std::uint64_t* indices = nullptr;
  const Vertex* vertices = nullptr;  ///< Or: row numbers of 32 bits.
  std::uint64_t count = 0;
  const std::uint32_t* count_at = nullptr;  ///< On the device: how many of them there are.
  unsigned char* local = nullptr;
  std::uint64_t* out_of_range = nullptr;
  std::uint32_t processors = 0;   ///< Of a GPU, at most; 0: all.
  std::uint32_t unit_bytes = 16;  ///< 16, 8, 4 or 2: divides all addresses and the row.
};

/// A piece of a row, whatever its elements are.
template <std::uint32_t kBytes>
struct Unit;
template <>
struct [[gnu::may_alias]] alignas(16) Unit<16> {
  std::uint32_t part[4];
};
template <>
struct [[gnu::may_alias]] alignas(8) Unit<8> {
  std::uint64_t part;
};
template <>
struct [[gnu::may_alias]] Unit<4> {
  std::uint32_t part;
};
template <>
struct [[gnu::may_alias]] Unit<2> {
  std::uint16_t part;
};

/// Rows are read once: they should not take the place of anything in the first-level cache.
/// Volatile, so that the loads of all rows in flight stay ahead of the stores.
template <class U>
WARREN_HD U load_once(const U* location) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(U) == 16) {
    U unit;
    asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(unit.part[0]), "=r"(unit.part[1]), "=r"(unit.part[2]), "=r"(unit.part[3])
                 : "l"(location));
    return unit;
  }
#endif
  return *location;
}

enum class Direction { gather, scatter };

template <class Backend>
inline constexpr std::uint32_t kRowsAtOnce = std::is_same_v<Backend, exec::Cpu> ? 16 : 4;

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

  /// The first units of the rows, nullptr for rows that do not exist.
  WARREN_HD void find(const std::uint64_t (&rows)[kRowsInFlight],
                      U* (&remote)[kRowsInFlight]) const {
    int owner[kRowsInFlight] = {};
    for (int p = 1; p < table.ranks; ++p) {
      const std::uint64_t first = table.first[p];
      for (std::uint32_t r = 0; r < kRowsInFlight; ++r) owner[r] += rows[r] >= first ? 1 : 0;
    }
    for (std::uint32_t r = 0; r < kRowsInFlight; ++r) {
      const std::uintptr_t address = table.origin[owner[r]] + rows[r] * table.row_bytes;
      remote[r] = rows[r] < table.rows ? reinterpret_cast<U*>(address) : nullptr;
    }
  }

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
      find(rows, remote);
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
    if (out_of_range == nullptr || worker.lane() != 0) return;
    std::uint64_t missing = 0;
    for (std::uint32_t r = 0; r < kRowsInFlight; ++r)
      missing += r < here && remote[r] == nullptr ? 1 : 0;
    if (missing != 0) exec::atomic_add(*out_of_range, missing);
  }

  WARREN_HD void prefetch([[maybe_unused]] const U* row) const {
#if !defined(__CUDA_ARCH__)
    constexpr std::uint64_t kLine = 64;
    constexpr std::uint64_t kAhead =
        4 * kLine;  // The rest of a row comes by the processor's own foresight.
    for (std::uint64_t at = 0; at < kAhead; at += kLine)
      __builtin_prefetch(reinterpret_cast<const char*>(row) + at);
#endif
  }

  WARREN_HD void move_row(U* mine, U* remote) const {
    if constexpr (kDirection == Direction::scatter) {
      if (remote != nullptr) std::memcpy(remote, mine, table.row_bytes);
    } else if (remote != nullptr) {
      std::memcpy(mine, remote, table.row_bytes);
    } else {
      std::memset(mine, 0, table.row_bytes);
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
    auto processors = static_cast<std::uint64_t>(stream.device().processors());
    if (job.processors != 0 && job.processors < processors) {
      processors = job.processors;
      options.threads_per_block = kThreadsPerProcessor;  // A block a processor.
    }
    groups = std::min(batches, processors * kThreadsPerProcessor / lanes);
  }
  const MoveRows<kDirection, kUnitBytes, kRows> kernel{
      job.table,        job.indices,  job.vertices,
      job.count,        job.count_at, reinterpret_cast<Unit<kUnitBytes>*>(job.local),
      job.out_of_range, groups,       job.table.row_bytes / kUnitBytes};
  exec::launch<Backend, W>(stream, groups, kernel, options);
}

/// Lanes of a group for rows of `units`: the most of which no more than a quarter idles.
[[nodiscard]] inline std::uint32_t lanes_for(std::uint64_t units) {
  for (const std::uint32_t lanes : {32u, 16u, 8u, 4u}) {
    const std::uint64_t turns = (units + lanes - 1) / lanes;
    if (units * 4 >= turns * lanes * 3) return lanes;
  }
  return units > 4 ? 4 : 1;
}

template <class Backend, Direction kDirection, std::uint32_t kUnitBytes>
void move_units(const exec::Stream& stream, const RowMove& job) {
  const std::uint32_t lanes = lanes_for(job.table.row_bytes / kUnitBytes);
  switch (lanes) {
    case 32:
      return launch_move<Backend, exec::Warp, kDirection, kUnitBytes>(stream, job, lanes);
    case 16:
      return launch_move<Backend, exec::Tile<16>, kDirection, kUnitBytes>(stream, job, lanes);
    case 8:
      return launch_move<Backend, exec::Tile<8>, kDirection, kUnitBytes>(stream, job, lanes);
    case 4:
      return launch_move<Backend, exec::Tile<4>, kDirection, kUnitBytes>(stream, job, lanes);
    default:
      return launch_move<Backend, exec::Thread, kDirection, kUnitBytes>(stream, job, lanes);
  }
}

template <class Backend, Direction kDirection>
void move_rows(const exec::Stream& stream, const RowMove& job) {
  if constexpr (std::is_same_v<Backend, exec::Cpu>) {
    launch_move<Backend, exec::Serial, kDirection, 2>(stream, job, 1);
  } else {
    switch (job.unit_bytes) {
      case 16:
        return move_units<Backend, kDirection, 16>(stream, job);
      case 8:
        return move_units<Backend, kDirection, 8>(stream, job);
      case 4:
        return move_units<Backend, kDirection, 4>(stream, job);
      default:
        return move_units<Backend, kDirection, 2>(stream, job);
    }
  }
}

#if WARREN_HAS_CUDA
extern template void move_rows<exec::Cuda, Direction::gather>(const exec::Stream&, const RowMove&);
extern template void move_rows<exec::Cuda, Direction::scatter>(const exec::Stream&, const RowMove&);
#endif

}  // namespace warren::memory::detail
