// SPDX-License-Identifier: Apache-2.0
// BFS as a BSP program: direction-optimising (Beamer et al., SC 2012), with the frontier as a
// queue where it is small and as a bitmap where it is large.
//
// Each rank keeps the visits (depth and parent) and the visited bits of its own vertices. A push
// claims own vertices at once and sends others to their owner, each at most once from each rank:
// `seen` has a bit for every vertex of the graph, authoritative for own vertices and a filter for
// the rest. A pull needs the whole frontier as a bitmap: owners write their words of it, and every
// rank copies the others'. With one rank, levels that fit the scratch of one cluster of blocks are
// run by that cluster alone, many in one step: see bfs_small.hpp.
#pragma once

#include "traverse/bfs/bfs_small.hpp"
#include "traverse/bfs/bfs_state.hpp"
#include "traverse/bfs/visit.hpp"
#include "traverse/common/bitmap.hpp"
#include "traverse/common/frontier_queue.hpp"
#include "traverse/common/ordered_push.hpp"

namespace warren::traverse {

/// Reaching a vertex is a store to a random place. What its degree is can be learnt from the word
/// that is overwritten: on a CPU this saves a cache miss. On a GPU the degree is better loaded from
/// the offsets, since nothing then has to come back before the store (measured: 0.28 against 0.94
/// ms on a Kronecker graph of scale 22).
#if defined(__CUDA_ARCH__)
inline constexpr bool kVisitHoldsDegree = false;
#else
inline constexpr bool kVisitHoldsDegree = true;
#endif

/// What every form of the program works on.
struct BfsArrays {
  graph::CsrView out;         ///< What concerns the rows: ids, offsets.
  graph::EdgeChunks chunks;   ///< Of `out`, where its edges are far.
  bool is_symmetric = false;  ///< Every edge has its reverse.
  int rank = 0;
  int ranks = 1;
  Vertex source = 0;
  const Vertex* sources = nullptr;  ///< In place of `source`, where source_count > 0.
  std::uint64_t source_count = 0;
  const Vertex* targets = nullptr;  ///< All ranks have all of them.
  std::uint64_t target_count = 0;
  const BitmapWord* is_target = nullptr;  ///< nullptr without targets.
  std::uint64_t words = 0;                ///< Of a bitmap over all vertices.
  std::uint64_t cuts[kMaxRanks + 1] = {};

  Visit* visit = nullptr;  ///< Own vertices.
  BitmapWord* seen = nullptr;
  const BitmapWord* zero_in_degree =
      nullptr;  ///< Own vertices that no edge enters: never looked for.
  BitmapWord* bitmap[2] = {};
  const BitmapWord* next_of[kMaxRanks] = {};  ///< bitmap[1] of every rank.
  QueueEntry* queue[2] = {};
  std::uint64_t* queue_count = nullptr;  ///< Three.
  QueueEntry* send_buffer = nullptr;  ///< Updates for rank q from index cuts[q]: {vertex, parent}.
  const QueueEntry* send_buffer_of[kMaxRanks] = {};
  std::uint64_t* update_counts = nullptr;  ///< [2][kMaxRanks], by parity of the slot.
  const std::uint64_t* update_counts_of[kMaxRanks] = {};
};

/// `Adjacency` is how the edges are placed; those that are far are read in address order where
/// many of them are wanted: see push_by_address().
template <class Adjacency>
struct BfsProgram : BfsArrays {
  using State = BfsState;
  /// What reads far memory has fewer threads, with more registers each: it waits for the link, and
  /// what it spills has to come back through the caches.
  static constexpr std::uint32_t kThreadsPerBlock = Adjacency::kIsFar ? 320 : 512;
  static constexpr std::uint32_t kBlocksPerProcessor = 2;
  static constexpr std::uint32_t kMaxWarps = kThreadsPerBlock / 32;
  using Stage = typename Adjacency::Stage;
  static constexpr std::uint32_t kScratchBytes =
      Adjacency::kIsFar ? kMaxWarps * sizeof(Stage) : SmallFrontier::kBytes;
  static constexpr std::uint32_t kClusterBlocks = Adjacency::kIsFar ? 1 : SmallFrontier::kMaxBlocks;

  Adjacency out_lists;
  Adjacency in_lists;

  WARREN_HD static State next(const State& state, const team::Sums& sums) {
    return next_phase(state, sums);
  }
  WARREN_HD static bool finished(const State& state) { return state.phase == BfsPhase::done; }

  /// Remote updates to their readers, and the own words of the frontier's bitmap to all.
  template <class Show>
  void show(const State& next, Show&& show) const {
    if (next.phase == BfsPhase::receive) {
      const std::uint64_t* counts = update_counts + (next.slot + 1) % 2 * kMaxRanks;
      const auto count = show.read(counts, static_cast<std::uint64_t>(ranks));
      for (int q = 0; q < ranks; ++q) {
        if (q == rank) continue;
        show(q, counts + q, sizeof *counts);
        show(q, send_buffer + cuts[q], count[static_cast<std::size_t>(q)] * sizeof *send_buffer);
      }
    } else if (next.phase == BfsPhase::all_gather) {
      show(team::kShowAll, bitmap[1] + first_word(), own_words() * sizeof(BitmapWord));
    }
  }

  template <class Grid>
  WARREN_HD void step(Grid& grid, const State& state) const {
    switch (state.phase) {
      case BfsPhase::reset:
        reset(grid);
        break;
      case BfsPhase::seed:
        if (source_count > 0)
          seed_all(grid);
        else
          seed(grid);
        break;
      case BfsPhase::push:
        push_level(grid, state);
        break;
      case BfsPhase::push_by_address:
        if constexpr (Adjacency::kIsFar) push_by_address(grid, state);
        break;
      case BfsPhase::receive:
        receive(grid, state);
        break;
      case BfsPhase::clear_bitmap:
        clear_bitmap(grid, state);
        break;
      case BfsPhase::queue_to_bitmap:
        queue_to_bitmap(grid, state);
        break;
      case BfsPhase::all_gather:
        all_gather(grid);
        break;
      case BfsPhase::pull:
        pull(grid, state);
        break;
      case BfsPhase::bitmap_to_queue:
        bitmap_to_queue(grid, state);
        break;
      case BfsPhase::check:
        check(grid);
        break;
      case BfsPhase::done:
        break;
    }
  }

 private:
  static constexpr std::uint64_t kWordsAhead = 1;

  [[nodiscard]] WARREN_HD std::uint64_t first_word() const { return out.first / kWordBits; }
  [[nodiscard]] WARREN_HD std::uint64_t own_words() const {
    return out.count == 0
               ? 0
               : (std::uint64_t{out.first} + out.count - 1) / kWordBits + 1 - first_word();
  }
  [[nodiscard]] WARREN_HD BitmapWord own_mask(std::uint64_t word) const {
    return range_mask(word, out.first, std::uint64_t{out.first} + out.count);
  }
  [[nodiscard]] WARREN_HD bool owns(Vertex v) const { return v - out.first < out.count; }
  /// Queue entries of a vertex that was reached. Where every edge has its reverse, a vertex of one
  /// edge leads nowhere but back: its list is not worth a read of far memory.
  [[nodiscard]] WARREN_HD std::uint32_t entries_of(EdgeOffset degree) const {
    if constexpr (Adjacency::kIsFar) {
      if (is_symmetric && degree == 1) return 0;
    }
    return pieces_of(degree);
  }
  /// The calling warp's, in the scratch.
  template <class Grid>
  [[nodiscard]] WARREN_HD static Stage& stage_of(const Grid& grid) {
    const auto block = grid.block_worker();
    return block.template scratch<Stage>()[block.lane() / Grid::kWarpLanes];
  }

  template <class Grid>
  WARREN_HD void reset(Grid& grid) const {
    grid.template for_each<exec::Thread>(words, [&](auto&, std::uint64_t w) {
      const bool own = w >= first_word() && w < first_word() + own_words();
      seen[w] =
          own && zero_in_degree != nullptr ? zero_in_degree[w - first_word()] & own_mask(w) : 0u;
    });
    grid.template for_each<exec::Thread>(out.count, [&](auto&, std::uint64_t row) {
      const EdgeOffset degree = kVisitHoldsDegree ? out.degree(static_cast<Vertex>(row)) : 0;
      visit[row] = {degree < kNoVertex ? static_cast<Vertex>(degree) : kNoVertex, kNoVertex};
    });
    if (grid.block() == 0) {
      grid.block_worker().for_each(3, [&](std::uint64_t i) { queue_count[i] = 0; });
      grid.block_worker().for_each(2 * kMaxRanks, [&](std::uint64_t i) { update_counts[i] = 0; });
    }
  }

  template <class Grid>
  WARREN_HD void seed(Grid& grid) const {
    if (grid.block() != 0) return;
    const auto worker = grid.block_worker();
    if (worker.lane() == 0) seen[source / kWordBits] |= bit_of(source);
    if (!owns(source)) return;
    const Vertex row = source - out.first;
    const std::uint32_t pieces = pieces_of(out.degree(row));
    worker.for_each(pieces, [&](std::uint64_t p) {
      queue[0][p] = {source, static_cast<std::uint32_t>(p)};
    });
    if (worker.lane() == 0) {
      visit[row] = {0, source};
      queue_count[0] = pieces;
    }
    grid.sum(kFrontierVertices, worker.lane() == 0 ? 1 : 0);
    grid.sum(kFrontierEdges, worker.lane() == 0 ? out.degree(row) : 0);
  }

  /// The same of several sources, each its own parent.
  template <class Grid>
  WARREN_HD void seed_all(Grid& grid) const {
    using WorkerType = typename Grid::Warp;
    constexpr std::uint32_t kLanes = Grid::kWarpLanes;
    QueueWriter<WorkerType> writer(queue[0], queue_count);
    std::uint64_t vertices = 0;
    std::uint64_t edges = 0;
    grid.template for_each<exec::Warp>((source_count + kLanes - 1) / kLanes,
                                       [&](const WorkerType& worker, std::uint64_t task) {
                                         const std::uint64_t index = task * kLanes + worker.lane();
                                         const Vertex v = index < source_count ? sources[index] : 0;
                                         std::uint32_t pieces = 0;
                                         if (index < source_count) {
                                           exec::atomic_or(seen[v / kWordBits], bit_of(v));
                                           if (owns(v)) {
                                             const EdgeOffset degree = out.degree(v - out.first);
                                             visit[v - out.first] = {0, v};
                                             pieces = pieces_of(degree);
                                             ++vertices;
                                             edges += degree;
                                           }
                                         }
                                         writer.put(worker, v, pieces);
                                       });
    writer.finish();
    grid.sum(kFrontierVertices, vertices);
    grid.sum(kFrontierEdges, edges);
  }

  /// Counts own targets that are reached.
  template <class Grid>
  WARREN_HD void check(Grid& grid) const {
    std::uint64_t found = 0;
    grid.template for_each<exec::Thread>(target_count, [&](auto&, std::uint64_t i) {
      if (owns(targets[i]) && visit[targets[i] - out.first].parent != kNoVertex) ++found;
    });
    grid.sum(kReachedTargets, found);
  }

  template <class Grid>
  WARREN_HD void push_level(Grid& grid, const State& state) const {
    const std::uint64_t entries = queue_count[state.slot % 3];
    if constexpr (!Adjacency::kIsFar) {
      if (ranks == 1 && SmallFrontier::fits(grid.cluster_blocks(), entries, state.frontier_edges)) {
        if (grid.block() < grid.cluster_blocks()) run_small_levels(grid, *this, state, entries);
        return;
      }
    }
    push(grid, state, entries);
    end_push(grid, state);
  }

  /// Makes ready what the next push will fill.
  template <class Grid>
  WARREN_HD void end_push(Grid& grid, const State& state) const {
    if (grid.block() != 0) return;
    const auto worker = grid.block_worker();
    worker.for_each(kMaxRanks, [&](std::uint64_t q) {
      update_counts[(state.slot + 1) % 2 * kMaxRanks + q] = 0;
    });
    if (worker.lane() == 0) queue_count[(state.slot + 2) % 3] = 0;
    grid.sum(kLevels, worker.lane() == 0 ? 1 : 0);
  }

  /// Warps take as many entries at a time as there are lanes, fewer where there would be idle
  /// warps.
  template <class Grid>
  WARREN_HD void push(Grid& grid, const State& state, std::uint64_t entries) const {
    using WorkerType = typename Grid::Warp;
    constexpr std::uint32_t kLanes = Grid::kWarpLanes;
    const std::uint64_t warps = grid.template workers<exec::Warp>();
    std::uint64_t share_out = (entries + warps - 1) / warps;
    const auto per_task = static_cast<std::uint32_t>(share_out < 1        ? 1
                                                     : share_out > kLanes ? kLanes
                                                                          : share_out);
    Pusher<WorkerType> pusher(*this, state, stage_of(grid));
    grid.template for_each<exec::Warp>(
        (entries + per_task - 1) / per_task, [&](const WorkerType& worker, std::uint64_t task) {
          const std::uint64_t index = task * per_task + worker.lane();
          graph::ListPiece piece;
          if (worker.lane() < per_task && index < entries)
            piece = piece_of(out, queue[state.slot % 2][index]);
          if constexpr (kLanes == 1 && !Adjacency::kIsFar)
            load_ahead(out, queue[state.slot % 2], index, entries);
          pusher.push(worker, piece);
        });
    pusher.finish(grid);
  }

  /// A push from the frontier's bitmap.
  template <class Grid>
  WARREN_HD void push_by_address(Grid& grid, const State& state) const {
    using WorkerType = typename Grid::Warp;
    Pusher<WorkerType> pusher(*this, state, stage_of(grid));
    for_marked_by_address(grid, out, chunks, next_bitmap(state),
                          [&](const WorkerType& worker, const graph::ListPiece& piece) {
                            pusher.push(worker, piece);
                          });
    pusher.finish(grid);
    end_push(grid, state);
  }

  /// What the lanes of a worker push, and what they have counted.
  template <class W>
  class Pusher {
   public:
    WARREN_HD Pusher(const BfsProgram& program, const State& state, Stage& stage)
        : program_(program),
          state_(state),
          stage_(stage),
          writer_(program.queue[(state.slot + 1) % 2], program.queue_count + (state.slot + 1) % 3) {
    }

    /// Every lane brings a piece of the list of a vertex in the frontier.
    WARREN_HD void push(const W& worker, const graph::ListPiece& piece) {
      if constexpr (std::is_same_v<W, exec::Serial> && !Adjacency::kIsFar) {
        push_alone(piece);
      } else {
        bytes_ += program_.out_lists.expand(
            worker, stage_, piece, [&](bool active, std::uint32_t owner, Vertex to) {
              const Vertex from = worker.broadcast(piece.row, owner) + program_.out.first;
              const bool is_new = active && claim_bit(program_.seen, to);
              const std::uint32_t pieces = is_new && program_.owns(to) ? enter(to, from) : 0;
              if (program_.ranks > 1) {
                program_.send(worker, is_new && !program_.owns(to), to, from, state_.slot % 2);
              }
              writer_.put(worker, to, pieces);
            });
      }
    }

    /// One thread's form: first claims all neighbours of the piece, then enters those it got. On a
    /// CPU an atomic operation waits for the stores before it, so that claims among the entries
    /// would have the cache misses of those one at a time.
    void push_alone(const graph::ListPiece& piece) {
      const Vertex from = piece.row + program_.out.first;
      Vertex got[kPieceEdges];
      std::uint32_t count = 0;
      for (std::uint32_t k = 0; k < piece.length; ++k) {
        const Vertex to = program_.out.targets[piece.begin + k];
        if (!claim_bit(program_.seen, to)) continue;
        if (program_.owns(to)) {
          exec::prefetch(&program_.visit[to - program_.out.first]);
          got[count++] = to;
        } else {
          program_.send(exec::Serial{}, true, to, from, state_.slot % 2);
        }
      }
      for (std::uint32_t i = 0; i < count; ++i)
        writer_.put(exec::Serial{}, got[i], enter(got[i], from));
    }

    template <class Grid>
    WARREN_HD void finish(Grid& grid) {
      writer_.finish();
      grid.sum(kFrontierVertices, new_vertices_);
      grid.sum(kFrontierEdges, new_edges_);
      if constexpr (Adjacency::kIsFar) grid.sum(kFarBytes, bytes_);
    }

   private:
    /// The number of entries that the vertex takes in the queue.
    WARREN_HD std::uint32_t enter(Vertex to, Vertex from) {
      const EdgeOffset degree = program_.reach(to - program_.out.first, state_.level + 1, from);
      ++new_vertices_;
      new_edges_ += degree;
      return program_.entries_of(degree);
    }

    const BfsProgram& program_;
    const State& state_;
    Stage& stage_;
    QueueWriter<W> writer_;
    std::uint64_t new_vertices_ = 0;
    std::uint64_t new_edges_ = 0;
    std::uint64_t bytes_ = 0;
  };

  WARREN_HD EdgeOffset reach(Vertex row, std::uint32_t level, Vertex from) const {
    const Vertex degree = kVisitHoldsDegree ? visit[row].depth : kNoVertex;
    visit[row] = {level, from};
    return degree != kNoVertex ? degree : out.degree(row);
  }

  /// Sends the lanes' vertices to their owners. The lanes reserve room together, once for each
  /// owner: one counter taken by every lane on its own would be the bottleneck of a hub's level.
  template <class W>
  WARREN_HD void send(const W& worker, bool has_update, Vertex to, Vertex from,
                      std::uint32_t parity) const {
    if (!worker.any(has_update)) return;
    int owner = 0;
    for (int p = 1; p < ranks; ++p) owner += to >= cuts[p] ? 1 : 0;
    for (int q = 0; q < ranks; ++q) {
      const bool mine = has_update && owner == q;
      if (!worker.any(mine)) continue;
      const std::uint32_t before = worker.exclusive_scan(mine ? 1u : 0u);
      std::uint64_t base = 0;
      if (worker.lane() == worker.size() - 1) {
        base = exec::atomic_add(update_counts[parity * kMaxRanks + static_cast<std::uint32_t>(q)],
                                std::uint64_t{before} + (mine ? 1u : 0u));
      }
      base = worker.broadcast(base, worker.size() - 1) + before;
      if (mine) send_buffer[cuts[q] + base] = {to, from};
    }
  }

  /// The tasks are the ranks' updates for this one, laid end to end in pieces of a warp's lanes.
  template <class Grid>
  WARREN_HD void receive(Grid& grid, const State& state) const {
    using WorkerType = typename Grid::Warp;
    constexpr std::uint32_t kLanes = Grid::kWarpLanes;
    const std::uint32_t parity = (state.slot + 1) % 2;  // push has moved the slot on.
    std::uint64_t tasks = 0;
    for (int p = 0; p < ranks; ++p) tasks += update_tasks(p, parity, kLanes);
    QueueWriter<WorkerType> writer(queue[state.slot % 2], queue_count + state.slot % 3);
    std::uint64_t new_vertices = 0;
    std::uint64_t new_edges = 0;
    grid.template for_each<exec::Warp>(tasks, [&](const WorkerType& worker, std::uint64_t task) {
      int p = 0;
      for (std::uint64_t here = update_tasks(0, parity, kLanes); task >= here;
           here = update_tasks(p, parity, kLanes)) {
        task -= here;
        ++p;
      }
      const std::uint64_t index = task * kLanes + worker.lane();
      std::uint32_t pieces = 0;
      QueueEntry update{0, 0};
      if (index < update_counts_of[p][parity * kMaxRanks + static_cast<std::uint32_t>(rank)]) {
        update = send_buffer_of[p][cuts[rank] + index];
        if (claim_bit(seen, update.vertex)) {
          const EdgeOffset degree = reach(update.vertex - out.first, state.level + 1, update.piece);
          pieces = entries_of(degree);
          ++new_vertices;
          new_edges += degree;
        }
      }
      writer.put(worker, update.vertex, pieces);
    });
    writer.finish();
    grid.sum(kFrontierVertices, new_vertices);
    grid.sum(kFrontierEdges, new_edges);
  }

  [[nodiscard]] WARREN_HD std::uint64_t update_tasks(int p, std::uint32_t parity,
                                                     std::uint32_t lanes) const {
    if (p == rank) return 0;
    return (update_counts_of[p][parity * kMaxRanks + static_cast<std::uint32_t>(rank)] + lanes -
            1) /
           lanes;
  }

  [[nodiscard]] WARREN_HD BitmapWord* next_bitmap(const State& state) const {
    return ranks > 1 ? bitmap[1] : bitmap[state.flip ^ 1u];
  }
  [[nodiscard]] WARREN_HD const BitmapWord* front_bitmap(const State& state) const {
    return ranks > 1 ? bitmap[0] : bitmap[state.flip];
  }

  template <class Grid>
  WARREN_HD void clear_bitmap(Grid& grid, const State& state) const {
    BitmapWord* next = next_bitmap(state);
    grid.template for_each<exec::Thread>(
        own_words(), [&](auto&, std::uint64_t w) { next[first_word() + w] = 0; });
  }

  template <class Grid>
  WARREN_HD void queue_to_bitmap(Grid& grid, const State& state) const {
    BitmapWord* next = next_bitmap(state);
    grid.template for_each<exec::Thread>(queue_count[state.slot % 3], [&](auto&, std::uint64_t i) {
      const QueueEntry entry = queue[state.slot % 2][i];
      if (entry.piece == 0) exec::atomic_or(next[entry.vertex / kWordBits], bit_of(entry.vertex));
    });
  }

  template <class Grid>
  WARREN_HD void all_gather(Grid& grid) const {
    grid.template for_each<exec::Thread>(words, [&](auto&, std::uint64_t w) {
      // A word at a cut has several owners, each of whom set its own bits.
      BitmapWord value = 0;
      for (int q = 0; q < ranks; ++q) {
        const bool has_bits =
            cuts[q] < cuts[q + 1] && cuts[q] < (w + 1) * kWordBits && cuts[q + 1] > w * kWordBits;
        if (has_bits) value |= next_of[q][w];
      }
      bitmap[0][w] = value;
      seen[w] |= value;  // Nobody need be sent what all know to be reached.
    });
  }

  template <class Grid>
  WARREN_HD void pull(Grid& grid, const State& state) const {
    using WorkerType = typename Grid::Warp;
    const BitmapWord* front = front_bitmap(state);
    BitmapWord* next = next_bitmap(state);
    std::uint64_t new_vertices = 0;
    std::uint64_t new_edges = 0;
    std::uint64_t bytes = 0;
    Stage& stage = stage_of(grid);
    grid.template for_each<exec::Warp>(own_words(), [&](const WorkerType& worker, std::uint64_t w) {
      const std::uint64_t word = first_word() + w;
      const BitmapWord wanted = ~seen[word] & own_mask(word);
      if constexpr (Grid::kWarpLanes == 1 && !Adjacency::kIsFar) load_lists(word + kWordsAhead);
      BitmapWord found = 0;
      if (wanted != 0) {
        const auto look = [&](std::uint32_t bit, bool want) {
          const auto v = static_cast<Vertex>(word * kWordBits + bit);
          const Vertex from = in_lists.find(
              worker, stage, want, v - out.first, [&](Vertex u) { return test_bit(front, u); },
              bytes);
          if (from == kNoVertex) return;
          const EdgeOffset degree = reach(v - out.first, state.level + 1, from);
          found |= BitmapWord{1} << bit;
          ++new_vertices;
          new_edges += degree;
        };
        if constexpr (Grid::kWarpLanes == 1) {
          for_each_bit(wanted, [&](std::uint32_t bit) { look(bit, true); });
        } else {
          worker.for_each(kWordBits, [&](std::uint64_t bit) {
            look(static_cast<std::uint32_t>(bit), (wanted >> bit & 1u) != 0);
          });
        }
        found = worker.reduce(found, BitOr{});
      }
      if (worker.lane() == 0) {
        if (found != 0) exec::atomic_store(seen[word], seen[word] | found);
        next[word] = found;
      }
    });
    grid.sum(kFrontierVertices, new_vertices);
    grid.sum(kFrontierEdges, new_edges);
    if constexpr (Adjacency::kIsFar) grid.sum(kFarBytes, bytes);
  }

  /// Starts the loads of the lists that a pull will look at in a word to come.
  void load_lists(std::uint64_t word) const {
    if (word >= first_word() + own_words()) return;
    for_each_bit(~exec::atomic_load(seen[word]) & own_mask(word), [&](std::uint32_t bit) {
      const auto v = static_cast<Vertex>(word * kWordBits + bit);
      exec::prefetch(in_lists.csr.targets + in_lists.csr.begin(v - out.first));
    });
  }

  template <class Grid>
  WARREN_HD void bitmap_to_queue(Grid& grid, const State& state) const {
    using WorkerType = typename Grid::Warp;
    const BitmapWord* next = next_bitmap(state);
    QueueWriter<WorkerType> writer(queue[(state.slot + 1) % 2], queue_count + (state.slot + 1) % 3);
    grid.template for_each<exec::Warp>(own_words(), [&](const WorkerType& worker, std::uint64_t w) {
      const std::uint64_t word = first_word() + w;
      const BitmapWord set = next[word];
      if (set == 0) return;
      const auto put = [&](std::uint32_t bit, bool is_in) {
        const auto v = static_cast<Vertex>(word * kWordBits + bit);
        writer.put(worker, v, is_in ? entries_of(out.degree(v - out.first)) : 0);
      };
      if constexpr (Grid::kWarpLanes == 1) {
        for_each_bit(set, [&](std::uint32_t bit) { put(bit, true); });
      } else {
        worker.for_each(kWordBits, [&](std::uint64_t bit) {
          put(static_cast<std::uint32_t>(bit), (set >> bit & 1u) != 0);
        });
      }
    });
    writer.finish();
    if (grid.block() == 0) {
      const auto worker = grid.block_worker();
      if (worker.lane() == 0) queue_count[(state.slot + 2) % 3] = 0;
      worker.for_each(kMaxRanks, [&](std::uint64_t q) {
        update_counts[(state.slot + 1) % 2 * kMaxRanks + q] = 0;
      });
    }
  }
};

}  // namespace warren::traverse
