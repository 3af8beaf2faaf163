// SPDX-License-Identifier: Apache-2.0
// PageRank on CPUs by sweeps (block Gauss-Seidel): the vertices are dealt in blocks to a few parts,
// and every part pulls from what the parts before it wrote in the same sweep. A part is two steps:
// its rows are summed, then its contributions are published, so that a row reads old values of its
// own part whatever the schedule, and results repeat bit for bit on any team size.
//
// Sweeps do not keep the sum of the ranks: x(v) = (1 - d) S / n + d (sum over in-edges (u, v) of
// x(u) / outdegree(u) + D / n) is worked on with S = sum x and D as they stand, and x / S is the
// answer. What one more iteration in the usual sense would change is known without it: it sees what
// the last sweep changed after a row had read it, of which d is passed on, and the change of S
// since, of which 1 - d is.
#pragma once

#include <algorithm>
#include <cmath>

#include "warren/graph/compressed_decode.hpp"
#include "warren/graph/shard.hpp"
#include "warren/memory/global_array.hpp"
#include "warren/team/program.hpp"

#include "traverse/pagerank/pagerank_sums.hpp"

namespace warren::traverse {

struct SweepState : PageRankTask {
  std::uint32_t sweep = 0;
  std::uint32_t part = 0;
  bool started = false;
  bool publishes = false;
  std::uint64_t sum = 0;       ///< S, fixed.
  std::uint64_t dangling = 0;  ///< D, fixed.
  std::uint64_t change = 0;    ///< Of this sweep so far, fixed.
  double drift = 0.0;          ///< Of S in this sweep, part by part without signs.
  double residual = 2.0;       ///< What an iteration would change at most, of ranks that sum to 1.

  static constexpr std::uint64_t kMostParts = 16;
  static constexpr std::uint64_t kLeastPart = 1024;  ///< Vertices: a part is worth two barriers.
  static constexpr std::uint64_t kBlocksOfPart = 64;
  [[nodiscard]] std::uint64_t parts() const {
    return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(vertices) / kLeastPart, 1,
                                     kMostParts);
  }
  /// Enough blocks for the threads to share, each long enough to be read as a stream.
  [[nodiscard]] std::uint64_t block_rows() const {
    return std::clamp<std::uint64_t>(
        static_cast<std::uint64_t>(vertices) / (kMostParts * kBlocksOfPart), 16, 4096);
  }
  /// What every vertex gets.
  [[nodiscard]] double base() const {
    return ((1.0 - damping) * from_fixed(sum) + damping * from_fixed(dangling)) / vertices;
  }
};

/// `kPacked`: the lists are compressed.
template <bool kPacked>
struct PageRankSweep {
  using State = SweepState;
  using Real = float;
  static constexpr std::uint32_t kScratchBytes = 0;
  enum Sum : std::uint32_t { kChange, kSumChange, kDanglingChange };

  graph::CsrView in;
  graph::CsrView out;
  graph::PackedRows packed;  ///< In-edges, where kPacked.
  bool is_symmetric = false;
  memory::GlobalView<Real> contribution;  ///< What all read.
  Real* waiting = nullptr;                ///< Own vertices: what will be published.
  Real* value = nullptr;                  ///< Own vertices.

  static std::uint32_t iterations(const State& state) { return state.sweep; }
  static bool finished(const State& state) {
    return state.started &&
           (state.residual <= state.tolerance || state.sweep >= state.max_iterations);
  }

  static State next(State state, const team::Sums& sums) {
    state.sum += sums[kSumChange];
    state.dangling += sums[kDanglingChange];
    state.change += sums[kChange];
    state.drift += std::fabs(from_fixed(sums[kSumChange]));
    if (!state.started) {
      state.started = true;
      state.drift = 0.0;
      return state;
    }
    state.publishes = !state.publishes;
    if (state.publishes || ++state.part < state.parts()) return state;
    state.part = 0;
    ++state.sweep;
    state.residual =
        (state.damping * from_fixed(state.change) + (1.0 - state.damping) * state.drift) /
        from_fixed(state.sum);
    state.change = 0;
    state.drift = 0.0;
    return state;
  }

  /// What the step before has written to the copies.
  template <class Show>
  void show(const State& next, Show&& show) const {
    if (!next.started || next.publishes) return;
    const auto show_rows = [&](std::uint64_t begin, std::uint64_t end) {
      show(team::kShowAll, contribution.base[contribution.rank] + in.first + begin,
           (end - begin) * sizeof(Real));
    };
    show_rows(0, 0);
    State before = next;
    if (next.sweep == 0 && next.part == 0) return show_rows(0, in.count);
    before.part = (next.part + static_cast<std::uint32_t>(next.parts()) - 1) %
                  static_cast<std::uint32_t>(next.parts());
    const Blocks blocks = blocks_of(before);
    for (std::uint64_t i = 0; i < blocks.count; ++i) show_rows(blocks.begin(i), blocks.end(i));
  }

  template <class Grid>
  void step(Grid& grid, const State& state) const {
    Seen seen;
    if (!state.started) {
      start(grid, state, seen);
    } else if (state.publishes) {
      for_blocks(grid, state, [&](std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t row = begin; row < end; ++row)
          contribution.write_all(in.first + row, waiting[row]);
      });
    } else {
      const double base = state.base();
      for_blocks(grid, state, [&](std::uint64_t begin, std::uint64_t end) {
        work(begin, end, base, state.damping, seen);
      });
    }
    grid.sum(kChange, seen.change);
    grid.sum(kSumChange, seen.sum);
    grid.sum(kDanglingChange, seen.dangling);
  }

 private:
  /// What a thread has seen of its rows: differences, fixed.
  struct Seen {
    std::uint64_t change = 0;
    std::uint64_t sum = 0;
    std::uint64_t dangling = 0;
  };

  template <class Grid>
  void start(Grid& grid, const State& state, Seen& seen) const {
    const auto rank = static_cast<Real>(1.0 / state.vertices);
    grid.template for_each<exec::Thread>(in.count, [&](auto&, std::uint64_t i) {
      const auto row = static_cast<Vertex>(i);
      const EdgeOffset degree = out.degree(row);
      value[row] = rank;
      seen.sum += fixed(rank);
      if (degree == 0) seen.dangling += fixed(rank);
      contribution.write_all(std::uint64_t{in.first} + row, share(rank, degree));
    });
  }

  /// This rank's rows of a part: blocks are those of the whole graph's numbering.
  struct Blocks {
    std::uint64_t count = 0;
    std::uint64_t first_row = 0, end_row = 0;  ///< Of the rank.
    std::uint64_t first = 0, step = 1, rows = 1;
    [[nodiscard]] std::uint64_t begin(std::uint64_t i) const {
      return std::max(first_row, (first + i * step) * rows) - first_row;
    }
    [[nodiscard]] std::uint64_t end(std::uint64_t i) const {
      return std::min(end_row, (first + i * step + 1) * rows) - first_row;
    }
  };
  [[nodiscard]] Blocks blocks_of(const State& state) const {
    Blocks blocks;
    if (in.count == 0) return blocks;
    const std::uint64_t parts = state.parts();
    blocks.rows = state.block_rows();
    blocks.step = parts;
    blocks.first_row = in.first;
    blocks.end_row = blocks.first_row + in.count;
    const std::uint64_t first_block = blocks.first_row / blocks.rows;
    const std::uint64_t end_block = (blocks.end_row + blocks.rows - 1) / blocks.rows;
    blocks.first = first_block + (state.part + parts - first_block % parts) % parts;
    if (blocks.first < end_block) blocks.count = (end_block - blocks.first + parts - 1) / parts;
    return blocks;
  }

  /// f(begin, end) for this rank's rows of the part.
  template <class Grid, class F>
  void for_blocks(Grid& grid, const State& state, F&& f) const {
    const Blocks blocks = blocks_of(state);
    grid.template for_each<exec::Thread>(
        blocks.count, [&](auto&, std::uint64_t i) { f(blocks.begin(i), blocks.end(i)); }, 1);
  }

  /// Rows [begin, end). What they change is added up in their order, and fixed once.
  void work(std::uint64_t begin, std::uint64_t end, double base, double damping, Seen& seen) const {
    const Real* source = contribution.base[contribution.rank];
    double change = 0.0;
    double sum = 0.0;
    double dangling = 0.0;
    for (std::uint64_t i = begin; i < end; ++i) {
      const auto row = static_cast<Vertex>(i);
      const Pulled in_row = pulled(row, source);
      const EdgeOffset degree = is_symmetric ? in_row.degree : out.degree(row);
      const auto after = static_cast<Real>(base + damping * in_row.sum);
      const double difference = static_cast<double>(after) - static_cast<double>(value[row]);
      value[row] = after;
      waiting[row] = share(after, degree);
      change += std::fabs(difference);
      sum += difference;
      if (degree == 0) dangling += difference;
    }
    seen.change += fixed(change);
    seen.sum += fixed(sum);
    seen.dangling += fixed(dangling);
  }

  struct Pulled {
    double sum = 0.0;
    EdgeOffset degree = 0;
  };
  [[nodiscard]] Pulled pulled(Vertex row, const Real* source) const {
    if constexpr (kPacked) {
      const graph::CompressedRow list = packed.view.row(row);
      return {pulled_packed(exec::Serial(), packed.view, list, source), list.degree};
    } else {
      const EdgeOffset begin = in.begin(row);
      const EdgeOffset degree = in.end(row) - begin;
      const Vertex* list = in.list(begin);
      return {pulled_serially(list, list + degree, source), degree};
    }
  }

  /// Nobody reads that of a vertex without out-edges.
  static Real share(Real rank, EdgeOffset degree) {
    return degree == 0 ? Real{0} : rank / static_cast<Real>(degree);
  }
};

}  // namespace warren::traverse
