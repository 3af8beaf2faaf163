// SPDX-License-Identifier: Apache-2.0
// Levels of a small frontier, run by one cluster of blocks alone: the frontier stays in the blocks'
// scratch, with each vertex' edge range, and a level costs a barrier of the cluster instead of one
// of the device. Road networks and grids, whose thousands of levels hold few vertices, spend nearly
// all their time here.
//
// Each block deals what it finds out to all blocks of the cluster in turn, so that they stay
// equally full. A block's frontier is cut in as many segments as the cluster has blocks: each block
// writes its own segment in every block's scratch, and no two blocks contend.
#pragma once

#include "traverse/bfs/bfs_state.hpp"
#include "traverse/common/bitmap.hpp"
#include "traverse/common/frontier_queue.hpp"

namespace warren::traverse {

/// One block's part of two frontiers, in its scratch.
struct SmallFrontier {
  static constexpr std::uint32_t kMaxBlocks = 8;
  static constexpr std::uint32_t kEntries = 512;  ///< A block, a frontier.
  static constexpr std::uint32_t kBatch = 4;      ///< Edges that a lane has in flight.

  struct alignas(16) Entry {
    EdgeOffset begin;
    Vertex vertex;
    std::uint32_t length;
  };
  struct alignas(8) Count {
    std::uint32_t held;   ///< Entries in this block's segment that another block writes.
    std::uint32_t found;  ///< Entries that the other block made for all.
  };

  Entry entry[2][kEntries];
  Vertex parent[2][kEntries];
  Count count[2][kMaxBlocks];
  std::uint32_t spilled[2];  ///< Some block of the cluster had no room.
  std::uint32_t made[2];     ///< Entries that this block has made, by level.

  static const std::uint32_t kBytes;

  /// Whether a cluster takes a frontier on: half full at most, so that it can grow, and without
  /// lists that few lanes would be long over.
  [[nodiscard]] WARREN_HD static bool fits(std::uint32_t blocks, std::uint64_t entries,
                                           std::uint64_t edges) {
    return entries <= blocks * kEntries / 2 && edges <= blocks * kEntries * kBatch;
  }
};
inline constexpr std::uint32_t SmallFrontier::kBytes = sizeof(SmallFrontier);

/// Runs levels while they stay small, by the threads of one cluster.
template <class Grid, class Program>
class SmallLevels {
 public:
  WARREN_HD SmallLevels(Grid& grid, const Program& program, const BfsState& state)
      : grid_(grid),
        program_(program),
        state_(state),
        block_(grid.block_worker()),
        small_(*block_.template scratch<SmallFrontier>()),
        blocks_(grid.cluster_blocks()),
        me_(grid.cluster_rank()),
        shift_(log2_of(blocks_)),
        segment_(SmallFrontier::kEntries >> shift_),
        queue_(program.queue[(state.slot + 1) % 2]),
        queue_count_(program.queue_count + (state.slot + 1) % 3) {}

  /// `entries` stand in the queue. Leaves the frontier that it ends with in the queue's next slot,
  /// and adds the levels, and that frontier's vertices and edges, to the step's sums.
  WARREN_HD void run(std::uint64_t entries) {
    load(entries);
    grid_.cluster_sync();
    std::uint32_t level = 0;
    std::uint64_t earlier = 0;
    for (bool go_on = true; go_on; ++level) {
      earlier += level > 0 ? new_vertices_ : 0;
      new_vertices_ = 0;
      new_edges_ = 0;
      scan(level);
      publish(level);
      grid_.cluster_sync_after_block();
      const std::uint32_t then = (level + 1) % 2;
      std::uint32_t found = 0;
      WARREN_UNROLL
      for (std::uint32_t b = 0; b < SmallFrontier::kMaxBlocks; ++b)
        found += b < blocks_ ? small_.count[then][b].found : 0;
      go_on =
          found > 0 && small_.spilled[then] == 0 && state_.level + level + 1 < state_.depth_limit;
    }
    store(level);
    grid_.sum(kFrontierVertices, new_vertices_);
    grid_.sum(kFrontierEdges, new_edges_);
    grid_.sum(kEarlierVertices, earlier);
    grid_.sum(kLevels, me_ == 0 && block_.lane() == 0 ? level : 0);
  }

 private:
  using WarpType = typename Grid::Warp;
  static constexpr std::uint32_t kLanes = Grid::kWarpLanes;
  static constexpr std::uint32_t kLineBytes = 128;

  WARREN_HD static std::uint32_t log2_of(std::uint32_t blocks) {
    std::uint32_t shift = 0;
    while ((1u << shift) < blocks) ++shift;
    return shift;
  }
  [[nodiscard]] WARREN_HD std::uint32_t modulo(std::uint32_t i) const { return i & (blocks_ - 1); }
  /// Of `count` things dealt out in turn, those that the block whose turn is `turn` gets.
  [[nodiscard]] WARREN_HD std::uint32_t dealt(std::uint32_t count, std::uint32_t turn) const {
    return count > turn ? ((count - turn - 1) >> shift_) + 1 : 0;
  }

  /// Entry i of the queue goes to block i mod B, there to segment i / B mod B.
  WARREN_HD void load(std::uint64_t entries) {
    const std::uint64_t mine = entries > me_ ? (entries - me_ + blocks_ - 1) / blocks_ : 0;
    block_.for_each(mine, [&](std::uint64_t j) {
      const QueueEntry queued = program_.queue[state_.slot % 2][j * blocks_ + me_];
      const std::uint64_t at = j % blocks_ * segment_ + j / blocks_;
      const Vertex row = queued.vertex - program_.out.first;
      const EdgeOffset begin = program_.out.begin(row) + std::uint64_t{queued.piece} * kPieceEdges;
      const EdgeOffset rest = program_.out.end(row) - begin;
      small_.entry[0][at] = {begin, queued.vertex,
                             static_cast<std::uint32_t>(rest < kPieceEdges ? rest : kPieceEdges)};
    });
    block_.for_each(blocks_, [&](std::uint64_t s) {
      small_.count[0][s].held =
          static_cast<std::uint32_t>(mine > s ? (mine - s + blocks_ - 1) / blocks_ : 0);
    });
    if (block_.lane() == 0) {
      small_.made[0] = 0;
      small_.made[1] = 0;
      small_.spilled[0] = 0;
      small_.spilled[1] = 0;
      if (me_ == 0) program_.queue_count[(state_.slot + 2) % 3] = 0;
    }
  }

  /// The neighbours of this block's entries: a lane an entry, its first edges in one batch; the
  /// warp together for the rest.
  WARREN_HD void scan(std::uint32_t level) {
    const std::uint32_t now = level % 2;
    // On a GPU all groups of lanes that there may be entries for: to look at every segment's count
    // first would take longer than to find nothing there.
    const std::uint32_t groups =
        kLanes > 1 ? (segment_ + kLanes - 1) / kLanes : small_.count[now][0].held;
    grid_.template block_for_each<WarpType>(
        std::uint64_t{blocks_} * groups, [&](const WarpType& worker, std::uint64_t task) {
          const std::uint32_t from = modulo(static_cast<std::uint32_t>(task));
          const std::uint32_t k =
              (static_cast<std::uint32_t>(task) >> shift_) * kLanes + worker.lane();
          const std::uint32_t at = from * segment_ + k;
          const bool has = k < small_.count[now][from].held;
          if (!worker.any(has)) return;
          const SmallFrontier::Entry entry =
              has ? small_.entry[now][at] : SmallFrontier::Entry{0, 0, 0};
          visit_batch(worker, entry.vertex, entry.begin,
                      entry.length < SmallFrontier::kBatch ? entry.length : SmallFrontier::kBatch,
                      level);
          if (has && level > 0) record(now, at, level);
          const std::uint32_t rest =
              entry.length > SmallFrontier::kBatch ? entry.length - SmallFrontier::kBatch : 0;
          if (!worker.any(rest != 0)) return;
          worker.expand(rest, [&](bool active, std::uint32_t owner, std::uint32_t j) {
            const EdgeOffset edge =
                worker.broadcast(entry.begin, owner) + SmallFrontier::kBatch + j;
            const Vertex source = worker.broadcast(entry.vertex, owner);
            const bool open = active && !test_bit_now(program_.out.targets[edge]);
            visit_batch(worker, source, edge, open ? 1 : 0, level);
          });
        });
  }

  /// Writes an entry's depth and parent. Done a level late, where nobody waits for the stores:
  /// before a barrier they would hold it up.
  WARREN_HD void record(std::uint32_t which, std::uint32_t at, std::uint32_t level) const {
    const Vertex row = small_.entry[which][at].vertex - program_.out.first;
    program_.visit[row] = {state_.level + level, small_.parent[which][at]};
  }

  [[nodiscard]] WARREN_HD bool test_bit_now(Vertex v) const {
    return (exec::atomic_load(program_.seen[v / kWordBits]) & bit_of(v)) != 0;
  }

  /// Up to a batch of one vertex' edges. All loads of a batch are in flight together, and the
  /// neighbours' edge ranges are loaded along with the claims: a level is a chain of two dependent
  /// accesses. All lanes of the warp come here together and reserve room together.
  WARREN_HD void visit_batch(const WarpType& worker, Vertex from, EdgeOffset begin,
                             std::uint32_t count, std::uint32_t level) {
    Vertex to[SmallFrontier::kBatch];
    BitmapWord before[SmallFrontier::kBatch];
    EdgeOffset first[SmallFrontier::kBatch];
    EdgeOffset last[SmallFrontier::kBatch];
    WARREN_UNROLL
    for (std::uint32_t j = 0; j < SmallFrontier::kBatch; ++j) {
      to[j] = j < count ? exec::load_with_line(program_.out.targets + begin + j) : kNoVertex;
    }
    // Nothing of a batch is looked at before all of it is under way: a lane waits once, not once an
    // edge.
    WARREN_UNROLL
    for (std::uint32_t j = 0; j < SmallFrontier::kBatch; ++j) {
      first[j] = 0;
      last[j] = 0;
      before[j] = ~BitmapWord{0};
      if (to[j] == kNoVertex) continue;
      const EdgeOffset* range = program_.out.offsets + (to[j] - program_.out.first);
      first[j] = exec::load_with_line(range);
      last[j] = exec::load_with_line(range + 1);
      before[j] = exec::atomic_or(program_.seen[to[j] / kWordBits], bit_of(to[j]));
    }
    std::uint32_t found = 0;
    WARREN_UNROLL
    for (std::uint32_t j = 0; j < SmallFrontier::kBatch; ++j)
      found += (before[j] & bit_of(to[j])) == 0 ? 1u : 0u;
    if (!worker.any(found != 0)) return;
    const std::uint32_t others = worker.exclusive_scan(found);
    std::uint32_t at = 0;
    if (worker.lane() == kLanes - 1)
      at = exec::atomic_add<exec::Order::relaxed, exec::Scope::block>(small_.made[level % 2],
                                                                      others + found);
    at = worker.broadcast(at, kLanes - 1) + others;
    WARREN_UNROLL
    for (std::uint32_t j = 0; j < SmallFrontier::kBatch; ++j) {
      if ((before[j] & bit_of(to[j])) == 0)
        add(at++, to[j], from, first[j], last[j] - first[j], level);
    }
  }

  /// Entry `at` of this block's, a vertex just reached.
  WARREN_HD void add(std::uint32_t at, Vertex vertex, Vertex from, EdgeOffset begin,
                     EdgeOffset degree, std::uint32_t level) {
    ++new_vertices_;
    new_edges_ += static_cast<std::uint32_t>(degree);
    // What the next levels read stands, as a rule, here or on the lines behind.
    exec::prefetch(program_.out.targets + begin);
    const Vertex row = vertex - program_.out.first;
    if (row + kLineBytes / sizeof(EdgeOffset) < program_.out.count)
      exec::prefetch(program_.out.offsets + row + kLineBytes / sizeof(EdgeOffset));
    const std::uint32_t then = (level + 1) % 2;
    const bool fits = at < blocks_ * segment_;
    if (fits) {
      SmallFrontier& target = *grid_.cluster_peer(&small_, modulo(at + me_));
      const std::uint32_t slot = me_ * segment_ + (at >> shift_);
      // A list of several pieces goes through the queue, and ends the cluster's work: it wants the
      // whole device.
      target.entry[then][slot] = {begin, vertex,
                                  degree <= kPieceEdges ? static_cast<std::uint32_t>(degree) : 0};
      target.parent[then][slot] = from;
    } else {
      program_.visit[vertex - program_.out.first] = {state_.level + level + 1, from};
    }
    const bool is_queued = !fits || degree > kPieceEdges;
    // So does a target: the search may be over.
    if (is_queued || (program_.is_target != nullptr && test_bit(program_.is_target, vertex))) {
      for (std::uint32_t b = 0; b < blocks_; ++b) grid_.cluster_peer(&small_, b)->spilled[then] = 1;
    }
    if (is_queued) {
      const std::uint32_t pieces = pieces_of(degree);
      const std::uint64_t first = exec::atomic_add(*queue_count_, std::uint64_t{pieces});
      for (std::uint32_t p = 0; p < pieces; ++p) queue_[first + p] = {vertex, p};
    }
  }

  /// Tells every block of the cluster how many entries it got from this one. The block meets first.
  WARREN_HD void publish(std::uint32_t level) {
    const std::uint32_t then = (level + 1) % 2;
    block_.sync();
    const std::uint32_t made =
        small_.made[level % 2] < blocks_ * segment_ ? small_.made[level % 2] : blocks_ * segment_;
    block_.for_each(blocks_, [&](std::uint64_t b) {
      const auto to = static_cast<std::uint32_t>(b);
      grid_.cluster_peer(&small_, to)->count[then][me_] = {dealt(made, modulo(to - me_)), made};
    });
    if (block_.lane() == 0) small_.made[then] = 0;
  }

  /// This block's entries of the last frontier, back to the queue.
  WARREN_HD void store(std::uint32_t level) {
    const std::uint32_t which = level % 2;
    for (std::uint32_t from = 0; from < blocks_; ++from) {
      block_.for_each(small_.count[which][from].held, [&](std::uint64_t k) {
        const std::uint32_t at = from * segment_ + static_cast<std::uint32_t>(k);
        record(which, at, level);
        if (small_.entry[which][at].length == 0) return;
        queue_[exec::atomic_add(*queue_count_, std::uint64_t{1})] = {small_.entry[which][at].vertex,
                                                                     0};
      });
    }
  }

  Grid& grid_;
  const Program& program_;
  const BfsState& state_;
  decltype(std::declval<Grid&>().block_worker()) block_;
  SmallFrontier& small_;
  std::uint32_t blocks_;
  std::uint32_t me_;
  std::uint32_t shift_;  ///< blocks_ is a power of two: a division would cost more than a claim.
  std::uint32_t segment_;
  QueueEntry* queue_;
  std::uint64_t* queue_count_;
  std::uint32_t new_vertices_ = 0;
  std::uint32_t new_edges_ = 0;  ///< Of one level, by one thread.
};

template <class Grid, class Program>
WARREN_HD void run_small_levels(Grid& grid, const Program& program, const BfsState& state,
                                std::uint64_t entries) {
  SmallLevels<Grid, Program>(grid, program, state).run(entries);
}

}  // namespace warren::traverse
