// SPDX-License-Identifier: Apache-2.0
// What a task function may ask of the scheduler, and the tables behind it.
#pragma once

#include "warren/schedule/ring.hpp"

namespace warren::schedule {

inline constexpr std::uint32_t kMaxLevels = 8;

/// What a rank's workers are told; written by any rank.
enum class Signal : std::uint32_t {
  run,
  done,   ///< No task exists anywhere.
  pause,  ///< Memory must grow, or a slice of time is over: all leave, and the run goes on.
  fail    ///< A task did what it must not, or threw.
};

/// One rank's counters, on its device. docs/termination.md says what `created` and `finished`
/// decide.
struct alignas(256) RankCounters {
  std::uint64_t created;  ///< Tasks that this rank's workers have pushed, or may push.
  CounterGap<> behind_created;
  std::uint64_t finished;  ///< Tasks that they have run, or will not push.
  CounterGap<> behind_finished;
  std::uint32_t signal;
  CounterGap<std::uint32_t> behind_signal;
  std::uint64_t bucket;  ///< The priority's bucket that is being worked off.
  CounterGap<> behind_bucket;
  // Tallies: of nothing but reports.
  std::uint64_t tasks;
  std::uint64_t idle_nanoseconds;  ///< Of all workers together.
  std::uint64_t spilled;           ///< Tasks that found a ring full.
  std::uint64_t wrong_rank;  ///< One more than the rank that a task was pushed to and is none.
  std::uint64_t unseeded;    ///< First tasks that the memory did not hold.
  std::uint64_t overflown;   ///< Tasks of one call that the memory did not hold.
  std::uint64_t slice_end;   ///< When all are to leave. No tally, but read as seldom.
  CounterGap<std::uint64_t[7]> behind_tallies;
  std::uint32_t sending[kMaxRanks];    ///< A worker is taking a batch out of the send buffer.
  std::uint32_t under_way[kMaxRanks];  ///< Batches taken and not yet at their ranks.
  CounterGap<std::uint32_t[2 * kMaxRanks]> behind_under_way;
  std::uint64_t link_is_free[kMaxRanks];  ///< Tests: when a slowed link has carried what it has.
  std::uint64_t messages[kMaxRanks];
  std::uint64_t sent[kMaxRanks];  ///< Tasks.
};

/// A task that found its ring full.
template <class Task>
struct SpilledTask {
  Task task;
  std::uint32_t to;
};

/// One rank's rings, in its device's memory.
template <class Task>
struct QueueTable {
  RingView<Task> local[kMaxLevels];
  RingView<Task> to[kMaxRanks];           ///< The receive rings of this rank at the others.
  RingView<Task> from[kMaxRanks];         ///< This rank's receive rings.
  RingView<Task> send_buffer[kMaxRanks];  ///< Of ranks over slow links.
  RingView<SpilledTask<Task>> spill;
  std::uint64_t spill_limit = 0;  ///< Spilled tasks past which its memory may not hold one more.
  RankCounters* counters[kMaxRanks] = {};
  const std::uint32_t* abort_flag = nullptr;
  int rank = 0;
  int ranks = 1;
  std::uint32_t levels = 1;
  std::uint32_t push_batch = 1;  ///< Tasks of one push_list(), for each lane.
  double inverse_delta = 1.0;
  std::uint32_t is_slow = 0;  ///< A bit for each rank whose messages are gathered.
  /// Of those, the ranks that this one cannot address: between rounds the host carries what is
  /// gathered for them. Their counters are nullptr.
  std::uint32_t is_apart = 0;
  // Tests: what a message to a slow rank takes longer, and each of its tasks.
  std::uint32_t link_delay_nanoseconds = 0;
  double slow_task_nanoseconds = 0.0;
  std::uint32_t batch = 0;
  std::uint32_t wait = 0;
  std::uint32_t injected_delay = 0;
  std::uint64_t slice_nanoseconds = 0;  ///< As team::shortest_slice() has it.
};

/// A lane's handle on the scheduler, in a task function. Collective functions are called by all
/// lanes of the worker in the same order.
template <class W, class Task>
class Context {
 public:
  WARREN_HD Context(const QueueTable<Task>& table, void* scratch)
      : table_(table), mine_(*table.counters[table.rank]), scratch_(scratch) {}

  [[nodiscard]] WARREN_HD int rank() const { return table_.rank; }
  [[nodiscard]] WARREN_HD int ranks() const { return table_.ranks; }

  /// The worker's own memory, Function::kScratchBytes of it: what a task leaves there is there when
  /// its worker runs the next one, unless another step began. Undefined at first.
  template <class S>
  [[nodiscard]] WARREN_HD S* scratch() const {
    return static_cast<S*>(scratch_);
  }

  /// One-sided: gives the tasks of those lanes that `has` one to the ranks `to` (also one's own).
  /// Collective. `priority`, least first, orders a rank's tasks loosely. A push never waits. A rank
  /// that does not exist ends the run with a UsageError that names it.
  WARREN_HD void push(const W& worker, bool has, int to, const Task& task, double priority = 0.0) {
    has = has && exists(to);
    const std::uint32_t count = worker.count(has);
    if (count == 0) return;
    known_ = 0;
    count_created(worker, count);
    if (table_.ranks == 1) {
      push_local(worker, has, task, priority);
      return;
    }
    for (int q = 0; q < table_.ranks; ++q) {
      const bool is_for_q = has && to == q;
      if (worker.any(is_for_q)) push_to(worker, is_for_q, q, task, priority);
    }
  }

  struct Item {
    Task task;
    int to;
    double priority;
  };
  /// The same for `count` tasks of the worker's together, item(i) for i from 0 on, which any lane
  /// may be asked for, more than once. Without priorities a rank's tasks take their places at once,
  /// and all ranks' at a time. Collective; `count` is the same in all lanes, at most
  /// QueueOptions::push_batch for each lane where they are to take their places together: more are
  /// pushed one for each lane at a time.
  template <class F>
  WARREN_HD void push_list(const W& worker, std::uint32_t count, F&& item) {
    const std::uint32_t lanes = worker.size();
    const auto ranks = static_cast<std::uint32_t>(table_.ranks);
    if (table_.levels > 1 || lanes < ranks || (ranks == 1 && count <= lanes) ||
        count > lanes * table_.push_batch) {
      for (std::uint32_t i = worker.lane(); i < count + worker.lane(); i += lanes) {
        const Item one = i < count ? item(i) : Item{};
        push(worker, i < count, one.to, one.task, one.priority);
      }
      return;
    }
    // Lane q speaks for rank q.
    const auto me = static_cast<int>(worker.lane());
    std::uint32_t mine = 0;
    std::uint32_t all = 0;
    for (std::uint32_t i = worker.lane(); i < count + worker.lane(); i += lanes) {
      const int to = i < count ? item(i).to : -1;
      const bool has = i < count && exists(to);
      for (int q = 0; q < table_.ranks; ++q) {
        const std::uint32_t here = worker.count(has && to == q);
        all += here;
        if (me == q) mine += here;
      }
    }
    count_created(worker, all);
    std::uint64_t first = RingView<Task>::kNoPlace;
    if (mine > 0) first = ring_to(me).take_places(mine, known_);
    std::uint64_t next = first;
    for (std::uint32_t i = worker.lane(); i < count + worker.lane(); i += lanes) {
      const Item one = i < count ? item(i) : Item{};
      for (int q = 0; q < table_.ranks; ++q) {
        const bool is_for_q = i < count && one.to == q;
        const std::uint32_t here = worker.count(is_for_q);
        if (here == 0) continue;
        const std::uint64_t from = worker.broadcast(next, static_cast<std::uint32_t>(q));
        if (from == RingView<Task>::kNoPlace) {
          push_to(worker, is_for_q, q, one.task, one.priority);
          continue;
        }
        const std::uint32_t before = worker.count_before(is_for_q);
        if (is_for_q) ring_to(q).place(from + before) = one.task;
        if (me == q) next += here;
      }
    }
    worker.sync();
    if (first == RingView<Task>::kNoPlace) return;
    ring_to(me).publish(first, mine);
    if (me != table_.rank && !is_slow(me)) tally(me, mine);
  }

  // Of the scheduler's loop.

  /// Tasks that this worker has pushed; the same in every lane.
  [[nodiscard]] WARREN_HD std::uint64_t created() const { return created_; }
  /// Tasks are counted so many at a time from now on, before they are pushed: a rank's workers all
  /// count in one word.
  WARREN_HD void count_ahead(std::uint32_t tasks) { ahead_ = tasks; }
  /// Of those, the ones that have not been pushed are now taken back: the caller tells that they
  /// are finished.
  [[nodiscard]] WARREN_HD std::uint64_t take_back() {
    const std::uint64_t left = counted_ - created_;
    counted_ = created_;
    return left;
  }
  /// This lane has pushed a task to no rank, or has not pushed one that it should have: the run
  /// fails when the step ends, whatever its workers have been told.
  [[nodiscard]] WARREN_HD bool has_strayed() const { return has_strayed_; }
  WARREN_HD void stray() { has_strayed_ = true; }

  /// To a rank that exists.
  WARREN_HD void push_to(const W& worker, bool has, int to, const Task& task, double priority) {
    if (to == table_.rank) {
      push_local(worker, has, task, priority);
    } else {
      push_remote(worker, has, to, task);
    }
  }

  WARREN_GPU_NOINLINE WARREN_HD void push_local(const W& worker, bool has, const Task& task,
                                                double priority) {
    if (table_.levels == 1) {
      deliver(worker, has, table_.local[0], table_.rank, task);
      return;
    }
    const std::uint64_t current = worker.broadcast(exec::atomic_load(mine_.bucket), 0);
    const std::uint64_t level = level_of(priority, current);
    for (std::uint32_t i = 0; i < table_.levels; ++i) {
      const bool is_here = has && level == i;
      if (worker.any(is_here)) {
        deliver(worker, is_here, table_.local[(current + i) % table_.levels], table_.rank, task);
      }
    }
  }

  /// Into a peer's ring, or the send buffer of a slow link. Tasks that find no room are spilled:
  /// false.
  WARREN_GPU_NOINLINE WARREN_HD bool push_remote(const W& worker, bool has, int to,
                                                 const Task& task) {
    if (is_slow(to)) return deliver(worker, has, table_.send_buffer[to], to, task);
    const std::uint32_t count = worker.count(has);
    const bool is_there = deliver(worker, has, table_.to[to], to, task);
    if (is_there && worker.lane() == 0) tally(to, count);
    return is_there;
  }

  /// Buckets beyond the current one, as far as there are levels.
  [[nodiscard]] WARREN_HD std::uint64_t level_of(double priority, std::uint64_t current) const {
    const double buckets = priority * table_.inverse_delta;
    const double most = static_cast<double>(current + table_.levels - 1);
    const std::uint64_t bucket =
        buckets < most ? static_cast<std::uint64_t>(buckets) : current + table_.levels - 1;
    return bucket > current ? bucket - current : 0;
  }

  [[nodiscard]] WARREN_HD bool is_slow(int to) const {
    return (table_.is_slow >> static_cast<std::uint32_t>(to) & 1u) != 0;
  }

  [[nodiscard]] WARREN_HD bool is_apart(int to) const {
    return (table_.is_apart >> static_cast<std::uint32_t>(to) & 1u) != 0;
  }

  /// Counts a message to a peer. By one lane.
  WARREN_HD void tally(int to, std::uint64_t tasks) {
    exec::atomic_store_add(mine_.messages[to], std::uint64_t{1});
    exec::atomic_store_add(mine_.sent[to], tasks);
  }

  /// Tests: takes a slowed link for a message; when that will have arrived, or 0 for any other
  /// link. By one lane of a rank's at a time.
  [[nodiscard]] WARREN_HD std::uint64_t take_link(int to, std::uint64_t tasks) {
    const auto nanoseconds =
        table_.link_delay_nanoseconds +
        static_cast<std::uint64_t>(static_cast<double>(tasks) * table_.slow_task_nanoseconds);
    if (nanoseconds == 0) return 0;
    const std::uint64_t now = exec::clock_nanoseconds();
    const std::uint64_t is_free = exec::atomic_load(mine_.link_is_free[to]);
    const std::uint64_t arrival = (is_free > now ? is_free : now) + nanoseconds;
    exec::atomic_store(mine_.link_is_free[to], arrival);
    return arrival;
  }

  WARREN_HD void signal_all(Signal signal) const {
    for (int q = 0; q < table_.ranks; ++q) {
      if (is_apart(q)) continue;  // Told by the round's sums.
      auto running = static_cast<std::uint32_t>(Signal::run);
      (void)exec::atomic_compare_exchange<Order::acq_rel, Scope::system>(
          table_.counters[q]->signal, running, static_cast<std::uint32_t>(signal));
    }
  }

  /// Into `ring`, or the spill where that is full: true for the former.
  WARREN_GPU_NOINLINE WARREN_HD bool deliver(const W& worker, bool has, const RingView<Task>& ring,
                                             int to, const Task& task) {
    if (ring.try_push(worker, has, task)) return true;
    spill(worker, has, to, task);
    return false;
  }
  /// Keeps tasks for rank `to` until there is room. Past the spill's capacity the run pauses; past
  /// its memory, which no call fills that pushes at most QueueOptions::most_pushes, it fails.
  WARREN_HD void spill(const W& worker, bool has, int to, const Task& task) {
    const std::uint32_t count = worker.count(has);
    std::uint64_t used = worker.lane() == 0 ? table_.spill.used() : 0;
    used = worker.broadcast(used, 0);
    if (used > table_.spill_limit) {
      if (worker.lane() == 0) {
        exec::atomic_store_add(mine_.overflown, std::uint64_t{count});
        signal_all(Signal::fail);
      }
      stray();
      return;
    }
    table_.spill.push(worker, has, {task, static_cast<std::uint32_t>(to)});
    if (worker.lane() == 0) {
      exec::atomic_store_add(mine_.spilled, std::uint64_t{count});
      if (used + count > table_.spill.capacity) signal_all(Signal::pause);
    }
  }

 private:
  /// Whether there is such a rank; ends the run where not.
  [[nodiscard]] WARREN_HD bool exists(int rank) {
    if (rank >= 0 && rank < table_.ranks) return true;
    exec::atomic_store(mine_.wrong_rank,
                       static_cast<std::uint64_t>(static_cast<std::uint32_t>(rank)) + 1);
    signal_all(Signal::fail);
    stray();
    return false;
  }
  /// Before a task can be seen it is counted: see docs/termination.md.
  WARREN_HD void count_created(const W& worker, std::uint32_t count) {
    created_ += count;
    if (created_ > counted_) {
      const std::uint64_t more = created_ - counted_ + ahead_;
      counted_ += more;
      if (worker.lane() == 0)
        exec::atomic_store_add<Order::relaxed, Scope::system>(mine_.created, more);
    }
    detail::inject_delay(table_.injected_delay);
  }
  /// Where tasks for a rank go, without priorities.
  [[nodiscard]] WARREN_HD const RingView<Task>& ring_to(int rank) const {
    return rank == table_.rank ? table_.local[0]
           : is_slow(rank)     ? table_.send_buffer[rank]
                               : table_.to[rank];
  }

  const QueueTable<Task>& table_;
  RankCounters& mine_;
  void* scratch_;
  std::uint64_t created_ = 0;
  std::uint64_t counted_ = 0;  ///< As created.
  std::uint64_t known_ = 0;    ///< Of lane q: for take_places() of the ring to rank q.
  std::uint32_t ahead_ = 0;
  bool has_strayed_ = false;
};

}  // namespace warren::schedule
