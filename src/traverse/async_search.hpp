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
  /// Words at less than `width` levels more are less than this.
  [[nodiscard]] WARREN_HD static Word after(Word word, double width) {
    constexpr double kMost = 0xffffffffu;
    const double level = static_cast<double>(word >> 32) + width;
    return static_cast<Word>(level < kMost ? level : kMost) << 32;
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
  [[nodiscard]] WARREN_HD static Word after(Word word, double width) {
    return Metric::after(word, width);
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

  /// A worker's vertices of this round and of the next, and those that are not for itself.
  static constexpr std::uint32_t kMostKept = 32;
  struct Kept {
    EdgeOffset begin;
    Word word;
    Vertex vertex;
    std::uint32_t degree;  ///< One more than kTaskEdges where it is more than that.
  };
  struct Far {
    Word word;
    Vertex vertex;
  };
  struct KeptLists {
    Kept list[2][kMostKept];
    Far far[kMostKept];
  };
  static constexpr std::uint32_t kScratchBytes = sizeof(KeptLists);
  /// Rounds are a chain: more registers serve them better than more warps.
  static constexpr std::uint32_t kBlocksPerProcessor = 1;
  /// Pushes, for each lane, after which a worker keeps nothing more.
  static constexpr std::uint32_t kKeptPushes = 16;
  /// What running one task pushes at most, on workers of so many lanes.
  [[nodiscard]] static constexpr std::uint64_t most_pushes(std::uint32_t keep, bool on_gpu) {
    const std::uint64_t gathered = on_gpu ? 1 : kMostKept;
    if (keep == 0) return kTaskPushes + gathered;
    const std::uint64_t round = std::uint64_t{kTaskPushes} * (on_gpu ? 1 : keep);
    return kTaskPushes + kKeptPushes + round + gathered;
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
    Leap leap_of{*context.template scratch<KeptLists>()};
    if (keep > 0) {
      const Word mine = active ? task.word : Metric::kUnreached;
      leap_of.limit = Metric::after(worker.reduce(mine, exec::Minimum{}), leap);
    }
    const std::uint64_t pushed_before = context.created();
    Kept mine{0, task.word, task.vertex, 0};
    EdgeOffset degree = 0;
    if (active) {
      degree = find_list(mine);
      active = accept(task);
    }
    if (keep > 0) {
      const bool is_short = active && task.node == kRootNode && degree <= kTaskEdges;
      const std::uint32_t place = worker.count_before(is_short);
      if (is_short) leap_of.lists.list[0][place] = mine;
      leap_of.count = worker.count(is_short);
      active = active && !is_short;
    }
    if (worker.any(active)) work_on(worker, context, active, task, mine.begin, degree, leap_of);
    if (leap_of.count > 0) go_on(worker, context, leap_of, pushed_before);
    push_far(worker, context, leap_of);
  }

 private:
  /// Far vertices that are worth a push before the worker is done.
  static constexpr std::uint32_t kFarWorthPushing = 8;

  /// What a worker holds while it runs its tasks. Counts are the same in every lane.
  struct Leap {
    KeptLists& lists;
    Word limit = 0;           ///< Vertices at less than this are kept.
    std::uint32_t to = 0;     ///< The list that they go to,
    std::uint32_t count = 0;  ///< and how many it has.
    std::uint32_t far = 0;
  };

  /// Offers the lanes' tasks' words to their neighbours: lists that are long, in pieces, and any
  /// where nothing is kept.
  template <class W, class C>
  WARREN_HD void work_on(const W& worker, C& context, bool active, Task task, EdgeOffset first,
                         EdgeOffset degree, Leap& leap_of) const {
    EdgeOffset begin = 0;
    const std::uint32_t edges = take_piece(worker, context, active, task, degree, begin);
    begin += first;
    note(worker, active && task.node == kRootNode ? 1u : 0u, edges);
    const typename Metric::Weights weights(out);
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
        if (has && keep > 0) find_list(next);
      }
      hand_on(worker, context, has, next, leap_of);
    });
  }

  /// Rounds over the worker's own list. A few lanes share a vertex; what a round needs of the next
  /// one's vertices is on its way while their words are bettered: an edge is a chain of two
  /// accesses. What lies between them counts as much: two edges of a lane at a time were slower.
  template <class W, class C>
  WARREN_HD void go_on(const W& worker, C& context, Leap& leap_of,
                       std::uint64_t pushed_before) const {
    const typename Metric::Weights weights(out);
    std::uint32_t expanded = 0;
    std::uint32_t edges = 0;
    std::uint64_t in_all = 0;
    while (leap_of.count > 0) {
      const std::uint32_t held = leap_of.count;
      const Kept* const list = leap_of.lists.list[leap_of.to];
      leap_of.to ^= 1u;
      leap_of.count = 0;
      in_all += held;
      if (context.created() - pushed_before > std::uint64_t{kKeptPushes} * worker.size())
        leap_of.limit = 0;
      const std::uint32_t power = (2 * held <= worker.size() ? 1u : 0u) +
                                  (4 * held <= worker.size() ? 1u : 0u) +
                                  (8 * held <= worker.size() ? 1u : 0u);
      const std::uint32_t per_vertex = 1u << power;
      const std::uint32_t slot = worker.lane() & (per_vertex - 1);
      worker.sync();
      for (std::uint32_t base = 0; base < held; base += worker.size() >> power) {
        const std::uint32_t index = base + (worker.lane() >> power);
        Kept mine{};
        Word now = 0;
        if (index < held) {
          mine = list[index];
          now = exec::atomic_load(best[mine.vertex]);
        }
        expanded += index < held && slot == 0 ? 1u : 0u;
        for (std::uint32_t k = slot; worker.any(k < mine.degree); k += per_vertex) {
          // A vertex that was bettered meanwhile is worked on by whoever did that.
          bool has = k < mine.degree && !Metric::is_less(now, mine.word);
          Kept next{};
          if (has) {
            const EdgeOffset edge = mine.begin + k;
            next.vertex = out.list(edge)[0];
            next.word = Metric::extend(mine.word, weights, edge, mine.vertex);
            const Word old = exec::atomic_min(best[next.vertex], next.word);
            find_list(next);
            has = Metric::is_less(next.word, old);
            ++edges;
          }
          hand_on(worker, context, has, next, leap_of);
        }
      }
      worker.sync();
      if (leap_of.far >= kFarWorthPushing) push_far(worker, context, leap_of);
    }
    if (worker.lane() == 0) exec::atomic_add(tally->kept, in_all);
    note(worker, expanded, edges);
  }

  /// Where an own vertex's list lies; its length.
  WARREN_HD EdgeOffset find_list(Kept& kept) const {
    const auto row = static_cast<Vertex>(kept.vertex - out.first);
    if (row >= out.count) return 0;
    kept.begin = out.begin(row);
    const EdgeOffset degree = out.end(row) - kept.begin;
    kept.degree = static_cast<std::uint32_t>(degree <= kTaskEdges ? degree : kTaskEdges + 1);
    return degree;
  }

  /// Improved vertices: to the list of those kept where they are near, their lists are short and
  /// there is room, else to those for queues; other ranks' go there at once.
  template <class W, class C>
  WARREN_HD void hand_on(const W& worker, C& context, bool has, const Kept& next,
                         Leap& leap_of) const {
    bool is_far = has;
    if (ranks > 1) {
      const int to = has ? owner(next.vertex) : rank;
      context.push(worker, has && to != rank, to, {next.vertex, 0, next.word},
                   Metric::priority(next.word));
      is_far = has && to == rank;
    }
    const bool is_near = is_far && next.word < leap_of.limit && next.degree <= kTaskEdges;
    if (worker.any(is_near)) {
      const std::uint32_t place = leap_of.count + worker.count_before(is_near);
      if (is_near && place < keep) {
        leap_of.lists.list[leap_of.to][place] = next;
        is_far = false;
      }
      leap_of.count += worker.count(is_near);
      leap_of.count = leap_of.count < keep ? leap_of.count : keep;
    }
    if (!worker.any(is_far)) return;
    const std::uint32_t count = worker.count(is_far);
    if (leap_of.far + count > kMostKept) push_far(worker, context, leap_of);
    const std::uint32_t place = leap_of.far + worker.count_before(is_far);
    if (is_far) leap_of.lists.far[place] = {next.word, next.vertex};
    leap_of.far += count;
  }

  /// One push for what several steps found: a push takes as long as two of them.
  template <class W, class C>
  WARREN_HD void push_far(const W& worker, C& context, Leap& leap_of) const {
    if (leap_of.far == 0) return;
    worker.sync();
    push_list(worker, context, leap_of.lists.far, leap_of.far);
    worker.sync();
    leap_of.far = 0;
  }
  template <class W, class C>
  WARREN_GPU_NOINLINE WARREN_HD void push_list(const W& worker, C& context, const Far* list,
                                               std::uint32_t count) const {
    for (std::uint32_t base = 0; base < count; base += worker.size()) {
      const bool has = base + worker.lane() < count;
      const Far far = has ? list[base + worker.lane()] : Far{};
      context.push(worker, has, rank, {far.vertex, kRootNode, far.word},
                   Metric::priority(far.word));
    }
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
