// SPDX-License-Identifier: Apache-2.0
// How tasks that found their rings full come back. Apart from the workers' loop, as the aggregator
// is, and for the same reason.
#pragma once

#include "warren/schedule/context.hpp"

namespace warren::schedule::detail {

/// Into this rank's own ring. That is full for as long as its tasks push themselves again: then as
/// many of them are spilled in place of these, so that none waits for ever. True if anything moved.
template <class W, class Task>
WARREN_HD bool take_turns(const W& worker, const RingView<Task>& ring, Context<W, Task>& context,
                          bool has, const Task& task) {
  if (ring.try_push(worker, has, task)) return true;
  Claim claim{};
  const std::uint32_t count = worker.count(has);
  if (worker.lane() == 0) claim = ring.claim(count);
  claim = worker.broadcast(claim, 0);
  Task taken{};
  if (claim.count > 0 &&
      !ring.read(worker, claim.first, static_cast<std::uint32_t>(claim.count), taken))
    return false;
  worker.sync();
  // Others may have taken the room.
  const bool is_there = context.deliver(worker, has, ring, context.rank(), task);
  if (claim.count > 0) context.spill(worker, worker.lane() < claim.count, context.rank(), taken);
  return is_there || claim.count > 0;
}

/// Gives spilled tasks that the worker has claimed, at most one for each lane, to the rings that
/// they are for, or spills them again. True if anything moved. Collective.
template <class W, class Task>
WARREN_GPU_NOINLINE WARREN_HD bool move_spilled(const W& worker, const QueueTable<Task>& table,
                                                RankCounters& mine, Context<W, Task>& context,
                                                const Claim& claim) {
  const auto here = static_cast<std::uint32_t>(claim.count);
  SpilledTask<Task> spilled{};
  if (!table.spill.read(worker, claim.first, here, spilled)) return false;
  worker.sync();
  bool has_moved = false;
  for (int q = 0; q < table.ranks; ++q) {
    const bool is_for_q = worker.lane() < here && spilled.to == static_cast<std::uint32_t>(q);
    if (!worker.any(is_for_q)) continue;
    if (q == table.rank) {
      // A spilled task is late already: it goes to the bucket that is being worked off.
      const std::uint64_t bucket =
          table.levels == 1 ? 0 : worker.broadcast(exec::atomic_load(mine.bucket), 0);
      if (take_turns(worker, table.local[bucket % table.levels], context, is_for_q, spilled.task))
        has_moved = true;
    } else if (context.push_remote(worker, is_for_q, q, spilled.task)) {
      has_moved = true;
    }
  }
  return has_moved;
}

}  // namespace warren::schedule::detail
