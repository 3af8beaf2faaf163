// SPDX-License-Identifier: Apache-2.0
// Betweenness from one source as a BSP program. Forward, a step is a level: its vertices pass the
// number of their shortest paths on, and whoever meets a vertex first queues it with its owner. A
// rank's queue holds its vertices in the order of their levels, so that the way back walks through
// it from the end: a step is a level again, whose vertices sum over their out-edges.
//
// A rank's place in its queue is known only when a level is over: `end` is where what is queued
// goes (by all ranks), `queued` counts it, in one of three counters, of which one is read and one
// set to 0 meanwhile.
#pragma once

#include <cstdint>

#include "warren/graph/shard.hpp"
#include "warren/memory/global_array.hpp"
#include "warren/team/program.hpp"

namespace warren::traverse {

struct BetweennessState {
  enum class Phase : std::uint8_t { clear, begin, forward, back, done };
  Phase phase = Phase::clear;
  std::uint32_t level = 0;
  std::uint64_t step = 0;
};

struct BetweennessProgram {
  using State = BetweennessState;
  using Phase = BetweennessState::Phase;
  static constexpr std::uint32_t kThreadsPerBlock = 512;
  static constexpr std::uint32_t kBlocksPerProcessor = 2;
  static constexpr std::uint32_t kScratchBytes = 0;
  static constexpr std::uint32_t kClusterBlocks = 1;
  static constexpr std::uint32_t kUnseen = ~std::uint32_t{0};

  graph::CsrView out;
  Vertex source = 0;
  memory::GlobalView<std::uint32_t> depth;
  memory::GlobalView<double> paths;  ///< From the source.
  /// (1 + delta) / paths of what was looked at on the way back.
  memory::GlobalView<double> share;
  double* score = nullptr;                   ///< Own vertices, over all sources.
  memory::GlobalView<Vertex> queue;          ///< Local rows, with their owner.
  memory::GlobalView<std::uint64_t> end;     ///< One a rank.
  memory::GlobalView<std::uint64_t> queued;  ///< Three counters a rank.
  /// Own: where each level begins in the queue. Of a level that is at work the next one's, too.
  std::uint64_t* level_begin = nullptr;

  WARREN_HD static bool finished(const State& state) { return state.phase == Phase::done; }
  WARREN_HD static State next(State state, const team::Sums& sums) {
    ++state.step;
    switch (state.phase) {
      case Phase::clear:
        state.phase = Phase::begin;
        break;
      case Phase::begin:
        state.phase = Phase::forward;
        break;
      case Phase::forward:
        if (sums[0] > 0) {
          ++state.level;
        } else {
          state.phase = Phase::back;
        }
        break;
      case Phase::back:
        if (state.level == 0) {
          state.phase = Phase::done;
        } else {
          --state.level;
        }
        break;
      case Phase::done:
        break;
    }
    return state;
  }

  template <class Grid>
  WARREN_HD void step(Grid& grid, const State& state) const {
    std::uint64_t found = 0;
    const bool is_first = grid.block() == 0 && grid.block_worker().lane() == 0;
    switch (state.phase) {
      case Phase::clear:
        clear(grid, is_first);
        break;
      case Phase::begin:
        if (is_first) begin(state);
        break;
      case Phase::forward:
        found = forward(grid, state, is_first);
        break;
      case Phase::back:
        back(grid, state);
        break;
      case Phase::done:
        break;
    }
    grid.sum(0, found);
  }

 private:
  [[nodiscard]] WARREN_HD std::uint64_t& own_counter(std::uint64_t i) const {
    return queued.local(0, i);
  }

  template <class Grid>
  WARREN_HD void clear(Grid& grid, bool is_first) const {
    grid.template for_each<exec::Thread>(out.count, [&](auto&, std::uint64_t row) {
      depth.local(row) = kUnseen;
      paths.local(row) = 0.0;
    });
    if (!is_first) return;
    end.local(0) = 0;
    level_begin[0] = 0;
    for (std::uint64_t i = 0; i < 3; ++i) own_counter(i) = 0;
  }

  /// Of the owner: queues the source for the next step.
  WARREN_HD void begin(const State& state) const {
    if (source < out.first || source - out.first >= out.count) return;
    const Vertex row = source - out.first;
    depth.local(row) = 0;
    paths.local(row) = 1.0;
    queue.local(0) = row;
    end.local(0) = 1;
    own_counter((state.step + 1) % 3) = 1;
  }

  template <class Grid>
  WARREN_HD std::uint64_t forward(Grid& grid, const State& state, bool is_first) const {
    const std::uint64_t first = level_begin[state.level];
    const std::uint64_t count = own_counter(state.step % 3);
    if (is_first) {
      level_begin[state.level + 1] = first + count;
      own_counter((state.step + 2) % 3) = 0;
    }
    std::uint64_t found = 0;
    constexpr std::uint64_t kLanes = Grid::kWarpLanes;
    const Vertex* rows = queue.base[queue.rank] + first;
    grid.template for_each<exec::Warp>((count + kLanes - 1) / kLanes,
                                       [&](auto& worker, std::uint64_t task) {
                                         const std::uint64_t i = task * kLanes + worker.lane();
                                         const Vertex row = i < count ? rows[i] : 0;
                                         found += pass_on(worker, i < count, row, state);
                                       });
    return found;
  }

  /// By all lanes, a row each; the vertices that this lane met first.
  template <class W>
  WARREN_HD std::uint64_t pass_on(const W& worker, bool active, Vertex row,
                                  const State& state) const {
    const EdgeOffset first = active ? out.begin(row) : 0;
    const auto length = static_cast<std::uint32_t>(active ? out.end(row) - first : 0);
    const double own = active ? paths.local(row) : 0.0;
    std::uint64_t found = 0;
    worker.expand(length, [&](bool has, std::uint32_t owner, std::uint32_t k) {
      const Vertex* list = out.list(worker.broadcast(first, owner));
      const double passed = worker.broadcast(own, owner);
      const Vertex to = has ? list[k] : 0;
      const std::uint32_t before = has ? depth_before(to, state.level + 1) : 0;
      const bool is_next = has && before > state.level;
      if (is_next) (void)paths.atomic_add(to, passed);
      const bool is_new = is_next && before == kUnseen;
      const int rank = is_new ? depth.owner(to) : depth.rank;
      enqueue_own(worker, state, is_new && rank == depth.rank, to - out.first);
      if (is_new && rank != depth.rank) {
        const std::uint64_t place = end.atomic_add(static_cast<std::uint64_t>(rank), 1);
        (void)queued.atomic_add(static_cast<std::uint64_t>(rank), 1, (state.step + 1) % 3);
        queue.base[rank][place] = static_cast<Vertex>(to - depth.cuts[rank]);
      }
      found += is_new ? 1 : 0;
    });
    return found;
  }

  /// A vertex' depth, which is `level` afterwards if there was none. Most have one: a look is
  /// cheaper than a change.
  [[nodiscard]] WARREN_HD std::uint32_t depth_before(Vertex v, std::uint32_t level) const {
    const std::uint32_t& there = depth.at(v);
    const std::uint32_t before =
        depth.spans_devices ? exec::atomic_load<exec::Order::relaxed, exec::Scope::system>(there)
                            : exec::atomic_load<exec::Order::relaxed, exec::Scope::device>(there);
    return before != kUnseen ? before : depth.atomic_min(v, level);
  }

  /// By all lanes: queues the rows of those that have one.
  template <class W>
  WARREN_HD void enqueue_own(const W& worker, const State& state, bool has, Vertex row) const {
    const std::uint32_t count = worker.count(has);
    if (count == 0) return;
    std::uint64_t place = 0;
    if (worker.lane() == 0) {
      const auto self = static_cast<std::uint64_t>(queue.rank);
      place = end.atomic_add(self, count);
      (void)queued.atomic_add(self, count, (state.step + 1) % 3);
    }
    place = worker.broadcast(place, 0) + worker.count_before(has);
    if (has) queue.local(place) = row;
  }

  template <class Grid>
  WARREN_HD void back(Grid& grid, const State& state) const {
    const std::uint64_t first = level_begin[state.level];
    const std::uint64_t count = level_begin[state.level + 1] - first;
    const Vertex* rows = queue.base[queue.rank] + first;
    grid.template for_each<exec::Warp>(count, [&](auto& worker, std::uint64_t i) {
      const Vertex row = rows[i];
      const EdgeOffset begin = out.begin(row);
      const Vertex* list = out.list(begin);
      double sum = 0.0;
      worker.for_each(out.end(row) - begin, [&](std::uint64_t k) {
        const Vertex to = list[k];
        if (depth.at(to) != state.level + 1) return;
        sum += share.at(to);
      });
      const double to_here = paths.local(row);
      sum = worker.reduce(sum, exec::Plus{}) * to_here;
      if (worker.lane() != 0) return;
      share.local(row) = (1.0 + sum) / to_here;
      if (state.level > 0) score[row] += sum;
    });
  }
};

template <class Backend>
struct BetweennessRun {
  static BetweennessState run(team::Team& team, const exec::Stream& stream,
                              const BetweennessProgram& program);
};

template <class Backend>
BetweennessState BetweennessRun<Backend>::run(team::Team& team, const exec::Stream& stream,
                                              const BetweennessProgram& program) {
  return team::run_program<Backend>(team, stream, program, BetweennessState{});
}

#if WARREN_HAS_CUDA
extern template struct BetweennessRun<exec::Cuda>;
#endif

}  // namespace warren::traverse
