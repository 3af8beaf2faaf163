// SPDX-License-Identifier: Apache-2.0
// One step of SSSP within a bin: entries of a queue relax the edges to their neighbours. What falls
// in the current bin again is worked off at once by the block that found it, out of a list in its
// scratch and in rounds of its own, as long as the step is small: thousands of dependent steps of a
// road network then need no barrier of the device (bucket fusion: Zhang et al., Optimizing Ordered
// Graph Algorithms with GraphIt, CGO 2020). Large steps put it in a queue that all blocks share.
#pragma once

#include "traverse/common/ordered_push.hpp"
#include "traverse/sssp/sssp_edges.hpp"
#include "traverse/sssp/sssp_updates.hpp"
#include "traverse/sssp/sssp_writer.hpp"

namespace warren::traverse {

/// A block's scratch.
template <class Word>
struct SsspScratch {
  static constexpr std::uint32_t kEntries = 1024;
  static constexpr std::uint32_t kMaxWarps = 16;

  struct Entry {
    Word distance;  ///< As it was found: an entry that was improved since is dropped.
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
        writer_(targets_, scratch_.stage[block_.lane() / kLanes]),
        edges_(program) {}

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
    if (program_.goes_by_address(state_)) {
      relax_by_address();
    } else {
      work_off(list, entries);
    }
    if (is_fused_) run_rounds();
    finish(state_.is_first && grid_.block() == 0 && block_.lane() == 0 ? entries : 0);
  }

  /// What other ranks relax of this one's: the tasks are their updates, laid end to end.
  WARREN_HD void receive() {
    // Relaxing has moved the slot on.
    for_updates(grid_, program_, (state_.slot + 1) % 2, program_.distances_by_windows,
                [&](const WarpType& worker, Vertex to, Word distance) {
                  relax_edge(worker, to, distance);
                });
    finish(0);
  }

 private:
  static constexpr std::uint32_t kLanes = Grid::kWarpLanes;
  static constexpr std::uint32_t kFusedEntries = 16;  ///< A block.

  [[nodiscard]] WARREN_HD std::uint32_t bin_of(Word distance) const {
    return sssp_bin<Metric>(base_, distance, program_.inverse_delta);
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
  WARREN_HD void relax_by_address() {
    for_marked_by_address(
        grid_, program_.out, program_.chunks, program_.in_bin[state_.flip],
        [&](const WarpType& worker, graph::ListPiece piece) {
          Word distance = 0;
          if (piece.length > 0)
            distance = exec::atomic_load(program_.distance[program_.out.first + piece.row]);
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

  WARREN_HD void relax(const WarpType& worker, Word distance, const graph::ListPiece& piece) {
    edges_.relax(worker, distance, piece, [this](const WarpType& w, Vertex to, Word tentative) {
      relax_edge(w, to, tentative);
    });
  }

  /// Every lane calls, with kUnreached for nothing.
  WARREN_HD void relax_edge(const WarpType& worker, Vertex to, Word tentative) {
    bool is_improved = false;
    Word before = Metric::kUnreached;
    if (tentative < program_.bound) {
      before = exec::atomic_min(program_.distance[to], tentative);
      is_improved = tentative < before;
    }
    if (!worker.any(is_improved)) return;
    std::uint32_t queue = kNoQueue;
    if (is_improved && program_.ranks > 1 && !program_.owns(to)) {
      if (claim_bit(program_.sent, to)) queue = kRemoteQueue;
    } else if (is_improved) {
      queue = queue_for(tentative, before);
    }
    if (is_fused_ && worker.any(queue == kAgainQueue)) queue = keep(worker, to, tentative, queue);
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

  WARREN_HD void finish(std::uint64_t taken) {
    const WarpType worker;
    writer_.finish(worker);
    // Every lane of a warp has counted the warp's entries, for itself those that it put.
    grid_.sum(kBinned, writer_.have_put().binned);
    grid_.sum(kAgain, writer_.have_put().again);
    grid_.sum(kFar, writer_.have_put().far);
    grid_.sum(kTaken, taken);
    grid_.sum(kEdges, edges_.edges());
    grid_.sum(kOverflow, edges_.overflows());
    if constexpr (Program::kPacked) grid_.sum(kSsspFarBytes, edges_.far_bytes());
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
  SsspEdges<WarpType, Program> edges_;
};

}  // namespace warren::traverse
