// SPDX-License-Identifier: Apache-2.0
// A ring of tasks that many workers of one rank put into and many workers of one rank (the same or
// another) take out of, without locks.
//
// Writers reserve places with one addition to `tail`, for all lanes of a worker, and write. What is
// written is published by counters, one to each segment of 512 places: the word holds the number of
// the places written and, above it, the sum of their positions. Where the sum is 0 + 1 + .. + (c -
// 1) for a count of c, the c places written are the first c, since no other c places have so small
// a sum: one word, read once, says how far a segment can be read. The words go on counting over the
// laps of the ring and are compared modulo 2^64. What is read is counted in the same way, and tells
// writers how far places are free.
//
// Readers take from `available`, which counts places reserved, and get theirs from `head`. A place
// may be handed out a moment before its task is there: the reader then waits for a writer that has
// its place and waits for nothing itself. Who takes longer to write announces its places after.
//
// `capacity` is what writers heed: a ring is full when so many places are taken. Additions to
// `tail` follow one another, and so do looks at it; so who fills the ring says so in a word that is
// seldom written, `filled`, and only where that lies behind what is free does anybody look at
// `tail`. What is free the readers tell, who have the words at hand: after the first lap whoever
// reads a segment's last place goes on from what has been told as far as places have been read.
// Writers look for themselves where that is not far enough yet. Several may pass the capacity
// together, each once before it sees its own word: by one task for each thread of their device (or
// what each pushes together, or one batch of an aggregator); the storage has room for them.
//
// Orders: a task is written before its segment's word is added to with release, and read after the
// word was read with acquire; it is read before its segment's second word is added to with release,
// and its place written again after that was read with acquire (and handed on through `freed`). Who
// adds to several words releases them by one fence.
// System scope where the two ranks differ, else device scope.
#pragma once

#include <bit>

#include "warren/exec/atomic.hpp"
#include "warren/exec/wait.hpp"
#include "warren/exec/worker.hpp"

namespace warren::schedule {

using exec::Order;
using exec::Scope;

inline constexpr std::uint64_t kSegmentTasks = 512;

/// Behind a counter that many workers move: the second-level cache serves lines side by side, and
/// some that are farther apart, in one place, one after the other.
inline constexpr std::size_t kCounterBytes = 4096;
template <class T = std::uint64_t>
struct CounterGap {
  unsigned char bytes[kCounterBytes - sizeof(T)];
};

/// Counters of one segment. The denser they lie and the fewer they are, the fewer lines of memory
/// workers go on to one after the other.
struct alignas(16) RingSegment {
  std::uint64_t written;
  std::uint64_t read;
};

/// What readers count; on their device.
struct alignas(256) RingReader {
  std::uint64_t available;  ///< Two's complement: below 0 while a reader gives back.
  CounterGap<> behind_available;
  std::uint64_t head;
  CounterGap<> behind_head;
  std::uint64_t told;  ///< Writers have been told that all places before it have been read.
  CounterGap<> behind_told;
};

/// What writers count; on their device.
struct alignas(256) RingWriter {
  std::uint64_t tail;
  CounterGap<> behind_tail;
  std::uint64_t freed;  ///< All places before it have been read. Readers tell so, too.
  CounterGap<> behind_freed;
  /// The farthest end of a reservation that took the last place that its writer knew to be free.
  std::uint64_t filled;
  CounterGap<> behind_filled;
};

namespace detail {

/// A segment's word of a full lap.
inline constexpr std::uint64_t kFullSegment =
    (kSegmentTasks * (kSegmentTasks - 1) / 2) << 32 | kSegmentTasks;

/// The word of places [first, end) of a segment.
[[nodiscard]] WARREN_HD constexpr std::uint64_t segment_word(std::uint64_t first,
                                                             std::uint64_t end) {
  const auto count = static_cast<std::uint32_t>(end - first);
  const std::uint32_t sum = static_cast<std::uint32_t>(first + end - 1) * count / 2;
  return std::uint64_t{sum} << 32 | count;
}

/// How many places from the segment's first on are done, by its word less the full laps'; 0 where
/// there are holes.
[[nodiscard]] WARREN_HD constexpr std::uint32_t segment_prefix(std::uint64_t word) {
  const auto count = static_cast<std::uint32_t>(word);
  return count <= kSegmentTasks && static_cast<std::uint32_t>(word >> 32) == count * (count - 1) / 2
             ? count
             : 0;
}

template <Order O = Order::relaxed, class T>
WARREN_HD T load(const T& location, bool is_wide) {
  return is_wide ? exec::atomic_load<O, Scope::system>(location)
                 : exec::atomic_load<O, Scope::device>(location);
}
template <Order O = Order::relaxed, class T>
WARREN_HD T add(T& location, T value, bool is_wide) {
  return is_wide ? exec::atomic_add<O, Scope::system>(location, value)
                 : exec::atomic_add<O, Scope::device>(location, value);
}

template <Order O = Order::relaxed, class T>
WARREN_HD void store_add(T& location, T value, bool is_wide) {
  if (is_wide) {
    exec::atomic_store_add<O, Scope::system>(location, value);
  } else {
    exec::atomic_store_add<O, Scope::device>(location, value);
  }
}

/// What a lane has done, and seen others do, before this comes before what it counts after it in
/// kFenced: one wait for several counters. On the CPU each of these waits itself, since the thread
/// sanitizer knows no fences. On a GPU it empties the first-level cache, which a single release
/// does not.
WARREN_HD inline void fence([[maybe_unused]] bool is_wide) {
#if defined(__CUDA_ARCH__)
  if (is_wide) {
    cuda::atomic_thread_fence(cuda::std::memory_order_release, cuda::thread_scope_system);
  } else {
    cuda::atomic_thread_fence(cuda::std::memory_order_release, cuda::thread_scope_device);
  }
#endif
}
/// The same for readers: what they have seen in kSeen comes before what they do after this.
WARREN_HD inline void fence_seen([[maybe_unused]] bool is_wide) {
#if defined(__CUDA_ARCH__)
  if (is_wide) {
    cuda::atomic_thread_fence(cuda::std::memory_order_acquire, cuda::thread_scope_system);
  } else {
    cuda::atomic_thread_fence(cuda::std::memory_order_acquire, cuda::thread_scope_device);
  }
#endif
}
#if defined(__CUDA_ARCH__)
inline constexpr Order kFenced = Order::relaxed;
inline constexpr Order kSeen = Order::relaxed;
#else
inline constexpr Order kFenced = Order::release;
inline constexpr Order kSeen = Order::acquire;
#endif

/// Where a run is tested: a random pause, one time in eight, between any two accesses that others
/// may come between.
WARREN_HD inline void inject_delay(std::uint32_t most_nanoseconds) {
  if (most_nanoseconds == 0) return;
  const std::uint64_t begin = exec::clock_nanoseconds();
  const std::uint64_t random = (begin ^ begin >> 7) * 0x9e3779b97f4a7c15u >> 32;
  if (random % 8 != 0) return;
  const std::uint64_t pause = random / 8 % most_nanoseconds;
  while (exec::clock_nanoseconds() - begin < pause) exec::back_off();
}

}  // namespace detail

/// Places [first, first + count) that one worker reads.
struct Claim {
  std::uint64_t first;
  std::uint64_t count;
};

/// What enters kernels. Of the writer's words readers move `freed` alone.
template <class Task>
struct RingView {
  Task* tasks = nullptr;  ///< On the readers' device, as are the segments.
  RingSegment* segments = nullptr;
  RingReader* reader = nullptr;
  RingWriter* writer = nullptr;
  const std::uint32_t* abort_flag = nullptr;
  std::uint64_t capacity = 0;
  std::uint64_t mask = 0;            ///< Places less one; a power of two of whole segments.
  std::uint32_t injected_delay = 0;  ///< Of tests: see above.
  std::uint8_t lap_shift = 0;        ///< The binary logarithm of the places.
  bool is_wide = false;              ///< Writers and readers are different ranks.

  /// Of the ring: a power of two, in whole segments.
  void set_places(std::uint64_t places) {
    mask = places - 1;
    lap_shift = static_cast<std::uint8_t>(std::countr_zero(places));
  }

  static constexpr std::uint64_t kNoPlace = ~std::uint64_t{0};

  // Of writers.

  /// 0 where the ring is full; else the end of the places that may be written by what this lane has
  /// seen read. By one lane. Writers of batches look at several segments at a time, which would
  /// cost those of tasks registers.
  template <std::uint32_t kLooks = 1>
  [[nodiscard]] WARREN_HD std::uint64_t room() const {
    const std::uint64_t filled = exec::atomic_load(writer->filled);
    std::uint64_t freed = load_freed();
    if (filled >= freed + capacity) {
      const std::uint64_t tail = exec::atomic_load(writer->tail);
      if (tail >= freed + capacity)
        freed = find_freed<kLooks>(freed, tail, tail - capacity + kLooksAhead * kSegmentTasks);
      if (tail >= freed + capacity) return 0;
    }
    return limit_of(freed);
  }
  [[nodiscard]] WARREN_HD bool has_room() const { return room() != 0; }
  /// Places taken, and at most a segment's more. Others go on between the looks: those at what has
  /// been read come last, and what was read of places that were taken after the first is left out.
  [[nodiscard]] WARREN_HD std::uint64_t used() const {
    const std::uint64_t tail = exec::atomic_load(writer->tail);
    detail::inject_delay(injected_delay);
    const std::uint64_t freed = load_freed();
    detail::inject_delay(injected_delay);
    const std::uint64_t read = find_freed<1>(freed, tail, tail);
    return tail > read ? tail - read : 0;
  }
  /// The first of `count` places, which no reader comes for before they are announced. By one lane,
  /// after room() gave `limit` (0: after no such look, where the storage has room for sure). Where
  /// others have taken the ring on meanwhile, the places lie beyond the limit: they have been read,
  /// but this lane must see that before it writes. kNoPlace if the team has ended.
  template <std::uint32_t kLooks = 1>
  [[nodiscard]] WARREN_HD std::uint64_t reserve(std::uint64_t count, std::uint64_t limit) const {
    const std::uint64_t first = exec::atomic_add(writer->tail, count);
    detail::inject_delay(injected_delay);
    for (std::uint32_t looks = 1; first + count > limit; ++looks) {
      const std::uint64_t freed = load_freed();
      limit = limit_of(freed);
      if (first + count > limit) {
        const std::uint64_t needed = first + count - (mask + 1);
        limit = limit_of(find_freed<kLooks>(freed, first, needed + kLooksAhead * kSegmentTasks));
      }
      if (first + count <= limit) break;
      if (looks % kLooksBeforeAbort == 0 && team_has_ended()) return kNoPlace;
      exec::back_off();
    }
    if (!is_below_capacity(first + count, limit)) exec::atomic_max(writer->filled, first + count);
    return first;
  }
  /// The first of `count` places that are announced before they are written: to tell so costs no
  /// wait now, and readers come while they are. kNoPlace where the ring is full. By one lane. Where
  /// a worker's last places lay below the capacity it takes the next ones without a look at the
  /// room, and like others passes the capacity once. `known` is the worker's; 0 at first, and again
  /// once it has taken places otherwise.
  [[nodiscard]] WARREN_HD std::uint64_t take_places(std::uint64_t count,
                                                    std::uint64_t& known) const {
    const std::uint64_t limit = known != 0 ? known : room();
    if (limit == 0) return kNoPlace;
    const std::uint64_t first = reserve(count, limit);
    if (first == kNoPlace) return kNoPlace;
    announce(count);
    known = is_below_capacity(first + count, limit) ? limit : 0;
    return first;
  }
  /// Lets readers come for `count` places that have been reserved.
  WARREN_HD void announce(std::uint64_t count) const {
    detail::store_add(reader->available, count, is_wide);
  }
  [[nodiscard]] WARREN_HD Task& place(std::uint64_t index) const { return tasks[index & mask]; }
  /// What was written to places [first, first + count) may be read. By one lane, which all that
  /// wrote have met; soon, since readers may be waiting.
  WARREN_HD void publish(std::uint64_t first, std::uint64_t count) const {
    count_places(first, count, &RingSegment::written);
  }
  /// One task of each lane that has one, with one reservation. Called by all lanes. False, and
  /// nothing done, where the ring is full. `known`: lane 0's, see take_places().
  template <class W>
  [[nodiscard]] WARREN_HD bool try_push(const W& worker, bool has, const Task& task,
                                        std::uint64_t& known) const {
    return put(worker, has, task, [&](std::uint32_t count) { return take_places(count, known); });
  }
  /// The same with a look at the room.
  template <class W>
  [[nodiscard]] WARREN_HD bool try_push(const W& worker, bool has, const Task& task) const {
    std::uint64_t known = 0;
    return try_push(worker, has, task, known);
  }
  /// The same where the storage has room for sure. Without effect if the team has ended.
  template <class W>
  WARREN_HD void push(const W& worker, bool has, const Task& task) const {
    (void)put(worker, has, task, [&](std::uint32_t count) {
      const std::uint64_t first = reserve(count, 0);
      if (first != kNoPlace) announce(count);
      return first;
    });
  }

  // Of readers.

  [[nodiscard]] WARREN_HD bool has_tasks() const {
    return static_cast<std::int64_t>(detail::load(reader->available, is_wide)) > 0;
  }
  [[nodiscard]] WARREN_HD std::uint64_t waiting() const {
    const auto count = static_cast<std::int64_t>(detail::load(reader->available, is_wide));
    return count > 0 ? static_cast<std::uint64_t>(count) : 0;
  }
  /// Up to `most` tasks. By one lane; all read() them.
  [[nodiscard]] WARREN_HD Claim claim(std::uint64_t most) const {
    return has_tasks() ? take(most) : Claim{};
  }
  /// The same for a lane that has just seen tasks here: without another look.
  [[nodiscard]] WARREN_HD Claim take(std::uint64_t most) const {
    const auto had =
        static_cast<std::int64_t>(detail::add(reader->available, std::uint64_t{0} - most, is_wide));
    const std::uint64_t count = had <= 0 ? 0
                                : static_cast<std::uint64_t>(had) < most
                                    ? static_cast<std::uint64_t>(had)
                                    : most;
    if (count < most) detail::store_add(reader->available, most - count, is_wide);
    if (count == 0) return {};
    detail::inject_delay(injected_delay);
    return {exec::atomic_add(reader->head, count), count};
  }
  /// The lane that publishes and releases: not the one that claims and reserves, which in a block
  /// is with its next ones while this one's fence waits.
  template <class W>
  [[nodiscard]] static WARREN_HD bool is_teller(const W& worker) {
    return worker.lane() + 1 == worker.size();
  }
  /// Waits until what the worker has claimed is there to be read: for writers that have reserved.
  /// Called by all lanes. False if the team has ended.
  template <class W>
  [[nodiscard]] WARREN_HD bool await(const W& worker, const Claim& claim) const {
    bool is_there = true;
    // A lane waits for each segment.
    const std::uint64_t begin = claim.first / kSegmentTasks;
    const std::uint64_t end = claim.first + claim.count;
    const std::uint64_t segments_here = (end - 1) / kSegmentTasks - begin + 1;
    for (std::uint64_t s = worker.lane(); s < segments_here; s += worker.size()) {
      const std::uint64_t last = (begin + s + 1) * kSegmentTasks;
      if (!wait_until_written((last < end ? last : end) - 1)) is_there = false;
    }
    return !worker.sync_any(!is_there);  // What one lane acquired the others read.
  }
  /// The tasks of places [first, first + count), which the worker has claimed, no more than its
  /// lanes: one for each of the first ones. Waits for writers that have reserved, and gives the
  /// places back. Called by all lanes. False if the team has ended.
  template <class W>
  [[nodiscard]] WARREN_HD bool read(const W& worker, std::uint64_t first, std::uint32_t count,
                                    Task& task) const {
    bool is_there = true;
    if (worker.lane() < count) {
      // Each waits for its own place: nobody has to be told.
      is_there = wait_until_written(first + worker.lane());
      if (is_there) task = place(first + worker.lane());
    }
    if (worker.sync_any(!is_there)) return false;
    if (is_teller(worker)) release({first, count});
    tell_freed(worker, {first, count});
    return true;
  }
  /// What was claimed has been read. By one lane, which all that read have met.
  WARREN_HD void release(const Claim& claim) const {
    count_places(claim.first, claim.count, &RingSegment::read);
  }
  /// After release(): readers of a segment's last place tell the writers how far places have been
  /// read from what was told before on, after the first lap. Called by all lanes, whose looks are
  /// under way together: those of one after the other would never come up with what is read
  /// meanwhile.
  template <class W>
  WARREN_HD void tell_freed(const W& worker, const Claim& claim) const {
    const std::uint64_t end = claim.first + claim.count;
    if (end < capacity || claim.first % kSegmentTasks + claim.count < kSegmentTasks) return;
    std::uint64_t told = 0;
    if (worker.lane() == 0) told = detail::load<Order::acquire>(reader->told, is_wide);
    told = worker.broadcast(told, 0);
    std::uint64_t now = told;
    constexpr std::uint32_t kMostRounds = 8;
    for (std::uint32_t round = 0; round < kMostRounds && now < end; ++round) {
      const std::uint64_t begin = (now / kSegmentTasks + worker.lane()) * kSegmentTasks;
      const std::uint32_t read = segment_read(begin);
      if (read > 0) detail::fence_seen(is_wide);
      const std::uint64_t hole = read < kSegmentTasks ? begin + read : kNoPlace;
      const std::uint64_t least = worker.reduce(hole, exec::Minimum{});
      const std::uint64_t next = (now / kSegmentTasks + worker.size()) * kSegmentTasks;
      now = least == kNoPlace ? next : least > now ? least : now;
      if (least != kNoPlace) break;
    }
    worker.sync();
    if (worker.lane() != 0 || now == told) return;
    move_up(reader->told, now);
    move_up(writer->freed, now);
  }

 private:
  /// Segments, from the one that is needed on; more than one, since limits are of whole ones.
  static constexpr std::uint64_t kLooksAhead = 2;
  /// Looks of a lane that waits, of which one is at the team's abort flag too.
  static constexpr std::uint32_t kLooksBeforeAbort = 4096;

  /// Whether another rank has failed: nobody comes for what is waited for.
  [[nodiscard]] WARREN_HD bool team_has_ended() const {
    return abort_flag != nullptr &&
           exec::atomic_load<Order::relaxed, Scope::system>(*abort_flag) != 0;
  }

  /// Writes the lanes' tasks to the places whose first one lane 0 gets from `places(count)`;
  /// false where it gets none.
  template <class W, class F>
  [[nodiscard]] WARREN_HD bool put(const W& worker, bool has, const Task& task, F&& places) const {
    const std::uint32_t count = worker.count(has);
    if (count == 0) return true;
    const std::uint32_t before = count == worker.size() ? worker.lane() : worker.count_before(has);
    std::uint64_t first = 0;
    if (worker.lane() == 0) first = places(count);
    first = worker.broadcast(first, 0);
    if (first == kNoPlace) return false;
    if (has) place(first + before) = task;
    worker.sync();
    if (is_teller(worker)) publish(first, count);
    return true;
  }
  /// In which lap of the ring a place lies.
  [[nodiscard]] WARREN_HD std::uint64_t lap_of(std::uint64_t place) const {
    return place >> lap_shift;
  }

  /// Adds places [first, first + count) to their segments' words.
  WARREN_HD void count_places(std::uint64_t first, std::uint64_t count,
                              std::uint64_t RingSegment::*word) const {
    detail::inject_delay(injected_delay);
    const std::uint64_t from = first % kSegmentTasks;
    if (from + count <= kSegmentTasks) {
      detail::store_add<Order::release>(segments[(first & mask) / kSegmentTasks].*word,
                                        detail::segment_word(from, from + count), is_wide);
      return;
    }
    detail::fence(is_wide);
    for_each_segment(first, count,
                     [&](RingSegment& segment, std::uint64_t begin, std::uint64_t end) {
                       detail::inject_delay(injected_delay);
                       detail::store_add<detail::kFenced>(
                           segment.*word, detail::segment_word(begin, end), is_wide);
                     });
  }
  /// f(segment, from, to) for every segment that the places lie in, [from, to) within it.
  template <class F>
  WARREN_HD void for_each_segment(std::uint64_t first, std::uint64_t count, F&& f) const {
    const std::uint64_t end = first + count;
    while (first < end) {
      const std::uint64_t begin = first / kSegmentTasks * kSegmentTasks;
      const std::uint64_t last = end < begin + kSegmentTasks ? end : begin + kSegmentTasks;
      f(segments[(begin & mask) / kSegmentTasks], first - begin, last - begin);
      first = last;
    }
  }

  /// Waits for a place and those before it in its segment.
  [[nodiscard]] WARREN_HD bool wait_until_written(std::uint64_t index) const {
    const RingSegment& segment = segments[(index & mask) / kSegmentTasks];
    const std::uint64_t full_laps = lap_of(index) * detail::kFullSegment;
    const auto before = static_cast<std::uint32_t>(index % kSegmentTasks);
    std::uint32_t looks = 0;
    while (detail::segment_prefix(detail::load<Order::acquire>(segment.written, is_wide) -
                                  full_laps) <= before) {
      if (++looks % 16 == 0) exec::back_off();
      if (looks % kLooksBeforeAbort == 0 && team_has_ended()) return false;
    }
    return true;
  }

  /// Places before this may be written: those a lap before them have been read, whole segments so
  /// that two laps never count in one word.
  [[nodiscard]] WARREN_HD std::uint64_t limit_of(std::uint64_t freed) const {
    return freed / kSegmentTasks * kSegmentTasks + mask + 1;
  }

  /// Whether places that end at `end` leave some of the capacity, by what gave `limit`. Less than a
  /// segment before its end no longer, since limits are of whole segments.
  [[nodiscard]] WARREN_HD bool is_below_capacity(std::uint64_t end, std::uint64_t limit) const {
    return end < limit - (mask + 1) + capacity;
  }

  [[nodiscard]] WARREN_HD std::uint64_t load_freed() const {
    return detail::load<Order::acquire>(writer->freed, is_wide);
  }

  /// Places of the segment from `begin` on that have been read, up to the first that has not.
  [[nodiscard]] WARREN_HD std::uint32_t segment_read(std::uint64_t begin) const {
    return detail::segment_prefix(
        detail::load<detail::kSeen>(segments[(begin & mask) / kSegmentTasks].read, is_wide) -
        lap_of(begin) * detail::kFullSegment);
  }
  /// Moves `freed` on as far as places have been read, or to `enough`: nobody looks for who comes
  /// later, whom a look at each segment of the ring would have wait. Several looks are under way at
  /// a time: a batch may need many segments, of which each is a way to the memory.
  template <std::uint32_t kLooks>
  WARREN_HD std::uint64_t find_freed(std::uint64_t freed, std::uint64_t tail,
                                     std::uint64_t enough) const {
    std::uint64_t now = freed;
    bool is_whole = true;
    while (is_whole && now < tail && now < enough) {
      const std::uint64_t begin = now / kSegmentTasks * kSegmentTasks;
      std::uint32_t read[kLooks];
      WARREN_UNROLL
      for (std::uint32_t j = 0; j < kLooks; ++j) read[j] = segment_read(begin + j * kSegmentTasks);
      WARREN_UNROLL
      for (std::uint32_t j = 0; j < kLooks; ++j) {
        if (!is_whole) continue;
        const std::uint64_t end = begin + j * kSegmentTasks + read[j];
        if (end > now) now = end;
        is_whole = read[j] == kSegmentTasks;
      }
    }
    if (now > freed) {
      detail::fence_seen(is_wide);
      move_up(writer->freed, now);
    }
    return now;
  }
  WARREN_HD void move_up(std::uint64_t& word, std::uint64_t to) const {
    if (is_wide) {
      exec::atomic_max<Order::acq_rel, Scope::system>(word, to);
    } else {
      exec::atomic_max<Order::acq_rel>(word, to);
    }
  }
};

}  // namespace warren::schedule
