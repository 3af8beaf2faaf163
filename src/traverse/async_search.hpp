// SPDX-License-Identifier: Apache-2.0
// BFS and SSSP as tasks (Atos, section IV): a task offers its vertex's distance to the neighbours,
// and those that it improves become tasks. No level is waited for; what was offered too large a
// distance is worked on again.
//
// Every rank keeps the best distance that it knows of every vertex: its own vertices' distances,
// and of the others' what it has offered already, so that only an improvement crosses a link. An
// offer to another rank's vertex is a task there.
#pragma once

#include "warren/graph/shard.hpp"
#include "warren/schedule/run.hpp"

#include "traverse/sssp_metric.hpp"
#include "traverse/task_pieces.hpp"

namespace warren::traverse {

/// Depth above, parent below: the least word has the least depth.
struct DepthMetric {
  using Word = std::uint64_t;
  static constexpr Word kUnreached = ~Word{0};

  struct Weights {
    WARREN_HD explicit Weights(const graph::CsrView&) {}
  };
  [[nodiscard]] WARREN_HD static Word start(Vertex source) { return source; }
  [[nodiscard]] WARREN_HD static Word extend(Word word, const Weights&, EdgeOffset, Vertex from) {
    return ((word >> 32) + 1) << 32 | from;
  }
  [[nodiscard]] WARREN_HD static bool is_less(Word a, Word b) { return a >> 32 < b >> 32; }
  [[nodiscard]] WARREN_HD static double priority(Word word) {
    return static_cast<double>(word >> 32);
  }
};

/// Distances in the words of a metric of the synchronous SSSP.
template <class Metric>
struct DistanceMetric {
  using Word = typename Metric::Word;
  static constexpr Word kUnreached = Metric::kUnreached;

  struct Weights {
    const typename Metric::Weight* of;
    WARREN_HD explicit Weights(const graph::CsrView& view) : of(Metric::weights(view)) {}
  };
  [[nodiscard]] WARREN_HD static Word start(Vertex) { return 0; }
  [[nodiscard]] WARREN_HD static Word extend(Word word, const Weights& weights, EdgeOffset edge,
                                             Vertex) {
    return Metric::add(word, weights.of[edge]);
  }
  [[nodiscard]] WARREN_HD static bool is_less(Word a, Word b) { return a < b; }
  [[nodiscard]] WARREN_HD static double priority(Word word) {
    return static_cast<double>(Metric::between(0, word));
  }
};

/// Tallies of a search or a ranking, on the device.
struct WorkTally {
  std::uint64_t expanded;  ///< Vertices worked on, each as often as it was.
  std::uint64_t edges;
  std::uint64_t kept;  ///< Tasks that a worker ran without their having been in a queue.
};

template <class MetricType>
struct SearchFunction {
  using Metric = MetricType;
  using Word = typename Metric::Word;
  struct Task {
    Vertex vertex;
    std::uint32_t node;  ///< 0: an offer, not yet compared with what the vertex has.
    Word word;
  };

  graph::CsrView out;
  Word* best = nullptr;  ///< Of all vertices.
  WorkTally* tally = nullptr;
  std::uint64_t cuts[kMaxRanks + 1] = {};
  Vertex source = 0;
  int rank = 0;
  int ranks = 1;
  std::uint32_t keep = 0;  ///< Improved vertices that a worker goes on with; at most kMostKept.
  double leap = 0.0;       ///< How much farther than its task, in units of priority.

  /// A worker's vertices of this round and of the next.
  static constexpr std::uint32_t kMostKept = 16;
  struct Kept {
    Task task[2][kMostKept];
  };
  static constexpr std::uint32_t kScratchBytes = sizeof(Kept);
  /// Pushes, for each lane, after which a worker keeps nothing more.
  static constexpr std::uint32_t kKeptPushes = 16;
  /// What running one task pushes at most, on workers of so many lanes.
  [[nodiscard]] static constexpr std::uint64_t most_pushes(std::uint32_t keep, bool on_gpu) {
    if (keep == 0) return kTaskPushes;
    const std::uint64_t round = std::uint64_t{kTaskPushes} * (on_gpu ? 1 : keep);
    return kTaskPushes + kKeptPushes + round;
  }

  [[nodiscard]] WARREN_HD int owner(Vertex v) const {
    int q = 0;
    for (int p = 1; p < ranks; ++p) q += v >= cuts[p] ? 1 : 0;
    return q;
  }
  [[nodiscard]] WARREN_HD std::uint64_t seeds() const { return owner(source) == rank ? 1 : 0; }
  [[nodiscard]] WARREN_HD double priority(const Task& task) const {
    return Metric::priority(task.word);
  }
  template <class W, class C>
  WARREN_HD void seed(const W& worker, C& context, std::uint64_t) const {
    const Task task{source, kRootNode, Metric::start(source)};
    if (worker.lane() == 0) exec::atomic_store(best[source], task.word);
    context.push(worker, worker.lane() == 0, rank, task);
  }

  /// What the worker finds within reach it goes on with itself, in rounds, as long as others need
  /// not be waited for: a long path costs no queue.
  template <class W, class C>
  WARREN_HD void operator()(const W& worker, C& context, bool active, Task task) const {
    Kept& kept = *context.template scratch<Kept>();
    const std::uint64_t pushed_before = context.created();
    double limit = 0.0;
    if (keep > 0) {
      const double mine = active ? Metric::priority(task.word) : kFarthest;
      limit = worker.reduce(mine, exec::Minimum{}) + leap;
    }
    std::uint32_t count = work_on(worker, context, active, task, kept.task[0], limit);
    std::uint64_t kept_in_all = 0;
    for (std::uint32_t parity = 0; count > 0; parity ^= 1u) {
      const std::uint32_t held = count;
      kept_in_all += held;
      const bool has_pushed_much =
          context.created() - pushed_before > std::uint64_t{kKeptPushes} * worker.size();
      if (has_pushed_much) limit = 0.0;
      count = 0;
      worker.sync();
      for (std::uint32_t base = 0; base < held; base += worker.size()) {
        const std::uint32_t index = base + worker.lane();
        Task mine{};
        if (index < held) mine = kept.task[parity][index];
        count = work_on(worker, context, index < held, mine, kept.task[parity ^ 1u], limit, count);
      }
      worker.sync();
    }
    if (kept_in_all > 0 && worker.lane() == 0) exec::atomic_add(tally->kept, kept_in_all);
  }

 private:
  static constexpr double kFarthest = 1e300;

  /// Offers the lanes' tasks' words to their neighbours. Those improved below `limit` go to `list`,
  /// behind its `count`, the others into the queues; the new count.
  template <class W, class C>
  WARREN_HD std::uint32_t work_on(const W& worker, C& context, bool active, Task task, Task* list,
                                  double limit, std::uint32_t count = 0) const {
    // Loads of which none waits for another.
    EdgeOffset first = 0;
    EdgeOffset degree = 0;
    if (active) {
      const auto row = static_cast<Vertex>(task.vertex - out.first);
      first = out.begin(row);
      degree = out.end(row) - first;
      active = accept(task);
    }
    EdgeOffset begin = 0;
    const std::uint32_t edges = take_piece(worker, context, active, task, degree, begin);
    begin += first;
    note(worker, active && task.node == kRootNode, edges);
    const typename Metric::Weights weights(out);
    worker.expand(edges, [&](bool has, std::uint32_t lane, std::uint32_t k) {
      const Vertex from = worker.broadcast(task.vertex, lane);
      const Word word = worker.broadcast(task.word, lane);
      const EdgeOffset edge = worker.broadcast(begin, lane) + k;
      Task next{};
      int to = rank;
      if (has) {
        next.vertex = out.list(edge)[0];
        next.word = Metric::extend(word, weights, edge, from);
        // A look first spares most atomic operations, but is one more wait.
        has = (keep > 0 || Metric::is_less(next.word, exec::atomic_load(best[next.vertex]))) &&
              Metric::is_less(next.word, exec::atomic_min(best[next.vertex], next.word));
        to = owner(next.vertex);
        next.node = to == rank ? kRootNode : 0;
      }
      const double priority = Metric::priority(next.word);
      const bool is_near = has && to == rank && priority < limit;
      if (worker.any(is_near)) {
        const std::uint32_t place = count + worker.exclusive_scan(is_near ? 1u : 0u);
        if (is_near && place < keep) {
          list[place] = next;
          has = false;
        }
        count += worker.count(is_near);
        count = count < keep ? count : keep;
      }
      context.push(worker, has, to, next, priority);
    });
    return count;
  }

  /// False for what is no better than what its vertex has.
  [[nodiscard]] WARREN_HD bool accept(Task& task) const {
    if (task.node != 0) return !Metric::is_less(exec::atomic_load(best[task.vertex]), task.word);
    const Word old = exec::atomic_min(best[task.vertex], task.word);
    task.node = kRootNode;
    return Metric::is_less(task.word, old);
  }

  /// Pushes what is too long for one task; the edges that remain, from `begin` of the list on.
  template <class W, class C>
  WARREN_HD std::uint32_t take_piece(const W& worker, C& context, bool active, const Task& task,
                                     EdgeOffset degree, EdgeOffset& begin) const {
    TaskPieces pieces(active ? task.node : kRootNode, active ? degree : 0);
    while (worker.any(!pieces.is_leaf())) {
      Task right = task;
      bool has = false;
      if (!pieces.is_leaf()) has = pieces.descend(right.node);
      context.push(worker, has, rank, right, Metric::priority(task.word));
    }
    if (!active) return 0;
    begin = pieces.begin();
    return pieces.count();
  }

  template <class W>
  WARREN_HD void note(const W& worker, bool is_expanded, std::uint32_t count) const {
    const std::uint32_t expanded = worker.count(is_expanded);
    const std::uint32_t edges = worker.reduce(count, exec::Plus{});
    if (worker.lane() != 0) return;
    if (expanded > 0) exec::atomic_add(tally->expanded, std::uint64_t{expanded});
    if (edges > 0) exec::atomic_add(tally->edges, std::uint64_t{edges});
  }
};

/// Defined outside the class, so that only nvcc instantiates the GPU's members.
template <class Backend, class Metric>
struct SearchRun {
  static schedule::QueueReport run(
      team::Team& team, const exec::Stream& stream,
      schedule::TaskQueue<typename SearchFunction<Metric>::Task>& queue,
      const SearchFunction<Metric>& function, schedule::Form form);
};

template <class Backend, class Metric>
schedule::QueueReport SearchRun<Backend, Metric>::run(
    team::Team& team, const exec::Stream& stream,
    schedule::TaskQueue<typename SearchFunction<Metric>::Task>& queue,
    const SearchFunction<Metric>& function, schedule::Form form) {
  if constexpr (std::is_same_v<Backend, exec::Cpu>) {
    return schedule::run<Backend, exec::Serial>(team, stream, queue, function, form);
  } else {
    return schedule::run<Backend, exec::Warp>(team, stream, queue, function, form);
  }
}

using WholeDistance = DistanceMetric<IntegerMetric<std::uint64_t>>;
using RealDistance = DistanceMetric<RealMetric>;

#if WARREN_HAS_CUDA
extern template struct SearchRun<exec::Cuda, DepthMetric>;
extern template struct SearchRun<exec::Cuda, WholeDistance>;
extern template struct SearchRun<exec::Cuda, RealDistance>;
#endif

}  // namespace warren::traverse
