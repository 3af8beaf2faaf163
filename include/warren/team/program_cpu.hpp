// SPDX-License-Identifier: Apache-2.0
// BSP programs on the threads of CPU ranks, and the sums that all backends share (program.hpp).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "warren/core/progress.hpp"
#include "warren/exec/atomic.hpp"
#include "warren/exec/launch.hpp"
#include "warren/team/team.hpp"

namespace warren::team {

/// Totals over the team of what grid.sum() was given in the step before.
struct Sums {
  std::uint64_t value[kSums] = {};
  WARREN_HD std::uint64_t operator[](std::uint32_t slot) const { return value[slot]; }
};

/// To whom a program shows what all ranks read.
inline constexpr int kShowAll = -1;

/// One thread's part in a step on the CPU: a block of one thread.
class CpuGrid {
 public:
  using Warp = exec::Serial;
  static constexpr std::uint32_t kWarpLanes = 1;

  struct Shared {
    Shared(int threads, const std::uint32_t* abort_flag)
        : barrier(threads), team_has_ended(abort_flag) {}
    static constexpr std::size_t kTickets = 16;
    struct alignas(64) Ticket {
      std::atomic<std::uint64_t> next{0};
    };
    exec::ThreadBarrier barrier;
    std::array<Ticket, kTickets> tickets;  ///< Of a step's first loops.
    std::array<std::atomic<std::uint64_t>, kSums> sums{};
    Sums totals;
    /// Once it is not 0 a step's loops leave the rest of their tasks: the barrier behind it throws.
    const std::uint32_t* team_has_ended;
    /// Whether the steps go on is decided once, at the barrier: a thread that fails in the next
    /// step must not end the loop of one that has not yet looked.
    bool has_ended = false;
    std::exception_ptr error;
    std::mutex error_mutex;
  };

  CpuGrid(Shared& shared, std::uint32_t thread, std::uint32_t threads, exec::Scratch scratch)
      : shared_(&shared), thread_(thread), threads_(threads), scratch_(scratch) {}

  [[nodiscard]] std::uint32_t block() const { return thread_; }
  [[nodiscard]] std::uint32_t blocks() const { return threads_; }
  /// Workers of type W that for_each shares tasks out over.
  template <class W>
  [[nodiscard]] std::uint64_t workers() const {
    return threads_;
  }
  /// All threads of this block as one worker, with the program's scratch.
  [[nodiscard]] exec::Serial block_worker() const { return exec::Serial(scratch_); }

  /// f(worker, task) for every task below `count`, over all blocks of this rank. `grain`: tasks
  /// that a CPU thread takes at a time. Every block of the rank calls with the same count, in the
  /// same order. A step has as many loops as it likes: threads take the next tasks of the first
  /// kTickets when they are done with theirs, the tasks of later loops are dealt out beforehand.
  template <class W, class F>
  void for_each(std::uint64_t count, F&& f, std::uint64_t grain = 0) {
    constexpr std::uint64_t kOfOneThread = 4096;  // It looks now and then whether it may end.
    const std::uint64_t piece =
        threads_ == 1 ? kOfOneThread
                      : exec::detail::cpu_grain(count, static_cast<int>(threads_), grain);
    if (loop_ == Shared::kTickets) {
      for (std::uint64_t begin = thread_ * piece; begin < count; begin += threads_ * piece)
        run_tasks(begin, piece, count, f);
      return;
    }
    std::atomic<std::uint64_t>& ticket = shared_->tickets[loop_++].next;
    for (;;) {
      const std::uint64_t begin = ticket.fetch_add(piece, std::memory_order_relaxed);
      if (begin >= count || exec::atomic_load<exec::Order::acquire>(*shared_->team_has_ended) != 0)
        return;
      run_tasks(begin, piece, count, f);
    }
  }

  /// As for_each, for tasks of very different sizes: on a GPU a block's workers take the next of
  /// its tasks when they are done with one, and the last `loose` tasks are anybody's, at an atomic
  /// operation of the device each. By all threads of a block.
  template <class W, class F>
  void for_each_claimed(std::uint64_t count, F&& f, std::uint64_t /*loose*/ = 0,
                        std::uint64_t grain = 0) {
    for_each<W>(count, f, grain);
  }

  /// As for_each, with each worker's next task prepared while it works: use(worker, task,
  /// load(worker, task)), load() being called a task ahead on a GPU, so that its memory accesses
  /// overlap.
  template <class W, class Load, class Use>
  void for_each_ahead(std::uint64_t count, Load&& load, Use&& use, std::uint64_t grain = 0) {
    for_each<W>(
        count,
        [&](const exec::Serial& worker, std::uint64_t task) {
          use(worker, task, load(worker, task));
        },
        grain);
  }

  /// The same with the workers of this block alone.
  template <class W, class F>
  void block_for_each(std::uint64_t count, F&& f) const {
    const exec::Serial worker;
    for (std::uint64_t task = 0; task < count; ++task) f(worker, task);
  }

  // A cluster: blocks that synchronise cheaply and reach each other's scratch (a thread block
  // cluster on a GPU). Cluster 0 is blocks 0 .. cluster_blocks() - 1. On the CPU a block by itself.
  [[nodiscard]] std::uint32_t cluster_blocks() const { return 1; }
  [[nodiscard]] std::uint32_t cluster_rank() const { return 0; }
  /// By all threads of the cluster; what was written to scratch and memory before is visible to
  /// them after.
  void cluster_sync() const {}
  /// The same where the block has met, and since then only its first warp has written.
  void cluster_sync_after_block() const {}
  /// The counterpart of `mine`, which lies in this block's scratch, in another block's.
  template <class T>
  [[nodiscard]] T* cluster_peer(T* mine, std::uint32_t) const {
    return mine;
  }

  /// Adds to a counter of this step. Called by every thread of the block, with its own part.
  void sum(std::uint32_t slot, std::uint64_t value) {
    if (value != 0) shared_->sums[slot].fetch_add(value, std::memory_order_relaxed);
  }

 private:
  /// Tasks [begin, begin + piece), as far as there are so many.
  template <class F>
  static void run_tasks(std::uint64_t begin, std::uint64_t piece, std::uint64_t count, F& f) {
    const exec::Serial worker;
    const std::uint64_t end = begin + piece < count ? begin + piece : count;
    for (std::uint64_t task = begin; task < end; ++task) f(worker, task);
  }

  Shared* shared_;
  std::uint32_t thread_;
  std::uint32_t threads_;
  exec::Scratch scratch_;
  std::uint32_t loop_ = 0;  ///< Tickets that the step has used.
};

namespace detail {

/// What a program shows, as it says it.
class ShowList {
 public:
  void operator()(int to, const void* data, std::uint64_t bytes) {
    shows_ = true;
    if (bytes > 0) shown_.push_back({to, data, bytes});
  }
  /// Nothing of it is read, or changed, before the next call of the program's show().
  void later() { is_later_ = true; }
  /// Collective, where the program shows anything: all ranks' programs do then.
  void publish(Team& team) {
    if (shows_) team.publish(shown_, is_later_);
  }

 private:
  std::vector<Shown> shown_;
  bool shows_ = false;
  bool is_later_ = false;
};

/// show() of a CPU's program.
class CpuShow : public ShowList {
 public:
  template <class T>
  [[nodiscard]] std::vector<T> read(const T* data, std::uint64_t count) const {
    return std::vector<T>(data, data + count);
  }
  template <class Kernel>
  void run(std::uint64_t count, const Kernel& kernel) const {
    const exec::Serial worker;
    for (std::uint64_t i = 0; i < count; ++i) kernel(worker, i);
  }
};

/// Brings what other ranks read in the step of `next` to where they read it, where the team needs
/// windows. `made...`: what a Show is made of.
template <class Show, class Program, class... Made>
void show_step([[maybe_unused]] Team& team, [[maybe_unused]] const Program& program,
               [[maybe_unused]] const typename Program::State& next,
               [[maybe_unused]] const Made&... made) {
  if constexpr (!requires { typename Program::ShowsNothing; }) {
    if (!team.needs_windows()) return;
    if (Program::finished(next)) {
      // What is on its way still must not outlive the program's memory.
      if constexpr (requires { typename Program::ShowsLater; }) team.publish({});
      return;
    }
    Show show(made...);
    if constexpr (requires { program.show(next, show); }) {
      program.show(next, show);
      show.publish(team);
    } else {
      refuse_without_windows(team, typeid(Program));
    }
  }
}

/// The CPU: `pool`'s threads run the steps; the last at each barrier adds up with the other ranks.
template <class Program>
typename Program::State run_on_cpu(Team& team, const Program& program,
                                   const typename Program::State& initial) {
  exec::ThreadPool& pool = team.device().pool();
  CpuGrid::Shared shared(pool.size(), team.abort_flag());
  show_step<CpuShow>(team, program, initial);
  typename Program::State result = initial;
  // Of this thread, not of those that count. All ranks do the same steps.
  [[maybe_unused]] ProgressCount* const count =
      team.rank() == 0 ? ProgressCount::current() : nullptr;
  pool.run([&](int thread) {
    std::optional<exec::detail::CpuScratch> scratch;
    typename Program::State state = initial;
    const auto fail = [&] {
      const std::scoped_lock lock(shared.error_mutex);
      if (!shared.error) shared.error = std::current_exception();
    };
    while (!Program::finished(state)) {
      try {
        // Here, where a thread that gets none still comes to the barrier: the others wait there.
        if (!scratch) scratch.emplace(Program::kScratchBytes);
        CpuGrid grid(shared, static_cast<std::uint32_t>(thread),
                     static_cast<std::uint32_t>(pool.size()), scratch->get());
        program.step(grid, state);
      } catch (...) {
        fail();
      }
      shared.barrier.wait([&] {
        try {
          shared.has_ended = shared.error != nullptr;
          if (shared.has_ended) return;
          for (std::uint32_t i = 0; i < kSums; ++i)
            shared.totals.value[i] = shared.sums[i].exchange(0, std::memory_order_relaxed);
          for (auto& ticket : shared.tickets) ticket.next.store(0, std::memory_order_relaxed);
          team.sum(shared.totals.value);
          if (team.needs_windows())
            show_step<CpuShow>(team, program, Program::next(state, shared.totals));
          if constexpr (requires { Program::iterations(state); }) {
            const auto after = Program::iterations(Program::next(state, shared.totals));
            if (count != nullptr) count->advance(after - Program::iterations(state));
          }
        } catch (...) {
          fail();
          shared.has_ended = true;
        }
      });
      if (shared.has_ended) return;
      state = Program::next(state, shared.totals);
    }
    if (thread == 0) result = state;
  });
  if (shared.error) std::rethrow_exception(shared.error);
  return result;
}

}  // namespace detail
}  // namespace warren::team
