// SPDX-License-Identifier: Apache-2.0
// BFS and SSSP as tasks (Atos, section IV): a task relaxes the edges to its vertex's neighbours,
// and those that it improves become tasks. No level is waited for; what was relaxed with too large
// a distance is worked on again.
//
// Every rank keeps the best distance that it knows of every vertex: its own vertices' distances,
// and of the others' what it has sent already, so that only an improvement crosses a link. An
// update lowers the word at its vertex's owner, and is a task there if it did. Over links whose
// messages are gathered it is a task that the owner compares, and so it is from workers that keep
// lists: what they wait for the front of their search waits for, and they send little.
#pragma once

#include "warren/exec/block_scratch.hpp"
#include "warren/graph/shard.hpp"
#include "warren/schedule/run.hpp"

#include "traverse/tasks/search_lists.hpp"
#include "traverse/tasks/search_problem.hpp"
#include "traverse/tasks/task_pieces.hpp"

namespace warren::traverse {

template <class MetricType, class ListsType = WarpLists>
struct SearchFunction : SearchProblem<MetricType> {
  using Problem = SearchProblem<MetricType>;
  using Metric = MetricType;
  using Lists = ListsType;
  using Word = typename Metric::Word;
  using Task = SearchTask<Word>;
  using Problem::best;
  using Problem::best_of;
  using Problem::keep;
  using Problem::leap;
  using Problem::out;
  using Problem::owner;
  using Problem::rank;
  using Problem::ranks;
  using Problem::source;
  using Problem::tally;
  using Problem::updates_are_tasks;

  using KeptLists = SearchLists<Word, Lists>;
  using Kept = typename KeptLists::Kept;
  using Edge = typename KeptLists::Edge;
  using Far = typename KeptLists::Far;
  using Filled = typename KeptLists::Filled;

  static constexpr std::uint32_t kMostKept = Lists::kVertices;
  static constexpr std::uint32_t kKeptEdges = KeptLists::kKeptEdges;
  static constexpr std::uint16_t kNoEdge = KeptLists::kNoEdge;
  static constexpr std::uint32_t kOneVertex = KeptLists::kOneVertex;
  /// Edges that a lane has under way in lists that are not kept.
  static constexpr std::uint32_t kAhead = 4;
  static constexpr bool kKeeps = KeptLists::kKeeps;
  /// What one round finds, and one step of a list that is not kept.
  static constexpr std::uint32_t kMostFar = Lists::kFar;
  static_assert(kMostFar >= Lists::kEdges + Lists::kLanes && kMostFar >= kAhead * Lists::kLanes);
  static constexpr std::uint32_t kThreadsPerBlock = Lists::kThreadsPerBlock;

  static constexpr std::uint32_t kScratchBytes = sizeof(KeptLists);
  static constexpr bool kMayNotFit = Lists::kMayNotFit;
  static constexpr std::uint32_t kBlocksPerProcessor = Lists::kBlocksPerProcessor;
  /// First tasks at most, as many as any queue has room for: a source's neighbours, or where it has
  /// more, pieces of its list.
  static constexpr std::uint32_t kSeedLevels = 8;
  static constexpr std::uint32_t kSeedEdges = 1u << kSeedLevels;
  static constexpr std::uint32_t kSeedNodes = 32;  ///< Pushed at a time.
  /// Pushes, for each lane, after which a worker keeps nothing more.
  static constexpr std::uint32_t kKeptPushes = 16;
  /// What running one task pushes at most, on workers of so many lanes.
  [[nodiscard]] static constexpr std::uint64_t most_pushes(std::uint32_t keep, bool on_gpu) {
    const std::uint64_t lanes = on_gpu ? Lists::kLanes : 1;
    const std::uint64_t gathered = (kMostFar + lanes - 1) / lanes;
    if (keep == 0) return kTaskPushes + gathered;
    return kTaskPushes + kKeptPushes + 2 * gathered;
  }

  [[nodiscard]] WARREN_HD std::uint64_t seeds() const {
    if (owner(source) != rank) return 0;
    Kept from{0, 0, source};
    return (seed_pieces(find_list(from)).count + kSeedNodes - 1) / kSeedNodes;
  }
  [[nodiscard]] WARREN_HD double priority(const Task& task) const {
    return Metric::priority(task.word);
  }
  /// The source's neighbours, where they are few, or pieces of its list, so that there is work for
  /// all some steps sooner.
  template <class W, class C>
  WARREN_HD void seed(const W& worker, C& context, std::uint64_t i) const {
    Kept from{0, Metric::start(source), source};
    const EdgeOffset degree = find_list(from);
    const bool is_first = i == 0 && worker.lane() == 0;
    if (is_first) {
      exec::atomic_store<exec::Order::relaxed, kScope>(best[source], from.word);
      exec::atomic_add(tally->expanded, std::uint64_t{1});
    }
    worker.sync();
    if (degree <= kSeedEdges) return seed_neighbours(worker, context, from, degree);
    const SeedPieces pieces = seed_pieces(degree);
    for (std::uint32_t k = worker.lane(); k < kSeedNodes + worker.lane(); k += worker.size()) {
      const std::uint64_t place = i * kSeedNodes + k;
      const Task task{source, pieces.first + static_cast<std::uint32_t>(place), from.word};
      context.push(worker, k < kSeedNodes && place < pieces.count, rank, task,
                   Metric::priority(from.word));
    }
  }

  /// What the worker finds within reach it goes on with itself, in rounds, as long as others need
  /// not be waited for: a long path costs no queue.
  template <class W, class C>
  WARREN_HD void operator()(const W& worker, C& context, bool active, Task task) const {
    Leap leap_of{*context.template scratch<KeptLists>()};
    if (kKeeps && worker.lane() == 0) {
      in_scratch(leap_of).filled[0] = {};
      in_scratch(leap_of).filled[1] = {};
    }
    if (kKeeps && keep > 0) {
      const Word mine = active ? task.word : Metric::kUnreached;
      leap_of.limit = Metric::after(worker.reduce(mine, exec::Minimum{}), leap);
    }
    worker.sync();
    Kept mine{0, task.word, task.vertex};
    EdgeOffset degree = 0;
    if (active) {
      degree = find_list(mine);
      active = accept(task);
    }
    if constexpr (kKeeps) {
      if (keep > 0 && active && task.node == kRootNode && degree > 0 && degree <= kKeptEdges)
        active = !try_keep(leap_of, mine, degree);
    }
    if (worker.any(active)) work_on(worker, context, active, task, mine.begin, degree, leap_of);
    worker.sync();
    if constexpr (kKeeps) {
      if (keep > 0) drain(worker, context, leap_of);
    }
    if constexpr (kKeeps) push_far(worker, context, leap_of);
  }

  /// A worker that keeps nothing holds what it finds until there is enough for a push or nothing
  /// else to do: begin() and flush() of the scheduler's.
  template <class W, class C>
  WARREN_HD void begin(const W& worker, C& context) const requires(!kKeeps) {
    if (worker.lane() == 0) context.template scratch<KeptLists>()->filled[0] = {};
    worker.sync();
  }
  template <class W, class C>
  [[nodiscard]] WARREN_HD bool flush(const W& worker, C& context) const requires(!kKeeps) {
    Leap leap_of{*context.template scratch<KeptLists>()};
    if (in_scratch(leap_of).filled[0].far == 0) return false;
    push_found(worker, context, leap_of);
    return true;
  }

 private:
  /// Nodes of the source's list that are pushed: `count` from `first` on.
  struct SeedPieces {
    std::uint32_t first;
    std::uint64_t count;
  };
  [[nodiscard]] static WARREN_HD SeedPieces seed_pieces(EdgeOffset degree) {
    if (degree <= kSeedEdges) return {kRootNode, 1};
    TaskPieces pieces(kRootNode, degree);
    const std::uint64_t count = pieces.descend_all(kSeedLevels);
    return {pieces.node(), count};
  }
  template <class W, class C>
  WARREN_HD void seed_neighbours(const W& worker, C& context, const Kept& from,
                                 EdgeOffset degree) const {
    const typename Metric::Weights weights(out);
    for (EdgeOffset k = worker.lane(); k < degree + worker.lane(); k += worker.size()) {
      Task next{};
      bool has = k < degree;
      if (has) {
        const Vertex to = out.list(from.begin + k)[0];
        const Word word = Metric::extend(from.word, weights, from.begin + k, source);
        next = {to, owner(to) == rank ? kRootNode : 0, word};
        has = Metric::is_less(word, lower(best, to, word));
      }
      context.push(worker, has, owner(next.vertex), next, Metric::priority(next.word));
    }
    if (worker.lane() != 0) return;
    exec::atomic_add(tally->edges, std::uint64_t{degree});
    exec::atomic_add(tally->kept, std::uint64_t{1});
  }

  /// What a worker holds while it runs its tasks; the same in every lane.
  struct Leap {
    KeptLists& lists;
    Word limit = 0;          ///< Vertices at less than this are kept.
    std::uint32_t to = 0;    ///< The lists that they go to,
    std::uint32_t fill = 0;  ///< and the counts.
    std::uint32_t far = 0;   ///< Found in earlier rounds and not pushed yet.
  };

  /// What a lane has done.
  struct Work {
    std::uint32_t expanded = 0;
    std::uint32_t edges = 0;
    std::uint32_t kept = 0;
  };

  [[nodiscard]] static WARREN_HD KeptLists& in_scratch(const Leap& leap_of) {
    return exec::in_block_scratch(leap_of.lists);
  }

  /// One up for each of the lanes that are here together; the lane's own number before that.
  [[nodiscard]] static WARREN_HD std::uint32_t take_number(std::uint32_t& counter) {
#if defined(__CUDA_ARCH__)
    const std::uint32_t here = __activemask();
    const std::uint32_t lane = threadIdx.x % 32;
    const auto first = static_cast<std::uint32_t>(__ffs(static_cast<int>(here)) - 1);
    std::uint32_t number = 0;
    if (lane == first)
      number = exec::add_in_scratch(counter, static_cast<std::uint32_t>(__popc(here)));
    return __shfl_sync(here, number, static_cast<int>(first)) + __popc(here & ((1u << lane) - 1u));
#else
    return exec::add_in_scratch(counter, 1u);
#endif
  }

  /// Into the next round's list. False where there is no room.
  [[nodiscard]] WARREN_HD bool try_keep(const Leap& leap_of, const Kept& next,
                                        EdgeOffset degree) const {
    KeptLists& lists = in_scratch(leap_of);
    const auto count = static_cast<std::uint32_t>(degree);
    const std::uint32_t before =
        exec::add_in_scratch(lists.filled[leap_of.fill].kept, kOneVertex + count);
    const std::uint32_t place = before / kOneVertex;
    const std::uint32_t first = before % kOneVertex;
    // Others have places behind these: where there is no room, edges say that they are none.
    const bool fits = place < keep && first + count <= Lists::kEdges;
    if (fits) lists.vertices[leap_of.to][place] = next;
    for (std::uint32_t k = 0; k < count && first + k < Lists::kEdges; ++k) {
      lists.edges[leap_of.to][first + k] = {static_cast<std::uint16_t>(place),
                                            fits ? static_cast<std::uint16_t>(k) : kNoEdge};
    }
    return fits;
  }

  /// An improved vertex: to the list of those kept where it is near, its list is short and there
  /// is room, else to those for queues.
  WARREN_HD void enqueue(const Leap& leap_of, const Kept& next, EdgeOffset degree,
                         Work& work) const {
    if (next.word < leap_of.limit && degree <= kKeptEdges && try_keep(leap_of, next, degree)) {
      ++work.kept;
      work.expanded += degree == 0 ? 1u : 0u;
      return;
    }
    put_far(leap_of, next);
  }
  WARREN_HD void put_far(const Leap& leap_of, const Kept& next) const {
    KeptLists& lists = in_scratch(leap_of);
    lists.far[leap_of.far + take_number(lists.filled[leap_of.fill].far)] = {next.word, next.vertex};
  }
  /// Vertices in the next round's list, or more.
  [[nodiscard]] static WARREN_HD std::uint32_t kept_so_far(const Leap& leap_of) {
    return exec::atomic_load<exec::Order::relaxed, exec::Scope::block>(
               in_scratch(leap_of).filled[leap_of.fill].kept) /
           kOneVertex;
  }
  /// Edges in a round's list.
  [[nodiscard]] static WARREN_HD std::uint32_t edges_in(const Filled& filled) {
    const std::uint32_t edges = filled.kept % kOneVertex;
    return edges < Lists::kEdges ? edges : Lists::kEdges;
  }

  /// Relaxes the edges of the lanes' tasks: of lists that are long, in pieces, and of any where
  /// nothing is kept.
  template <class W, class C>
  WARREN_HD void work_on(const W& worker, C& context, bool active, Task task, EdgeOffset first,
                         EdgeOffset degree, Leap& leap_of) const {
    EdgeOffset begin = 0;
    const std::uint32_t edges = take_piece(worker, context, active, task, degree, begin);
    begin += first;
    Work work{active && task.node == kRootNode ? 1u : 0u, edges, 0};
    const typename Metric::Weights weights(out);
    // A block's broadcast has one source; lanes here have sources of their own.
    static_assert(Lists::kVertices >= Lists::kLanes);
    Kept* const sources = in_scratch(leap_of).vertices[kKeeps ? leap_of.to ^ 1u : 0];
    std::uint32_t* const starts = in_scratch(leap_of).starts;
    const std::uint32_t before = worker.exclusive_scan(edges);
    const std::uint32_t total = worker.broadcast(before + edges, worker.size() - 1);
    sources[worker.lane()] = {begin, task.word, task.vertex};
    starts[worker.lane()] = before;
    worker.sync();
    // An edge is a chain of two accesses and more: a lane has several under way.
    for (std::uint32_t base = worker.lane(); base < total + worker.lane();
         base += kAhead * worker.size()) {
      Kept next[kAhead] = {};
      Word now[kAhead] = {};
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < kAhead; ++i) {
        const std::uint32_t at = base + i * worker.size();
        if (at >= total) continue;
        const std::uint32_t lane = lane_of(worker, starts, at);
        const Kept from = sources[lane];
        const EdgeOffset edge = from.begin + (at - starts[lane]);
        next[i].vertex = out.list(edge)[0];
        next[i].word = Metric::extend(from.word, weights, edge, from.vertex);
      }
      // A look first spares most atomic operations.
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < kAhead; ++i) {
        if (base + i * worker.size() < total) now[i] = load_best(next[i].vertex);
      }
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < kAhead; ++i) {
        if (base + i * worker.size() < total && Metric::is_less(next[i].word, now[i]) &&
            Metric::is_less(next[i].word, lower(best, next[i].vertex, next[i].word))) {
          if (kKeeps && kept_so_far(leap_of) < keep) {
            enqueue(leap_of, next[i], find_list(next[i]), work);
          } else {
            put_far(leap_of, next[i]);
          }
        }
      }
      worker.sync();
      if (in_scratch(leap_of).filled[leap_of.fill].far + kAhead * worker.size() > kMostFar)
        push_found(worker, context, leap_of);
      worker.sync();
    }
    note(worker, work);
    if constexpr (kKeeps) push_found(worker, context, leap_of);
  }

  /// Whose edge is number `at` of all lanes' together.
  template <class W>
  [[nodiscard]] static WARREN_HD std::uint32_t lane_of(const W& worker, const std::uint32_t* starts,
                                                       std::uint32_t at) {
    std::uint32_t lane = 0;
    if (worker.size() == 1) return lane;
    for (std::uint32_t step = Lists::kLanes / 2; step > 0; step /= 2) {
      if (lane + step < worker.size() && starts[lane + step] <= at) lane += step;
    }
    return lane;
  }

  /// Rounds over the worker's own list: a lane has an edge, and what a round needs of the next
  /// one's vertices is on its way while their words are lowered: an edge is a chain of two
  /// accesses. Lanes wait for each other once a round.
  template <class W, class C>
  WARREN_HD void drain(const W& worker, C& context, Leap& leap_of) const {
    const typename Metric::Weights weights(out);
    KeptLists& lists = in_scratch(leap_of);
    Work work;
    std::uint32_t pushed = 0;
    std::uint32_t held = edges_in(lists.filled[leap_of.fill]);
    while (held > 0) {
      const Kept* const vertices = lists.vertices[leap_of.to];
      const Edge* const list = lists.edges[leap_of.to];
      leap_of.to ^= 1u;
      leap_of.fill = after(leap_of.fill);
      if (worker.lane() == 0) lists.filled[after(leap_of.fill)] = {};
      for (std::uint32_t base = worker.lane(); base < held;
           base += Lists::kTogether * worker.size()) {
        Kept mine[Lists::kTogether] = {};
        Kept next[Lists::kTogether] = {};
        Word now[Lists::kTogether] = {};
        bool has[Lists::kTogether];
        WARREN_UNROLL
        for (std::uint32_t i = 0; i < Lists::kTogether; ++i) {
          const std::uint32_t at = base + i * worker.size();
          Edge edge{0, kNoEdge};
          if (at < held) edge = list[at];
          has[i] = edge.number != kNoEdge;
          if (!has[i]) continue;
          mine[i] = vertices[edge.place];
          const EdgeOffset place = mine[i].begin + edge.number;
          next[i].vertex = out.list(place)[0];
          now[i] = load_best(mine[i].vertex);
          next[i].word = Metric::extend(mine[i].word, weights, place, mine[i].vertex);
          work.expanded += edge.number == 0 ? 1u : 0u;
        }
        EdgeOffset degree[Lists::kTogether] = {};
        WARREN_UNROLL
        for (std::uint32_t i = 0; i < Lists::kTogether; ++i) {
          // A vertex that was improved meanwhile is worked on by whoever did that.
          has[i] = has[i] && !Metric::is_less(now[i], mine[i].word);
          if (!has[i]) continue;
          now[i] = lower(best, next[i].vertex, next[i].word);
          degree[i] = find_list(next[i]);
          ++work.edges;
        }
        WARREN_UNROLL
        for (std::uint32_t i = 0; i < Lists::kTogether; ++i) {
          if (has[i] && Metric::is_less(next[i].word, now[i]))
            enqueue(leap_of, next[i], degree[i], work);
        }
      }
      worker.sync();
      const Filled filled = lists.filled[leap_of.fill];
      leap_of.far += filled.far;
      held = edges_in(filled);
      if (leap_of.far >= worth_pushing() || leap_of.far + held > kMostFar) {
        pushed += leap_of.far;
        push_far(worker, context, leap_of);
        if (pushed > kKeptPushes * worker.size()) leap_of.limit = 0;
      }
    }
    if (worker.any(work.expanded > 0)) note(worker, work);
  }

  [[nodiscard]] static WARREN_HD std::uint32_t after(std::uint32_t fill) {
    return fill == 2 ? 0 : fill + 1;
  }
  /// Others wait for what is theirs.
  [[nodiscard]] WARREN_HD std::uint32_t worth_pushing() const {
    return ranks > 1 ? 1 : Lists::kWorthPushing;
  }

  /// Where an own vertex's list lies; its length. Others' vertices have lists that are too long.
  WARREN_HD EdgeOffset find_list(Kept& kept) const {
    const auto row = static_cast<Vertex>(kept.vertex - out.first);
    if (row >= out.count) return kKeptEdges + 1;
    kept.begin = out.begin(row);
    return out.end(row) - kept.begin;
  }

  /// Pushes what this round's lists for queues have, between rounds.
  template <class W, class C>
  WARREN_HD void push_found(const W& worker, C& context, Leap& leap_of) const {
    worker.sync();
    leap_of.far = in_scratch(leap_of).filled[leap_of.fill].far;
    worker.sync();
    if (worker.lane() == 0) in_scratch(leap_of).filled[leap_of.fill].far = 0;
    push_far(worker, context, leap_of);
  }
  /// One push for what several steps found: a push takes as long as two of them.
  template <class W, class C>
  WARREN_HD void push_far(const W& worker, C& context, Leap& leap_of) const {
    worker.sync();
    if (leap_of.far == 0) return;
    Far* const list = in_scratch(leap_of).far;
    std::uint32_t count = leap_of.far;
    leap_of.far = 0;
    if (!kKeeps && ranks > 1) count = relax_remote(worker, list, count);
    if (count == 0) return;
    push_list(worker, context, list, count);
    worker.sync();
  }
  /// Other ranks' vertices are relaxed at the owner; updates that lower nothing there leave the
  /// list. Returns how many are left.
  template <class W>
  WARREN_GPU_NOINLINE WARREN_HD std::uint32_t relax_remote(const W& worker, Far* list,
                                                           std::uint32_t count) const {
    std::uint32_t left = 0;
    // An update is a way to another memory and back: several of a lane are under way.
    for (std::uint32_t base = 0; base < count; base += kAhead * worker.size()) {
      Far far[kAhead] = {};
      bool stays[kAhead];
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < kAhead; ++i) {
        const std::uint32_t at = base + i * worker.size() + worker.lane();
        stays[i] = at < count;
        if (stays[i]) far[i] = list[at];
      }
      Word before[kAhead];
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < kAhead; ++i) {
        const int to = owner(far[i].vertex);
        before[i] = Metric::kUnreached;
        if (stays[i] && to != rank && !sends_tasks_to(to))
          before[i] = lower(best_of[to], far[i].vertex, far[i].word);
      }
      worker.sync();  // All have read what is written over now.
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < kAhead; ++i) {
        stays[i] = stays[i] && Metric::is_less(far[i].word, before[i]);
        const std::uint32_t place = left + worker.count_before(stays[i]);
        if (stays[i]) list[place] = far[i];
        left += worker.count(stays[i]);
      }
    }
    worker.sync();
    return left;
  }
  [[nodiscard]] WARREN_HD bool sends_tasks_to(int to) const {
    return kKeeps || (updates_are_tasks >> static_cast<std::uint32_t>(to) & 1u) != 0;
  }

  template <class W, class C>
  WARREN_GPU_NOINLINE WARREN_HD void push_list(const W& worker, C& context, const Far* list,
                                               std::uint32_t count) const {
    const auto item = [&](std::uint32_t i) -> typename C::Item {
      const Far far = list[i];
      const int to = owner(far.vertex);
      const std::uint32_t node = to != rank && sends_tasks_to(to) ? 0 : kRootNode;
      return {{far.vertex, node, far.word}, to, Metric::priority(far.word)};
    };
    if constexpr (kKeeps) {
      // Seldom more than a task for each lane, and no registers to spare.
      for (std::uint32_t i = worker.lane(); i < count + worker.lane(); i += worker.size()) {
        const typename C::Item one = i < count ? item(i) : typename C::Item{};
        context.push(worker, i < count, one.to, one.task, one.priority);
      }
    } else {
      context.push_list(worker, count, item);
    }
  }

  /// Other ranks lower this one's words, too.
  static constexpr exec::Scope kScope = exec::Scope::system;
  [[nodiscard]] WARREN_HD Word load_best(Vertex v) const {
    return exec::atomic_load<exec::Order::relaxed, kScope>(best[v]);
  }
  /// The word before.
  [[nodiscard]] static WARREN_HD Word lower(Word* words, Vertex v, Word word) {
    return exec::atomic_min<exec::Order::relaxed, kScope>(words[v], word);
  }

  /// False for what is no better than what its vertex has.
  [[nodiscard]] WARREN_HD bool accept(Task& task) const {
    if (task.node != 0) return !Metric::is_less(load_best(task.vertex), task.word);
    const Word old = lower(best, task.vertex, task.word);
    task.node = kRootNode;
    return Metric::is_less(task.word, old);
  }

  /// Pushes what is too long for one task; the edges that remain, from `begin` of the list on.
  template <class W, class C>
  WARREN_HD std::uint32_t take_piece(const W& worker, C& context, bool active, const Task& task,
                                     EdgeOffset degree, EdgeOffset& begin) const {
    if (!active) degree = 0;
    if (!worker.any(degree > kTaskEdges)) return static_cast<std::uint32_t>(degree);
    return cut_up(worker, context, active, task, degree, begin);
  }
  template <class W, class C>
  WARREN_GPU_NOINLINE WARREN_HD std::uint32_t cut_up(const W& worker, C& context, bool active,
                                                     const Task& task, EdgeOffset degree,
                                                     EdgeOffset& begin) const {
    TaskPieces pieces(active ? task.node : kRootNode, degree);
    // A long list or two: all lanes push pieces of it at a time.
    constexpr std::uint32_t kFew = 2;
    constexpr std::uint32_t kMostLevels = 5;
    std::uint32_t levels = 0;
    while (levels < kMostLevels && 2u << levels <= worker.size()) ++levels;
    std::uint32_t count = levels > 0 ? worker.count(!pieces.is_leaf()) : 0;
    while (count > 0 && count <= kFew) {
      const std::uint32_t who =
          worker.reduce(pieces.is_leaf() ? worker.size() : worker.lane(), exec::Minimum{});
      std::uint64_t children = 0;
      if (worker.lane() == who) children = pieces.descend_all(levels);
      children = worker.broadcast(children, who);
      const Task right{worker.broadcast(task.vertex, who),
                       worker.broadcast(pieces.node(), who) + worker.lane(),
                       worker.broadcast(task.word, who)};
      context.push(worker, worker.lane() > 0 && worker.lane() < children, rank, right,
                   Metric::priority(right.word));
      count = worker.count(!pieces.is_leaf());
    }
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
  WARREN_HD void note(const W& worker, const Work& work) const {
    const std::uint32_t expanded = worker.reduce(work.expanded, exec::Plus{});
    const std::uint32_t edges = worker.reduce(work.edges, exec::Plus{});
    const std::uint32_t kept = worker.reduce(work.kept, exec::Plus{});
    if (worker.lane() != 0) return;
    if (expanded > 0) exec::atomic_add(tally->expanded, std::uint64_t{expanded});
    if (edges > 0) exec::atomic_add(tally->edges, std::uint64_t{edges});
    if (kept > 0) exec::atomic_add(tally->kept, std::uint64_t{kept});
  }
};

}  // namespace warren::traverse
