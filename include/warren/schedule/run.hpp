// SPDX-License-Identifier: Apache-2.0
// Running a task function until no task is left anywhere (Atos: Chen et al., Scalable Irregular
// Parallelism with GPUs, SC 2022, sections II and III).
//
// A task function is a trivially copyable functor with
//
//   using Task = ...;                                        // trivially copyable
//   std::uint64_t seeds() const;                             // of this rank
//   void seed(worker, context, std::uint64_t i) const;       // pushes the i-th first task(s)
//   void operator()(worker, context, bool active, const Task& task) const;
//   double priority(const Task&) const;                      // optional; least first
//   void idle(worker, context) const;                        // optional
//   void begin(worker, context) const;                       // optional, with flush()
//   bool flush(worker, context) const;                       // pushes what is held; true if any
//   static constexpr std::uint32_t kScratchBytes;            // optional: context.scratch()
//   static constexpr std::uint32_t kBlocksPerProcessor;      // optional: fewer have more registers
//   static constexpr std::uint32_t kThreadsPerBlock;         // optional: of GPUs, else 256
//   static constexpr bool kMayNotFit;                        // optional: who runs it looks first
//                                                            // whether a GPU has scratch for it
//
// and is called by all lanes of a worker at once, each lane with a task of its own or with active =
// false (a worker that fetches one task has it in lane 0). It may read and update what views reach,
// and context.push() tasks to any rank. On the CPU a worker has one lane. seed() is called by all
// lanes of a worker, too. idle() is called when a worker has run out of tasks, once for each time.
//
// A function with begin() and flush() may hold what it has found in the worker's scratch and push
// it later, many together (context.push_list()). begin() is called by all lanes before the first
// task of each kernel, when the scratch is undefined, and not before seed(), which holds nothing.
// flush() is called by all lanes when the worker finds no task to fetch, after idle(), which may
// hold something too, and before the worker leaves: it pushes all that is held and says whether
// that was anything, the same in all lanes. What is held keeps the tasks that found it, and the
// call of idle(), from being told to be finished, so that the run cannot end before.
//
// Persistent: one kernel on each device until the end, found by counted tasks
// (docs/termination.md). Discrete: kernels of the same function in which workers run until they
// find nothing, with the team's barrier between them; the only way for ranks that share a GPU, and
// for those that cannot address each other, between which the host carries tasks.
#pragma once

#include <algorithm>

#include "warren/core/trace.hpp"
#include "warren/schedule/loop.hpp"
#include "warren/schedule/queue.hpp"
#include "warren/team/program.hpp"

namespace warren::schedule {

enum class Form {
  automatic,  ///< Persistent where ranks may wait for each other in kernels.
  persistent,
  discrete
};

struct RunState {
  std::uint32_t rounds = 0;  ///< 0: the seeds are to be pushed.
  bool is_persistent = true;
  bool has_paused = false;
  bool has_failed = false;
  bool has_stopped = false;       ///< Told that all is done, and tasks are left: the host goes on.
  bool is_carried = false;        ///< The host has work between any two rounds.
  std::uint64_t outstanding = 0;  ///< Tasks that exist, over the team, modulo 2^64.
};

namespace detail {

template <class W>
[[nodiscard]] constexpr std::uint32_t lanes_of(std::uint32_t threads_per_block) {
  if constexpr (std::is_base_of_v<exec::Serial, W>) {
    return 1;
  } else if constexpr (std::is_same_v<W, exec::Block>) {
    return threads_per_block;
  } else {
    return W::size();
  }
}

/// Of a worker, so that all workers' are aligned.
template <class Function>
[[nodiscard]] constexpr std::uint32_t scratch_of() {
  if constexpr (requires { Function::kScratchBytes; }) {
    return (Function::kScratchBytes + 15) / 16 * 16;
  } else {
    return 0;
  }
}

template <class Function>
[[nodiscard]] constexpr std::uint32_t threads_of() {
  if constexpr (requires { Function::kThreadsPerBlock; }) {
    return Function::kThreadsPerBlock;
  } else {
    return 256;
  }
}

/// Blocks on each of a GPU's processors.
template <class Function>
[[nodiscard]] constexpr std::uint32_t blocks_of() {
  if constexpr (requires { Function::kBlocksPerProcessor; }) {
    return Function::kBlocksPerProcessor;
  } else {
    return 2;
  }
}

/// Whether a GPU's block may have less shared memory than the function's workers take.
template <class Function>
[[nodiscard]] constexpr bool may_not_fit() {
  if constexpr (requires { Function::kMayNotFit; }) {
    return Function::kMayNotFit;
  } else {
    return false;
  }
}

}  // namespace detail

/// Threads of a GPU's processor that run `Function` at a time, at most: what
/// QueueOptions::threads_per_processor should say of a queue that runs nothing else.
template <class Function>
[[nodiscard]] constexpr std::uint32_t threads_per_processor() {
  return detail::threads_of<Function>() * detail::blocks_of<Function>();
}

/// The run as a BSP program: the first step pushes the seeds, then a step is a kernel.
template <class W, class Function>
struct RunProgram {
  using State = RunState;
  using Task = typename Function::Task;
  static constexpr std::uint32_t kThreadsPerBlock = detail::threads_of<Function>();
  static constexpr std::uint32_t kBlocksPerProcessor = detail::blocks_of<Function>();
  static constexpr std::uint32_t kScratchBytes =
      kThreadsPerBlock / detail::lanes_of<W>(kThreadsPerBlock) * detail::scratch_of<Function>();
  static constexpr std::uint32_t kClusterBlocks = 1;
  static constexpr bool kMayNotFit = detail::may_not_fit<Function>();
  enum Sum : std::uint32_t { kCreated, kFinished, kPaused, kFailed };
  /// What goes to ranks that are apart is carried between two runs of the program.
  using ShowsNothing = void;

  Function function;
  QueueTable<Task> table;  ///< Among the kernel's arguments: looks at it wait for no memory.
  std::uint32_t fetch;
  std::uint32_t share;
  std::uint64_t shared_tasks;

  template <class Grid>
  WARREN_HD void step(Grid& grid, const State& state) const {
    std::uint64_t created = 0;
    std::uint64_t finished = 0;
    // A run that has come to its end may have failed in its last tasks: not only the signal tells.
    std::uint64_t strayed = 0;
    const bool is_seeding = state.rounds == 0;
    const std::uint64_t count = is_seeding ? function.seeds() : grid.template workers<W>();
    const auto block = grid.block_worker();
    grid.template for_each<W>(
        count,
        [&](const auto& worker, std::uint64_t i) {
          auto* const scratch = block.template scratch<unsigned char>() +
                                block.lane() / worker.size() * detail::scratch_of<Function>();
          using Worker = std::decay_t<decltype(worker)>;
          Context<Worker, Task> context(table, scratch);
          detail::WorkerLoop<Worker, Task, Function> loop(worker, i, table, function, fetch, share,
                                                          shared_tasks, context);
          if (is_seeding) {
            loop.seed(i);
          } else {
            loop.run(state.is_persistent);
          }
          if (worker.lane() == 0) {
            created += context.created();
            finished += loop.finished();
          }
          strayed += context.has_strayed() ? 1 : 0;
          loop.end();
        },
        is_seeding ? 0 : 1);
    grid.sum(kCreated, created);
    grid.sum(kFinished, finished);
    const auto signal = static_cast<Signal>(
        exec::atomic_load<Order::relaxed, Scope::system>(table.counters[table.rank]->signal));
    const bool tells = grid.block() == 0 && grid.block_worker().lane() == 0;
    grid.sum(kPaused, tells && signal == Signal::pause ? 1 : 0);
    grid.sum(kFailed, strayed + (tells && signal == Signal::fail ? 1 : 0));
  }
  WARREN_HD static State next(State state, const team::Sums& sums) {
    ++state.rounds;
    state.outstanding += sums[kCreated] - sums[kFinished];
    state.has_paused = sums[kPaused] > 0;
    state.has_failed = sums[kFailed] > 0;
    state.has_stopped = ((state.is_persistent && state.rounds > 1) || state.is_carried) &&
                        state.outstanding != 0 && !state.has_paused && !state.has_failed;
    return state;
  }
  WARREN_HD static bool finished(const State& state) {
    return state.has_paused || state.has_failed || state.has_stopped ||
           (state.rounds > 0 && state.outstanding == 0);
  }
};

namespace detail {

template <class Backend, class W, class Function>
[[nodiscard]] constexpr std::uint32_t most_fetched() {
  if constexpr (std::is_same_v<Backend, exec::Cpu>) {
    return ~0u;
  } else {
    return lanes_of<W>(threads_of<Function>());
  }
}

/// Whether the threads that run `Function` at a time are those that the queue has room for.
template <class Backend, class Function, class Task>
void check_threads(const TaskQueue<Task>& queue) {
  if constexpr (!std::is_same_v<Backend, exec::Cpu>) {
    require(threads_per_processor<Function>() <= queue.threads_per_processor(),
            "the queue is made for " + std::to_string(queue.threads_per_processor()) +
                " threads of a processor, and the task function runs " +
                std::to_string(threads_per_processor<Function>()) +
                ": set QueueOptions::threads_per_processor to that");
  }
}

/// The binary logarithm of QueueOptions::sharing_divisor.
template <class Backend, class W, class Function>
[[nodiscard]] std::uint32_t log_sharing_divisor(const exec::Device& device, std::uint32_t chosen) {
  std::uint64_t count = chosen;
  if (chosen == 0) {
    count = pushing_threads(device);
    if constexpr (!std::is_same_v<Backend, exec::Cpu>)
      count /= 64 * lanes_of<W>(threads_of<Function>());
  }
  std::uint32_t power = 0;
  while (count >> (power + 1) != 0) ++power;
  return power;
}

/// Tasks of a ring that are shared out: none after them.
template <class Backend, class W, class Function, class Task>
[[nodiscard]] std::uint64_t shared_tasks(const exec::Device& device, const TaskQueue<Task>& queue,
                                         std::uint32_t fetch) {
  if (!queue.options().shares_first) return ~std::uint64_t{0};
  std::uint64_t workers = pushing_threads(device, threads_per_processor<Function>());
  if constexpr (!std::is_same_v<Backend, exec::Cpu>) workers /= lanes_of<W>(threads_of<Function>());
  return workers * fetch;
}

}  // namespace detail

/// Pushes the seeds and runs tasks with workers of type W (Serial on the CPU) until none is left
/// anywhere. Collective, synchronous; `queue` is cleared first. All seeds are pushed before a task
/// runs: local_capacity should be no less than what they push. Throws UsageError where that is more
/// than fits in the rings and half of the memory behind the spill, a task was pushed to no rank or
/// the queue is made for fewer threads, MemoryError where spilled tasks outgrow the memory,
/// TeamError where another rank failed; what a task throws on the CPU ends the team.
template <class Backend, class W, class Function>
QueueReport run(team::Team& team, const exec::Stream& stream,
                TaskQueue<typename Function::Task>& queue, const Function& function,
                Form form = Form::automatic) {
  require(
      form != Form::persistent || team.kernels_may_wait(),
      "ranks that share a GPU, or cannot address each other's memory, cannot wait for each other "
      "in kernels: run in the discrete form");
  detail::check_threads<Backend, Function>(queue);
  // A lane takes one task at a time.
  const std::uint32_t most = detail::most_fetched<Backend, W, Function>();
  const std::uint32_t fetch = std::min(queue.options().fetch, most);
  RunProgram<W, Function> program{
      function, queue.table(), fetch,
      detail::log_sharing_divisor<Backend, W, Function>(team.device(),
                                                        queue.options().sharing_divisor),
      detail::shared_tasks<Backend, W, Function>(team.device(), queue, fetch)};
  RunState state;
  state.is_persistent = form != Form::discrete && team.kernels_may_wait();
  state.is_carried = queue.has_ranks_apart();
  const double begin = now_seconds();
  // A program ends when all ranks have, and begins when what they have asked of their streams is
  // done: no rank uses its rings yet.
  queue.clear(stream);
  for (;;) {
    state = team::run_program<Backend>(team, stream, program, state);
    if (state.has_failed) {
      queue.check(stream);
      team.barrier();  // The rank that failed says why.
      team.check();
      throw UsageError("a task ended the run");
    }
    if (!state.has_paused && !state.has_stopped) break;
    queue.grow(team, stream);
    if (queue.has_ranks_apart()) queue.carry(team, stream);
    program.table = queue.table();
    state.has_paused = state.has_stopped = false;
    team.barrier();
  }
  const double seconds = now_seconds() - begin;
  QueueReport report = queue.report(team, stream);
  report.seconds = seconds;
  report.rounds = state.rounds;
  report.is_persistent = state.is_persistent;
  return report;
}

}  // namespace warren::schedule
