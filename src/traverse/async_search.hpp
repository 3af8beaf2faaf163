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

  template <class W, class C>
  WARREN_HD void operator()(const W& worker, C& context, bool active, Task task) const {
    if (active) active = accept(task);
    EdgeOffset begin = 0;
    const std::uint32_t count = take_piece(worker, context, active, task, begin);
    note(worker, active && task.node == kRootNode, count);
    const typename Metric::Weights weights(out);
    worker.expand(count, [&](bool has, std::uint32_t lane, std::uint32_t k) {
      const Vertex from = worker.broadcast(task.vertex, lane);
      const Word word = worker.broadcast(task.word, lane);
      const EdgeOffset edge = worker.broadcast(begin, lane) + k;
      Task next{};
      int to = rank;
      if (has) {
        next.vertex = out.list(edge)[0];
        next.word = Metric::extend(word, weights, edge, from);
        has = Metric::is_less(next.word, exec::atomic_load(best[next.vertex])) &&
              Metric::is_less(next.word, exec::atomic_min(best[next.vertex], next.word));
        to = owner(next.vertex);
        next.node = to == rank ? kRootNode : 0;
      }
      context.push(worker, has, to, next, Metric::priority(next.word));
    });
  }

 private:
  /// False for what is no better than what its vertex has.
  [[nodiscard]] WARREN_HD bool accept(Task& task) const {
    if (task.node != 0) return !Metric::is_less(exec::atomic_load(best[task.vertex]), task.word);
    const Word old = exec::atomic_min(best[task.vertex], task.word);
    task.node = kRootNode;
    return Metric::is_less(task.word, old);
  }

  /// Pushes what is too long for one task; the edges that remain.
  template <class W, class C>
  WARREN_HD std::uint32_t take_piece(const W& worker, C& context, bool active, const Task& task,
                                     EdgeOffset& begin) const {
    const auto row = static_cast<Vertex>(active ? task.vertex - out.first : 0);
    TaskPieces pieces(active ? task.node : kRootNode, active ? out.degree(row) : 0);
    while (worker.any(!pieces.is_leaf())) {
      Task right = task;
      bool has = false;
      if (!pieces.is_leaf()) has = pieces.descend(right.node);
      context.push(worker, has, rank, right, Metric::priority(task.word));
    }
    if (!active) return 0;
    begin = out.begin(row) + pieces.begin();
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
