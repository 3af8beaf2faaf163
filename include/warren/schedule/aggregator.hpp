// SPDX-License-Identifier: Apache-2.0
// How gathered tasks cross a slow link. Apart from the workers' loop: its members are registers
// only as long as no function is called that could reach them.
#pragma once

#include "warren/schedule/context.hpp"

namespace warren::schedule::detail {

/// Whether a batch for rank `to` is to go and nobody else is taking it: the caller gives `sending`
/// back. Less than a batch waits while others are under way, unless `now`: the link has something
/// to do. By one lane.
template <class Task>
[[nodiscard]] WARREN_HD bool is_due(const QueueTable<Task>& table, RankCounters& mine, int to,
                                    bool now) {
  const std::uint64_t waiting = table.send_buffer[to].waiting();
  if (waiting == 0) return false;
  if (waiting < table.batch && (!now || exec::atomic_load(mine.under_way[to]) != 0)) return false;
  std::uint32_t unlocked = exec::atomic_load(mine.sending[to]);
  return unlocked == 0 &&
         exec::atomic_compare_exchange<Order::acquire>(mine.sending[to], unlocked, 1u);
}

/// Several of a lane under way: one after the other would wait for the memory each.
template <class W, class Task>
WARREN_HD void copy_tasks(const W& worker, const RingView<Task>& from, const Claim& source,
                          const RingView<Task>& to, std::uint64_t target) {
  constexpr std::uint32_t kAtOnce = sizeof(Task) <= 16 ? 8 : 2;
  const std::uint64_t lanes = worker.size();
  std::uint64_t i = worker.lane();
  for (; i + (kAtOnce - 1) * lanes < source.count; i += kAtOnce * lanes) {
    Task tasks[kAtOnce];
    WARREN_UNROLL
    for (std::uint32_t j = 0; j < kAtOnce; ++j) tasks[j] = from.place(source.first + i + j * lanes);
    WARREN_UNROLL
    for (std::uint32_t j = 0; j < kAtOnce; ++j) to.place(target + i + j * lanes) = tasks[j];
  }
  for (; i < source.count; i += lanes) to.place(target + i) = from.place(source.first + i);
}

/// Sends a batch to rank `to` where one is due; true if it did. Several workers may be sending
/// batches at a time; they take them one after the other, since the second to see a batch would
/// find the rest of one. Collective.
template <class W, class Task>
WARREN_GPU_NOINLINE WARREN_HD bool send_batch(const W& worker, const QueueTable<Task>& table,
                                              RankCounters& mine, Context<W, Task>& context, int to,
                                              bool now) {
  const RingView<Task>& send_buffer = table.send_buffer[to];
  const RingView<Task>& ring = table.to[to];
  Claim source{};
  std::uint64_t target = 0;
  std::uint64_t arrival = 0;
  if (worker.lane() == 0 && is_due(table, mine, to, now)) {
    constexpr std::uint32_t kLooks = 4;
    const std::uint64_t limit = ring.template room<kLooks>();
    if (limit != 0) source = send_buffer.take(table.batch);
    if (source.count > 0) {
      target = ring.template reserve<kLooks>(source.count, limit);
      if (target == RingView<Task>::kNoPlace) {
        source = {};
      } else {
        exec::atomic_store_add(mine.under_way[to], 1u);
        arrival = context.take_link(to, source.count);
      }
    }
    exec::atomic_store<Order::release>(mine.sending[to], 0u);
  }
  source = worker.broadcast(source, 0);
  if (source.count == 0) return false;
  target = worker.broadcast(target, 0);
  if (!send_buffer.await(worker, source)) return false;
  copy_tasks(worker, send_buffer, source, ring, target);
  worker.sync();
  if (worker.lane() == 0) send_buffer.release(source);
  send_buffer.tell_freed(worker, source);
  if (worker.lane() == 0) {
    while (arrival != 0 && exec::clock_nanoseconds() < arrival) exec::back_off();
    ring.publish(target, source.count);
    ring.announce(source.count);
    exec::atomic_store_add(mine.under_way[to], ~0u);
    context.tally(to, source.count);
  }
  return true;
}

}  // namespace warren::schedule::detail
