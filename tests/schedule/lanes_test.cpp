// SPDX-License-Identifier: Apache-2.0
// The scheduler's rings, context and loop under workers of several lanes, which are threads of the
// host: what lanes do together they must all do, and what one lane does for all must be seen by
// all, also where workers of several ranks meet in the same rings.
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/exec/cpu_block.hpp"

#include "schedule/toy_functions.hpp"
#include "support/size.hpp"

namespace warren::schedule {
namespace {

using exec::CpuBlock;
using team::Team;

/// How many workers there are on each of how many ranks, and their lanes.
struct Shape {
  int ranks;
  int workers;
  int lanes;
};

template <class Function>
constexpr std::uint32_t scratch_bytes() {
  if constexpr (requires { Function::kScratchBytes; }) return Function::kScratchBytes;
  return 0;
}

/// What one lane of a worker does in a step: as RunProgram.
template <class Function>
struct LaneStep {
  using Task = typename Function::Task;
  const Function* function;
  const QueueTable<Task>* table;
  std::uint32_t fetch;
  std::uint64_t index;
  bool is_seeding;

  void operator()(const CpuBlock& worker, std::uint64_t) const {
    Context<CpuBlock, Task> context(*table, worker.scratch<void>());
    // Of a ring's first hundred tasks a worker takes one in four.
    detail::WorkerLoop<CpuBlock, Task, Function> loop(worker, index, *table, *function, fetch, 2,
                                                      100, context);
    if (is_seeding) {
      for (std::uint64_t i = 0; i < function->seeds(); ++i) loop.seed(i);
    } else {
      loop.run(true);
    }
    loop.end();
  }
};

/// A rank's workers side by side, each with a pool for its lanes.
template <class Function>
void run_step(const TaskQueue<typename Function::Task>& queue, const Function& function,
              const Shape& shape, bool is_seeding) {
  std::vector<std::thread> workers;
  for (int w = 0; w < (is_seeding ? 1 : shape.workers); ++w) {
    workers.emplace_back([&, w] {
      exec::ThreadPool lanes(shape.lanes);
      const LaneStep<Function> step{&function, &queue.table(), queue.options().fetch,
                                    static_cast<std::uint64_t>(w), is_seeding};
      exec::launch_cpu_block(lanes, 1, step, scratch_bytes<Function>());
    });
  }
  for (std::thread& worker : workers) worker.join();
}

/// As schedule::run() in the persistent form.
template <class Function>
QueueReport run_lanes(Team& team, const exec::Stream& stream,
                      TaskQueue<typename Function::Task>& queue, const Function& function,
                      const Shape& shape) {
  queue.clear(stream);
  stream.synchronize();
  team.barrier();
  for (bool is_seeding = true;; is_seeding = false) {
    run_step(queue, function, shape, is_seeding);
    team.barrier();
    const auto signal =
        static_cast<Signal>(exec::atomic_load(queue.table().counters[team.rank()]->signal));
    if (team.all_reduce(signal == Signal::fail ? 1 : 0, exec::Maximum{}) != 0) {
      queue.check(stream);
      team.barrier();
      return {};
    }
    if (team.all_reduce(signal == Signal::pause ? 1 : 0, exec::Maximum{}) != 0) {
      queue.grow(team, stream);
      team.barrier();
    } else if (!is_seeding) {
      return queue.report(team, stream);
    }
  }
}

team::TeamOptions team_of(const Shape& shape) {
  // The rings have room for so many threads.
  return {exec::DeviceKind::cpu, shape.ranks, shape.ranks * shape.workers * shape.lanes};
}

template <class Function>
QueueReport expect_tree(const Shape& shape, const QueueOptions& options, const Tree& tree) {
  SCOPED_TRACE(testing::Message() << shape.ranks << " ranks, " << shape.workers << " workers, "
                                  << shape.lanes << " lanes");
  std::vector<std::uint64_t> expected(37, 0);
  const std::uint64_t tasks = TreeFunction::expected(
      tree.roots, static_cast<std::uint64_t>(shape.ranks), tree.last, expected);
  QueueReport result;
  team::run_team(team_of(shape), [&](Team& team) {
    const exec::Stream stream(team.device());
    memory::GlobalArray<std::uint64_t> rows(team, shared_out(expected.size(), team.size()), 1,
                                            memory::Placement::device);
    exec::fill_bytes(stream, rows.local_data(), 0, rows.local_size() * sizeof(std::uint64_t));
    stream.synchronize();
    TaskQueue<TreeFunction::Task> queue(team, options);
    const auto function = tree_function<Function>(team, rows.view(), tree);
    const QueueReport report = run_lanes(team, stream, queue, function, shape);
    const auto found = rows.to_host(team, stream);
    if (team.rank() == 0) {
      EXPECT_EQ(found, expected);
      EXPECT_EQ(report.tasks, tasks);
      result = report;
    }
    team.barrier();
  });
  return result;
}

using Held = HeldTree<48>;

QueueOptions options_of(const Shape& shape, bool holds) {
  QueueOptions options;
  const auto lanes = static_cast<std::uint32_t>(shape.lanes);
  options.push_batch = holds ? (Held::kTasks + lanes - 1) / lanes : 1;
  options.most_pushes = options.push_batch + 3;
  options.fetch = lanes;
  return options;
}

/// With pushes of each task, and with those of many tasks together.
void expect_trees(const Shape& shape, const Tree& tree, auto&& change) {
  for (const bool holds : {false, true}) {
    SCOPED_TRACE(holds ? "lists" : "single pushes");
    QueueOptions options = options_of(shape, holds);
    change(options);
    (void)(holds ? expect_tree<Held>(shape, options, tree)
                 : expect_tree<TreeFunction>(shape, options, tree));
  }
}

/// Fewer lanes than ranks, as many, and more.
constexpr Shape kShapes[] = {{1, 2, 3}, {2, 2, 2}, {3, 1, 2}, {3, 1, 3}};

TEST(ScheduleLanes, EveryTaskIsRunOnce) {
  for (const Shape& shape : kShapes) {
    expect_trees(shape, {4, 5}, [](QueueOptions&) {});
    expect_trees(shape, {4, 5}, [&](QueueOptions& options) { options.fetch *= 3; });
  }
}

TEST(ScheduleLanes, FullRingsLoseNothing) {
  for (const Shape& shape : kShapes) {
    for (const std::uint64_t capacity : {1, 20}) {
      expect_trees(shape, {4, 5}, [&](QueueOptions& options) {
        options.local_capacity = options.receive_capacity = options.spill_capacity = capacity;
        options.batch = 1;
      });
    }
  }
  QueueOptions options = options_of({2, 2, 3}, true);
  options.local_capacity = options.receive_capacity = options.batch = 1;
  EXPECT_GT(expect_tree<Held>({2, 2, 3}, options, {10, 8}).spilled, 0u);
}

TEST(ScheduleLanes, Priorities) {
  for (const Shape& shape : kShapes) {
    expect_trees(shape, {4, 5, true}, [](QueueOptions& options) { options.levels = 3; });
  }
}

TEST(ScheduleLanes, GatheredMessages) {
  for (const Shape& shape : kShapes) {
    for (const std::uint32_t batch : {1u, 30u}) {
      expect_trees(shape, {4, 5}, [&](QueueOptions& options) {
        options.gather = Gather::always;
        options.batch = batch;
        options.wait = 2;
      });
    }
  }
}

TEST(ScheduleLanes, RandomRunsWithPauses) {
  std::mt19937_64 random(testing_support::random_seed(5));
  for (int run = 0; run < testing_support::random_runs(12); ++run) {
    SCOPED_TRACE("run " + std::to_string(run));
    const Shape shape{1 + static_cast<int>(random() % 3), 1 + static_cast<int>(random() % 2),
                      2 + static_cast<int>(random() % 3)};
    const std::uint64_t local = std::uint64_t{1} << random() % 8;
    const std::uint64_t received = std::uint64_t{1} << random() % 8;
    const std::uint32_t levels = random() % 2 == 0 ? 1 : 3;
    const auto batch = 1 + static_cast<std::uint32_t>(random() % received);
    const bool gathers = random() % 2 == 0;
    const std::uint32_t injected_delay = 1u << random() % 14;
    expect_trees(shape, {random() % 6, 1 + static_cast<std::uint32_t>(random() % 6), levels > 1},
                 [&](QueueOptions& options) {
                   options.local_capacity = local;
                   options.receive_capacity = received;
                   options.spill_capacity = 8;
                   options.levels = levels;
                   options.batch = batch;
                   options.wait = 3;
                   options.gather = gathers ? Gather::always : Gather::never;
                   options.injected_delay_nanoseconds = injected_delay;
                 });
  }
}

TEST(ScheduleLanes, APushToNoRankIsNamed) {
  for (const Shape& shape : kShapes) {
    for (const bool in_list : {false, true}) {
      const int stray = in_list ? shape.ranks : -1;
      EXPECT_THAT(
          [&] {
            team::run_team(team_of(shape), [&](Team& team) {
              const exec::Stream stream(team.device());
              QueueOptions options;
              options.fetch = 1;
              options.push_batch = 3 * StrayFunction::kList;
              TaskQueue<StrayFunction::Task> queue(team, options);
              const StrayFunction function{team.rank(), team.size(), stray, in_list};
              (void)run_lanes(team, stream, queue, function, shape);
            });
          },
          testing::ThrowsMessage<UsageError>(
              testing::HasSubstr("pushed to rank " + std::to_string(stray) + ",")));
    }
  }
}

}  // namespace
}  // namespace warren::schedule
