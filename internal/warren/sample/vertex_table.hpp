// SPDX-License-Identifier: Apache-2.0
// Which number a vertex has in its batch: a hash table with linear probing, or, where that is
// smaller, an array of all vertices. A vertex without a number yet carries the first place that
// named it, so that numbers follow from places and not from the order of the threads.
#pragma once

#include <cstdint>

#include "warren/exec/atomic.hpp"
#include "warren/exec/worker.hpp"

namespace warren::sample::detail {

/// Set in values that are places: numbers are below all of them.
inline constexpr std::uint32_t kIsPlace = 0x80000000u;

/// The table of one batch. Empty entries have all bits set.
struct VertexTable {
  std::uint64_t* hashed = nullptr;  ///< The vertex above its value; a power of two of them.
  std::uint32_t* direct = nullptr;  ///< Or: the value of every vertex of the graph.
  std::uint64_t mask = 0;

  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

  [[nodiscard]] WARREN_HD std::uint64_t first_slot(Vertex v) const {
    return (v * 0x9E3779B97F4A7C15ull >> 32) & mask;
  }
  /// Asks for where v will be looked for.
  WARREN_HD void foresee(Vertex v) const {
    if (direct != nullptr) {
      exec::prefetch(direct + v);
    } else {
      exec::prefetch(hashed + first_slot(v));
    }
  }
  WARREN_HD void foresee_slot(std::uint32_t slot) const {
    if (direct != nullptr) {
      exec::prefetch(direct + slot);
    } else {
      exec::prefetch(hashed + slot);
    }
  }

  /// Lowers the value of v to `value`, or enters it; returns v's slot.
  WARREN_HD std::uint32_t insert(Vertex v, std::uint32_t value) const {
    if (direct != nullptr) {
      if (value < exec::atomic_load(direct[v])) exec::atomic_min(direct[v], value);
      return v;
    }
    const std::uint64_t word = std::uint64_t{v} << 32 | value;
    for (std::uint64_t slot = first_slot(v);; slot = (slot + 1) & mask) {
      std::uint64_t found = exec::atomic_load(hashed[slot]);
      if (found == kEmpty && exec::atomic_compare_exchange(hashed[slot], found, word))
        return static_cast<std::uint32_t>(slot);
      if (found >> 32 != v) continue;
      if (word < found) exec::atomic_min(hashed[slot], word);
      return static_cast<std::uint32_t>(slot);
    }
  }
  [[nodiscard]] WARREN_HD std::uint32_t value(std::uint32_t slot) const {
    if (direct != nullptr) return exec::atomic_load(direct[slot]);
    return static_cast<std::uint32_t>(exec::atomic_load(hashed[slot]));
  }
  WARREN_HD void set(std::uint32_t slot, Vertex v, std::uint32_t value) const {
    if (direct != nullptr) {
      exec::atomic_store(direct[slot], value);
    } else {
      exec::atomic_store(hashed[slot], std::uint64_t{v} << 32 | value);
    }
  }
};

}  // namespace warren::sample::detail
