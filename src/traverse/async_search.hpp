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
  std::uint64_t kept;      ///< Tasks that a worker ran without their having been in a queue.
  std::uint64_t put_back;  ///< Tasks that went back into a queue as they were.
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
  static constexpr std::uint32_t kMostKept = 32;
  struct Kept {
    EdgeOffset begin;
    EdgeOffset degree;
    Word word;
    Vertex vertex;
  };
  struct KeptLists {
    Kept list[2][kMostKept];
  };
  static constexpr std::uint32_t kScratchBytes = sizeof(KeptLists);
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
    double limit = 0.0;
    if (keep > 0) {
      const double mine = active ? Metric::priority(task.word) : kFarthest;
      limit = worker.reduce(mine, exec::Minimum{}) + leap;
    }
    const std::uint64_t pushed_before = context.created();
    const std::uint32_t kept = work_on(worker, context, active, task, limit);
    if (kept > 0) go_on(worker, context, kept, limit, pushed_before);
  }

 private:
  static constexpr double kFarthest = 1e300;

  /// Offers the lanes' tasks' words to their neighbours. Those improved below `limit` are kept, the
  /// others go into the queues; how many are kept.
  template <class W, class C>
  WARREN_HD std::uint32_t work_on(const W& worker, C& context, bool active, Task task,
                                  double limit) const {
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
    note(worker, active && task.node == kRootNode ? 1u : 0u, edges);
    const typename Metric::Weights weights(out);
    Kept* const list = context.template scratch<KeptLists>()->list[0];
    std::uint32_t count = 0;
    worker.expand(edges, [&](bool has, std::uint32_t lane, std::uint32_t k) {
      const Vertex from = worker.broadcast(task.vertex, lane);
      const Word word = worker.broadcast(task.word, lane);
      const EdgeOffset edge = worker.broadcast(begin, lane) + k;
      Kept next{};
      if (has) {
        next.vertex = out.list(edge)[0];
        next.word = Metric::extend(word, weights, edge, from);
        // A look first spares most atomic operations.
        has = Metric::is_less(next.word, exec::atomic_load(best[next.vertex])) &&
              Metric::is_less(next.word, exec::atomic_min(best[next.vertex], next.word));
      }
      hand_on(worker, context, has, next, limit, list, count);
    });
    return count;
  }

  /// Rounds over the worker's own list. A few lanes share a vertex; what a round needs of the next
  /// one's vertices is on its way while their words are bettered.
  template <class W, class C>
  WARREN_HD void go_on(const W& worker, C& context, std::uint32_t held, double limit,
                       std::uint64_t pushed_before) const {
    KeptLists& lists = *context.template scratch<KeptLists>();
    const typename Metric::Weights weights(out);
    std::uint32_t expanded = 0;
    std::uint32_t edges = 0;
    std::uint64_t in_all = 0;
    for (std::uint32_t parity = 0; held > 0; parity ^= 1u) {
      in_all += held;
      if (context.created() - pushed_before > std::uint64_t{kKeptPushes} * worker.size())
        limit = 0.0;
      std::uint32_t count = 0;
      std::uint32_t power = 0;
      while (held << (power + 1) <= worker.size()) ++power;
      const std::uint32_t per_vertex = 1u << power;
      const std::uint32_t slot = worker.lane() & (per_vertex - 1);
      worker.sync();
      for (std::uint32_t base = 0; base < held; base += worker.size() >> power) {
        const std::uint32_t index = base + (worker.lane() >> power);
        Kept mine{};
        if (index < held) mine = lists.list[parity][index];
        // Long lists are for several workers, as tasks.
        const bool is_long = mine.degree > kTaskEdges;
        if (worker.any(is_long)) {
          context.push(worker, is_long && slot == 0, rank, {mine.vertex, kRootNode, mine.word},
                       Metric::priority(mine.word));
          if (is_long) mine.degree = 0;
        }
        expanded += index < held && slot == 0 && !is_long ? 1u : 0u;
        for (std::uint32_t k = slot; worker.any(k < mine.degree); k += per_vertex) {
          bool has = k < mine.degree;
          Kept next{};
          if (has) {
            const EdgeOffset edge = mine.begin + k;
            const Word now = exec::atomic_load(best[mine.vertex]);
            next.vertex = out.list(edge)[0];
            next.word = Metric::extend(mine.word, weights, edge, mine.vertex);
            find_list(next);
            // A vertex that was bettered meanwhile is worked on by whoever did that.
            has = !Metric::is_less(now, mine.word) &&
                  Metric::is_less(next.word, exec::atomic_min(best[next.vertex], next.word));
            ++edges;
          }
          hand_on(worker, context, has, next, limit, lists.list[parity ^ 1u], count);
        }
      }
      worker.sync();
      held = count;
    }
    if (worker.lane() == 0) exec::atomic_add(tally->kept, in_all);
    note(worker, expanded, edges);
  }

  /// Where an own vertex's list lies.
  WARREN_HD void find_list(Kept& kept) const {
    const auto row = static_cast<Vertex>(kept.vertex - out.first);
    if (row >= out.count) return;
    kept.begin = out.begin(row);
    kept.degree = out.end(row) - kept.begin;
  }

  /// Improved vertices: to `list`, behind its `count`, where they are near and there is room, else
  /// into a queue.
  template <class W, class C>
  WARREN_HD void hand_on(const W& worker, C& context, bool has, Kept& next, double limit,
                         Kept* list, std::uint32_t& count) const {
    const int to = has ? owner(next.vertex) : rank;
    const double priority = Metric::priority(next.word);
    const bool is_near = has && to == rank && priority < limit;
    if (worker.any(is_near)) {
      const std::uint32_t place = count + worker.count_before(is_near);
      if (is_near && place < keep) {
        if (next.degree == 0) find_list(next);
        list[place] = next;
        has = false;
      }
      count += worker.count(is_near);
      count = count < keep ? count : keep;
    }
    context.push(worker, has, to, {next.vertex, to == rank ? kRootNode : 0u, next.word}, priority);
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
  WARREN_HD void note(const W& worker, std::uint32_t expanded, std::uint32_t edges) const {
    expanded = worker.reduce(expanded, exec::Plus{});
    edges = worker.reduce(edges, exec::Plus{});
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
