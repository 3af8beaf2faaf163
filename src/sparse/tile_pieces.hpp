// SPDX-License-Identifier: Apache-2.0
// The sum of a row that several groups of lanes share, each with a piece of it.
#pragma once

#include "warren/exec/atomic.hpp"

#include "sparse/spmm_job.hpp"

namespace warren::sparse::detail {

/// Pieces are added up in a tree of kFan: of each kFan that end, the last one to do so adds up the
/// sums of all of them, in their order, whichever it is. A place counts who ended; it is 0 again
/// behind the product.
template <std::uint32_t kWidth>
struct PieceTree {
  static constexpr std::uint32_t kFan = 16;
  static constexpr std::uint32_t kInFlight = 4;

  float* sums;              ///< Of the row's first piece, in this lane's columns.
  std::uint64_t stride;     ///< From one piece's to the next.
  std::uint32_t* arrivals;  ///< One place for each piece of the row.
  std::uint32_t count;      ///< The row's pieces.

  /// Adds piece `piece`, whose sum this lane has in `sum`. True for the group that ends last: its
  /// `sum` is the row's.
  template <class W>
  WARREN_HD bool add(const W& worker, std::uint32_t piece, bool is_active,
                     exec::FloatPack<kWidth>& sum) const {
    // At level l pieces stand for kFan^l: `span` of them behind each leader.
    std::uint32_t span = 1;
    for (std::uint32_t level = 0; span < count; ++level) {
      if (is_active) sum.store(place(piece));
      const std::uint64_t next = std::uint64_t{span} * kFan;
      const auto leader = static_cast<std::uint32_t>(piece / next * next);
      const std::uint64_t covered = next < count - leader ? next : count - leader;
      const auto members = static_cast<std::uint32_t>((covered + span - 1) / span);
      // Levels have places of their own: only leaders of level l count at l.
      if (members > 1 && !is_last(worker, arrivals[leader + level], members)) return false;
      piece = leader;
      if (is_active && members > 1) add_members(leader, span, members, sum);
      if (next >= count) break;
      span = static_cast<std::uint32_t>(next);
    }
    return true;
  }

 private:
  WARREN_HD float* place(std::uint32_t piece) const { return sums + std::uint64_t{piece} * stride; }
  template <class W>
  WARREN_HD static bool is_last(const W& worker, std::uint32_t& arrived, std::uint32_t members) {
    worker.sync();
    std::uint32_t before = 0;
    if (worker.lane() == 0) {
      before = exec::atomic_add<exec::Order::release>(arrived, 1u);
      if (before + 1 == members) {
        static_cast<void>(exec::atomic_load<exec::Order::acquire>(arrived));
        exec::atomic_store(arrived, 0u);
      }
    }
    before = worker.broadcast(before, 0);
    worker.sync();
    return before + 1 == members;
  }
  WARREN_HD void add_members(std::uint32_t leader, std::uint32_t span, std::uint32_t members,
                             exec::FloatPack<kWidth>& sum) const {
    sum.clear();
    for (std::uint32_t m = 0; m < members; m += kInFlight) {
      exec::FloatPack<kWidth> piece[kInFlight];
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kInFlight; ++u) {
        piece[u].clear();
        if (m + u < members) piece[u].load(place(leader + (m + u) * span));
      }
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kInFlight; ++u) sum.add(1.0f, piece[u]);
    }
  }
};

}  // namespace warren::sparse::detail
