// SPDX-License-Identifier: Apache-2.0
// What BFS runs on a device, for either backend.
#pragma once

#include "traverse/bfs/bfs_program.hpp"

namespace warren::traverse {

/// Sets the bits of own vertices without in-edges: word w of `zero_in_degree` stands for the w-th
/// word that has own vertices.
struct FindZeroInDegree {
  graph::CsrView in;
  BitmapWord* zero_in_degree;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t w) const {
    BitmapWord bits = 0;
    const std::uint64_t low = (in.first / kWordBits + w) * kWordBits;
    for (std::uint32_t b = 0; b < kWordBits; ++b) {
      const std::uint64_t v = low + b;
      if (v < in.first || v >= std::uint64_t{in.first} + in.count) continue;
      if (in.degree(static_cast<Vertex>(v - in.first)) == 0) bits |= BitmapWord{1} << b;
    }
    zero_in_degree[w] = bits;
  }
};

/// Depths and parents from the words that have both.
struct WriteVisits {
  const Visit* visit;
  Vertex* depth;
  Vertex* parent;

  template <class W>
  WARREN_HD void operator()(const W&, std::uint64_t row) const {
    const Visit found = visit[row];
    depth[row] = found.parent == kNoVertex ? kNoVertex : found.depth;
    parent[row] = found.parent;
  }
};

/// One step that counts a finished traversal.
struct BfsSummary {
  struct State {
    std::uint64_t reached = 0;
    std::uint64_t sum_depth = 0;
    std::uint64_t edges = 0;
    bool is_done = false;
  };
  using ShowsNothing = void;
  static constexpr std::uint32_t kThreadsPerBlock = 512;
  static constexpr std::uint32_t kBlocksPerProcessor = 2;
  static constexpr std::uint32_t kScratchBytes = 0;
  static constexpr std::uint32_t kClusterBlocks = 1;

  graph::CsrView out;
  const Visit* visit;

  template <class Grid>
  WARREN_HD void step(Grid& grid, const State&) const {
    std::uint64_t reached = 0;
    std::uint64_t sum_depth = 0;
    std::uint64_t edges = 0;
    grid.template for_each<exec::Thread>(out.count, [&](auto&, std::uint64_t row) {
      if (visit[row].parent == kNoVertex) return;
      ++reached;
      sum_depth += visit[row].depth;
      edges += out.degree(static_cast<Vertex>(row));
    });
    grid.sum(0, reached);
    grid.sum(1, sum_depth);
    grid.sum(2, edges);
  }
  WARREN_HD static State next(const State&, const team::Sums& sums) {
    return {sums[0], sums[1], sums[2], true};
  }
  WARREN_HD static bool finished(const State& state) { return state.is_done; }
};

/// Defined outside the class, so that only nvcc instantiates the GPU's members.
template <class Backend>
struct BfsRun {
  static void find_zero_in_degree(const exec::Stream& stream, const graph::CsrView& in,
                                  std::uint64_t words, BitmapWord* zero_in_degree);
  template <class Adjacency>
  static BfsState traverse(team::Team& team, const exec::Stream& stream,
                           const BfsProgram<Adjacency>& program, const BfsState& initial);
  static BfsSummary::State summarize(team::Team& team, const exec::Stream& stream,
                                     const BfsSummary& program);
  static void write(const exec::Stream& stream, const WriteVisits& visits, std::uint64_t rows);
};

template <class Backend>
void BfsRun<Backend>::write(const exec::Stream& stream, const WriteVisits& visits,
                            std::uint64_t rows) {
  exec::launch<Backend, exec::Thread>(stream, rows, visits);
}

template <class Backend>
void BfsRun<Backend>::find_zero_in_degree(const exec::Stream& stream, const graph::CsrView& in,
                                          std::uint64_t words, BitmapWord* zero_in_degree) {
  exec::launch<Backend, exec::Thread>(stream, words, FindZeroInDegree{in, zero_in_degree});
}

template <class Backend>
template <class Adjacency>
BfsState BfsRun<Backend>::traverse(team::Team& team, const exec::Stream& stream,
                                   const BfsProgram<Adjacency>& program, const BfsState& initial) {
  return team::run_program<Backend>(team, stream, program, initial);
}

template <class Backend>
BfsSummary::State BfsRun<Backend>::summarize(team::Team& team, const exec::Stream& stream,
                                             const BfsSummary& program) {
  return team::run_program<Backend>(team, stream, program, BfsSummary::State{});
}

#if WARREN_HAS_CUDA
extern template struct BfsRun<exec::Cuda>;
extern template BfsState BfsRun<exec::Cuda>::traverse(team::Team&, const exec::Stream&,
                                                      const BfsProgram<graph::NearAdjacency>&,
                                                      const BfsState&);
extern template BfsState BfsRun<exec::Cuda>::traverse(team::Team&, const exec::Stream&,
                                                      const BfsProgram<graph::FarAdjacency>&,
                                                      const BfsState&);
extern template BfsState BfsRun<exec::Cuda>::traverse(team::Team&, const exec::Stream&,
                                                      const BfsProgram<graph::PackedAdjacency>&,
                                                      const BfsState&);
#endif

}  // namespace warren::traverse
