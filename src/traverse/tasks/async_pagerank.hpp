// SPDX-License-Identifier: Apache-2.0
// PageRank as tasks: a task is a chunk of rows (ranking_work.hpp), which pulls from the
// contributions as they stand, of its own rank and of others, and then goes to the end of the queue
// again. Nobody waits for anybody's sweep to end: this is the asynchronous (chaotic) iteration of
// Chazan and Miranker (Chaotic Relaxation, 1969), which converges whatever the delays since d P' is
// a contraction in L1; where chunks come round in order it is nearly Gauss-Seidel's, and takes
// fewer sweeps than iterations. No value is written by two workers at a time, so that none needs
// atomic updates. Of symmetric graphs it is a second-degree one, whose rows keep the value before
// their last one: where chunks of a sweep see most of the last sweep's values, that gains what it
// gains in iterations (second_degree.hpp, shared_ranking.hpp).
//
// A row that is too long for one worker is cut: the sums of its pieces are values like others, and
// a chunk that comes later adds them up.
//
// A chunk whose next run would be more than kLead sweeps beyond the next of some other chunk, of
// whatever rank, is put back into the queue as it is: it would mostly read what it has read
// already. The end is decided by the bound of shared_ranking.hpp.
#pragma once

#include "warren/graph/shard.hpp"
#include "warren/memory/global_array.hpp"
#include "warren/schedule/run.hpp"

#include "traverse/tasks/ranking_work.hpp"
#include "traverse/tasks/shared_ranking.hpp"
#include "traverse/tasks/work_tally.hpp"

namespace warren::traverse {

struct RankingTask {
  std::uint32_t chunk;
  std::uint32_t sweep;  ///< From 1.
};

template <class Real>
struct RankingFunction {
  using Task = RankingTask;
  static constexpr std::uint32_t kSeedRows = 1024;
  /// Contributions of a batch. One place in 33 is left free, so that lanes which add up rows of
  /// equal length meet in different banks.
  static constexpr std::uint32_t kScratchBytes =
      (RankingBatch::kMostEdges + RankingBatch::kMostEdges / 32) * sizeof(Real);
  static constexpr std::uint32_t kInFlight = 8;  ///< Loads of a lane.
  /// Of wide numbers as many warps as 64 KiB of shared memory hold.
  static constexpr std::uint32_t kThreadsPerBlock = sizeof(Real) == sizeof(double) ? 224 : 256;

  graph::CsrView in;
  graph::CsrView out;
  const RankingBatch* batches = nullptr;
  const std::uint32_t* chunks = nullptr;
  std::uint32_t chunk_count = 0;
  bool is_symmetric = false;  ///< Then a row's in-degree is its out-degree.
  bool is_first = false;
  std::uint32_t last_sweep = 0;
  memory::GlobalView<Real> contribution;  ///< value / out-degree, of all vertices, on all ranks.
  memory::GlobalView<SharedRanking> shared;
  double* value = nullptr;        ///< Own vertices.
  double* earlier = nullptr;      ///< The values before; none where sweeps are plain.
  double* piece = nullptr;        ///< Sums of the pieces of long rows.
  std::uint64_t* left = nullptr;  ///< Of the residuals, by the last run of each chunk.
  WorkTally* tally = nullptr;
  RankingUnits units;
  double damping = 0.0;
  double stop_below = 0.0;
  double vertices = 0.0;
  int rank = 0;
  int chooser = 0;  ///< The rank that chooses the weights: one that has chunks.

  [[nodiscard]] WARREN_HD std::uint64_t seeds() const {
    const std::uint64_t rows = is_first ? (in.count + kSeedRows - 1) / kSeedRows : 0;
    return rows > chunk_count ? rows : chunk_count;
  }
  template <class W, class C>
  WARREN_HD void seed(const W& worker, C& context, std::uint64_t i) const {
    if (is_first) begin(worker, i);
    context.push(worker, worker.lane() == 0 && i < chunk_count, rank,
                 {static_cast<std::uint32_t>(i), 1});
  }

  /// The task is lane 0's: workers fetch one at a time.
  template <class W, class C>
  WARREN_HD void operator()(const W& worker, C& context, bool, Task task) const {
    task.chunk = worker.broadcast(task.chunk, 0);
    task.sweep = worker.broadcast(task.sweep, 0);
    if (task.sweep > completed(worker) + 1 + SharedRanking::kLead) {
      if (stops(worker)) return;
      if (worker.lane() == 0) exec::atomic_add(tally->put_back, std::uint64_t{1});
      exec::back_off(kPause);
      context.push(worker, worker.lane() == 0, rank, task);
      return;
    }
    const Look<W> look(worker, shared);
    if (stops(worker)) return;
    publish(worker, look, task, run(worker, context, task.chunk, look));
    ++task.sweep;
    context.push(worker, worker.lane() == 0 && task.sweep <= last_sweep, rank, task);
  }

 private:
  static constexpr std::uint32_t kPause = 1000;

  /// What a worker reads before it runs a chunk. Lanes share the ranks out among themselves.
  template <class W>
  struct Look {
    static constexpr std::uint32_t kRanksOfLane =
        std::is_base_of_v<exec::Serial, W> ? kMaxRanks : 1;
    std::uint64_t moved[kRanksOfLane];
    std::uint64_t spread;
    double weight;

    WARREN_HD Look(const W& worker, const memory::GlobalView<SharedRanking>& shared) {
      std::uint64_t part = 0;
      for_each_rank(worker, shared.ranks, [&](std::uint32_t q, std::uint64_t& mine) {
        mine = exec::atomic_load<Order::acquire, Scope::system>(shared.base[q]->moved);
        part += exec::atomic_load<Order::relaxed, Scope::system>(shared.base[q]->spread);
      });
      spread = worker.reduce(part, exec::Plus{});
      weight = exec::atomic_load<Order::relaxed, Scope::system>(shared.base[shared.rank]->weight);
      // Places for the sweep's counts were made before it was told that there are.
      (void)exec::atomic_load<Order::acquire, Scope::system>(shared.base[shared.rank]->completed);
      worker.sync();  // What follows reads after the loads above.
    }
    template <class F>
    WARREN_HD void for_each_rank(const W& worker, int ranks, F&& f) {
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < kRanksOfLane; ++i) {
        const std::uint32_t q = i * worker.size() + worker.lane();
        if (q < static_cast<std::uint32_t>(ranks)) f(q, moved[i]);
      }
    }
  };

  /// Sweeps that all of the team's chunks have had. Only a bound of how far ahead others go: what
  /// they have told is read by Look, whose acquire empties the processor's first-level cache.
  template <class W>
  [[nodiscard]] WARREN_HD std::uint64_t completed(const W& worker) const {
    // Where there are no chunks at all.
    std::uint64_t least = ~std::uint32_t{0};
    for (auto q = worker.lane(); q < static_cast<std::uint32_t>(shared.ranks); q += worker.size()) {
      const std::uint64_t sweeps =
          exec::atomic_load<Order::relaxed, Scope::system>(shared.base[q]->completed);
      least = sweeps < least ? sweeps : least;
    }
    return worker.reduce(least, exec::Minimum{});
  }
  template <class W>
  [[nodiscard]] WARREN_HD bool stops(const W& worker) const {
    const std::uint32_t told =
        worker.lane() == 0
            ? exec::atomic_load<Order::relaxed, Scope::system>(shared.base[shared.rank]->stop)
            : 0;
    return worker.broadcast(told, 0) != 0;
  }

  /// A run of a chunk, or the beginning of some rows.
  struct Run {
    double base = 0.0;   ///< What every row gets.
    double extra = 0.0;  ///< The weight less 1.
    // What the lane has changed.
    double moved = 0.0;
    double spread = 0.0;
    double sum = 0.0;
    double distance = 0.0;     ///< Of its rows from their steps, before
    double left = 0.0;         ///< and after.
    std::uint32_t stored = 0;  ///< Contributions.
    // Of the whole worker.
    std::uint64_t rows = 0;
    std::uint64_t edges = 0;
  };

  /// A row's beginning: what is read of it ahead of its sum.
  struct Row {
    EdgeOffset begin = 0;
    EdgeOffset end = 0;
    EdgeOffset out_degree = 0;
    double before = 0.0;
    double earlier = 0.0;
  };

  [[nodiscard]] WARREN_HD const Real* source() const {
    return contribution.base[contribution.rank];
  }
  [[nodiscard]] WARREN_HD static std::uint32_t place(std::uint32_t i) { return i + i / 32; }

  [[nodiscard]] WARREN_HD Row look_up(Vertex row) const {
    Row made;
    made.begin = in.begin(row);
    made.end = in.end(row);
    made.out_degree = is_symmetric ? made.end - made.begin : out.degree(row);
    made.before = value[row];
    if (earlier != nullptr) made.earlier = earlier[row];
    return made;
  }

  template <class W>
  WARREN_HD void begin(const W& worker, std::uint64_t i) const {
    Run run{};
    for (std::uint32_t k = worker.lane(); k < kSeedRows; k += worker.size()) {
      const std::uint64_t index = i * kSeedRows + k;
      if (index >= in.count) break;
      const auto row = static_cast<Vertex>(index);
      value[row] = 0.0;
      settle(row, look_up(row), 1.0 / vertices, run);
    }
    report(worker, run);
  }

  template <class W, class C>
  WARREN_HD Run run(const W& worker, C& context, std::uint32_t chunk, const Look<W>& look) const {
    Run run{units.amount(look.spread) / vertices, look.weight - 1.0};
    const std::uint32_t end = chunks[chunk + 1];
    std::uint32_t i = chunks[chunk];
    RankingBatch next = batches[i];
    while (i < end) {
      const RankingBatch batch = next;
      if (++i < end) next = batches[i];
      if (batch.kind == RankingBatch::rows) {
        run_rows(worker, context, batch, run);
      } else if (batch.kind == RankingBatch::sum) {
        run_sum(worker, batch, run);
      } else {
        run_long(worker, batch, run);
      }
      run.rows += batch.row_count;
      run.edges += batch.kind == RankingBatch::sum ? 0 : batch.count;
    }
    return run;
  }

  /// Neighbouring rows: their contributions are brought into the scratch whatever row they belong
  /// to, then each row is added up by a lane.
  template <class W, class C>
  WARREN_HD void run_rows(const W& worker, C& context, const RankingBatch& batch, Run& run) const {
    const Vertex* list = in.list(batch.begin);
    Real* const gathered = context.template scratch<Real>();
    Row row;
    if (worker.lane() < batch.row_count) row = look_up(batch.first + worker.lane());
    if constexpr (!std::is_base_of_v<exec::Serial, W>) gather(worker, list, batch.count, gathered);
    worker.sync();
    for (std::uint32_t r = worker.lane(); r < batch.row_count; r += worker.size()) {
      const Row now = row;
      if (r + worker.size() < batch.row_count) row = look_up(batch.first + r + worker.size());
      const auto begin = static_cast<std::uint32_t>(now.begin - batch.begin);
      const auto end = static_cast<std::uint32_t>(now.end - batch.begin);
      double sum = 0.0;
      if constexpr (std::is_base_of_v<exec::Serial, W>) {
        for (std::uint32_t k = begin; k < end; ++k)
          sum += static_cast<double>(exec::load_maybe_stale(source()[list[k]]));
      } else {
        for (std::uint32_t k = begin; k < end; ++k) sum += static_cast<double>(gathered[place(k)]);
      }
      settle(batch.first + r, now, run.base + damping * sum, run);
    }
    worker.sync();  // The scratch is free again.
  }

  /// f(index, contribution) for the lane's part of `count` neighbours, the next ones of which are
  /// on their way while contributions are waited for.
  template <class W, class F>
  WARREN_HD void for_each_contribution(const W& worker, const Vertex* list, std::uint32_t count,
                                       F&& f) const {
    if constexpr (std::is_base_of_v<exec::Serial, W>) {
      for (std::uint32_t k = 0; k < count; ++k) f(k, exec::load_maybe_stale(source()[list[k]]));
    } else {
      const std::uint32_t step = worker.size();
      Vertex from[kInFlight];
      const auto load = [&](std::uint32_t first) {
        WARREN_UNROLL
        for (std::uint32_t j = 0; j < kInFlight; ++j) {
          if (first + j * step < count) from[j] = exec::load_streaming(list + first + j * step);
        }
      };
      load(worker.lane());
      for (std::uint32_t first = worker.lane(); first < count;) {
        Real part[kInFlight];
        WARREN_UNROLL
        for (std::uint32_t j = 0; j < kInFlight; ++j)
          part[j] = first + j * step < count ? exec::load_maybe_stale(source()[from[j]]) : Real{0};
        const std::uint32_t at = first;
        first += kInFlight * step;
        load(first);
        WARREN_UNROLL
        for (std::uint32_t j = 0; j < kInFlight; ++j) {
          if (at + j * step < count) f(at + j * step, part[j]);
        }
      }
    }
  }
  template <class W>
  WARREN_HD void gather(const W& worker, const Vertex* list, std::uint32_t count,
                        Real* gathered) const {
    for_each_contribution(worker, list, count,
                          [&](std::uint32_t k, Real part) { gathered[place(k)] = part; });
  }

  template <class W>
  WARREN_HD void run_long(const W& worker, const RankingBatch& batch, Run& run) const {
    const bool is_row = batch.kind == RankingBatch::row;
    Row row;
    if (is_row && worker.lane() == 0) row = look_up(batch.first);
    double sum = 0.0;
    for_each_contribution(worker, in.list(batch.begin), batch.count,
                          [&](std::uint32_t, Real part) { sum += static_cast<double>(part); });
    sum = worker.reduce(sum, exec::Plus{});
    if (worker.lane() != 0) return;
    if (is_row) {
      settle(batch.first, row, run.base + damping * sum, run);
    } else {
      run.moved += distance(sum, piece[batch.first]);
      exec::atomic_store(piece[batch.first], sum);
    }
  }

  template <class W>
  WARREN_HD void run_sum(const W& worker, const RankingBatch& batch, Run& run) const {
    double sum = 0.0;
    for (std::uint32_t k = worker.lane(); k < batch.count; k += worker.size())
      sum += exec::atomic_load(piece[batch.begin + k]);
    sum = worker.reduce(sum, exec::Plus{});
    if (worker.lane() == 0)
      settle(batch.first, look_up(batch.first), run.base + damping * sum, run);
  }

  [[nodiscard]] WARREN_HD static double distance(double a, double b) {
    return a < b ? b - a : a - b;
  }

  /// A row's new value, by the one lane that works on it; `step`: the row's own step from what has
  /// been read.
  WARREN_HD void settle(Vertex row, const Row& made, double step, Run& run) const {
    double after = step;
    if (earlier != nullptr) {
      // At the beginning there are no earlier values.
      if (run.extra != 0.0) after += run.extra * (step - made.earlier);
      run.distance += distance(step, made.before);
      run.left += distance(step, after);
      earlier[row] = made.before;
    }
    if (after == made.before) return;
    run.moved += distance(after, made.before);
    run.sum += after - made.before;
    value[row] = after;
    run.spread += (after - made.before) * (made.out_degree == 0 ? 1.0 : 1.0 - damping);
    if (made.out_degree == 0) return;
    ++run.stored;
    const auto each = static_cast<Real>(after / static_cast<double>(made.out_degree));
    for (int q = 0; q < contribution.ranks; ++q)
      exec::atomic_store<Order::relaxed, Scope::system>(
          contribution.base[q][std::uint64_t{in.first} + row], each);
  }

  /// Puts down what was changed, after all lanes have.
  template <class W>
  WARREN_HD void report(const W& worker, Run& run) const {
    run.moved = worker.reduce(run.moved, exec::Plus{});
    run.sum = worker.reduce(run.sum, exec::Plus{});
    run.spread = worker.reduce(run.spread, exec::Plus{});
    run.stored = worker.reduce(run.stored, exec::Plus{});
    worker.sync();
    if (worker.lane() != 0) return;
    SharedRanking& mine = *shared.base[rank];
    exec::atomic_store_add(mine.stored, std::uint64_t{run.stored});
    exec::atomic_add<Order::relaxed, Scope::system>(mine.sum, units.change(run.sum));
    exec::atomic_add<Order::relaxed, Scope::system>(mine.spread, units.change(run.spread));
    exec::atomic_add<Order::release, Scope::system>(mine.moved, units.size(run.moved));
  }

  /// A chunk's run is over. The last one of a sweep tells what all have seen, and whether that is
  /// enough.
  template <class W>
  WARREN_HD void publish(const W& worker, Look<W> look, const Task& task, Run run) const {
    SharedRanking& mine = *shared.base[rank];
    SharedRanking::Sweep& sweep = mine.sweep[task.sweep % SharedRanking::kSweeps];
    if (earlier != nullptr) publish_left(worker, mine, sweep, task.chunk, run);
    report(worker, run);
    look.for_each_rank(worker, shared.ranks, [&](std::uint32_t q, std::uint64_t& seen) {
      exec::atomic_min(sweep.seen[q], seen);
    });
    worker.sync();
    if (worker.lane() != 0) return;
    exec::atomic_add(tally->expanded, run.rows);
    exec::atomic_add(tally->edges, run.edges);
    if (exec::atomic_add<Order::acq_rel>(sweep.finished, 1u) + 1 < chunk_count) return;
    for (int q = 0; q < shared.ranks; ++q)
      exec::atomic_store<Order::relaxed, Scope::system>(mine.seen[q],
                                                        exec::atomic_load(sweep.seen[q]));
    const std::uint64_t far = exec::atomic_load(sweep.distance);
    SharedRanking::begin(sweep);
    exec::atomic_store<Order::release, Scope::system>(mine.completed, std::uint64_t{task.sweep});
    const double bound =
        units.bound(shared.ranks, [&](int q) -> const SharedRanking& { return *shared.base[q]; });
    if (earlier != nullptr && rank == chooser) {
      const double weight = mine.choice.after(units.amount(far), bound / stop_below, damping);
      for (int q = 0; q < shared.ranks; ++q)
        exec::atomic_store<Order::relaxed, Scope::system>(shared.base[q]->weight, weight);
    }
    if (bound > stop_below) return;
    for (int q = 0; q < shared.ranks; ++q)
      exec::atomic_store<Order::relaxed, Scope::system>(shared.base[q]->stop, 1u);
  }
  /// What a second-degree run leaves, and how far it was from a plain one.
  template <class W>
  WARREN_HD void publish_left(const W& worker, SharedRanking& mine, SharedRanking::Sweep& sweep,
                              std::uint32_t chunk, const Run& run) const {
    const double far = worker.reduce(run.distance, exec::Plus{});
    const double rest = worker.reduce(run.left, exec::Plus{});
    if (worker.lane() != 0) return;
    exec::atomic_add(sweep.distance, units.size(far));
    const std::uint64_t now = units.size(rest);
    const std::uint64_t before = left[chunk];
    if (now == before) return;
    left[chunk] = now;
    exec::atomic_add<Order::relaxed, Scope::system>(mine.left, now - before);
  }
};

template <class Backend>
struct RankingRun {
  template <class Real>
  static schedule::QueueReport run(team::Team& team, const exec::Stream& stream,
                                   schedule::TaskQueue<RankingTask>& queue,
                                   const RankingFunction<Real>& function, schedule::Form form);
};

template <class Backend>
template <class Real>
schedule::QueueReport RankingRun<Backend>::run(team::Team& team, const exec::Stream& stream,
                                               schedule::TaskQueue<RankingTask>& queue,
                                               const RankingFunction<Real>& function,
                                               schedule::Form form) {
  if constexpr (std::is_same_v<Backend, exec::Cpu>) {
    return schedule::run<Backend, exec::Serial>(team, stream, queue, function, form);
  } else {
    return schedule::run<Backend, exec::Warp>(team, stream, queue, function, form);
  }
}

#if WARREN_HAS_CUDA
extern template schedule::QueueReport RankingRun<exec::Cuda>::run(team::Team&, const exec::Stream&,
                                                                  schedule::TaskQueue<RankingTask>&,
                                                                  const RankingFunction<float>&,
                                                                  schedule::Form);
extern template schedule::QueueReport RankingRun<exec::Cuda>::run(team::Team&, const exec::Stream&,
                                                                  schedule::TaskQueue<RankingTask>&,
                                                                  const RankingFunction<double>&,
                                                                  schedule::Form);
#endif

}  // namespace warren::traverse
