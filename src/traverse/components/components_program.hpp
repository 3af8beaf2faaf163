// SPDX-License-Identifier: Apache-2.0
// Connected components as a BSP program: Afforest (Sutton, Ben-Nun, Barak, IPDPS 2018). A forest
// over the vertices in which a parent is never larger than its child; linking an edge hangs the
// larger root under the smaller one, so that in the end the root of a tree is its smallest vertex.
//
// Several ranks each keep a forest over all vertices and link the edges of their own rows in it.
// Once, after sampling, each asks the owners of its trees' roots where these hang. An edge may be
// skipped if both of its ends lie in trees that are known to be connected: each rank chooses its
// largest tree, and those of two ranks are connected if a vertex lies in both, as a sample shows.
// At the end the ranks' entries for their own vertices are one forest, cut over the ranks. In it
// each rank links other ranks' vertices with the roots that they have in its own forest, and every
// owner climbs to its vertices' roots.
//
// Other ranks' vertices in a rank's largest tree need no link, if that tree is connected with the
// others'. Such a vertex v has an edge to a vertex u of the rank. If v lies in its owner's largest
// tree, the two trees are connected. If not, its owner has linked all of v's edges: u and v lie in
// one tree of the owner's forest, which is linked as a whole, u among its vertices.
//
// Ranks on several hosts cannot update one forest: see components_hosts.hpp.
#pragma once

#include "warren/graph/adjacency.hpp"
#include "warren/team/program.hpp"

#include "traverse/components/components_arrays.hpp"
#include "traverse/components/components_hosts.hpp"
#include "traverse/components/components_state.hpp"

namespace warren::traverse {

/// `kPacked`: the lists are compressed.
template <bool kPacked>
struct ComponentsProgram : ComponentsArrays {
  using State = ComponentsState;
  static constexpr std::uint32_t kThreadsPerBlock = 512;
  static constexpr std::uint32_t kBlocksPerProcessor = 2;
  static constexpr std::uint32_t kScratchBytes = sizeof(ComponentsScratch);
  static constexpr std::uint32_t kClusterBlocks = 1;

  WARREN_HD static bool finished(const State& state) {
    return state.phase == ComponentsPhase::done;
  }
  WARREN_HD static State next(const State& state, const team::Sums& sums) {
    return next_phase(state, sums);
  }

  template <class Grid>
  WARREN_HD void step(Grid& grid, const State& state) const {
    switch (state.phase) {
      case ComponentsPhase::clear:
        clear(grid, state);
        break;
      case ComponentsPhase::sample:
        sample(grid, state);
        break;
      case ComponentsPhase::compress:
        compress(grid, state);
        break;
      case ComponentsPhase::adopt:
        adopt(grid, state);
        break;
      case ComponentsPhase::choose:
        choose(grid);
        break;
      case ComponentsPhase::meet:
        meet(grid);
        break;
      case ComponentsPhase::agree:
        agree(grid, state);
        break;
      case ComponentsPhase::finish:
        finish(grid, state);
        break;
      case ComponentsPhase::finish_long:
        finish_long(grid, state);
        break;
      case ComponentsPhase::introduce:
        introduce(grid, state);
        break;
      case ComponentsPhase::join:
        join_forests(grid, state);
        break;
      case ComponentsPhase::climb:
        climb(grid);
        break;
      case ComponentsPhase::settle:
        settle(grid);
        break;
      default:
        hosts.step(grid, state.phase, {parent, vertices, out.first, out.count},
                   [&](Vertex v) { return hang_under_root(v); });
        break;
    }
  }

  /// A host's forest to the other ones.
  template <class Show>
  void show(const State& next, Show&& show) const {
    if (next.phase != ComponentsPhase::hosts_meet) return;
    const bool is_first = hosts.own == parent;
    show(team::kShowAll, parent, is_first ? vertices * sizeof *parent : 0);
  }

 private:
  /// An edge list longer than this is worked on by a whole warp.
  static constexpr std::uint32_t kAlone = 8;

  [[nodiscard]] WARREN_HD bool is_own(Vertex v) const { return v - out.first < out.count; }
  [[nodiscard]] WARREN_HD Vertex parent_now(Vertex v) const { return exec::atomic_load(parent[v]); }
  /// Or an earlier one: what was above a vertex once stays above it.
  [[nodiscard]] WARREN_HD Vertex some_parent(Vertex v) const {
    return exec::load_maybe_stale(parent[v]);
  }

  /// Joins the trees of two vertices: the larger root is hung under the smaller.
  WARREN_HD void link(Vertex u, Vertex v) const {
    Vertex a = some_parent(u);
    Vertex b = some_parent(v);
    while (a != b) {
      const Vertex high = a < b ? b : a;
      const Vertex low = a < b ? a : b;
      Vertex above = parent_now(high);
      if (above == low) return;
      if (above == high && exec::atomic_compare_exchange(parent[high], above, low)) return;
      // `high` is no root, or is none any more: on with what is above both.
      a = parent_now(above);
      b = parent_now(low);
    }
  }

  /// Hangs the larger of two vertices' parents under the smaller, unless it hangs under one as
  /// small already. What it hung under before is lost, and met again by finish(): a sample may miss
  /// joins, and nobody climbs or tries again where many trees meet in one.
  WARREN_HD void hook(Vertex a, Vertex b) const {
    if (a == b) return;
    const Vertex high = a < b ? b : a;
    const Vertex low = a < b ? a : b;
    if (low < some_parent(high)) exec::atomic_min(parent[high], low);
  }

  /// A sampled edge.
  WARREN_HD void join(const State& state, Vertex u, Vertex v) const {
    if (state.hooks) {
      hook(some_parent(u), some_parent(v));
    } else {
      link(u, v);
    }
  }

  /// Lists may be read here as far as the sector of their first edge goes: each vertex hangs itself
  /// under its first neighbour if that is smaller, without an atomic operation, and keeps the
  /// second for the next round. Where every edge has its reverse, sorted lists lose nothing by
  /// that.
  template <class Grid>
  WARREN_HD void clear(Grid& grid, const State& state) const {
    std::uint64_t bytes = 0;
    grid.template for_each<exec::Thread>(vertices, [&](auto&, std::uint64_t v) {
      auto above = static_cast<Vertex>(v);
      const std::uint64_t row = v - out.first;
      if (state.begins_hung && v >= out.first && row < out.count) {
        Vertex first[2] = {kNoVertex, kNoVertex};
        bytes += first_neighbours(static_cast<Vertex>(row), first);
        if (first[0] < above) above = first[0];
        second[row] = first[1];
      }
      parent[v] = above;
    });
    if (grid.block() == 0 && grid.block_worker().lane() == 0) *largest = {};
    grid.sum(kComponentsFarBytes, state.is_far ? bytes : 0);
  }

  /// The first two neighbours of a row as far as there are so many; returns the bytes read of far
  /// memory: a sector.
  WARREN_HD std::uint64_t first_neighbours(Vertex row, Vertex (&first)[2]) const {
    const EdgeOffset degree = out.degree(row);
    if (degree == 0) return 0;
    if constexpr (kPacked) {
      graph::CompressedCursor cursor(packed_out.view,
                                     packed_out.view.block(packed_out.view.row(row), 0));
      first[0] = cursor.next();
      if (degree > 1) first[1] = cursor.next();
      return packed_out.is_far ? graph::kSectorBytes : 0;
    } else {
      const EdgeOffset begin = out.begin(row);
      const Vertex* list = out.list(begin);
      first[0] = list[0];
      if (degree > 1) first[1] = list[1];
      return begin >= out.cached_end ? graph::kSectorBytes : 0;
    }
  }
  [[nodiscard]] WARREN_HD Vertex neighbour(Vertex row, std::uint32_t index) const {
    if constexpr (kPacked) {
      const graph::CompressedRow list = packed_out.view.row(row);
      graph::CompressedCursor cursor(packed_out.view,
                                     packed_out.view.block(list, index / graph::kCompressedBlock));
      Vertex found = cursor.next();
      for (std::uint32_t k = 0; k < index % graph::kCompressedBlock; ++k) found = cursor.next();
      return found;
    } else {
      return *out.list(out.begin(row) + index);
    }
  }

  template <class Grid>
  WARREN_HD void sample(Grid& grid, const State& state) const {
    std::uint64_t bytes = 0;
    grid.template for_each<exec::Thread>(out.count, [&](auto&, std::uint64_t i) {
      const auto row = static_cast<Vertex>(i);
      if (state.begins_hung && state.round == 1) {
        if (second[row] != kNoVertex) join(state, out.first + row, second[row]);
        return;
      }
      const EdgeOffset edge = out.begin(row) + state.round;
      if (edge >= out.end(row)) return;
      join(state, out.first + row, neighbour(row, state.round));
      if (state.is_far && edge >= out.cached_end) bytes += graph::kSectorBytes;
    });
    grid.sum(kComponentsFarBytes, bytes);
  }

  /// The root of a vertex, under which it hangs from now on; it climbs no further than `enough`.
  [[nodiscard]] WARREN_HD Vertex hang_under_root(Vertex v, Vertex enough = kNoVertex) const {
    const Vertex first = some_parent(v);
    Vertex root = first;
    for (Vertex above = some_parent(root); above != root && root != enough;
         above = some_parent(root))
      root = above;
    if (root != first) exec::atomic_store(parent[v], root);
    return root;
  }

  /// The own vertices, and all where others may hang deep.
  template <class Grid>
  WARREN_HD void compress(Grid& grid, const State& state) const {
    const Vertex first = state.has_sampled ? 0 : out.first;
    const std::uint64_t count = state.has_sampled ? vertices : out.count;
    grid.template for_each<exec::Thread>(count, [&](auto&, std::uint64_t i) {
      (void)hang_under_root(first + static_cast<Vertex>(i));
    });
  }

  /// Without it a rank's vertices would hang under neighbours of other ranks that hang nowhere
  /// themselves, and vertices under which those of other ranks hang would not be known to: the
  /// rank's trees would be small, and more edges left to link. Roots of other ranks are asked of
  /// their owner; own ones of all others. Ranks may be linking meanwhile: what hung above a vertex
  /// once is connected with it. Neighbouring vertices often have one root, which a thread asks for
  /// once.
  template <class Grid>
  WARREN_HD void adopt(Grid& grid, const State& state) const {
    Vertex asked = kNoVertex;
    grid.template for_each<exec::Thread>(out.count, [&](auto&, std::uint64_t i) {
      const auto row = static_cast<Vertex>(i);
      const Vertex root = some_parent(out.first + row);
      if (root == out.first + row) {
        if (out.degree(row) == 0) return;
        for (std::uint32_t q = 0; q < state.ranks; ++q)
          if (q != rank) adopt_root(q, root);
      } else if (root != asked && !is_own(root)) {
        asked = root;
        adopt_root(static_cast<std::uint32_t>(joined.owner(root)), root);
      }
    });
  }
  /// Links a root with what it hangs under at rank q.
  WARREN_HD void adopt_root(std::uint32_t q, Vertex root) const {
    const Vertex theirs = exec::load_maybe_stale(parent_of[q][root]);
    if (theirs != root) link(root, theirs);
  }

  /// One of `count` numbers. Spread by a multiplicative hash: neighbouring vertices tend to be
  /// alike.
  [[nodiscard]] WARREN_HD static Vertex sampled(std::uint64_t i, std::uint64_t count) {
    const std::uint64_t bits = (i + 1) * 0x9e3779b97f4a7c15ull;
    return static_cast<Vertex>((bits >> 32) * count >> 32);
  }

  /// The root that most of a sample of the rank's vertices have. Which it is decides on the time
  /// that the rest takes, not on the result.
  template <class Grid>
  WARREN_HD void choose(Grid& grid) const {
    if (grid.block() != 0 || out.count == 0 || !(is_symmetric || in.offsets != nullptr)) return;
    const auto worker = grid.block_worker();
    auto& scratch = *worker.template scratch<ComponentsScratch>();
    constexpr std::uint32_t kSamples = ComponentsScratch::kSamples;
    worker.for_each(kSamples, [&](std::uint64_t i) {
      scratch.root[i] = parent[out.first + sampled(i, out.count)];
    });
    worker.sync();
    std::uint64_t best = 0;  // Votes, and the root: one reduction finds both.
    worker.for_each(kSamples, [&](std::uint64_t i) {
      const Vertex root = scratch.root[i];
      std::uint64_t votes = 0;
      for (std::uint32_t j = 0; j < kSamples; ++j) votes += scratch.root[j] == root ? 1 : 0;
      const std::uint64_t vote = votes << 32 | root;
      best = vote > best ? vote : best;
    });
    best = worker.reduce(best, exec::Maximum{});
    if (worker.lane() == 0) largest->root = largest->skipped = static_cast<Vertex>(best);
    // Isolated vertices have no say in how many edges are left.
    std::uint64_t asked = 0, votes = 0;
    worker.for_each(kSamples, [&](std::uint64_t i) {
      if (out.degree(sampled(i, out.count)) == 0) return;
      ++asked;
      votes += scratch.root[i] == static_cast<Vertex>(best) ? 1 : 0;
    });
    grid.sum(kVotes, votes);
    grid.sum(kAsked, asked);
  }

  /// Looks in this rank's forest for vertices of others that lie in the largest trees of both.
  /// Where a sample finds none, one of the trees may not be skipped: that takes time, no more.
  template <class Grid>
  WARREN_HD void meet(Grid& grid) const {
    constexpr std::uint64_t kMostLooks = 1 << 16;
    const Vertex mine = largest->root;
    if (mine == kNoVertex) return;
    const std::uint64_t looks = vertices < kMostLooks ? vertices : kMostLooks;
    grid.template for_each<exec::Thread>(looks, [&](auto&, std::uint64_t i) {
      const Vertex v = looks == vertices ? static_cast<Vertex>(i) : sampled(i, vertices);
      if (is_own(v) || hang_under_root(v, mine) != mine) return;
      const auto q = static_cast<std::uint32_t>(joined.owner(v));
      std::uint32_t& word = largest->meets[q / 32];
      const std::uint32_t bit = 1u << q % 32;
      if ((exec::atomic_load(word) & bit) != 0) return;
      if (exec::load_maybe_stale(parent_of[q][v]) == largest_of[q]->root)
        exec::atomic_or(word, bit);
    });
  }

  /// The largest trees that the first rank's is connected with, over any number of ranks.
  template <class Grid>
  WARREN_HD void agree(Grid& grid, const State& state) const {
    if (grid.block() != 0 || grid.block_worker().lane() != 0) return;
    std::uint32_t known[kMaxRanks / 32 + 1] = {};
    const auto knows = [&](std::uint32_t q) { return (known[q / 32] >> q % 32 & 1) != 0; };
    const auto meets = [&](std::uint32_t p, std::uint32_t q) {
      return (largest_of[p]->meets[q / 32] >> q % 32 & 1) != 0;
    };
    std::uint32_t first = 0;
    while (first < state.ranks && largest_of[first]->root == kNoVertex) ++first;
    if (first == state.ranks) return;
    known[first / 32] |= 1u << first % 32;
    for (bool is_new = true; is_new;) {
      is_new = false;
      for (std::uint32_t p = 0; p < state.ranks; ++p) {
        for (std::uint32_t q = 0; q < state.ranks; ++q) {
          if (knows(p) == knows(q) || !meets(p, q)) continue;
          known[p / 32] |= 1u << p % 32;
          known[q / 32] |= 1u << q % 32;
          is_new = true;
        }
      }
    }
    if (!knows(rank)) largest->skipped = kNoVertex;
  }

  /// A vertex in the largest tree needs no look at its edges: those that lead out of the tree are
  /// met from their other end, where in-edges count as well.
  template <class Grid>
  WARREN_HD void finish(Grid& grid, const State& state) const {
    using WarpType = typename Grid::Warp;
    constexpr std::uint32_t kLanes = Grid::kWarpLanes;
    const Vertex skipped = largest->skipped;
    // Edges that another rank skips, too.
    const bool takes_in_edges = largest->root != kNoVertex && !is_symmetric;
    std::uint64_t bytes = 0, pieces = 0;
    grid.template for_each<exec::Warp>(
        (std::uint64_t{out.count} + kLanes - 1) / kLanes,
        [&](const WarpType& worker, std::uint64_t task) {
          const std::uint64_t i = task * kLanes + worker.lane();
          const auto row = static_cast<Vertex>(i);
          const bool has = i < out.count && parent_now(out.first + row) != skipped;
          if (!worker.any(has)) return;
          // From the first edge on: a vertex' first round leaves out a larger neighbour.
          const bool has_long = has && out.degree(row) > ComponentsPiece::kEdges;
          if (has_long) pieces += leave_for_later(row, out.degree(row), false);
          bytes += link_list(worker, has && !has_long, row, out, packed_out, state.is_far);
          if (!takes_in_edges) return;
          const bool has_long_in = has && in.degree(row) > ComponentsPiece::kEdges;
          if (has_long_in) pieces += leave_for_later(row, in.degree(row), true);
          bytes += link_list(worker, has && !has_long_in, row, in, packed_in, state.is_far);
        },
        kGrain);
    grid.sum(kComponentsFarBytes, bytes);
    grid.sum(kLong, pieces);
  }

  /// A list that would keep one warp busy while the others wait.
  WARREN_HD std::uint64_t leave_for_later(Vertex row, EdgeOffset degree, bool is_in) const {
    const std::uint64_t pieces = (degree + ComponentsPiece::kEdges - 1) / ComponentsPiece::kEdges;
    const std::uint64_t at = exec::atomic_add(largest->long_pieces, pieces);
    for (std::uint64_t i = 0; i < pieces; ++i)
      long_pieces[at + i] = {row, static_cast<std::uint32_t>(i), is_in};
    return pieces;
  }

  template <class Grid>
  WARREN_HD void finish_long(Grid& grid, const State& state) const {
    using WarpType = typename Grid::Warp;
    std::uint64_t bytes = 0;
    grid.template for_each_claimed<exec::Warp>(
        largest->long_pieces, [&](const WarpType& worker, std::uint64_t task) {
          const ComponentsPiece piece = long_pieces[task];
          const graph::CsrView& lists = piece.is_in ? in : out;
          const graph::PackedRows& packed = piece.is_in ? packed_in : packed_out;
          const EdgeOffset begin = lists.begin(piece.row) + piece.index * ComponentsPiece::kEdges;
          const EdgeOffset rest = lists.end(piece.row) - begin;
          const EdgeOffset end =
              begin + (rest < ComponentsPiece::kEdges ? rest : ComponentsPiece::kEdges);
          if constexpr (kPacked) {
            bytes += link_packed(worker, piece.row, {lists, packed}, begin,
                                 worker.lane() == 0 ? end : begin);
          } else {
            const Vertex* list = lists.list(begin);
            worker.for_each(end - begin,
                            [&](std::uint64_t k) { link(out.first + piece.row, list[k]); });
            if (worker.lane() == 0) bytes += far_sectors(state.is_far, lists, begin, end);
          }
        });
    grid.sum(kComponentsFarBytes, bytes);
  }

  /// Bytes that are read of an uncompressed list in far memory, in whole sectors.
  [[nodiscard]] WARREN_HD static std::uint64_t far_sectors(bool is_far, const graph::CsrView& lists,
                                                           EdgeOffset begin, EdgeOffset end) {
    if (!is_far || begin >= end || begin < lists.cached_end) return 0;
    constexpr std::uint64_t kSector = graph::kSectorBytes;
    return ((end - begin) * sizeof(Vertex) + kSector - 1) / kSector * kSector;
  }

  /// Links each lane's vertex, where it `has` one, with its list. Returns the bytes read of far
  /// memory, in whole sectors.
  template <class W>
  WARREN_HD std::uint64_t link_list(const W& worker, bool has, Vertex row,
                                    const graph::CsrView& lists, const graph::PackedRows& packed,
                                    bool is_far) const {
    const EdgeOffset begin = has ? lists.begin(row) : 0;
    const EdgeOffset end = has ? lists.end(row) : 0;
    if constexpr (kPacked) {
      return link_packed(worker, row, {lists, packed}, begin, end);
    } else {
      link_plain(worker, out.first + row, lists, begin, end);
      return far_sectors(is_far, lists, begin, end);
    }
  }

  /// In pieces that their 32-bit lengths can hold.
  template <class W>
  WARREN_HD std::uint64_t link_packed(const W& worker, Vertex row,
                                      const graph::PackedAdjacency& lists, EdgeOffset begin,
                                      EdgeOffset end) const {
    constexpr EdgeOffset kLongest = EdgeOffset{1} << 30;
    std::uint64_t bytes = 0;
    while (worker.any(begin < end)) {
      const EdgeOffset length = end - begin < kLongest ? end - begin : kLongest;
      const graph::ListPiece piece{row, begin, static_cast<std::uint32_t>(length)};
      bytes += lists.expand_edges(worker, piece,
                                  [&](bool active, std::uint32_t owner, EdgeOffset, Vertex to) {
                                    const Vertex from = out.first + worker.broadcast(row, owner);
                                    if (active) link(from, to);
                                  });
      begin += length;
    }
    return bytes;
  }

  /// Short lists by the lane, long ones by all lanes together, one list after the other.
  template <class W>
  WARREN_HD void link_plain(const W& worker, Vertex v, const graph::CsrView& lists,
                            EdgeOffset begin, EdgeOffset end) const {
    const EdgeOffset alone = worker.size() == 1 || end < begin + kAlone ? end : begin + kAlone;
    for (; begin < alone; ++begin) link(v, *lists.list(begin));
    if (worker.size() == 1) return;
    bool is_open = begin < end;
    while (worker.any(is_open)) {
      const std::uint32_t lane =
          worker.reduce(is_open ? worker.lane() : worker.size(), exec::Minimum{});
      const EdgeOffset first = worker.broadcast(begin, lane);
      const EdgeOffset last = worker.broadcast(end, lane);
      const Vertex from = worker.broadcast(v, lane);
      const Vertex* list = lists.list(first);
      worker.for_each(last - first, [&](std::uint64_t k) { link(from, list[k]); });
      if (worker.lane() == lane) is_open = false;
    }
  }

  /// An entry of the forest of all ranks.
  [[nodiscard]] WARREN_HD Vertex joined_now(Vertex v) const {
    if (!joined.spans_devices) return exec::atomic_load(joined.at(v));
    return exec::atomic_load<exec::Order::relaxed, exec::Scope::system>(joined.at(v));
  }
  WARREN_HD bool hang(Vertex v, Vertex& above, Vertex below) const {
    if (!joined.spans_devices) return exec::atomic_compare_exchange(joined.at(v), above, below);
    return exec::atomic_compare_exchange<exec::Order::relaxed, exec::Scope::system>(joined.at(v),
                                                                                    above, below);
  }

  /// link() in the forest of all ranks.
  WARREN_HD void link_joined(Vertex a, Vertex b) const {
    while (a != b) {
      const Vertex high = a < b ? b : a;
      const Vertex low = a < b ? a : b;
      Vertex above = joined_now(high);
      if (above == low || (above == high && hang(high, above, low))) return;
      a = above;
      b = low;
    }
  }

  /// What the ranks' largest trees hang under, before anything is joined.
  template <class Grid>
  WARREN_HD void introduce(Grid& grid, const State& state) const {
    if (grid.block() != 0 || grid.block_worker().lane() != 0) return;
    for (std::uint32_t q = 0; q < state.ranks; ++q) {
      Vertex root = largest_of[q]->skipped;
      while (root != kNoVertex && parent_of[q][root] != root) root = parent_of[q][root];
      largest->root_of[q] = root;
    }
  }

  /// The largest trees are joined once for each two ranks: if every thread did it, all of them
  /// would ask for the same few words, over the link.
  template <class Grid>
  WARREN_HD void join_forests(Grid& grid, const State& state) const {
    const Vertex root = largest->root_of[rank];
    if (root != kNoVertex && grid.block() == 0 && grid.block_worker().lane() == 0) {
      for (std::uint32_t q = 0; q < state.ranks; ++q)
        if (largest->root_of[q] != kNoVertex) link_joined(root, largest->root_of[q]);
    }
    grid.template for_each<exec::Thread>(vertices - out.count, [&](auto&, std::uint64_t i) {
      auto v = static_cast<Vertex>(i);
      if (v >= out.first) v += out.count;
      const Vertex above = hang_under_root(v, root);
      if (above != v && above != root) link_joined(v, above);
    });
  }

  template <class Grid>
  WARREN_HD void climb(Grid& grid) const {
    if (grid.block() != 0 || grid.block_worker().lane() != 0) return;
    largest->from = largest->root_of[rank];
    if (largest->from != kNoVertex) largest->to = root_of_all(largest->from);
  }
  [[nodiscard]] WARREN_HD Vertex root_of_all(Vertex v) const {
    for (Vertex above = joined_now(v); above != v; above = joined_now(v)) v = above;
    return v;
  }

  /// A thread climbs once from roots that vertices one after the other have.
  template <class Grid>
  WARREN_HD void settle(Grid& grid) const {
    const Vertex largest_from = largest->from, largest_to = largest->to;
    Vertex from = kNoVertex, to = kNoVertex;
    grid.template for_each<exec::Thread>(out.count, [&](auto&, std::uint64_t i) {
      const Vertex v = out.first + static_cast<Vertex>(i);
      const Vertex first = joined_now(v);
      if (first == v) return;
      Vertex root = largest_to;
      if (first != largest_from) {
        if (first != from) {
          from = first;
          to = root_of_all(first);
        }
        root = to;
      }
      if (root == first) return;
      if (joined.spans_devices) {
        exec::atomic_store<exec::Order::relaxed, exec::Scope::system>(joined.at(v), root);
      } else {
        exec::atomic_store(joined.at(v), root);
      }
    });
  }
  static constexpr std::uint64_t kGrain = 1024;
};

template <class Backend, bool kPacked>
struct ComponentsRun {
  static ComponentsState run(team::Team& team, const exec::Stream& stream,
                             const ComponentsProgram<kPacked>& program,
                             const ComponentsState& initial);
};

template <class Backend, bool kPacked>
ComponentsState ComponentsRun<Backend, kPacked>::run(team::Team& team, const exec::Stream& stream,
                                                     const ComponentsProgram<kPacked>& program,
                                                     const ComponentsState& initial) {
  return team::run_program<Backend>(team, stream, program, initial);
}

#if WARREN_HAS_CUDA
extern template struct ComponentsRun<exec::Cuda, false>;
extern template struct ComponentsRun<exec::Cuda, true>;
#endif

}  // namespace warren::traverse
