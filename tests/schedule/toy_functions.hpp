// SPDX-License-Identifier: Apache-2.0
// Task functions whose outcome is known.
#pragma once

#include <stdexcept>
#include <vector>

#include "warren/memory/global_array.hpp"
#include "warren/schedule/run.hpp"

namespace warren::schedule {

/// A random tree grown by tasks: a task of depth d < last has 0 to 3 children, on ranks that its
/// number decides. Each adds 1 to a row of `Rows`.
template <class Rows>
struct TreeOn {
  struct Task {
    std::uint64_t number;
    std::uint32_t depth;
  };
  Rows rows;
  std::uint32_t last = 0;
  std::uint64_t roots = 0;  ///< Of each rank.
  int rank = 0;
  int ranks = 1;
  bool has_priorities = false;

  WARREN_HD static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
    return x ^ x >> 32;
  }
  WARREN_HD static std::uint32_t children(const Task& task, std::uint32_t last) {
    return task.depth < last ? static_cast<std::uint32_t>(mix(task.number) % 4) : 0;
  }
  WARREN_HD static std::uint64_t child(const Task& task, std::uint32_t i) {
    return mix(task.number * 4 + i + 1);
  }
  WARREN_HD static std::uint64_t root(std::uint64_t rank, std::uint64_t i) {
    return mix(rank << 40 | i);
  }

  WARREN_HD std::uint64_t seeds() const { return roots; }
  WARREN_HD double priority(const Task& task) const {
    return has_priorities ? static_cast<double>(task.depth) : 0.0;
  }
  template <class W, class C>
  WARREN_HD void seed(const W& worker, C& context, std::uint64_t i) const {
    const Task task{root(static_cast<std::uint64_t>(rank), i), 0};
    context.push(worker, worker.lane() == 0, rank, task);
  }
  template <class W, class C>
  WARREN_HD void operator()(const W& worker, C& context, bool active, const Task& task) const {
    if (active) rows.atomic_add(task.number % rows.rows(), std::uint64_t{1});
    const std::uint32_t mine = active ? children(task, last) : 0;
    for (std::uint32_t i = 0; i < 3; ++i) {
      const std::uint64_t number = child(task, i);
      const Task next{number, task.depth + 1};
      context.push(worker, i < mine,
                   static_cast<int>(number / 8 % static_cast<std::uint64_t>(ranks)), next,
                   priority(next));
    }
  }

  /// What the rows hold in the end, and the number of tasks.
  static std::uint64_t expected(std::uint64_t roots, std::uint64_t ranks, std::uint32_t last,
                                std::vector<std::uint64_t>& rows) {
    std::uint64_t tasks = 0;
    std::vector<Task> stack;
    for (std::uint64_t r = 0; r < ranks; ++r) {
      for (std::uint64_t i = 0; i < roots; ++i) stack.push_back({root(r, i), 0});
    }
    while (!stack.empty()) {
      const Task task = stack.back();
      stack.pop_back();
      ++tasks;
      ++rows[task.number % rows.size()];
      for (std::uint32_t i = 0; i < children(task, last); ++i)
        stack.push_back({child(task, i), task.depth + 1});
    }
    return tasks;
  }
};

/// Each row is some rank's.
using TreeFunction = TreeOn<memory::GlobalView<std::uint64_t>>;

/// Each rank counts for itself.
struct OwnRows {
  std::uint64_t* counts = nullptr;
  std::uint64_t count = 0;
  [[nodiscard]] WARREN_HD std::uint64_t rows() const { return count; }
  WARREN_HD void atomic_add(std::uint64_t row, std::uint64_t value) const {
    exec::atomic_add(counts[row], value);
  }
};

/// What tree is grown.
struct Tree {
  std::uint64_t roots = 20;  ///< Of each rank.
  std::uint32_t last = 8;
  bool has_priorities = false;
  bool holds = false;  ///< Workers push what they have found in several tasks.
};

/// Where each rank's rows begin, of so many shared out evenly, and the last one's end.
inline std::vector<std::uint64_t> shared_out(std::uint64_t rows, int ranks) {
  std::vector<std::uint64_t> cuts;
  for (int q = 0; q <= ranks; ++q)
    cuts.push_back(rows * static_cast<std::uint64_t>(q) / static_cast<std::uint64_t>(ranks));
  return cuts;
}

template <class Function, class Rows>
Function tree_function(const team::Team& team, const Rows& rows, const Tree& tree) {
  Function function;
  function.rows = rows;
  function.last = tree.last;
  function.roots = tree.roots;
  function.rank = team.rank();
  function.ranks = team.size();
  function.has_priorities = tree.has_priorities;
  return function;
}

/// The same with the children of several runs pushed together: of a worker's up to `Tasks`.
template <std::uint32_t Tasks>
struct HeldTree : TreeFunction {
  struct List {
    Task tasks[Tasks];
    std::uint32_t count;
  };
  static constexpr std::uint32_t kTasks = Tasks;
  static constexpr std::uint32_t kScratchBytes = sizeof(List);

  template <class W, class C>
  WARREN_HD void begin(const W& worker, C& context) const {
    if (worker.lane() == 0) context.template scratch<List>()->count = 0;
    worker.sync();
  }
  template <class W, class C>
  WARREN_HD bool flush(const W& worker, C& context) const {
    List& held = *context.template scratch<List>();
    const std::uint32_t count = held.count;
    if (count == 0) return false;
    context.push_list(worker, count, [&](std::uint32_t i) -> typename C::Item {
      const Task task = held.tasks[i];
      return {task, static_cast<int>(task.number / 8 % static_cast<std::uint64_t>(ranks)),
              priority(task)};
    });
    worker.sync();
    if (worker.lane() == 0) held.count = 0;
    worker.sync();
    return true;
  }
  template <class W, class C>
  WARREN_HD void operator()(const W& worker, C& context, bool active, const Task& task) const {
    if (active) rows.atomic_add(task.number % rows.rows(), std::uint64_t{1});
    List& held = *context.template scratch<List>();
    if (held.count + 3 * worker.size() > kTasks) (void)flush(worker, context);
    const std::uint32_t mine = active ? children(task, last) : 0;
    const std::uint32_t before = worker.exclusive_scan(mine);
    const std::uint32_t count = held.count;
    for (std::uint32_t i = 0; i < mine; ++i)
      held.tasks[count + before + i] = {child(task, i), task.depth + 1};
    worker.sync();
    if (worker.lane() + 1 == worker.size()) held.count = count + before + mine;
    worker.sync();
  }
};

/// The last rank has all tasks, each of which pushes the next, and its workers begin late.
struct LateFunction {
  using Task = std::uint64_t;
  std::uint64_t tasks = 0;
  bool is_last = false;
  int rank = 0;
  std::uint64_t late_nanoseconds = 0;

  [[nodiscard]] WARREN_HD std::uint64_t seeds() const { return is_last ? 1 : 0; }
  template <class W, class C>
  WARREN_HD void seed(const W& worker, C& context, std::uint64_t) const {
    context.push(worker, worker.lane() == 0, rank, tasks - 1);
  }
  template <class W, class C>
  WARREN_HD void begin(const W&, C&) const {
    const std::uint64_t begin = exec::clock_nanoseconds();
    while (is_last && exec::clock_nanoseconds() - begin < late_nanoseconds) exec::back_off();
  }
  template <class W, class C>
  WARREN_HD bool flush(const W&, C&) const {
    return false;
  }
  template <class W, class C>
  WARREN_HD void operator()(const W& worker, C& context, bool active, const Task& left) const {
    context.push(worker, active && left > 0, rank, left - 1);
  }
};

/// Each rank has a pot of jobs that only the idle function hands out; a job goes once around.
struct PotFunction {
  using Task = std::uint64_t;
  memory::GlobalView<std::uint64_t> pots;  ///< A row for each rank.
  memory::GlobalView<std::uint64_t> done;
  int rank = 0;
  int ranks = 1;

  WARREN_HD std::uint64_t seeds() const { return 1; }
  template <class W, class C>
  WARREN_HD void seed(const W& worker, C& context, std::uint64_t) const {
    context.push(worker, worker.lane() == 0, rank, Task{0});
  }
  template <class W, class C>
  WARREN_HD void operator()(const W& worker, C& context, bool active, const Task& task) const {
    if (active) exec::atomic_add(done.local(0), std::uint64_t{1});
    context.push(worker, active && task > 0, (rank + 1) % ranks, task - 1);
  }
  template <class W, class C>
  WARREN_HD void idle(const W& worker, C& context) const {
    bool has = false;
    if (worker.lane() == 0) {
      std::uint64_t left = exec::atomic_load(pots.local(0));
      while (left > 0 && !exec::atomic_compare_exchange(pots.local(0), left, left - 1)) {
      }
      has = left > 0;
    }
    context.push(worker, has, rank, static_cast<Task>(ranks));
  }
};

/// Each rank has a pot of jobs that only the idle function hands out; it holds one at a time, which
/// flush() pushes after a pause: the run must not end between the two.
struct HeldPotFunction {
  using Task = std::uint64_t;
  static constexpr std::uint32_t kScratchBytes = sizeof(std::uint64_t);

  memory::GlobalView<std::uint64_t> pots;  ///< A row for each rank.
  memory::GlobalView<std::uint64_t> done;
  int rank = 0;
  std::uint64_t pause_nanoseconds = 0;

  WARREN_HD std::uint64_t seeds() const { return 1; }
  template <class W, class C>
  WARREN_HD void seed(const W& worker, C& context, std::uint64_t) const {
    context.push(worker, worker.lane() == 0, rank, Task{0});
  }
  template <class W, class C>
  WARREN_HD void operator()(const W&, C&, bool active, const Task&) const {
    if (active) exec::atomic_add(done.local(0), std::uint64_t{1});
  }
  template <class W, class C>
  WARREN_HD void begin(const W& worker, C& context) const {
    if (worker.lane() == 0) *context.template scratch<std::uint64_t>() = 0;
    worker.sync();
  }
  template <class W, class C>
  WARREN_HD bool flush(const W& worker, C& context) const {
    std::uint64_t& held = *context.template scratch<std::uint64_t>();
    const std::uint64_t count = held;
    worker.sync();
    if (count == 0) return false;
    const std::uint64_t begin = exec::clock_nanoseconds();
    while (exec::clock_nanoseconds() - begin < pause_nanoseconds) exec::back_off();
    context.push_list(worker, 1, [&](std::uint32_t) -> typename C::Item {
      return {Task{1}, rank, 0.0};
    });
    if (worker.lane() == 0) held = 0;
    worker.sync();
    return true;
  }
  template <class W, class C>
  WARREN_HD void idle(const W& worker, C& context) const {
    std::uint64_t& held = *context.template scratch<std::uint64_t>();
    if (worker.lane() == 0 && held == 0) {
      std::uint64_t left = exec::atomic_load(pots.local(0));
      while (left > 0 && !exec::atomic_compare_exchange(pots.local(0), left, left - 1)) {
      }
      if (left > 0) held = 1;
    }
    worker.sync();
  }
};

/// One call pushes many tasks: of seed(), or of the first task.
struct FloodFunction {
  static constexpr std::uint32_t kThreadsPerBlock = 64, kBlocksPerProcessor = 1;
  using Task = std::uint64_t;  ///< Tasks that it pushes.
  memory::GlobalView<std::uint64_t> done;
  int rank = 0;
  std::uint64_t of_seed = 0;
  std::uint64_t of_task = 0;
  bool in_lists = false;

  WARREN_HD std::uint64_t seeds() const { return rank == 0 ? 1 : 0; }
  template <class W, class C>
  WARREN_HD void seed(const W& worker, C& context, std::uint64_t) const {
    context.push(worker, worker.lane() == 0, rank, of_task);
    push_many(worker, context, of_seed);
  }
  template <class W, class C>
  WARREN_HD void operator()(const W& worker, C& context, bool active, const Task& task) const {
    if (active) exec::atomic_add(done.local(0), std::uint64_t{1});
    push_many(worker, context, worker.reduce(active ? task : 0, exec::Maximum{}));
  }
  template <class W, class C>
  WARREN_HD void push_many(const W& worker, C& context, std::uint64_t count) const {
    constexpr std::uint64_t kList = 5000;
    if (in_lists) {
      for (std::uint64_t i = 0; i < count; i += kList) {
        const std::uint64_t here = count - i < kList ? count - i : kList;
        context.push_list(worker, static_cast<std::uint32_t>(here),
                          [&](std::uint32_t) -> typename C::Item {
                            return {Task{0}, rank, 0.0};
                          });
      }
      return;
    }
    for (std::uint64_t i = worker.lane(); i < count + worker.lane(); i += worker.size())
      context.push(worker, i < count, rank, Task{0});
  }
};

/// Rank 0 asks rank 1, once, and its tasks go round until the answer is there, or for some seconds.
struct AskingFunction {
  using Task = std::uint64_t;  ///< When it was first pushed, odd in the one that asks; or the
                               ///< question, 0.
  static constexpr std::uint64_t kAnswered = 1, kTooLate = 2;
  static constexpr std::uint64_t kNanoseconds = 5'000'000'000;

  memory::GlobalView<std::uint64_t> answers;  ///< A row for each rank; rank 0's counts.
  int rank = 0;
  std::uint64_t askers = 1;

  WARREN_HD std::uint64_t seeds() const { return rank == 0 ? askers : 0; }
  template <class W, class C>
  WARREN_HD void seed(const W& worker, C& context, std::uint64_t i) const {
    const Task now = exec::clock_nanoseconds() & ~Task{1};
    context.push(worker, worker.lane() == 0, 0, now | (i == 0 ? 1u : 0u));
  }
  template <class W, class C>
  WARREN_HD void operator()(const W& worker, C& context, bool active, const Task& task) const {
    if (rank == 1) {
      if (active) answer(kAnswered);
      return;
    }
    const bool is_open = exec::atomic_load<Order::relaxed, Scope::system>(answers.local(0)) == 0;
    const bool has_waited = exec::clock_nanoseconds() - task > kNanoseconds;
    if (active && has_waited) answer(kTooLate);
    context.push(worker, active && is_open && !has_waited, 0, task & ~Task{1});
    context.push(worker, active && (task & 1u) != 0, 1, Task{0});
  }
  WARREN_HD void answer(std::uint64_t what) const {
    std::uint64_t none = 0;
    (void)exec::atomic_compare_exchange<Order::relaxed, Scope::system>(*answers.base[0], none,
                                                                       what);
  }
};

/// A rank's tasks go round until each has been run once, or for some seconds.
struct RoundFunction {
  using Task = std::uint64_t;  ///< When it was first pushed, odd where it has not been run.
  static constexpr std::uint64_t kNanoseconds = 10'000'000'000;

  memory::GlobalView<std::uint64_t> counts;  ///< A row for each rank: of tasks run, and too late.
  int rank = 0;
  std::uint64_t tasks = 1;

  WARREN_HD std::uint64_t seeds() const { return tasks; }
  template <class W, class C>
  WARREN_HD void seed(const W& worker, C& context, std::uint64_t) const {
    context.push(worker, worker.lane() == 0, rank, exec::clock_nanoseconds() | 1u);
  }
  template <class W, class C>
  WARREN_HD void operator()(const W& worker, C& context, bool active, const Task& task) const {
    std::uint64_t* const mine = &counts.local(0);
    if (active && (task & 1u) != 0) exec::atomic_add(mine[0], std::uint64_t{1});
    const bool is_open = exec::atomic_load(mine[0]) < tasks;
    const bool is_late = exec::clock_nanoseconds() - (task & ~Task{1}) > kNanoseconds;
    if (active && is_open && is_late) exec::atomic_add(mine[1], std::uint64_t{1});
    context.push(worker, active && is_open && !is_late, rank, task & ~Task{1});
  }
};

/// Pushes to a rank that does not exist, at the 100th task; with `in_list` as the last of several.
struct StrayFunction {
  using Task = std::uint64_t;
  int rank = 0;
  int ranks = 1;
  int stray = 0;
  bool in_list = false;

  static constexpr std::uint32_t kList = 32;

  WARREN_HD std::uint64_t seeds() const { return rank == 0 ? 1 : 0; }
  template <class W, class C>
  WARREN_HD void seed(const W& worker, C& context, std::uint64_t) const {
    context.push(worker, worker.lane() == 0, rank, Task{0});
  }
  template <class W, class C>
  WARREN_HD void operator()(const W& worker, C& context, bool active, const Task& task) const {
    if (!in_list) {
      context.push(worker, active, next(task), task + 1);
      return;
    }
    // The task is lane 0's. At the end many for ranks that exist, whose tasks go no further, and
    // one that does not.
    const Task mine = worker.broadcast(task, 0);
    const std::uint32_t count = !worker.any(active) || mine > 100 ? 0 : mine < 100 ? 1 : 3 * kList;
    context.push_list(worker, count, [&](std::uint32_t i) -> typename C::Item {
      const bool is_last = i + 1 == count;
      return {mine + 1, is_last ? next(mine) : static_cast<int>(i) % ranks, 0.0};
    });
  }
  WARREN_HD int next(const Task& task) const {
    return task < 100 ? static_cast<int>(task % static_cast<Task>(ranks)) : stray;
  }
};

}  // namespace warren::schedule
