// SPDX-License-Identifier: Apache-2.0
// Rows as bytes for the kernels that move them: where each lies, the units in which it moves, how
// many are in flight, and the groups of lanes that share one.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "warren/core/types.hpp"
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
  bool is_beside = false;         ///< As many threads, in small blocks on any processors.
  std::uint32_t unit_bytes = 16;  ///< 16, 8, 4, 2 or 1: divides all addresses and the row.
};

/// Whether a move is held to some of a GPU's processors: it then has blocks as large as a processor
/// takes, one for each of them.
[[nodiscard]] inline bool is_held(const exec::Device& device, const RowMove& job) {
  return job.processors != 0 && job.processors < static_cast<std::uint32_t>(device.processors());
}
[[nodiscard]] inline std::uint64_t processors_for(const exec::Device& device, const RowMove& job) {
  return is_held(device, job) ? job.processors : static_cast<std::uint64_t>(device.processors());
}

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
template <>
struct [[gnu::may_alias]] Unit<1> {
  std::uint8_t part;
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

template <class Backend>
inline constexpr std::uint32_t kRowsAtOnce = std::is_same_v<Backend, exec::Cpu> ? 16 : 4;

/// The first units of the rows, nullptr for rows that do not exist.
template <class U, std::uint32_t kCount>
WARREN_HD void find_rows(const RowTable& table, const std::uint64_t (&rows)[kCount],
                         U* (&found)[kCount]) {
  int owner[kCount] = {};
  for (int p = 1; p < table.ranks; ++p) {
    const std::uint64_t first = table.first[p];
    for (std::uint32_t r = 0; r < kCount; ++r) owner[r] += rows[r] >= first ? 1 : 0;
  }
  for (std::uint32_t r = 0; r < kCount; ++r) {
    const std::uintptr_t address = table.origin[owner[r]] + rows[r] * table.row_bytes;
    found[r] = rows[r] < table.rows ? reinterpret_cast<U*>(address) : nullptr;
  }
}

/// A whole row; of zero bytes where there is none.
WARREN_HD inline void copy_row(void* target, const void* row, std::uint64_t row_bytes) {
  if (row != nullptr) {
    std::memcpy(target, row, row_bytes);
  } else {
    std::memset(target, 0, row_bytes);
  }
}

/// The first lane of a group counts those of its rows that are asked for and do not exist.
template <class W, class IsMissing>
WARREN_HD void count_missing(const W& worker, std::uint32_t rows, std::uint64_t* out_of_range,
                             IsMissing&& is_missing) {
  if (out_of_range == nullptr || worker.lane() != 0) return;
  std::uint64_t missing = 0;
  for (std::uint32_t r = 0; r < rows; ++r) missing += is_missing(r) ? 1 : 0;
  if (missing != 0) exec::atomic_add(*out_of_range, missing);
}

/// Lanes of a group for rows of `units`: the most of which no more than a quarter idles.
[[nodiscard]] inline std::uint32_t lanes_for(std::uint64_t units) {
  for (const std::uint32_t lanes : {32u, 16u, 8u, 4u}) {
    const std::uint64_t turns = (units + lanes - 1) / lanes;
    if (units * 4 >= turns * lanes * 3) return lanes;
  }
  return units > 4 ? 4 : 1;
}

/// Calls f with std::type_identity of the workers for groups of so many lanes.
template <class F>
void with_group(std::uint32_t lanes, F&& f) {
  switch (lanes) {
    case 32:
      return f(std::type_identity<exec::Warp>{});
    case 16:
      return f(std::type_identity<exec::Tile<16>>{});
    case 8:
      return f(std::type_identity<exec::Tile<8>>{});
    case 4:
      return f(std::type_identity<exec::Tile<4>>{});
    default:
      return f(std::type_identity<exec::Thread>{});
  }
}

/// Calls f with the constant 16, 8, 4, 2 or 1.
template <class F>
void with_unit(std::uint32_t unit_bytes, F&& f) {
  switch (unit_bytes) {
    case 16:
      return f(std::integral_constant<std::uint32_t, 16>{});
    case 8:
      return f(std::integral_constant<std::uint32_t, 8>{});
    case 4:
      return f(std::integral_constant<std::uint32_t, 4>{});
    case 2:
      return f(std::integral_constant<std::uint32_t, 2>{});
    default:
      return f(std::integral_constant<std::uint32_t, 1>{});
  }
}

/// Calls f(workers, unit) for the groups and units of a GPU that suit the rows, or the CPU's.
template <class Backend, class F>
void with_shape(const RowMove& job, F&& f) {
  if constexpr (std::is_same_v<Backend, exec::Cpu>) {
    f(std::type_identity<exec::Serial>{}, std::integral_constant<std::uint32_t, 1>{});
  } else {
    with_unit(job.unit_bytes, [&](auto unit) {
      with_group(lanes_for(job.table.row_bytes / unit), [&](auto workers) { f(workers, unit); });
    });
  }
}

}  // namespace warren::memory::detail
