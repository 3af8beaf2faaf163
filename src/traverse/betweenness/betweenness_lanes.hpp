// SPDX-License-Identifier: Apache-2.0
// Betweenness from eight sources at a time, on the CPU: an escape hatch beside the program for one
// source (betweenness_program.hpp), with the same results. A vertex has a row of eight numbers, a
// lane for each source, which is one line of the cache: an edge that several searches follow in the
// same step is read once for all, and its row is added by SIMD instructions.
//
// Forward, a step is a level of all searches. Where frontiers are small, their rows push their
// numbers of paths on by atomic additions; else every vertex that some search has not yet seen
// pulls those of its in-neighbours. Backward, the rows of a level sum over their out-edges. A byte
// for each vertex says which lanes have it in the level that is read: most edges end there.
//
// Values of even and odd levels lie apart. An in-neighbour of a vertex that a search has not seen
// at level d is at level d or later, so that what it has among the values of d's parity is its
// number of paths at d, or zero; nothing is read while it is written.
//
// Method: Brandes: A Faster Algorithm for Betweenness Centrality, Journal of Mathematical Sociology
// 2001; many searches at once as in Then et al.: The More the Merrier, VLDB 2014; push and pull as
// in Beamer et al.: Direction-Optimizing Breadth-First Search, SC 2012.
#pragma once

#include <cstdint>
#include <cstring>

#include "warren/graph/shard.hpp"
#include "warren/memory/global_array.hpp"
#include "warren/team/program.hpp"

#include "traverse/betweenness/lane_values.hpp"

namespace warren::traverse {

struct BetweennessLanesState {
  enum class Phase : std::uint8_t { clear, begin, push, commit, pull, back, done };
  Phase phase = Phase::clear;
  LaneMask live = 0;  ///< Lanes whose frontier has vertices.
  std::uint32_t level = 0;
  std::uint32_t deepest = 0;     ///< On the way back: the last level.
  std::uint64_t open_edges = 0;  ///< At most so many lead to vertices that some lane has not seen.
  std::uint64_t reached = 0;     ///< Vertices before this level, over the lanes.
  std::uint64_t quarter = 0;     ///< Of the vertices, over the lanes.
  std::uint64_t step = 0;
  bool is_deep = false;  ///< Given up: nothing was added to the scores.
};

struct BetweennessLanes {
  using State = BetweennessLanesState;
  using Phase = State::Phase;
  static constexpr std::uint32_t kThreadsPerBlock = 1;
  static constexpr std::uint32_t kBlocksPerProcessor = 1;
  static constexpr std::uint32_t kScratchBytes = 0;
  static constexpr std::uint32_t kClusterBlocks = 1;
  static constexpr std::uint32_t kLanes = kLaneCount;
  /// Searches that have reached less than a fourth of the vertices at this level are given up:
  /// where frontiers are thin, a vertex is met by one search at a time, and its line is read for
  /// one.
  static constexpr std::uint32_t kDeepLevel = 32;
  /// An edge along which a frontier pushes costs as much as so many that are looked at to pull.
  static constexpr std::uint64_t kPushCost = 8;

  graph::CsrView out, in;
  Vertex source[kLanes] = {};
  std::uint32_t sources = 0;
  /// Rows of kLanes, by a level's parity: the number of paths from the source, and on the way back,
  /// once the vertex was looked at, (1 + delta) / paths.
  memory::GlobalView<double> value[2];
  memory::GlobalView<LaneMask> seen;
  memory::GlobalView<LaneMask> mask[3];      ///< By level modulo 3: the lanes that have it there.
  memory::GlobalView<Vertex> list;           ///< Local rows by level, with their owner.
  memory::GlobalView<std::uint64_t> end;     ///< Of the list; one a rank.
  memory::GlobalView<std::uint64_t> listed;  ///< By level modulo 3; three a rank.
  LaneMask* list_mask = nullptr;             ///< Own, beside the list.
  std::uint64_t* level_begin = nullptr;      ///< Own: where each level begins in the list.
  double* score = nullptr;                   ///< Own vertices, over all sources.

  static bool finished(const State& state) { return state.phase == Phase::done; }
  static State next(State state, const team::Sums& sums);

  template <class Grid>
  void step(Grid& grid, const State& state) const {
    const bool is_first = grid.block() == 0;
    Totals totals;
    switch (state.phase) {
      case Phase::clear:
        clear(grid, is_first);
        break;
      case Phase::begin:
        if (is_first) begin();
        break;
      case Phase::push:
        push(grid, state.level, open_level(state.level, is_first));
        break;
      case Phase::commit:
        commit(grid, state.level, open_level(state.level, is_first), totals);
        break;
      case Phase::pull:
        (void)open_level(state.level, is_first);
        pull(grid, state, totals);
        break;
      case Phase::back:
        back(grid, state);
        break;
      case Phase::done:
        break;
    }
    totals.add_to(grid);
  }

 private:
  enum Slot : std::uint32_t { kFound, kFoundEdges, kOpenEdges, kReached, kLowLanes, kHighLanes };

  /// What one thread finds in a step.
  struct Totals {
    std::uint64_t found = 0, found_edges = 0, open_edges = 0, reached = 0;
    LaneMask lanes = 0;

    void add(LaneMask found_lanes, EdgeOffset degree) {
      ++found;
      found_edges += degree;
      for_each_lane(found_lanes, [&](std::uint32_t) { ++reached; });
      lanes |= found_lanes;
    }
    /// Lanes travel as the number of threads that found each, in 16 bits.
    template <class Grid>
    void add_to(Grid& grid) const {
      grid.sum(kFound, found);
      grid.sum(kFoundEdges, found_edges);
      grid.sum(kOpenEdges, open_edges);
      grid.sum(kReached, reached);
      std::uint64_t threads[2] = {};
      for (std::uint32_t lane = 0; lane < kLanes; ++lane)
        threads[lane / 4] |= std::uint64_t{lanes >> lane & 1u} << lane % 4 * 16;
      grid.sum(kLowLanes, threads[0]);
      grid.sum(kHighLanes, threads[1]);
    }
  };
  static LaneMask lanes_of(const team::Sums& sums) {
    std::uint32_t lanes = 0;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane)
      lanes |= (sums[kLowLanes + lane / 4] >> lane % 4 * 16 & 0xffffu) != 0 ? 1u << lane : 0;
    return static_cast<LaneMask>(lanes);
  }

  struct Segment {
    std::uint64_t first, count;
  };
  /// A level's segment of the own list, which is complete.
  [[nodiscard]] Segment open_level(std::uint32_t level, bool is_first) const {
    const Segment segment{level_begin[level], listed.local(0, level % 3)};
    if (is_first) {
      level_begin[level + 1] = segment.first + segment.count;
      listed.local(0, (level + 2) % 3) = 0;
    }
    return segment;
  }
  [[nodiscard]] Vertex* own_list() const { return list.base[list.rank]; }

  template <class Grid>
  void clear(Grid& grid, bool is_first) const {
    grid.template for_each<exec::Thread>(out.count, [&](auto&, std::uint64_t row) {
      for (const auto& values : value) std::memset(&values.local(row), 0, kLanes * sizeof(double));
      for (const auto& masks : mask) masks.local(row) = 0;
      seen.local(row) = 0;
    });
    if (!is_first) return;
    end.local(0) = 0;
    level_begin[0] = 0;
    for (std::uint64_t i = 0; i < 3; ++i) listed.local(0, i) = 0;
  }

  /// The own sources are level 0.
  void begin() const {
    for (std::uint32_t lane = 0; lane < sources; ++lane) {
      if (source[lane] < out.first || source[lane] - out.first >= out.count) continue;
      const Vertex row = source[lane] - out.first;
      value[0].local(row, lane) = 1.0;
      LaneMask& lanes = mask[0].local(row);
      if (lanes == 0) append(list.rank, row, 0);
      lanes = static_cast<LaneMask>(lanes | 1u << lane);
    }
  }

  void append(int rank, Vertex row, std::uint32_t level) const {
    const auto to = static_cast<std::uint64_t>(rank);
    list.base[rank][end.atomic_add(to, 1)] = row;
    (void)listed.atomic_add(to, 1, level % 3);
  }

  /// Clears the masks of a level that is in the list and not read any more.
  template <class Grid>
  void forget(Grid& grid, std::uint32_t level) const {
    const std::uint64_t first = level_begin[level];
    grid.template for_each<exec::Thread>(
        level_begin[level + 1] - first,
        [&](auto&, std::uint64_t i) { mask[level % 3].local(own_list()[first + i]) = 0; });
  }

  template <class Grid>
  void push(Grid& grid, std::uint32_t level, Segment frontier) const {
    if (level > 0) forget(grid, level - 1);
    const auto& next_value = value[(level + 1) % 2];
    const auto& next_mask = mask[(level + 1) % 3];
    grid.template for_each<exec::Thread>(frontier.count, [&](auto&, std::uint64_t i) {
      const Vertex row = own_list()[frontier.first + i];
      const LaneMask own = list_mask[frontier.first + i];
      const double* paths = &value[level % 2].local(row);
      const Vertex* to = out.list(out.begin(row));
      const Vertex* const last = to + out.degree(row);
      for (; to != last; ++to) {
        const auto passed = static_cast<LaneMask>(own & ~seen.at(*to));
        if (passed == 0) continue;
        for_each_lane(passed, [&](std::uint32_t lane) {
          (void)next_value.atomic_add(*to, paths[lane], lane);
        });
        LaneMask& lanes = next_mask.at(*to);
        if ((exec::atomic_load(lanes) & passed) == passed) continue;
        if (exec::atomic_or(lanes, passed) != 0) continue;
        const int rank = next_mask.owner(*to);
        append(rank, static_cast<Vertex>(*to - next_mask.cuts[rank]), level + 1);
      }
    });
  }

  /// Notes what was pushed to own rows.
  template <class Grid>
  void commit(Grid& grid, std::uint32_t level, Segment frontier, Totals& totals) const {
    grid.template for_each<exec::Thread>(frontier.count, [&](auto&, std::uint64_t i) {
      const Vertex row = own_list()[frontier.first + i];
      const LaneMask lanes = mask[level % 3].local(row);
      list_mask[frontier.first + i] = lanes;
      seen.local(row) |= lanes;
      totals.add(lanes, out.degree(row));
    });
  }

  /// Rows that one thread has found, on their way to the own list.
  class Found {
   public:
    Found(const BetweennessLanes& program, std::uint32_t level)
        : program_(program), level_(level) {}
    void add(Vertex row, LaneMask lanes) {
      if (count_ == kRows) flush();
      row_[count_] = row;
      lanes_[count_++] = lanes;
    }
    void flush() {
      if (count_ == 0) return;
      const auto self = static_cast<std::uint64_t>(program_.list.rank);
      const std::uint64_t place = program_.end.atomic_add(self, count_);
      (void)program_.listed.atomic_add(self, count_, level_ % 3);
      std::memcpy(program_.own_list() + place, row_, count_ * sizeof(Vertex));
      std::memcpy(program_.list_mask + place, lanes_, count_ * sizeof(LaneMask));
      count_ = 0;
    }

   private:
    static constexpr std::uint32_t kRows = 256;
    const BetweennessLanes& program_;
    std::uint32_t level_;
    std::uint32_t count_ = 0;
    Vertex row_[kRows];
    LaneMask lanes_[kRows];
  };

  template <class Grid>
  void pull(Grid& grid, const State& state, Totals& totals) const {
    if (state.level > 0) forget(grid, state.level - 1);
    const auto& next_value = value[(state.level + 1) % 2];
    Found found(*this, state.level + 1);
    grid.template for_each<exec::Thread>(in.count, [&](auto&, std::uint64_t i) {
      const auto row = static_cast<Vertex>(i);
      const auto open = static_cast<LaneMask>(state.live & ~seen.local(row));
      if (open == 0) return;
      LaneValues sum;
      LaneMask lanes = 0;
      for_each_of_level(in, row, state.level, open, [&](const double* paths, LaneMask theirs) {
        sum.add(paths);
        lanes |= theirs;
      });
      if (lanes != open) totals.open_edges += in.degree(row);
      if (lanes == 0) return;
      double* const mine = &next_value.local(row);
      for_each_lane(lanes, [&](std::uint32_t lane) { mine[lane] = sum[lane]; });
      seen.local(row) |= lanes;
      mask[(state.level + 1) % 3].local(row) = lanes;
      found.add(row, lanes);
      totals.add(lanes, out.degree(row));
    });
    found.flush();
  }

  template <class Grid>
  void back(Grid& grid, const State& state) const {
    const std::uint32_t level = state.level;
    if (level + 2 <= state.deepest) forget(grid, level + 2);
    const std::uint64_t first = level_begin[level];
    grid.template for_each<exec::Thread>(
        level_begin[level + 1] - first, [&](auto&, std::uint64_t i) {
          const Vertex row = own_list()[first + i];
          const LaneMask own = list_mask[first + i];
          LaneValues sum;
          if (level < state.deepest)
            for_each_of_level(out, row, level + 1, own, [&](const double* shares, LaneMask lanes) {
              sum.add(shares, lanes);
            });
          double* const mine = &value[level % 2].local(row);
          double all = 0.0;
          for_each_lane(own, [&](std::uint32_t lane) {
            const double paths = mine[lane];
            const double delta = sum[lane] * paths;
            mine[lane] = (1.0 + delta) / paths;
            all += delta;
          });
          score[row] += all;
          mask[level % 3].local(row) = own;
        });
  }

  /// f(values, lanes) for every neighbour that has some of `wanted` at `level`. The masks of a
  /// batch of edges are looked at first, without a branch: which neighbours these are cannot be
  /// predicted.
  template <class F>
  void for_each_of_level(const graph::CsrView& edges, Vertex row, std::uint32_t level,
                         LaneMask wanted, F&& f) const {
    const auto& masks = mask[level % 3];
    const auto& values = value[level % 2];
    if (masks.ranks == 1) {
      const LaneMask* all_masks = masks.base[0];
      const double* all_values = values.base[0];
      visit(
          edges, row, wanted, [=](Vertex v) { return all_masks[v]; },
          [=](Vertex v) { return all_values + std::uint64_t{v} * kLanes; }, f);
    } else {
      visit(
          edges, row, wanted, [&](Vertex v) { return masks.at(v); },
          [&](Vertex v) { return values.row(v); }, f);
    }
  }
  template <class MaskOf, class ValuesOf, class F>
  static void visit(const graph::CsrView& edges, Vertex row, LaneMask wanted, MaskOf&& mask_of,
                    ValuesOf&& values_of, F&& f) {
    constexpr std::uint32_t kBatch = 128;
    const EdgeOffset begin = edges.begin(row);
    const Vertex* next = edges.list(begin);
    for (EdgeOffset left = edges.end(row) - begin; left > 0;) {
      const auto count = static_cast<std::uint32_t>(left < kBatch ? left : kBatch);
      Vertex met[kBatch];
      LaneMask lanes[kBatch];
      std::uint32_t found = 0;
      for (std::uint32_t k = 0; k < count; ++k) {
        const auto theirs = static_cast<LaneMask>(mask_of(next[k]) & wanted);
        met[found] = next[k];
        lanes[found] = theirs;
        found += theirs != 0 ? 1 : 0;
      }
      for (std::uint32_t k = 0; k < found; ++k) exec::prefetch(values_of(met[k]));
      for (std::uint32_t k = 0; k < found; ++k) f(values_of(met[k]), lanes[k]);
      next += count;
      left -= count;
    }
  }
};

inline BetweennessLanesState BetweennessLanes::next(State state, const team::Sums& sums) {
  ++state.step;
  const auto go_on = [&] {
    state.live = lanes_of(sums);
    if (sums[kFound] == 0) {
      state.deepest = --state.level;
      state.phase = state.level == 0 ? Phase::done : Phase::back;
      return;
    }
    if (state.level == kDeepLevel && state.reached < state.quarter) {
      state.is_deep = true;
      state.phase = Phase::done;
      return;
    }
    state.reached += sums[kReached];
    state.phase = sums[kFoundEdges] * kPushCost < state.open_edges ? Phase::push : Phase::pull;
  };
  switch (state.phase) {
    case Phase::clear:
      state.phase = Phase::begin;
      break;
    case Phase::begin:
      state.phase = Phase::commit;
      break;
    case Phase::push:
      ++state.level;
      state.phase = Phase::commit;
      break;
    case Phase::commit:
      go_on();
      break;
    case Phase::pull:
      ++state.level;
      state.open_edges = sums[kOpenEdges];
      go_on();
      break;
    case Phase::back:
      --state.level;
      if (state.level == 0) state.phase = Phase::done;
      break;
    case Phase::done:
      break;
  }
  return state;
}

}  // namespace warren::traverse
