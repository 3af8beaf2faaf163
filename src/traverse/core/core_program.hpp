// SPDX-License-Identifier: Apache-2.0
// Core numbers as a BSP program. A level k begins with a scan: a rank looks through its vertices
// that are left, and queues those with k edges or fewer. Steps of peeling follow, while there is
// something in a queue: a queued vertex gets the core number k, and takes one from what each of its
// neighbours has left. Whoever takes the neighbour's (k + 1)-th queues it with its owner, so that
// every vertex is queued once.
//
// A step reads one of two queues and fills the other. Of the three counters of a queue one is read,
// one counts what is queued, and one is set to 0 for the step after.
#pragma once

#include <cstdint>

#include "warren/graph/shard.hpp"
#include "warren/memory/global_array.hpp"
#include "warren/team/program.hpp"

namespace warren::traverse {

struct CoreState {
  enum class Phase : std::uint8_t { begin, scan, peel };
  Phase phase = Phase::begin;
  bool is_done = false;
  std::uint32_t level = 0;  ///< k.
  std::uint64_t step = 0;
  std::uint64_t scans = 0;
  std::uint64_t left = 0;       ///< Vertices that the last scan left.
  std::uint32_t largest = 0;    ///< The last level that had vertices,
  std::uint64_t innermost = 0;  ///< and how many.
};

struct CoreProgram {
  using State = CoreState;
  using Phase = CoreState::Phase;
  static constexpr std::uint32_t kThreadsPerBlock = 512;
  static constexpr std::uint32_t kBlocksPerProcessor = 2;
  static constexpr std::uint32_t kScratchBytes = 0;
  static constexpr std::uint32_t kClusterBlocks = 1;
  enum Sum : std::uint32_t { kQueued, kLeft };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  graph::CsrView out;
  graph::CsrView in;
  bool is_symmetric = false;                 ///< Then the out-edges are all.
  std::uint32_t* core = nullptr;             ///< Own vertices; kNone: not yet.
  memory::GlobalView<std::uint32_t> degree;  ///< Edges that a vertex has left.
  memory::GlobalView<Vertex> queue[2];       ///< Local rows, with their owner.
  memory::GlobalView<std::uint64_t> queued;  ///< Three counters a rank.
  Vertex* left[2] = {};                      ///< Local rows that are left.
  std::uint64_t* left_count = nullptr;       ///< Three counters.

  WARREN_HD static bool finished(const State& state) { return state.is_done; }
  WARREN_HD static State next(State state, const team::Sums& sums) {
    ++state.step;
    if (state.phase == Phase::begin) {
      state.phase = Phase::scan;
      return state;
    }
    if (state.phase == Phase::scan) {
      ++state.scans;
      state.left = sums[kLeft];
      if (sums[kQueued] > 0) {
        state.largest = state.level;
        state.innermost = 0;
      }
    }
    state.innermost += sums[kQueued];
    if (sums[kQueued] > 0) {
      state.phase = Phase::peel;
    } else {
      state.is_done = state.left == 0;
      state.phase = Phase::scan;
      ++state.level;
    }
    return state;
  }

  template <class Grid>
  WARREN_HD void step(Grid& grid, const State& state) const {
    Seen seen;
    if (state.phase == Phase::begin) {
      begin(grid);
    } else {
      if (grid.block() == 0 && grid.block_worker().lane() == 0)
        own_counter((state.step + 2) % 3) = 0;
      if (state.phase == Phase::scan) {
        scan(grid, state, seen);
      } else {
        peel(grid, state, seen);
      }
    }
    grid.sum(kQueued, seen.queued);
    grid.sum(kLeft, seen.left);
  }

 private:
  /// What a thread has done.
  struct Seen {
    std::uint64_t queued = 0;
    std::uint64_t left = 0;
  };

  [[nodiscard]] WARREN_HD std::uint64_t& own_counter(std::uint64_t i) const {
    return queued.local(0, i);
  }

  /// Counts every vertex' neighbours.
  template <class Grid>
  WARREN_HD void begin(Grid& grid) const {
    if (grid.block() == 0) {
      grid.block_worker().for_each(3, [&](std::uint64_t i) {
        own_counter(i) = 0;
        left_count[i] = i == 0 ? out.count : 0;
      });
    }
    grid.template for_each<exec::Warp>(out.count, [&](auto& worker, std::uint64_t i) {
      const auto row = static_cast<Vertex>(i);
      std::uint32_t edges = count_edges<false>(worker, row);
      if (!is_symmetric) edges += count_edges<true>(worker, row);
      if (worker.lane() != 0) return;
      degree.local(row) = edges;
      core[row] = kNone;
      left[0][row] = row;
    });
  }

  /// Whether entry k of a row's list stands for its neighbour: the first of equal ones, no
  /// self-loop, and of the in-edges none that is an out-edge as well.
  template <bool kIn>
  [[nodiscard]] WARREN_HD bool counts(Vertex row, const Vertex* list, std::uint64_t k) const {
    const Vertex to = list[k];
    if (to == out.first + row || (k > 0 && list[k - 1] == to)) return false;
    return !kIn || !is_target(row, to);
  }
  /// True if there is an edge from the row to `wanted`.
  [[nodiscard]] WARREN_HD bool is_target(Vertex row, Vertex wanted) const {
    EdgeOffset low = out.begin(row), high = out.end(row);
    const EdgeOffset end = high;
    const Vertex* list = out.list(low) - low;
    while (low < high) {
      const EdgeOffset middle = low + (high - low) / 2;
      if (list[middle] < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < end && list[low] == wanted;
  }

  template <bool kIn, class W>
  WARREN_HD std::uint32_t count_edges(const W& worker, Vertex row) const {
    const graph::CsrView& lists = kIn ? in : out;
    const EdgeOffset first = lists.begin(row);
    const Vertex* list = lists.list(first);
    std::uint32_t edges = 0;
    worker.for_each(lists.end(row) - first,
                    [&](std::uint64_t k) { edges += counts<kIn>(row, list, k) ? 1u : 0u; });
    return worker.reduce(edges, exec::Plus{});
  }

  template <class Grid>
  WARREN_HD void scan(Grid& grid, const State& state, Seen& seen) const {
    const Vertex* rows = left[state.scans % 2];
    Vertex* kept = left[(state.scans + 1) % 2];
    std::uint64_t& kept_count = left_count[(state.scans + 1) % 3];
    if (grid.block() == 0 && grid.block_worker().lane() == 0) left_count[(state.scans + 2) % 3] = 0;
    in_warps(grid, left_count[state.scans % 3], [&](auto& worker, bool active, std::uint64_t i) {
      const Vertex row = active ? rows[i] : 0;
      const bool is_left = active && core[row] == kNone;
      const bool is_due = is_left && degree.local(row) <= state.level;
      const bool is_kept = is_left && !is_due;
      const std::uint64_t place = reserve<exec::Scope::device>(worker, kept_count, is_kept);
      if (is_kept) kept[place] = row;
      enqueue_own(worker, state, is_due, row);
      seen.left += is_kept ? 1 : 0;
      seen.queued += is_due ? 1 : 0;
    });
  }

  template <class Grid>
  WARREN_HD void peel(Grid& grid, const State& state, Seen& seen) const {
    const Vertex* rows = queue[state.step % 2].base[degree.rank];
    const std::uint64_t count = own_counter(state.step % 3);
    const std::uint64_t warps = grid.template workers<exec::Warp>();
    if (Grid::kWarpLanes > 1 && count < warps) {
      peel_in_parts(grid, rows, count, warps, state, seen);
      return;
    }
    in_warps(grid, count, [&](auto& worker, bool active, std::uint64_t i) {
      const Vertex row = active ? rows[i] : 0;
      if (active) core[row] = state.level;
      take_from_neighbours<false>(worker, active, row, state, seen);
      if (!is_symmetric) take_from_neighbours<true>(worker, active, row, state, seen);
    });
  }

  /// Of few rows, whose lists may be long: the warps share out each one's.
  template <class Grid>
  WARREN_HD void peel_in_parts(Grid& grid, const Vertex* rows, std::uint64_t count,
                               std::uint64_t warps, const State& state, Seen& seen) const {
    const std::uint64_t parts = count > 0 ? warps / count : 0;
    grid.template for_each<exec::Warp>(count * parts, [&](auto& worker, std::uint64_t task) {
      const Vertex row = rows[task / parts];
      const std::uint64_t part = task % parts;
      if (part == 0 && worker.lane() == 0) core[row] = state.level;
      take_part<false>(worker, row, part, parts, state, seen);
      if (!is_symmetric) take_part<true>(worker, row, part, parts, state, seen);
    });
  }

  template <bool kIn, class W>
  WARREN_HD void take_part(const W& worker, Vertex row, std::uint64_t part, std::uint64_t parts,
                           const State& state, Seen& seen) const {
    const graph::CsrView& lists = kIn ? in : out;
    const EdgeOffset first = lists.begin(row);
    const std::uint64_t length = lists.end(row) - first;
    const Vertex* list = lists.list(first);
    const std::uint64_t lanes = worker.size();
    for (std::uint64_t k = part * lanes; k < length; k += parts * lanes)
      take_one<kIn>(worker, k + worker.lane() < length, row, list, k + worker.lane(), state, seen);
  }

  template <bool kIn, class W>
  WARREN_HD void take_from_neighbours(const W& worker, bool active, Vertex row, const State& state,
                                      Seen& seen) const {
    const graph::CsrView& lists = kIn ? in : out;
    const EdgeOffset first = active ? lists.begin(row) : 0;
    const auto length = static_cast<std::uint32_t>(active ? lists.end(row) - first : 0);
    worker.expand(length, [&](bool has, std::uint32_t owner, std::uint32_t k) {
      const Vertex* list = lists.list(worker.broadcast(first, owner));
      const Vertex from = worker.broadcast(row, owner);
      take_one<kIn>(worker, has, from, list, k, state, seen);
    });
  }

  /// By all lanes, an entry of a list each.
  template <bool kIn, class W>
  WARREN_HD void take_one(const W& worker, bool has, Vertex from, const Vertex* list,
                          std::uint64_t k, const State& state, Seen& seen) const {
    bool takes = has && counts<kIn>(from, list, k);
    const Vertex to = takes ? list[k] : 0;
    // Of the two ends of an edge one finds the other gone: a look is cheaper than taking from it.
    takes = takes && is_left(to, state.level);
    const bool falls = takes && degree.atomic_add(to, ~std::uint32_t{0}) == state.level + 1;
    const int rank = falls ? degree.owner(to) : 0;
    const bool is_own = falls && rank == degree.rank;
    enqueue_own(worker, state, is_own, is_own ? to - out.first : 0);
    if (falls && !is_own) {
      const std::uint64_t place =
          queued.atomic_add(static_cast<std::uint64_t>(rank), 1, (state.step + 1) % 3);
      queue[(state.step + 1) % 2].base[rank][place] = static_cast<Vertex>(to - degree.cuts[rank]);
    }
    seen.queued += falls ? 1 : 0;
  }

  /// Whether a vertex may still have more edges than the level; it may have fallen since.
  [[nodiscard]] WARREN_HD bool is_left(Vertex v, std::uint32_t level) const {
    const std::uint32_t& edges = degree.at(v);
    return (degree.spans_devices
                ? exec::atomic_load<exec::Order::relaxed, exec::Scope::system>(edges)
                : exec::atomic_load<exec::Order::relaxed, exec::Scope::device>(edges)) > level;
  }

  /// By all lanes: queues the rows of those that have one.
  template <class W>
  WARREN_HD void enqueue_own(const W& worker, const State& state, bool has, Vertex row) const {
    std::uint64_t& counter = own_counter((state.step + 1) % 3);
    // Other devices queue here as well.
    const std::uint64_t place = queued.spans_devices
                                    ? reserve<exec::Scope::system>(worker, counter, has)
                                    : reserve<exec::Scope::device>(worker, counter, has);
    if (has) queue[(state.step + 1) % 2].base[degree.rank][place] = row;
  }

  /// A place for each lane that has something, by one addition of all.
  template <exec::Scope kScope, class W>
  WARREN_HD static std::uint64_t reserve(const W& worker, std::uint64_t& counter, bool has) {
    const std::uint32_t count = worker.count(has);
    if (count == 0) return 0;
    std::uint64_t begin = 0;
    if (worker.lane() == 0)
      begin = exec::atomic_add<exec::Order::relaxed, kScope>(counter, std::uint64_t{count});
    return worker.broadcast(begin, 0) + worker.count_before(has);
  }

  /// f(worker, active, i) for i < count, a lane each, by all lanes of a warp at once.
  template <class Grid, class F>
  WARREN_HD static void in_warps(Grid& grid, std::uint64_t count, F&& f) {
    constexpr std::uint64_t kLanes = Grid::kWarpLanes;
    grid.template for_each<exec::Warp>((count + kLanes - 1) / kLanes,
                                       [&](auto& worker, std::uint64_t task) {
                                         const std::uint64_t i = task * kLanes + worker.lane();
                                         f(worker, i < count, i);
                                       });
  }
};

template <class Backend>
struct CoreRun {
  static CoreState run(team::Team& team, const exec::Stream& stream, const CoreProgram& program);
};

template <class Backend>
CoreState CoreRun<Backend>::run(team::Team& team, const exec::Stream& stream,
                                const CoreProgram& program) {
  return team::run_program<Backend>(team, stream, program, CoreState{});
}

#if WARREN_HAS_CUDA
extern template struct CoreRun<exec::Cuda>;
#endif

}  // namespace warren::traverse
