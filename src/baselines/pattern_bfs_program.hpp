// SPDX-License-Identifier: Apache-2.0
// BFS by access pattern as a BSP program: a step is a level.
#pragma once

#include "warren/baselines/pattern_bfs.hpp"
#include "warren/team/program.hpp"

namespace warren::baselines {

struct PatternBfsState {
  std::uint32_t level = 0;  ///< Of the vertices that push; with `started`.
  bool started = false;
  bool is_done = false;
  std::uint64_t reached = 0;
  std::uint64_t requests[4] = {};
};

template <AccessPattern kPattern, bool kCounts>
struct PatternBfsProgram {
  using State = PatternBfsState;
  static constexpr std::uint32_t kThreadsPerBlock = 512;
  static constexpr std::uint32_t kBlocksPerProcessor = 2;
  static constexpr std::uint32_t kScratchBytes = 0;
  static constexpr std::uint32_t kClusterBlocks = 1;
  static constexpr std::uint32_t kFound = 4;  ///< The sum after the four sizes of requests.

  graph::CsrView out;
  Vertex* depth = nullptr;
  Vertex source = 0;

  WARREN_HD static bool finished(const State& state) { return state.is_done; }
  WARREN_HD static State next(State state, const team::Sums& sums) {
    for (std::uint32_t i = 0; i < 4; ++i) state.requests[i] += sums[i];
    if (!state.started) {
      state.started = true;
      state.reached = 1;
      return state;
    }
    state.reached += sums[kFound];
    state.is_done = sums[kFound] == 0;
    if (!state.is_done) ++state.level;
    return state;
  }

  template <class Grid>
  WARREN_HD void step(Grid& grid, const State& state) const {
    if (!state.started) {
      grid.template for_each<exec::Thread>(
          out.count, [&](auto&, std::uint64_t row) { depth[row] = row == source ? 0 : kNoVertex; });
      return;
    }
    Counts counts;
    if constexpr (kPattern == AccessPattern::strided) {
      grid.template for_each<exec::Thread>(out.count, [&](auto&, std::uint64_t row) {
        if (exec::atomic_load(depth[row]) == state.level)
          walk(static_cast<Vertex>(row), state.level, counts);
      });
    } else {
      using WorkerType = typename Grid::Warp;
      grid.template for_each<exec::Warp>(
          out.count, [&](const WorkerType& worker, std::uint64_t row) {
            if (exec::atomic_load(depth[row]) == state.level)
              read_together(worker, static_cast<Vertex>(row), state.level, counts);
          });
    }
    if constexpr (kCounts) {
      for (std::uint32_t i = 0; i < 4; ++i) grid.sum(i, counts.requests[i]);
    }
    grid.sum(kFound, counts.found);
  }

 private:
  static constexpr std::uint64_t kSector = 32;
  static constexpr std::uint64_t kLine = 128;

  struct Counts {
    std::uint64_t found = 0;
    std::uint64_t requests[4] = {};
  };

  WARREN_HD void visit(Vertex to, std::uint32_t level, Counts& counts) const {
    if (exec::atomic_load(depth[to]) != kNoVertex) return;
    Vertex expected = kNoVertex;
    if (exec::atomic_compare_exchange(depth[to], expected, Vertex{level + 1})) ++counts.found;
  }

  WARREN_HD void walk(Vertex row, std::uint32_t level, Counts& counts) const {
    const Vertex* list = out.list(out.begin(row));
    const EdgeOffset length = out.degree(row);
    for (EdgeOffset k = 0; k < length; ++k) {
      if constexpr (kCounts) {
        if (k == 0 || reinterpret_cast<std::uintptr_t>(list + k) % kSector == 0)
          ++counts.requests[0];
      }
      visit(list[k], level, counts);
    }
  }

  template <class W>
  WARREN_HD void read_together(const W& worker, Vertex row, std::uint32_t level,
                               Counts& counts) const {
    const Vertex* list = out.list(out.begin(row));
    const EdgeOffset length = out.degree(row);
    // Elements before the list that share its first line.
    const std::uint64_t before =
        kPattern == AccessPattern::aligned
            ? reinterpret_cast<std::uintptr_t>(list) % kLine / sizeof(Vertex)
            : 0;
    for (std::uint64_t base = before / worker.size() * worker.size(); base < before + length;
         base += worker.size()) {
      const std::uint64_t k = base + worker.lane();
      const bool active = k >= before && k < before + length;
      if constexpr (kCounts) {
        if (worker.lane() == 0) {
          const std::uint64_t first = base < before ? 0 : base - before;
          const std::uint64_t end = base + worker.size() - before;
          count_requests(list + first, list + (end < length ? end : length), counts);
        }
      }
      if (active) visit(list[k - before], level, counts);
    }
  }

  /// The requests that one read of [first, last) makes.
  WARREN_HD static void count_requests(const Vertex* first, const Vertex* last, Counts& counts) {
    const auto end = reinterpret_cast<std::uintptr_t>(last);
    for (auto at = reinterpret_cast<std::uintptr_t>(first); at < end;) {
      const std::uintptr_t line_end = at / kLine * kLine + kLine;
      const std::uintptr_t stop = end < line_end ? end : line_end;
      const std::uint64_t sectors = (stop - 1) / kSector - at / kSector + 1;
      ++counts.requests[sectors - 1];
      at = stop;
    }
  }
};

/// One step that reads all lists in the order of their addresses, 16 bytes a thread.
struct SequentialRead {
  struct State {
    std::uint64_t sum = 0;
    bool is_done = false;
  };
  static constexpr std::uint32_t kThreadsPerBlock = 512;
  static constexpr std::uint32_t kBlocksPerProcessor = 2;
  static constexpr std::uint32_t kScratchBytes = 0;
  static constexpr std::uint32_t kClusterBlocks = 1;

  struct alignas(16) Quad {
    Vertex part[4];
  };
  const Quad* data = nullptr;
  std::uint64_t count = 0;

  template <class Grid>
  WARREN_HD void step(Grid& grid, const State&) const {
    std::uint64_t sum = 0;
    grid.template for_each<exec::Thread>(count, [&](auto&, std::uint64_t i) {
      const Quad quad = data[i];
      sum += quad.part[0] + quad.part[1] + quad.part[2] + quad.part[3];
    });
    grid.sum(0, sum);
  }
  WARREN_HD static State next(const State&, const team::Sums& sums) { return {sums[0], true}; }
  WARREN_HD static bool finished(const State& state) { return state.is_done; }
};

template <class Backend>
struct PatternBfsRun {
  static PatternBfsState run(team::Team& team, const exec::Stream& stream, AccessPattern pattern,
                             bool counts, const graph::CsrView& out, Vertex* depth, Vertex source);
  static void read(team::Team& team, const exec::Stream& stream, const SequentialRead& program);
};

template <class Backend>
PatternBfsState PatternBfsRun<Backend>::run(team::Team& team, const exec::Stream& stream,
                                            AccessPattern pattern, bool counts,
                                            const graph::CsrView& out, Vertex* depth,
                                            Vertex source) {
  const auto with = [&]<AccessPattern kPattern>() {
    if (counts) {
      return team::run_program<Backend>(
          team, stream, PatternBfsProgram<kPattern, true>{out, depth, source}, PatternBfsState{});
    }
    return team::run_program<Backend>(
        team, stream, PatternBfsProgram<kPattern, false>{out, depth, source}, PatternBfsState{});
  };
  switch (pattern) {
    case AccessPattern::strided:
      return with.template operator()<AccessPattern::strided>();
    case AccessPattern::merged:
      return with.template operator()<AccessPattern::merged>();
    case AccessPattern::aligned:
      break;
  }
  return with.template operator()<AccessPattern::aligned>();
}

template <class Backend>
void PatternBfsRun<Backend>::read(team::Team& team, const exec::Stream& stream,
                                  const SequentialRead& program) {
  (void)team::run_program<Backend>(team, stream, program, SequentialRead::State{});
}

#if WARREN_HAS_CUDA
extern template struct PatternBfsRun<exec::Cuda>;
#endif

}  // namespace warren::baselines
