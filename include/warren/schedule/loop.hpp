// SPDX-License-Identifier: Apache-2.0
// The loop of a worker: fetch tasks, run them, and where there are none keep the traffic moving and
// watch for the end.
#pragma once

#include <concepts>

#include "warren/schedule/aggregator.hpp"
#include "warren/schedule/spill.hpp"

namespace warren::schedule {

namespace detail {

/// A worker's part in one step of a run. The context is no member: what calls that are not inlined
/// can reach is in memory, and this is to be in registers.
template <class W, class Task, class Function>
class WorkerLoop {
 public:
  WARREN_HD WorkerLoop(const W& worker, std::uint64_t index, const QueueTable<Task>& table,
                       const Function& function, std::uint32_t fetch, std::uint32_t share,
                       std::uint64_t shared_tasks, Context<W, Task>& context)
      : worker_(worker),
        index_(index),
        table_(table),
        function_(function),
        fetch_(fetch),
        share_(share),
        shared_tasks_(shared_tasks),
        mine_(*table.counters[table.rank]),
        context_(context) {}
  /// A task that throws ends the run of its rank's other workers, too.
  WARREN_HD ~WorkerLoop() {
    if (!has_ended_) context_.signal_all(Signal::fail);
  }
  WorkerLoop(const WorkerLoop&) = delete;
  WorkerLoop& operator=(const WorkerLoop&) = delete;

  /// Pushes the first tasks: called once for each seed. None is run yet, so that nothing makes
  /// room: where the rings are full and the spill's memory is half full, too, the run ends.
  WARREN_HD void seed(std::uint64_t seed) {
    const std::uint64_t spilled = worker_.lane() == 0 ? table_.spill.used() : 0;
    if (worker_.broadcast(spilled, 0) <= table_.spill.mask / 2)
      return function_.seed(worker_, context_, seed);
    if (worker_.lane() != 0) return;
    exec::atomic_add(mine_.unseeded, std::uint64_t{1});
    context_.stray();
  }

  /// Until told to leave; where not `persistent`, until nothing is found.
  WARREN_HD void run(bool persistent) {
    bool was_busy = true;
    std::uint64_t idle_since = 0;
    context_.count_ahead(kCountedAhead);
    if constexpr (kHolds) function_.begin(worker_, context_);
    if (keeps_time() && worker_.lane() == 0)
      exec::atomic_store(mine_.slice_end, exec::clock_nanoseconds() + table_.slice_nanoseconds);
    for (std::uint32_t turn = 1;; ++turn) {
      if (leaves(read_signal(turn), turn)) break;
      if (fetch_and_run(turn)) {
        if (idle_since != 0) end_idling(idle_since);
        idle_turns_ = 0;
        was_busy = true;
        if (turn % 8 == 0 || table_.is_slow != 0) (void)move_traffic(false, turn);
        continue;
      }
      if (flush()) {
        was_busy = true;  // What it counted as created is to be settled.
        continue;
      }
      if (idle_since == 0 && worker_.lane() == 0) idle_since = exec::clock_nanoseconds();
      ++idle_turns_;
      if (move_traffic(!persistent, turn)) continue;
      if (was_busy) {
        was_busy = false;
        run_idle_function();
        (void)flush();  // While something is held nothing is finished that may have found it.
        count_finished();
        continue;
      }
      if (!persistent) break;
      if (index_ == 0) watch();
      // Thousands of workers look at the same few words: those that work wait for them, too.
      exec::back_off(idle_turns_ < kEagerTurns ? 64 : idle_turns_ < kPatientTurns ? 512 : 4096);
    }
    (void)flush();
    count_finished();
    if (idle_since != 0) end_idling(idle_since);
  }

  /// Of this step; meaningful in lane 0.
  [[nodiscard]] WARREN_HD std::uint64_t finished() const { return finished_; }

  WARREN_HD void end() { has_ended_ = true; }

 private:
  /// Tasks: some pushes of a warp.
  static constexpr std::uint32_t kCountedAhead = 1024;
  /// Of a worker, one of which looks for batches that are due.
  static constexpr std::uint32_t kSendTurns = 8;
  /// After which the worker that keeps the time looks at the clock.
  static constexpr std::uint32_t kTimeTurns = 16;
  static constexpr std::uint32_t kEagerTurns = 4;
  static constexpr std::uint32_t kPatientTurns = 16;
  static constexpr std::uint64_t kMany = ~std::uint64_t{0};
  static constexpr bool kHasPriorities = requires(const Function& function, const Task& task) {
    function.priority(task);
  };

  static constexpr bool kHolds =
      requires(const Function& function, const W& worker, Context<W, Task>& context) {
    function.begin(worker, context);
    { function.flush(worker, context) } -> std::same_as<bool>;
  };

  /// Pushes what the function holds: before its tasks are told to be finished. True if it did.
  [[nodiscard]] WARREN_HD bool flush() {
    if constexpr (kHolds) return function_.flush(worker_, context_);
    return false;
  }

  /// One worker of each rank, for all.
  [[nodiscard]] WARREN_HD bool keeps_time() const {
    return table_.slice_nanoseconds != 0 && index_ == 0;
  }

  [[nodiscard]] WARREN_HD Signal read_signal(std::uint32_t turn) {
    std::uint32_t signal = 0;
    if (worker_.lane() == 0) {
      if (index_ == 0 && turn % 256 == 0 &&
          exec::atomic_load<Order::relaxed, Scope::system>(*table_.abort_flag) != 0)
        context_.signal_all(Signal::fail);
      if (keeps_time() && turn % kTimeTurns == 0 &&
          exec::clock_nanoseconds() >= exec::atomic_load(mine_.slice_end))
        context_.signal_all(Signal::pause);
      // Every look that acquires would empty the processor's first-level cache.
      signal = exec::atomic_load<Order::relaxed, Scope::system>(mine_.signal);
      if (static_cast<Signal>(signal) != Signal::run)
        signal = exec::atomic_load<Order::acquire, Scope::system>(mine_.signal);
    }
    return static_cast<Signal>(worker_.broadcast(signal, 0));
  }

  /// A slice of time may be over before a rank's kernel has begun. Its workers look for tasks once
  /// all the same: where that rank has all of them, a run whose slices are short would never end.
  [[nodiscard]] WARREN_HD bool leaves(Signal signal, std::uint32_t turn) const {
    const bool has_just_begun = turn == 1 && table_.slice_nanoseconds != 0;
    return signal != Signal::run && !(signal == Signal::pause && has_just_begun);
  }

  /// What other ranks sent comes first; without priorities, what most wait for. One call of the
  /// task function for all rings: kernels are as long as what is inlined into them, and with two
  /// calls nothing is.
  [[nodiscard]] WARREN_HD bool fetch_and_run(std::uint32_t turn) {
    const int ranks = table_.ranks;
    const bool sees_all = ranks > 1 && worker_.size() >= static_cast<std::uint32_t>(ranks) &&
                          (!kHasPriorities || table_.levels == 1);
    for (int i = ranks > 1 && !sees_all ? 0 : ranks; i <= ranks; ++i) {
      bool is_received = i < ranks;
      int from = table_.rank;
      std::uint64_t waiting = 0;
      if (sees_all) {
        from = where_most_wait(turn, waiting);
        is_received = from != table_.rank;
      } else if (is_received) {
        from = static_cast<int>((index_ + turn + static_cast<std::uint64_t>(i)) %
                                static_cast<std::uint64_t>(ranks));
        if (from == table_.rank) continue;
        waiting = worker_.lane() == 0 ? table_.from[from].waiting() : 0;
      }
      const RingView<Task>& ring = is_received ? table_.from[from]
                                   : sees_all  ? table_.local[0]
                                               : own_ring(waiting);
      if (run_from(ring, is_received, waiting)) return true;
    }
    return false;
  }

  /// A lane looks at each rank's ring. Where many wait in several, workers take turns.
  [[nodiscard]] WARREN_HD int where_most_wait(std::uint32_t turn, std::uint64_t& waiting) const {
    constexpr std::uint32_t kPlenty = 1 << 12;
    const auto ranks = static_cast<std::uint32_t>(table_.ranks);
    const std::uint32_t q = worker_.lane();
    std::uint32_t mine = 0;
    if (q < ranks) {
      const bool is_own = q == static_cast<std::uint32_t>(table_.rank);
      const std::uint64_t there = (is_own ? table_.local[0] : table_.from[q]).waiting();
      const auto here = static_cast<std::uint32_t>(there < kPlenty ? there : kPlenty);
      const auto behind = static_cast<std::uint32_t>((index_ + turn + q) % ranks);
      if (here > 0) mine = (here * ranks + behind) * ranks + q;
    }
    const std::uint32_t most = worker_.reduce(mine, exec::Maximum{});
    waiting = most / ranks / ranks;
    return most == 0 ? table_.rank : static_cast<int>(most % ranks);
  }

  /// The first of the priorities' rings that has tasks; `waiting`: how many lane 0 sees there.
  [[nodiscard]] WARREN_HD const RingView<Task>& own_ring(std::uint64_t& waiting) const {
    if (table_.levels == 1) {
      const RingView<Task>& ring = table_.local[0];
      waiting = was_full() ? kMany : worker_.lane() == 0 ? ring.waiting() : 0;
      return ring;
    }
    // A lane looks at each: to look at one after the other would take as many times as long.
    const std::uint64_t current = worker_.broadcast(exec::atomic_load(mine_.bucket), 0);
    const auto first = static_cast<std::uint32_t>(current % table_.levels);
    std::uint32_t found = table_.levels;
    for (std::uint32_t base = 0; base < table_.levels && found == table_.levels;
         base += worker_.size()) {
      const std::uint32_t k = base + worker_.lane();
      const std::uint64_t here = k < table_.levels ? table_.local[wrapped(first + k)].waiting() : 0;
      found = worker_.reduce(here > 0 ? k : table_.levels, exec::Minimum{});
      if (found < table_.levels) waiting = worker_.broadcast(here, found - base);
    }
    if (found == table_.levels) return table_.local[first];
    // The threshold goes up by delta, or by as many as are empty.
    if (found > 0 && worker_.lane() == 0) exec::atomic_max(mine_.bucket, current + found);
    return table_.local[wrapped(first + found)];
  }

  /// Of the priorities' rings, by an index below twice their number.
  [[nodiscard]] WARREN_HD std::uint32_t wrapped(std::uint32_t ring) const {
    return ring < table_.levels ? ring : ring - table_.levels;
  }

  /// Where all that was asked for was there, more will be: no look before the next time.
  [[nodiscard]] WARREN_HD bool was_full() const {
    if constexpr (kHasPriorities) return false;  // Their loops are short of registers.
    return was_full_;
  }

  /// Of so many tasks waiting, a worker takes what it may fetch, or where there are few a share:
  /// others without work are about to look. By lane 0.
  [[nodiscard]] WARREN_HD std::uint64_t share_of(const RingView<Task>& ring,
                                                 std::uint64_t waiting) {
    if (share_ > 0 && shared_tasks_ != kMany &&
        exec::atomic_load(ring.reader->head) > shared_tasks_)
      share_ = 0;
    const std::uint64_t share = (waiting >> share_) + (share_ > 0 ? 1 : 0);
    return share < fetch_ ? share : fetch_;
  }

  /// `waiting`: as lane 0 has just seen.
  [[nodiscard]] WARREN_HD bool run_from(const RingView<Task>& ring, bool is_received,
                                        std::uint64_t waiting) {
    Claim claim{};
    if (worker_.lane() == 0 && waiting > 0) claim = ring.take(share_of(ring, waiting));
    claim = worker_.broadcast(claim, 0);
    if constexpr (!kHasPriorities) {
      if (!is_received) was_full_ = claim.count == fetch_;
    }
    for (std::uint64_t done = 0; done < claim.count; done += worker_.size()) {
      const std::uint64_t left = claim.count - done;
      const auto here = left < worker_.size() ? static_cast<std::uint32_t>(left) : worker_.size();
      bool active = worker_.lane() < here;
      Task task{};
      // Their places go back before they are run: who writes may wait for them, and who runs may
      // write.
      if (!ring.read(worker_, claim.first + done, here, task)) return false;
      worker_.sync();  // A warp that has parted takes far longer for what its lanes do together.
      if constexpr (requires { function_.priority(task); }) {
        if (is_received && table_.levels > 1) active = defer(active, task);
      }
      const std::uint32_t running = worker_.count(active);
      if (running == 0) continue;
      function_(worker_, context_, active, task);
      finished_ += running;
    }
    return claim.count > 0;
  }

  /// Received tasks of later buckets join the rank's own. True for those to be run now.
  [[nodiscard]] WARREN_HD bool defer(bool active, const Task& task) {
    double priority = 0.0;
    if constexpr (requires { function_.priority(task); }) priority = function_.priority(task);
    const bool is_later =
        active && context_.level_of(priority, exec::atomic_load(mine_.bucket)) > 0;
    if (worker_.any(is_later)) context_.push_local(worker_, is_later, task, priority);
    return active && !is_later;
  }

  /// Sends what the aggregator holds where a batch is full or has waited (or `now`), and gives
  /// spilled tasks another try. True if anything moved.
  WARREN_HD bool move_traffic(bool now, std::uint32_t turn) {
    bool has_moved = false;
    if (table_.is_slow != 0) {
      // While all are busy, for as long as they like, one of them sees to it.
      now = now || table_.wait == 0 || (index_ == 0 && turn % table_.wait == 0);
      const bool has_waited = now || idle_turns_ >= table_.wait;
      // Whoever takes a batch stands in line with those who look whether there is one.
      const bool looks = now || worker_.size() == 1 || (index_ + turn) % kSendTurns == 0;
      for (int q = 0; looks && q < table_.ranks; ++q) {
        if (context_.is_slow(q) && !context_.is_apart(q) &&
            send_batch(worker_, table_, mine_, context_, q, has_waited))
          has_moved = true;
      }
    }
    if (move_spilled()) has_moved = true;
    return has_moved;
  }

  WARREN_HD bool move_spilled() {
    Claim claim{};
    if (worker_.lane() == 0) claim = table_.spill.claim(worker_.size());
    claim = worker_.broadcast(claim, 0);
    return claim.count > 0 && detail::move_spilled(worker_, table_, mine_, context_, claim);
  }

  /// What the function does in a worker that has run out of tasks. Counted like a task, so that
  /// what it pushes is not missed.
  WARREN_HD void run_idle_function() {
    if constexpr (requires { function_.idle(worker_, context_); }) {
      if (worker_.lane() == 0)
        exec::atomic_store_add<Order::relaxed, Scope::system>(mine_.created, std::uint64_t{1});
      function_.idle(worker_, context_);
      uncounted_ += 1;
    }
  }

  /// Tells what has been finished. A worker does so when it runs out of tasks, not after each: the
  /// end is decided when all have.
  WARREN_HD void count_finished() {
    const std::uint64_t count = finished_ - counted_ + uncounted_ + context_.take_back();
    if (count == 0) return;
    worker_.sync();
    detail::inject_delay(table_.injected_delay);
    if (worker_.lane() == 0) {
      exec::atomic_store_add(mine_.tasks, finished_ - counted_);
      exec::atomic_store_add<Order::release, Scope::system>(mine_.finished, count);
    }
    counted_ = finished_;
    uncounted_ = 0;
  }

  /// Rank 0's first worker decides the end: see docs/termination.md.
  WARREN_HD void watch() {
    if (table_.rank != 0 || worker_.lane() != 0) return;
    std::uint64_t finished = 0;
    for (int q = 0; q < table_.ranks; ++q)
      finished += exec::atomic_load<Order::acquire, Scope::system>(table_.counters[q]->finished);
    detail::inject_delay(table_.injected_delay);
    std::uint64_t created = 0;
    for (int q = 0; q < table_.ranks; ++q)
      created += exec::atomic_load<Order::relaxed, Scope::system>(table_.counters[q]->created);
    if (finished == created) context_.signal_all(Signal::done);
  }

  WARREN_HD void end_idling(std::uint64_t& since) {
    if (worker_.lane() == 0 && since != 0)
      exec::atomic_store_add(mine_.idle_nanoseconds, exec::clock_nanoseconds() - since);
    since = 0;
  }

  const W& worker_;
  std::uint64_t index_;
  const QueueTable<Task>& table_;
  const Function& function_;
  std::uint32_t fetch_;
  std::uint32_t share_;  ///< Of the tasks waiting: one in 2 to this power.
  std::uint64_t shared_tasks_;
  RankCounters& mine_;
  Context<W, Task>& context_;
  std::uint64_t finished_ = 0;
  std::uint64_t counted_ = 0;    ///< Of finished_, told to the others.
  std::uint64_t uncounted_ = 0;  ///< Idle functions run since then.
  std::uint32_t idle_turns_ = 0;
  bool was_full_ = false;  ///< The last look at the local ring gave all that may be fetched.
  bool has_ended_ = false;
};

}  // namespace detail
}  // namespace warren::schedule
