// SPDX-License-Identifier: Apache-2.0
// The asynchronous searches' task function run by workers of several lanes, which are threads of
// the host: what lanes do together they must all do, whatever each has found.
#include <algorithm>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include "warren/exec/cpu_block.hpp"

#include "reference/traverse.hpp"
#include "traverse/fixtures.hpp"
#include "traverse/tasks/search_run.hpp"

namespace warren {
namespace {

using traverse::DepthMetric;
using traverse::SearchFunction;
using traverse::WholeDistance;

/// What has been pushed and not been run, of one worker.
template <class Task>
struct Pending {
  std::mutex mutex;
  std::vector<Task> tasks;
};

/// Lists that are soon full, of workers of any size.
struct ShortLists {
  [[maybe_unused]] static constexpr std::uint32_t kThreadsPerBlock = 256;
  [[maybe_unused]] static constexpr std::uint32_t kBlocksPerProcessor = 1;
  static constexpr std::uint32_t kLanes = 4;
  static constexpr std::uint32_t kVertices = 12;
  static constexpr std::uint32_t kEdges = 24;
  static constexpr std::uint32_t kFar = kEdges + kLanes;
  static constexpr std::uint32_t kTogether = 2;
  static constexpr std::uint32_t kWorthPushing = 8;
};

/// One lane's handle, in place of the scheduler's.
template <class Task>
class Context {
 public:
  Context(Pending<Task>& pending, void* scratch) : pending_(pending), scratch_(scratch) {}

  template <class S>
  [[nodiscard]] S* scratch() const {
    return static_cast<S*>(scratch_);
  }
  void push(const exec::CpuBlock& worker, bool has, int to, const Task& task,
            double priority = 0.0) {
    created_ += worker.count(has);
    if (!has) return;
    EXPECT_EQ(to, 0);
    EXPECT_GE(priority, 0.0);
    const std::lock_guard lock(pending_.mutex);
    pending_.tasks.push_back(task);
  }
  struct Item {
    Task task;
    int to;
    double priority;
  };
  template <class F>
  void push_list(const exec::CpuBlock& worker, std::uint32_t count, F&& item) {
    for (std::uint32_t base = 0; base < count; base += worker.size()) {
      const bool has = base + worker.lane() < count;
      const Item one = has ? item(base + worker.lane()) : Item{};
      push(worker, has, one.to, one.task, one.priority);
    }
  }
  [[nodiscard]] std::uint64_t created() const { return created_; }

 private:
  Pending<Task>& pending_;
  void* scratch_;
  std::uint64_t created_ = 0;
};

/// Runs tasks until none is left, the newest or the oldest first.
template <class Metric, class Lists>
struct Loop {
  using Function = SearchFunction<Metric, Lists>;
  using Task = typename Function::Task;

  Function function;
  Pending<Task>* pending;
  std::uint32_t fetch;
  bool newest_first;

  void operator()(const exec::CpuBlock& worker, std::uint64_t) const {
    Context<Task> context(*pending, worker.scratch<void>());
    if constexpr (!Function::kKeeps) function.begin(worker, context);
    const std::uint64_t seeds = function.seeds();
    for (std::uint64_t i = 0; i < seeds; ++i) function.seed(worker, context, i);
    for (;;) {
      worker.sync();
      std::vector<Task>& tasks = pending->tasks;
      const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(fetch, tasks.size()));
      if (count == 0) {
        if constexpr (Function::kKeeps) return;
        if constexpr (!Function::kKeeps) {
          if (!function.flush(worker, context)) return;
          continue;
        }
      }
      const bool active = worker.lane() < count;
      Task task{};
      if (active)
        task = newest_first ? tasks[tasks.size() - 1 - worker.lane()] : tasks[worker.lane()];
      worker.sync();
      if (worker.lane() == 0) {
        const auto from = newest_first ? tasks.end() - count : tasks.begin();
        tasks.erase(from, from + count);
      }
      worker.sync();
      function(worker, context, active, task);
    }
  }
};

/// Words of every vertex, by one worker of `lanes`.
template <class Metric, class Lists>
std::vector<typename Metric::Word> search(const graph::Graph& graph, Vertex source, int lanes,
                                          std::uint32_t keep, double leap, bool newest_first) {
  using Function = SearchFunction<Metric, Lists>;
  std::vector<typename Metric::Word> best(graph.vertices, Metric::kUnreached);
  team::run_team({exec::DeviceKind::cpu, 1, 1}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, fixtures::shard_source(graph, 1));
    traverse::WorkTally tally{};
    Pending<typename Function::Task> pending;
    Function function;
    function.out = shard.out;
    function.best = best.data();
    function.tally = &tally;
    function.cuts[1] = graph.vertices;
    function.source = source;
    function.keep = std::min(keep, Function::kMostKept);
    function.leap = leap;
    const auto size = static_cast<std::uint32_t>(lanes);
    const std::uint32_t fetch = keep > 0 ? std::min(size, keep) : size;
    exec::ThreadPool pool(lanes);
    exec::launch_cpu_block(pool, 1, Loop<Metric, Lists>{function, &pending, fetch, newest_first},
                           Function::kScratchBytes);
    EXPECT_TRUE(pending.tasks.empty());
    EXPECT_GE(tally.expanded, 1u);
    if (keep == 0) {
      EXPECT_LE(tally.kept, 1u);  // The source.
    }
  });
  return best;
}

/// Keeping nothing, little, and as much as there is room for.
const std::vector<std::pair<std::uint32_t, double>> kLeaps = {{0, 0.0}, {3, 2.0}, {32, 40.0}};

/// Small ones: every step of a worker is a barrier of threads.
std::vector<fixtures::Named> small_shapes() {
  std::vector<fixtures::Named> all;
  all.push_back({"one vertex", fixtures::from_list(1, {})});
  all.push_back({"loops and duplicates", fixtures::from_list(5, {{0, 0}, {0, 1}, {0, 1}, {1, 2}})});
  all.push_back({"path", fixtures::path(70)});
  all.push_back({"star", fixtures::star(200, true)});
  all.push_back({"large star", fixtures::star(testing_support::is_small() ? 600 : 3000, true)});
  all.push_back({"grid", fixtures::generated("grid:16x11", true)});
  all.push_back({"kronecker", fixtures::generated("kron:7", true)});
  all.push_back({"random", fixtures::generated("urand:9,2", true)});
  testing_support::keep_for_threads(all);
  return all;
}

template <class Lists>
void check_depths() {
  for (const auto& named : small_shapes()) {
    for (const Vertex source : {Vertex{0}, named.graph.vertices / 2}) {
      if (testing_support::is_small() && source != named.graph.vertices / 2) continue;
      const std::vector<Vertex> expected = reference::bfs_depths(named.graph, source);
      for (const auto& [keep, leap] : kLeaps) {
        SCOPED_TRACE(named.name + ", keep " + std::to_string(keep));
        const auto words =
            search<DepthMetric, Lists>(named.graph, source, 4, keep, leap, keep == 3);
        for (Vertex v = 0; v < named.graph.vertices; ++v)
          ASSERT_EQ(static_cast<Vertex>(words[v] >> 32), expected[v]) << v;
      }
    }
  }
}

template <class Lists>
void check_distances() {
  for (auto& named : small_shapes()) {
    exec::ThreadPool one(1);
    graph::set_uniform_weights(named.graph, 1, 64, 1, one);
    const auto expected = reference::integer_distances(named.graph, 0);
    for (const auto& [keep, leap] : kLeaps) {
      SCOPED_TRACE(named.name + ", keep " + std::to_string(keep));
      const auto words = search<WholeDistance, Lists>(named.graph, 0, 4, keep, leap * 32.0, false);
      ASSERT_EQ(words, expected);
    }
  }
}

/// Every leaf below `node` once, if nodes are left by `levels` at a time.
void collect(std::uint32_t node, EdgeOffset degree, std::uint32_t levels,
             std::vector<EdgeOffset>& begins) {
  traverse::TaskPieces pieces(node, degree);
  if (pieces.is_leaf()) {
    begins.push_back(pieces.begin());
    EXPECT_EQ(pieces.count(), std::min<EdgeOffset>(degree - pieces.begin(), traverse::kTaskEdges));
    return;
  }
  const std::uint64_t count = pieces.descend_all(levels);
  ASSERT_GE(count, 1u);
  ASSERT_LE(count, std::uint64_t{1} << levels);
  for (std::uint64_t i = 0; i < count; ++i)
    collect(pieces.node() + static_cast<std::uint32_t>(i), degree, levels, begins);
}

TEST(TaskPieces, LeavesAreAllEdgesOnce) {
  for (const EdgeOffset degree :
       std::initializer_list<EdgeOffset>{1, 64, 65, 128, 129, 257, 2999, 4096, 4097, 100'000}) {
    std::vector<EdgeOffset> expected;
    for (EdgeOffset begin = 0; begin < degree; begin += traverse::kTaskEdges)
      expected.push_back(begin);
    for (const std::uint32_t levels : {1u, 2u, 5u, 8u}) {
      std::vector<EdgeOffset> begins;
      collect(traverse::kRootNode, degree, levels, begins);
      EXPECT_EQ(begins, expected) << degree << " edges, " << levels << " levels at a time";
    }
  }
}

TEST(SearchLanes, DepthsAreThoseOfTheReference) {
  check_depths<traverse::WarpLists>();
  check_depths<traverse::BlockLists>();
  check_depths<traverse::NoLists>();
}
TEST(SearchLanes, DistancesAreThoseOfDijkstra) {
  check_distances<traverse::WarpLists>();
  check_distances<traverse::BlockLists>();
  check_distances<traverse::NoLists>();
}
TEST(SearchLanes, ListsThatAreFullLoseNothing) {
  check_depths<ShortLists>();
  check_distances<ShortLists>();
}

}  // namespace
}  // namespace warren
