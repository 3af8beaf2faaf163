// SPDX-License-Identifier: Apache-2.0
// Connected components of a symmetric graph as a BSP program that begins with a search: the first
// part of Multistep (Slota, Rajamanickam, Madduri, IPDPS 2014). A direction-optimising
// breadth-first search from a hub reaches most of the largest component, and ends as soon as few
// edges are left. The ranks' labels of their own vertices are one forest, cut over the ranks, in
// which a parent is never larger than its child. Reached vertices hang under the smallest of them.
// Every edge that does not connect two of these has an end that was not reached: linking the lists
// of the vertices that were not reached, wherever the search stopped, connects all that is
// connected.
//
// The reached vertices' label is supposed to be the smallest vertex that has an edge, whose owner
// knows whether it was reached. Where it was, the labels are right at once, and no vertex that was
// reached is looked at again; where not, the ranks agree on the smallest that was.
#pragma once

#include "warren/graph/adjacency.hpp"
#include "warren/memory/global_array.hpp"
#include "warren/team/program.hpp"

#include "traverse/bfs/bfs_program.hpp"
#include "traverse/components/components_hub.hpp"
#include "traverse/components/components_search_state.hpp"

namespace warren::traverse {

/// What a rank says of the reached vertices.
struct ComponentsReached {
  Vertex smallest = kNoVertex;  ///< Own one.
  Vertex top = kNoVertex;       ///< The smallest of all ranks', under which all hang,
  Vertex root = kNoVertex;      ///< and its own root in the end.
  std::uint64_t rest = 0;       ///< Entries of the queue of own vertices that were not reached.
};

struct ComponentsSearchProgram {
  using State = ComponentsSearchState;
  using Search = BfsProgram<graph::NearAdjacency>;
  using ShowsNothing = void;
  static constexpr std::uint32_t kThreadsPerBlock = Search::kThreadsPerBlock;
  static constexpr std::uint32_t kBlocksPerProcessor = Search::kBlocksPerProcessor;
  static constexpr std::uint32_t kScratchBytes = Search::kScratchBytes;
  static constexpr std::uint32_t kClusterBlocks = Search::kClusterBlocks;

  Search search;
  memory::GlobalView<Vertex> labels;  ///< The forest of all ranks.
  Vertex first = 0;                   ///< The smallest vertex that has an edge.
  ComponentsReached* reached = nullptr;
  const ComponentsReached* reached_of[kMaxRanks] = {};

  WARREN_HD static bool finished(const State& state) {
    return state.phase == ComponentsSearchPhase::done;
  }
  WARREN_HD static State next(const State& state, const team::Sums& sums) {
    return next_phase(state, sums);
  }

  template <class Grid>
  WARREN_HD void step(Grid& grid, const State& state) const {
    switch (state.phase) {
      case ComponentsSearchPhase::search:
        if (state.bfs.phase == BfsPhase::reset && is_first_thread(grid)) *reached = {};
        search.step(grid, state.bfs);
        break;
      case ComponentsSearchPhase::scan:
        scan(grid);
        break;
      case ComponentsSearchPhase::smallest:
        find_smallest(grid);
        break;
      case ComponentsSearchPhase::agree:
        agree(grid);
        break;
      case ComponentsSearchPhase::label:
        label(grid);
        break;
      case ComponentsSearchPhase::link:
        link_rest(grid, state);
        break;
      case ComponentsSearchPhase::climb:
        if (is_first_thread(grid)) reached->root = root_of(reached->top, kNoVertex);
        break;
      case ComponentsSearchPhase::settle:
        if (state.has_first)
          settle_rest(grid);
        else
          settle_all(grid);
        break;
      case ComponentsSearchPhase::done:
        break;
    }
  }

 private:
  template <class Grid>
  [[nodiscard]] WARREN_HD static bool is_first_thread(const Grid& grid) {
    return grid.block() == 0 && grid.block_worker().lane() == 0;
  }
  [[nodiscard]] WARREN_HD Vertex first_own() const { return search.out.first; }
  [[nodiscard]] WARREN_HD bool is_own(Vertex v) const {
    return v - search.out.first < search.out.count;
  }
  [[nodiscard]] WARREN_HD Vertex* own_labels() const { return labels.base[labels.rank]; }

  /// Words of the bitmaps that own vertices have bits in.
  [[nodiscard]] WARREN_HD std::uint64_t first_word() const { return first_own() / kWordBits; }
  [[nodiscard]] WARREN_HD std::uint64_t own_words() const {
    const std::uint64_t count = search.out.count;
    return count == 0 ? 0 : (first_own() + count - 1) / kWordBits + 1 - first_word();
  }
  [[nodiscard]] WARREN_HD BitmapWord own_mask(std::uint64_t word) const {
    return range_mask(word, first_own(), std::uint64_t{first_own()} + search.out.count);
  }
  /// f(worker, v, is_reached, has_edges) for every own vertex; on a GPU every lane of a warp calls,
  /// with v == kNoVertex where it has none.
  template <class Grid, class F>
  WARREN_HD void for_own(Grid& grid, F&& f) const {
    using WarpType = typename Grid::Warp;
    grid.template for_each<exec::Warp>(own_words(), [&](const WarpType& worker, std::uint64_t w) {
      const std::uint64_t word = first_word() + w;
      const BitmapWord own = own_mask(word);
      const BitmapWord isolated = search.zero_in_degree[w];
      const BitmapWord found = search.seen[word] & ~isolated;
      worker.for_each(kWordBits, [&](std::uint64_t b) {
        const auto bit = static_cast<std::uint32_t>(b);
        const auto has = [&](BitmapWord bits) { return (bits >> bit & 1u) != 0; };
        const auto v = static_cast<Vertex>(word * kWordBits + bit);
        f(worker, has(own) ? v : kNoVertex, has(found), !has(isolated));
      });
    });
  }

  template <class Grid>
  WARREN_HD void scan(Grid& grid) const {
    using WarpType = typename Grid::Warp;
    QueueWriter<WarpType> writer(search.queue[0], &reached->rest);
    std::uint64_t rest = 0;
    for_own(grid, [&](const WarpType& worker, Vertex v, bool is_reached, bool has_edges) {
      const bool is_rest = v != kNoVertex && has_edges && !is_reached;
      std::uint32_t pieces = 0;
      if (v != kNoVertex) own_labels()[v - first_own()] = is_reached ? first : v;
      if (is_rest) {
        pieces = pieces_of(search.out.degree(v - first_own()));
        ++rest;
      }
      writer.put(worker, v, pieces);
    });
    writer.finish();
    grid.sum(kRestVertices, rest);
    grid.sum(kReachedFirst,
             is_first_thread(grid) && is_own(first) && test_bit(search.seen, first) ? 1 : 0);
  }

  template <class Grid>
  WARREN_HD void find_smallest(Grid& grid) const {
    using WarpType = typename Grid::Warp;
    Vertex smallest = kNoVertex;
    for_own(grid, [&](const WarpType&, Vertex v, bool is_reached, bool) {
      if (is_reached && v < smallest) smallest = v;
    });
    const WarpType worker;
    smallest = worker.reduce(smallest, exec::Minimum{});
    if (worker.lane() == 0 && smallest != kNoVertex)
      (void)exec::atomic_min(reached->smallest, smallest);
  }

  template <class Grid>
  WARREN_HD void agree(Grid& grid) const {
    if (!is_first_thread(grid)) return;
    Vertex top = kNoVertex;
    for (int q = 0; q < search.ranks; ++q) {
      const Vertex theirs = reached_of[q]->smallest;
      top = theirs < top ? theirs : top;
    }
    reached->top = top;
  }

  template <class Grid>
  WARREN_HD void label(Grid& grid) const {
    using WarpType = typename Grid::Warp;
    const Vertex top = reached->top;
    for_own(grid, [&](const WarpType&, Vertex v, bool is_reached, bool) {
      if (v != kNoVertex && is_reached) own_labels()[v - first_own()] = top;
    });
  }

  /// A label while others change it.
  [[nodiscard]] WARREN_HD Vertex label_now(Vertex v) const {
    if (!labels.spans_devices) return exec::atomic_load(labels.at(v));
    return exec::atomic_load<exec::Order::relaxed, exec::Scope::system>(labels.at(v));
  }
  WARREN_HD void put_label(Vertex v, Vertex root) const {
    if (!labels.spans_devices) {
      exec::atomic_store(labels.at(v), root);
    } else {
      exec::atomic_store<exec::Order::relaxed, exec::Scope::system>(labels.at(v), root);
    }
  }
  WARREN_HD bool hang(Vertex v, Vertex& above, Vertex below) const {
    if (!labels.spans_devices) return exec::atomic_compare_exchange(labels.at(v), above, below);
    return exec::atomic_compare_exchange<exec::Order::relaxed, exec::Scope::system>(labels.at(v),
                                                                                    above, below);
  }
  /// What is above `above`, under which `v` hangs from now on: who climbs halves the way for all.
  /// By a minimum, as another thread may meanwhile have hung `v` higher up, or under its root.
  /// Most ways end at `top`. What is above that is not asked: it would be one word for all threads
  /// of all ranks, over the link.
  WARREN_HD Vertex halve(Vertex v, Vertex above, Vertex top) const {
    if (above == top) return above;
    const Vertex next = label_now(above);
    if (next != above) lower_label(v, next);
    return next;
  }
  WARREN_HD void lower_label(Vertex v, Vertex to) const {
    if (!labels.spans_devices) {
      (void)exec::atomic_min(labels.at(v), to);
    } else {
      (void)exec::atomic_min<exec::Order::relaxed, exec::Scope::system>(labels.at(v), to);
    }
  }

  /// Joins the trees of two vertices: the larger root is hung under the smaller.
  WARREN_HD void link(Vertex a, Vertex b, Vertex top) const {
    while (a != b) {
      const Vertex high = a < b ? b : a;
      const Vertex low = a < b ? a : b;
      Vertex above = label_now(high);
      if (above == low || (above == high && hang(high, above, low))) return;
      a = halve(high, above, top);
      b = low;
    }
  }
  /// Or `top` itself, if the way leads there.
  [[nodiscard]] WARREN_HD Vertex root_of(Vertex v, Vertex top) const {
    while (v != top) {
      const Vertex above = label_now(v);
      if (above == v) break;
      v = halve(v, above, top);
    }
    return v;
  }

  /// The lists of own vertices that were not reached, in pieces that warps share out. Neighbours
  /// that are known to be reached hang under one vertex, which stands for them. Of two own ends
  /// that were not, the larger one's list links; others' ends may have been reached by the last
  /// level, and then are not listed.
  template <class Grid>
  WARREN_HD void link_rest(Grid& grid, const State& state) const {
    using WarpType = typename Grid::Warp;
    constexpr std::uint32_t kLanes = Grid::kWarpLanes;
    const Vertex top = state.has_first ? first : reached->top;
    const std::uint64_t entries = reached->rest;
    Search::Stage stage;
    grid.template for_each<exec::Warp>(
        (entries + kLanes - 1) / kLanes, [&](const WarpType& worker, std::uint64_t task) {
          const std::uint64_t index = task * kLanes + worker.lane();
          graph::ListPiece piece;
          if (index < entries) piece = piece_of(search.out, search.queue[0][index]);
          search.out_lists.expand(
              worker, stage, piece, [&](bool active, std::uint32_t owner, Vertex to) {
                const Vertex from = first_own() + worker.broadcast(piece.row, owner);
                if (!active) return;
                if (test_bit(search.seen, to))
                  link(from, top, top);
                else if (to < from || !is_own(to))
                  link(from, to, top);
              });
        });
  }

  template <class Grid>
  WARREN_HD void settle_rest(Grid& grid) const {
    grid.template for_each<exec::Thread>(reached->rest, [&](auto&, std::uint64_t i) {
      const QueueEntry entry = search.queue[0][i];
      if (entry.piece == 0) settle(entry.vertex, first, first);
    });
  }
  /// `root` is that of `top`.
  WARREN_HD void settle(Vertex v, Vertex top, Vertex root) const {
    const Vertex above = label_now(v);
    const Vertex found = root_of(above, top);
    const Vertex last = found == top ? root : found;
    if (last != above) put_label(v, last);
  }

  /// Reached vertices have one root, which was looked for once.
  template <class Grid>
  WARREN_HD void settle_all(Grid& grid) const {
    using WarpType = typename Grid::Warp;
    const Vertex top = reached->top, root = reached->root;
    for_own(grid, [&](const WarpType&, Vertex v, bool is_reached, bool has_edges) {
      if (v == kNoVertex || !has_edges) return;
      if (!is_reached) {
        settle(v, top, root);
      } else if (root != top) {
        put_label(v, root);
      }
    });
  }
};

/// Defined outside the class, so that only nvcc instantiates the GPU's members.
template <class Backend>
struct ComponentsSearchRun {
  static void look(const exec::Stream& stream, const LookAtDegrees& look);
  static ComponentsSearchState run(team::Team& team, const exec::Stream& stream,
                                   const ComponentsSearchProgram& program,
                                   const ComponentsSearchState& initial);
};

template <class Backend>
void ComponentsSearchRun<Backend>::look(const exec::Stream& stream, const LookAtDegrees& look) {
  exec::launch<Backend, exec::Warp>(stream, look.tasks(), look);
}

template <class Backend>
ComponentsSearchState ComponentsSearchRun<Backend>::run(team::Team& team,
                                                        const exec::Stream& stream,
                                                        const ComponentsSearchProgram& program,
                                                        const ComponentsSearchState& initial) {
  return team::run_program<Backend>(team, stream, program, initial);
}

#if WARREN_HAS_CUDA
extern template struct ComponentsSearchRun<exec::Cuda>;
#endif

}  // namespace warren::traverse
