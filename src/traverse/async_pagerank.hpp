// SPDX-License-Identifier: Apache-2.0
// PageRank as tasks: every vertex has a rank and a residual; running a vertex's task moves its
// residual to its rank and, damped, to its neighbours' residuals. The one that lifts a residual
// over the vertex's threshold pushes that vertex: each is in the queue once at most. Thresholds are
// in proportion to degrees, so that every edge that is looked at moves about as much: a hub waits
// until that pays (as in Andersen, Chung, Lang: Local Graph Partitioning using PageRank Vectors,
// FOCS 2006).
//
// Thresholds come down in phases, each run until no residual reaches it: else workers would
// pass crumbs on among themselves while others hold the loaf, and the work would have no bound.
//
// What is due to another rank's vertex is gathered here, in the residual that this rank keeps of
// it, and sent when its task's turn comes: a queue's length of contributions travels as one
// message.
#pragma once

#include "warren/graph/shard.hpp"
#include "warren/schedule/run.hpp"

#include "traverse/async_search.hpp"

namespace warren::traverse {

struct ResidualTask {
  Vertex vertex;
  std::uint32_t node;  ///< 0: `amount` is another rank's contribution.
  double amount;       ///< Of a piece of a long list: what each neighbour gets.
};

struct ResidualFunction {
  using Task = ResidualTask;
  static constexpr std::uint32_t kSeedsAtOnce = 256;

  graph::CsrView out;
  double* residual = nullptr;  ///< Of all vertices: of others', what they have not been sent.
  double* value = nullptr;     ///< Own vertices.
  /// Of all vertices, in units of the threshold: the degree of own ones, at least 1; the mean one
  /// of others.
  float* weight = nullptr;
  WorkTally* tally = nullptr;
  std::uint64_t cuts[kMaxRanks + 1] = {};
  double damping = 0.0;
  double threshold = 0.0;
  double mean_degree = 1.0;  ///< At least 1.
  double start = 0.0;        ///< Every vertex's first residual.
  bool is_first = false;
  std::uint64_t most_expanded = 0;  ///< By this rank; then it stops.
  int rank = 0;
  int ranks = 1;

  [[nodiscard]] WARREN_HD int owner(Vertex v) const {
    int q = 0;
    for (int p = 1; p < ranks; ++p) q += v >= cuts[p] ? 1 : 0;
    return q;
  }
  /// Chunks of all residuals that this rank keeps: those at the threshold are tasks.
  [[nodiscard]] WARREN_HD std::uint64_t seeds() const {
    return (cuts[ranks] + kSeedsAtOnce - 1) / kSeedsAtOnce;
  }
  template <class W, class C>
  WARREN_HD void seed(const W& worker, C& context, std::uint64_t i) const {
    for (std::uint64_t k = 0; k < kSeedsAtOnce; k += worker.size()) {
      const std::uint64_t v = i * kSeedsAtOnce + k + worker.lane();
      bool has = k + worker.lane() < kSeedsAtOnce && v < cuts[ranks];
      if (has && is_first) begin(static_cast<Vertex>(v));
      has = has && residual[v] >= threshold_of(static_cast<Vertex>(v));
      context.push(worker, has, rank, {static_cast<Vertex>(v), kRootNode, 0.0});
    }
  }

  template <class W, class C>
  WARREN_HD void operator()(const W& worker, C& context, bool active, Task task) const {
    const bool is_over = worker.broadcast(exec::atomic_load(tally->expanded), 0) >= most_expanded;
    const bool is_message = active && task.node == 0;
    const bool is_here = active && !is_message && is_own(task.vertex);
    context.push(worker, is_message && add(task.vertex, task.amount) && !is_over, rank,
                 {task.vertex, kRootNode, 0.0});
    send(worker, context, active && !is_message && !is_here && !is_over, task.vertex);
    // Pieces of a list whose vertex was moved before the end are part of that move.
    spread(worker, context, is_here && (!is_over || task.node != kRootNode), task);
  }

 private:
  [[nodiscard]] WARREN_HD bool is_own(Vertex v) const {
    return v >= out.first && v - out.first < out.count;
  }
  WARREN_HD void begin(Vertex v) const {
    const bool own = is_own(v);
    const EdgeOffset degree = own ? out.degree(static_cast<Vertex>(v - out.first)) : 0;
    residual[v] = own ? start : 0.0;
    weight[v] = own ? static_cast<float>(degree > 1 ? degree : 1) : static_cast<float>(mean_degree);
  }
  [[nodiscard]] WARREN_HD double threshold_of(Vertex v) const {
    return threshold * static_cast<double>(weight[v]);
  }
  /// True if this addition lifts the residual to the vertex's threshold.
  [[nodiscard]] WARREN_HD bool add(Vertex vertex, double amount) const {
    const double least = threshold_of(vertex);
    const double old = exec::atomic_add(residual[vertex], amount);
    return old < least && old + amount >= least;
  }

  template <class W, class C>
  WARREN_HD void send(const W& worker, C& context, bool has, Vertex vertex) const {
    if (!worker.any(has)) return;
    const double amount = has ? exec::atomic_exchange(residual[vertex], 0.0) : 0.0;
    context.push(worker, has, has ? owner(vertex) : rank, {vertex, 0, amount});
  }

  template <class W, class C>
  WARREN_HD void spread(const W& worker, C& context, bool active, Task& task) const {
    if (!worker.any(active)) return;
    const bool is_root = active && task.node == kRootNode;
    const auto row = static_cast<Vertex>(active ? task.vertex - out.first : 0);
    const EdgeOffset degree = active ? out.degree(row) : 0;
    if (is_root) {
      const double amount = exec::atomic_exchange(residual[task.vertex], 0.0);
      exec::atomic_add(value[row], amount);
      task.amount = degree > 0 ? damping * amount / static_cast<double>(degree) : 0.0;
    }
    TaskPieces pieces(active ? task.node : kRootNode, degree);
    while (worker.any(!pieces.is_leaf())) {
      Task right = task;
      bool has = false;
      if (!pieces.is_leaf()) has = pieces.descend(right.node);
      context.push(worker, has, rank, right);
    }
    const EdgeOffset begin = active ? out.begin(row) + pieces.begin() : 0;
    const std::uint32_t count = active ? pieces.count() : 0;
    note(worker, is_root, count);
    worker.expand(count, [&](bool has, std::uint32_t lane, std::uint32_t k) {
      const double amount = worker.broadcast(task.amount, lane);
      const EdgeOffset edge = worker.broadcast(begin, lane) + k;
      Vertex to = 0;
      if (has) {
        to = out.list(edge)[0];
        has = add(to, amount);
      }
      context.push(worker, has, rank, {to, kRootNode, 0.0});
    });
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

template <class Backend>
struct ResidualRun {
  static schedule::QueueReport run(team::Team& team, const exec::Stream& stream,
                                   schedule::TaskQueue<ResidualTask>& queue,
                                   const ResidualFunction& function, schedule::Form form);
};

template <class Backend>
schedule::QueueReport ResidualRun<Backend>::run(team::Team& team, const exec::Stream& stream,
                                                schedule::TaskQueue<ResidualTask>& queue,
                                                const ResidualFunction& function,
                                                schedule::Form form) {
  if constexpr (std::is_same_v<Backend, exec::Cpu>) {
    return schedule::run<Backend, exec::Serial>(team, stream, queue, function, form);
  } else {
    return schedule::run<Backend, exec::Warp>(team, stream, queue, function, form);
  }
}

#if WARREN_HAS_CUDA
extern template struct ResidualRun<exec::Cuda>;
#endif

}  // namespace warren::traverse
