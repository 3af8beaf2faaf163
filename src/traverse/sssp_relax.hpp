// SPDX-License-Identifier: Apache-2.0
// One step of SSSP within a bin: entries of a queue offer distances to their neighbours. What falls
// in the current bin again is worked off at once by the block that found it, out of a list in its
// scratch and in rounds of its own, as long as the step is small: thousands of dependent steps of a
// road network then need no barrier of the device (bucket fusion: Zhang et al., Optimizing Ordered
// Graph Algorithms with GraphIt, CGO 2020). Large steps put it in a queue that all blocks share.
#pragma once

#include "traverse/sssp_writer.hpp"
#include "traverse/sweep.hpp"

namespace warren::traverse {

/// A block's scratch.
template <class Word>
struct SsspScratch {
  static constexpr std::uint32_t kEntries = 1024;
  static constexpr std::uint32_t kMaxWarps = 16;

  struct Entry {
    Word distance;  ///< As offered: an entry that was bettered since is dropped.
    Vertex vertex;
  };

  Entry entry[2][kEntries];
  std::uint32_t held[2];
  SsspStage stage[kMaxWarps];
};

template <class Grid, class Program>
class SsspRelax {
 public:
  using Metric = typename Program::Metric;
  using Word = typename Metric::Word;
  using WarpType = typename Grid::Warp;

  WARREN_HD SsspRelax(Grid& grid, const Program& program, const SsspState& state)
      : grid_(grid),
        program_(program),
        state_(state),
        block_(grid.block_worker()),
        scratch_(*block_.template scratch<SsspScratch<Word>>()),
        base_(*program.base),
        targets_(program.targets(state)),
        writer_(targets_, scratch_.stage[block_.lane() / kLanes]) {}

  WARREN_HD void run() {
    const QueueEntry* list = state_.is_first ? program_.bins + state_.bin * program_.capacity
                                             : program_.again[state_.slot % 2];
    const std::uint64_t entries =
        state_.is_first ? program_.bin_counts[state_.bin] : program_.again_count[state_.slot % 3];
    is_fused_ = kLanes == 1 || entries <= std::uint64_t{kFusedEntries} * grid_.blocks();
    if (block_.lane() == 0) {
      scratch_.held[0] = 0;
      scratch_.held[1] = 0;
    }
    block_.sync();
    if (program_.sweeps(state_)) {
      sweep();
    } else {
      work_off(list, entries);
    }
    if (is_fused_) run_rounds();
    finish(state_.is_first && grid_.block() == 0 && block_.lane() == 0 ? entries : 0);
  }

  /// What other ranks offer: the tasks are their mail for this one, laid end to end.
  WARREN_HD void receive() {
    const std::uint32_t parity = (state_.slot + 1) % 2;  // Relaxing has moved the slot on.
    std::uint64_t tasks = 0;
    for (int p = 0; p < program_.ranks; ++p) tasks += mail_tasks(p, parity);
    grid_.template for_each<exec::Warp>(tasks, [&](const WarpType& worker, std::uint64_t task) {
      int p = 0;
      for (std::uint64_t here = mail_tasks(0, parity); task >= here; here = mail_tasks(p, parity)) {
        task -= here;
        ++p;
      }
      const std::uint64_t index = task * kLanes + worker.lane();
      const bool has = index < program_.mail_count(p, program_.rank, parity);
      Vertex to = 0;
      Word distance = Metric::kUnreached;
      if (has) {
        to = program_.outbox_of[p][program_.cuts[program_.rank] + index];
        distance = program_.distance_of[p][to];
      }
      offer(worker, to, distance);
    });
    finish(0);
  }

 private:
  static constexpr std::uint32_t kLanes = Grid::kWarpLanes;
  static constexpr std::uint32_t kFusedEntries = 16;           ///< A block.
  static constexpr std::uint32_t kBatch = kLanes > 1 ? 2 : 1;  ///< Edges that a lane has in flight.

  [[nodiscard]] WARREN_HD std::uint32_t bin_of(Word distance) const {
    return sssp_bin<Metric>(base_, distance, program_.inverse_delta);
  }
  [[nodiscard]] WARREN_HD std::uint64_t mail_tasks(int p, std::uint32_t parity) const {
    if (p == program_.rank) return 0;
    return (program_.mail_count(p, program_.rank, parity) + kLanes - 1) / kLanes;
  }

  /// Warps take as many entries at a time as there are lanes, fewer where there would be idle
  /// warps.
  WARREN_HD void work_off(const QueueEntry* list, std::uint64_t entries) {
    const std::uint64_t warps = grid_.template workers<exec::Warp>();
    const std::uint64_t fair = (entries + warps - 1) / warps;
    const auto per_task = static_cast<std::uint32_t>(fair < 1 ? 1 : fair > kLanes ? kLanes : fair);
    grid_.template for_each<exec::Warp>(
        (entries + per_task - 1) / per_task, [&](const WarpType& worker, std::uint64_t task) {
          const std::uint64_t index = task * per_task + worker.lane();
          if constexpr (kLanes == 1 && !Program::kPacked) look_ahead(list, index, entries);
          Word distance = 0;
          graph::ListPiece piece;
          if (worker.lane() < per_task && index < entries) {
            const QueueEntry entry = list[index];
            if (!state_.is_first && entry.piece == 0)
              program_.clear_queued(state_.slot % 2, entry.vertex);
            distance = exec::atomic_load(program_.distance[entry.vertex]);
            // A vertex that has moved to an earlier bin was worked off there.
            if (bin_of(distance) == state_.bin) piece = piece_of(program_.out, entry);
          }
          relax(worker, distance, piece);
        });
  }

  /// Starts the loads of what the entries to come need.
  void look_ahead(const QueueEntry* list, std::uint64_t index, std::uint64_t entries) const {
    load_ahead(program_.out, list, index, entries);
    if (index + kListsAhead >= entries) return;
    const QueueEntry& later = list[index + kListsAhead];
    exec::prefetch(&program_.distance[later.vertex]);
    const EdgeOffset begin = piece_of(program_.out, later).begin;
    exec::prefetch(Metric::weights(program_.out) + begin);
  }

  /// The current bin in the order of its edges' addresses.
  WARREN_HD void sweep() {
    sweep_marked(grid_, program_.out, program_.chunks, program_.in_bin[state_.flip],
                 [&](const WarpType& worker, graph::ListPiece piece) {
                   Word distance = 0;
                   if (piece.length > 0)
                     distance =
                         exec::atomic_load(program_.distance[program_.out.first + piece.row]);
                   if (bin_of(distance) != state_.bin) piece.length = 0;
                   relax(worker, distance, piece);
                 });
  }

  /// The block's own list, until it is empty.
  WARREN_HD void run_rounds() {
    for (std::uint32_t round = 0;; round ^= 1u) {
      block_.sync();
      const std::uint32_t held = scratch_.held[round] < SsspScratch<Word>::kEntries
                                     ? scratch_.held[round]
                                     : SsspScratch<Word>::kEntries;
      if (held == 0) return;
      round_ = round ^ 1u;
      grid_.template block_for_each<WarpType>(
          (held + kLanes - 1) / kLanes, [&](const WarpType& worker, std::uint64_t task) {
            work_off_own(worker, round, static_cast<std::uint32_t>(task) * kLanes + worker.lane(),
                         held);
          });
      block_.sync();
      if (block_.lane() == 0) scratch_.held[round] = 0;
    }
  }

  WARREN_HD void work_off_own(const WarpType& worker, std::uint32_t round, std::uint32_t index,
                              std::uint32_t held) {
    Word distance = 0;
    graph::ListPiece piece;
    std::uint32_t queue = kNoQueue;
    Vertex vertex = 0;
    if (index < held) {
      vertex = scratch_.entry[round][index].vertex;
      distance = scratch_.entry[round][index].distance;
      const Vertex row = vertex - program_.out.first;
      const EdgeOffset begin = program_.out.begin(row);
      const EdgeOffset degree = program_.out.degree(row);
      if (exec::atomic_load(program_.distance[vertex]) == distance) {
        if (degree <= kPieceEdges) {
          piece = {row, begin, static_cast<std::uint32_t>(degree)};
        } else if (program_.claim_queued((state_.slot + 1) % 2, vertex)) {
          queue = kAgainQueue;  // Long lists are for all blocks.
        }
      }
    }
    relax(worker, distance, piece);
    writer_.put(worker, vertex, queue);
  }

  /// Every lane brings a distance and a piece of a list; the lanes together offer distance + weight
  /// along all edges.
  WARREN_HD void relax(const WarpType& worker, Word distance, const graph::ListPiece& piece) {
    edges_ += piece.length;
    if constexpr (Program::kPacked) {
      relax_packed(worker, distance, piece);
    } else if constexpr (kLanes == 1) {
      relax_alone(distance, piece);
    } else {
      relax_plain(worker, distance, piece);
    }
  }

  WARREN_HD void relax_packed(const WarpType& worker, Word distance,
                              const graph::ListPiece& piece) {
    const graph::PackedAdjacency lists{program_.out, program_.packed};
    far_bytes_ += lists.expand_edges(
        worker, piece, [&](bool active, std::uint32_t owner, EdgeOffset edge, Vertex to) {
          const Word from = worker.broadcast(distance, owner);
          Word offered = Metric::kUnreached;
          if (active) {
            offered = Metric::add(from, Metric::weights(program_.out)[edge]);
            if (offered == Metric::kUnreached) ++overflows_;
          }
          if (offered != Metric::kUnreached &&
              offered >= exec::load_maybe_stale(program_.distance[to]))
            offered = Metric::kUnreached;
          offer(worker, to, offered);
        });
  }

  /// One thread's form: first finds the offers that are some, without a branch that could be
  /// guessed wrongly, then makes them: an atomic operation lets no later load start before it is
  /// done.
  void relax_alone(Word distance, const graph::ListPiece& piece) {
    constexpr std::uint32_t kRound = 256;
    Vertex better[kRound];
    Word offers[kRound];
    // Held here, since compilers load members again after an atomic load.
    const Word* const distances = program_.distance;
    std::uint64_t overflows = 0;
    for (std::uint32_t base = 0; base < piece.length; base += kRound) {
      const std::uint32_t round = piece.length - base < kRound ? piece.length - base : kRound;
      const Vertex* to = program_.out.list(piece.begin) + base;
      const auto* weights = Metric::weights(program_.out) + piece.begin + base;
      std::uint32_t count = 0;
      for (std::uint32_t k = 0; k < round; ++k) {
        const Word offered = Metric::add(distance, weights[k]);
        overflows += offered == Metric::kUnreached ? 1 : 0;
        better[count] = to[k];
        offers[count] = offered;
        count += offered < exec::load_maybe_stale(distances[to[k]]) ? 1 : 0;
      }
      for (std::uint32_t i = 0; i < count; ++i) offer(WarpType(), better[i], offers[i]);
    }
    overflows_ += overflows;
  }

  /// The loads of a batch are in flight together.
  WARREN_HD void relax_plain(const WarpType& worker, Word distance, const graph::ListPiece& piece) {
    worker.expand((piece.length + kBatch - 1) / kBatch,
                  [&](bool active, std::uint32_t owner, std::uint32_t k) {
                    const EdgeOffset edge = worker.broadcast(piece.begin, owner) + k * kBatch;
                    const std::uint32_t left = worker.broadcast(piece.length, owner) - k * kBatch;
                    const Word from = worker.broadcast(distance, owner);
                    Vertex to[kBatch];
                    Word offered[kBatch];
                    WARREN_UNROLL
                    for (std::uint32_t j = 0; j < kBatch; ++j) {
                      to[j] = 0;
                      offered[j] = Metric::kUnreached;
                      if (!active || j >= left) continue;
                      to[j] = *program_.out.list(edge + j);
                      offered[j] = Metric::add(from, Metric::weights(program_.out)[edge + j]);
                      if (offered[j] == Metric::kUnreached) ++overflows_;
                    }
                    WARREN_UNROLL
                    for (std::uint32_t j = 0; j < kBatch; ++j) {
                      // A look first: most offers are none.
                      if (offered[j] != Metric::kUnreached &&
                          offered[j] >= exec::load_maybe_stale(program_.distance[to[j]]))
                        offered[j] = Metric::kUnreached;
                    }
                    WARREN_UNROLL
                    for (std::uint32_t j = 0; j < kBatch; ++j) offer(worker, to[j], offered[j]);
                  });
  }

  /// Every lane calls, with kUnreached for nothing.
  WARREN_HD void offer(const WarpType& worker, Vertex to, Word offered) {
    bool is_better = false;
    Word before = Metric::kUnreached;
    if (offered != Metric::kUnreached) {
      before = exec::atomic_min(program_.distance[to], offered);
      is_better = offered < before;
    }
    if (!worker.any(is_better)) return;
    if (program_.ranks > 1) {
      const bool is_foreign = is_better && !program_.owns(to);
      mail(worker, is_foreign && claim_bit(program_.mailed, to), to);
      is_better = is_better && !is_foreign;
    }
    std::uint32_t queue = is_better ? queue_for(offered, before) : kNoQueue;
    if (is_fused_ && worker.any(queue == kAgainQueue)) queue = keep(worker, to, offered, queue);
    if (queue == kAgainQueue && !program_.claim_queued((state_.slot + 1 - is_receiving()) % 2, to))
      queue = kNoQueue;
    writer_.put(worker, to, queue);
  }

  [[nodiscard]] WARREN_HD std::uint32_t is_receiving() const {
    return state_.phase == SsspPhase::receive ? 1u : 0u;
  }

  /// The queue that a vertex belongs to for its new distance, unless the old one has put it there.
  [[nodiscard]] WARREN_HD std::uint32_t queue_for(Word distance, Word before) const {
    const std::uint32_t bin = bin_of(distance);
    if (bin == state_.bin) return kAgainQueue;
    if (before == Metric::kUnreached) return bin < kSsspBins ? bin : kFarQueue;
    return bin < kSsspBins && bin < bin_of(before) ? bin : kNoQueue;
  }

  /// Puts the lanes' vertices of the current bin in the block's own list, as far as there is room.
  WARREN_HD std::uint32_t keep(const WarpType& worker, Vertex vertex, Word distance,
                               std::uint32_t queue) {
    const std::uint32_t count = queue == kAgainQueue ? 1u : 0u;
    const std::uint32_t before = worker.exclusive_scan(count);
    std::uint32_t at = 0;
    if (worker.lane() == kLanes - 1)
      at = exec::atomic_add<exec::Order::relaxed, exec::Scope::block>(scratch_.held[round_],
                                                                      before + count);
    at = worker.broadcast(at, kLanes - 1) + before;
    if (count == 0 || at >= SsspScratch<Word>::kEntries) return queue;
    scratch_.entry[round_][at] = {distance, vertex};
    return kNoQueue;
  }

  /// Mails the lanes' vertices to their owners, who read the distance where this rank keeps it. The
  /// lanes reserve room together.
  WARREN_HD void mail(const WarpType& worker, bool has_mail, Vertex to) {
    if (!worker.any(has_mail)) return;
    int owner = 0;
    for (int p = 1; p < program_.ranks; ++p) owner += to >= program_.cuts[p] ? 1 : 0;
    for (int q = 0; q < program_.ranks; ++q) {
      const bool mine = has_mail && owner == q;
      if (!worker.any(mine)) continue;
      const std::uint32_t before = worker.exclusive_scan(mine ? 1u : 0u);
      std::uint64_t base = 0;
      if (worker.lane() == kLanes - 1) {
        base = exec::atomic_add(
            program_.outbox_count[state_.slot % 2 * kMaxRanks + static_cast<std::uint32_t>(q)],
            std::uint64_t{before} + (mine ? 1u : 0u));
      }
      base = worker.broadcast(base, kLanes - 1) + before;
      if (mine) program_.outbox[program_.cuts[q] + base] = to;
    }
  }

  WARREN_HD void finish(std::uint64_t taken) {
    const WarpType worker;
    writer_.finish(worker);
    // Every lane of a warp has counted the warp's entries, for itself those that it put.
    grid_.sum(kBinned, writer_.have_put().binned);
    grid_.sum(kAgain, writer_.have_put().again);
    grid_.sum(kFar, writer_.have_put().far);
    grid_.sum(kTaken, taken);
    grid_.sum(kEdges, edges_);
    grid_.sum(kOverflow, overflows_);
    if constexpr (Program::kPacked) grid_.sum(kFarBytes, far_bytes_);
  }

  Grid& grid_;
  const Program& program_;
  const SsspState& state_;
  decltype(std::declval<Grid&>().block_worker()) block_;
  SsspScratch<Word>& scratch_;
  Word base_;
  SsspTargets targets_;
  SsspWriter<WarpType> writer_;
  bool is_fused_ = false;
  std::uint32_t round_ = 0;  ///< Which list takes what is found.
  std::uint64_t edges_ = 0;
  std::uint64_t overflows_ = 0;
  std::uint64_t far_bytes_ = 0;  ///< Of compressed lists.
};

}  // namespace warren::traverse
