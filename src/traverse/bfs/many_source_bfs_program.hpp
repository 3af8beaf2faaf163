// SPDX-License-Identifier: Apache-2.0
// BFS from many sources as a BSP program: a step is a level. What a level finds is written to
// every rank's copy of one of two arrays, from the other of which all read. A step also counts, for
// each source, what the level before has found.
#pragma once

#include "warren/graph/compressed_decode.hpp"
#include "warren/memory/global_array.hpp"
#include "warren/team/program.hpp"

#include "traverse/common/row_classes.hpp"

namespace warren::traverse {

using SourceMask = std::uint64_t;

struct ManySourceBfsState {
  std::uint32_t level = 0;  ///< Depth of what the next step finds; 0: nothing has begun.
  bool is_done = false;
};

/// What every form of the program works on.
struct ManySourceBfsArrays {
  static constexpr std::uint32_t kMaxSources = 64;

  graph::CsrView in;
  graph::PackedRows packed;  ///< The lists, where they are compressed.
  RowClasses classes;        ///< Of `in`; rows is nullptr where they are taken in their order.
  memory::GlobalView<SourceMask> found[2];  ///< Replicated.
  SourceMask* seen = nullptr;               ///< Own vertices.
  SourceMask all = 0;                       ///< A bit for every source.
  std::uint32_t sources = 0;
  Vertex source[kMaxSources] = {};
  /// Of every source, own vertices only.
  struct Counts {
    std::uint64_t reached[kMaxSources];
    std::uint64_t sum_depth[kMaxSources];
    std::uint64_t has_depth[kMaxSources];  ///< One more than the largest depth.
  };
  Counts* counts = nullptr;
};

/// `kPacked`: the lists are compressed.
template <bool kPacked>
struct ManySourceBfsProgram : ManySourceBfsArrays {
  using State = ManySourceBfsState;
  static constexpr std::uint32_t kThreadsPerBlock = 512;
  static constexpr std::uint32_t kBlocksPerProcessor = 2;
  static constexpr std::uint32_t kScratchBytes = 0;
  static constexpr std::uint32_t kClusterBlocks = 1;

  WARREN_HD static bool finished(const State& state) { return state.is_done; }
  WARREN_HD static State next(State state, const team::Sums& sums) {
    state.is_done = state.level > 0 && sums[0] == 0;
    ++state.level;
    return state;
  }

  /// What the step before has written to the copies.
  template <class Show>
  void show(const State& next, Show&& show) const {
    if (next.level == 0) return;
    const memory::GlobalView<SourceMask>& written = found[next.level % 2];
    show(team::kShowAll, written.base[written.rank] + in.first, in.count * sizeof(SourceMask));
  }

  template <class Grid>
  WARREN_HD void step(Grid& grid, const State& state) const {
    if (state.level == 0) {
      start(grid);
      return;
    }
    count(grid, state);
    bool any = false;
    if constexpr (kPacked) {
      // In the order of their addresses, a warp each.
      work_rows<exec::Warp>(grid, nullptr, in.count, state, any);
    } else if constexpr (Grid::kWarpLanes == 1) {
      work_rows<exec::Thread>(grid, nullptr, in.count, state, any);
    } else {
      work_rows<exec::Block>(grid, classes.begin(0), classes.count(0), state, any);
      work_rows<exec::Warp>(grid, classes.begin(1), classes.count(1), state, any);
      work_rows<exec::Tile<4>>(grid, classes.begin(2), classes.count(2), state, any);
      work_rows<exec::Thread>(grid, classes.begin(3), classes.count(3), state, any);
    }
    grid.sum(0, any ? 1 : 0);
  }

 private:
  struct Or {
    WARREN_HD SourceMask operator()(SourceMask a, SourceMask b) const { return a | b; }
  };

  template <class Grid>
  WARREN_HD void start(Grid& grid) const {
    grid.template for_each<exec::Thread>(in.count, [&](auto&, std::uint64_t row) {
      const std::uint64_t v = std::uint64_t{in.first} + row;
      SourceMask mask = 0;
      for (std::uint32_t s = 0; s < sources; ++s) mask |= source[s] == v ? SourceMask{1} << s : 0;
      seen[row] = mask;
      found[1].write_all(v, mask);
    });
    if (grid.block() != 0) return;
    grid.block_worker().for_each(kMaxSources, [&](std::uint64_t s) {
      counts->reached[s] = 0;
      counts->sum_depth[s] = 0;
      counts->has_depth[s] = 0;
    });
  }

  /// Adds up what the level before has found: a ballot of a warp for each source, whose count a
  /// lane keeps.
  template <class Grid>
  WARREN_HD void count(Grid& grid, const State& state) const {
    using WorkerType = typename Grid::Warp;
    constexpr std::uint32_t kLanes = Grid::kWarpLanes;
    const SourceMask* before = found[state.level % 2].base[found[0].rank] + in.first;
    constexpr std::uint32_t kKept = kMaxSources / kLanes;
    std::uint32_t kept[kKept] = {};
    std::uint32_t lane = 0;
    grid.template for_each<exec::Warp>((std::uint64_t{in.count} + kLanes - 1) / kLanes,
                                       [&](const WorkerType& worker, std::uint64_t task) {
                                         lane = worker.lane();
                                         const std::uint64_t row = task * kLanes + lane;
                                         const SourceMask mask = row < in.count ? before[row] : 0;
                                         if (!worker.any(mask != 0)) return;
                                         WARREN_UNROLL
                                         for (std::uint32_t s = 0; s < kMaxSources; ++s) {
                                           const std::uint32_t here =
                                               worker.count((mask >> s & 1u) != 0);
                                           if (s % kLanes == lane) kept[s / kLanes] += here;
                                         }
                                       });
    for (std::uint32_t k = 0; k < kKept; ++k) {
      const std::uint32_t s = k * kLanes + lane;
      if (kept[k] == 0) continue;
      exec::atomic_add(counts->reached[s], std::uint64_t{kept[k]});
      exec::atomic_add(counts->sum_depth[s], std::uint64_t{kept[k]} * (state.level - 1));
      exec::atomic_store(counts->has_depth[s], std::uint64_t{state.level});
    }
  }

  template <class W, class Grid>
  WARREN_HD void work_rows(Grid& grid, const Vertex* rows, std::uint64_t count, const State& state,
                           bool& any) const {
    const SourceMask* before = found[state.level % 2].base[found[0].rank];
    const memory::GlobalView<SourceMask>& after = found[(state.level + 1) % 2];
    grid.template for_each<W>(count, [&](auto& worker, std::uint64_t i) {
      const auto row = rows == nullptr ? static_cast<Vertex>(i) : rows[i];
      const SourceMask had = seen[row];
      SourceMask now = 0;
      if (had != all) now = gather(worker, row, had, before) & ~had;
      if (worker.lane() != 0) return;
      after.write_all(std::uint64_t{in.first} + row, now);
      if (now == 0) return;
      any = true;
      seen[row] = had | now;
    });
  }

  /// The OR of what the level before found at the in-neighbours, as far as it takes to complete
  /// `had`.
  template <class W>
  WARREN_HD SourceMask gather(const W& worker, Vertex row, SourceMask had,
                              const SourceMask* before) const {
    if constexpr (kPacked) {
      return gather_packed(worker, row, had, before);
    } else {
      return gather_plain(worker, row, had, before);
    }
  }

  template <class W>
  WARREN_HD SourceMask gather_packed(const W& worker, Vertex row, SourceMask had,
                                     const SourceMask* before) const {
    const graph::CompressedRow list = packed.view.row(row);
    SourceMask mask = had;
    for (EdgeOffset begin = 0; begin < list.degree; begin += graph::kCompressedBlock) {
      graph::for_each_neighbour(worker, packed.view, list, begin, begin + graph::kCompressedBlock,
                                [&](bool active, EdgeOffset, Vertex from) {
                                  if (active) mask |= before[from];
                                });
      mask = worker.reduce(mask, Or{});
      if (mask == all) break;
    }
    return mask;
  }

  template <class W>
  WARREN_HD SourceMask gather_plain(const W& worker, Vertex row, SourceMask had,
                                    const SourceMask* before) const {
    const EdgeOffset begin = in.begin(row);
    const EdgeOffset length = in.end(row) - begin;
    const Vertex* list = in.list(begin);
    SourceMask mask = had;
    const std::uint64_t round = std::uint64_t{worker.size()} * kInFlight;
    for (std::uint64_t base = 0; base < length; base += round) {
      SourceMask part[kInFlight];
      WARREN_UNROLL
      for (std::uint32_t j = 0; j < kInFlight; ++j) {
        const std::uint64_t k = base + j * worker.size() + worker.lane();
        part[j] = k < length ? before[list[k]] : 0;
      }
      WARREN_UNROLL
      for (std::uint32_t j = 0; j < kInFlight; ++j) mask |= part[j];
      // Lists of one round need not be asked whether to go on.
      if (length <= round) break;
      mask = worker.reduce(mask, Or{});
      if (mask == all) return mask;
    }
    return worker.reduce(mask, Or{});
  }
  static constexpr std::uint32_t kInFlight = 4;
};

template <class Backend, bool kPacked>
struct ManySourceBfsRun {
  static ManySourceBfsState run(team::Team& team, const exec::Stream& stream,
                                const ManySourceBfsProgram<kPacked>& program);
};

template <class Backend, bool kPacked>
ManySourceBfsState ManySourceBfsRun<Backend, kPacked>::run(
    team::Team& team, const exec::Stream& stream, const ManySourceBfsProgram<kPacked>& program) {
  return team::run_program<Backend>(team, stream, program, ManySourceBfsState{});
}

#if WARREN_HAS_CUDA
extern template struct ManySourceBfsRun<exec::Cuda, false>;
extern template struct ManySourceBfsRun<exec::Cuda, true>;
#endif

}  // namespace warren::traverse
