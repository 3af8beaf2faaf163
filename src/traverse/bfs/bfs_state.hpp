// SPDX-License-Identifier: Apache-2.0
// The control of BFS: which step follows which. Pure functions of small values, evaluated alike by
// every block of every rank.
#pragma once

#include "warren/team/program.hpp"

#include "traverse/common/ordered_push.hpp"

namespace warren::traverse {

enum class BfsPhase : std::uint32_t {
  reset,            ///< Nothing is reached.
  seed,             ///< The source is.
  push,             ///< The queue's vertices look for unvisited neighbours.
  push_by_address,  ///< The bitmap's do, in the order of their edges' addresses.
  receive,          ///< What other ranks found of ours.
  clear_bitmap,     ///< An empty bitmap for the frontier ...
  queue_to_bitmap,  ///< ... which the queue's vertices enter ...
  all_gather,       ///< ... and all ranks get.
  pull,             ///< Unvisited vertices look for a neighbour in the frontier.
  bitmap_to_queue,  ///< From the bitmap back to the queue.
  check,            ///< With targets, after each level: how many of them are reached.
  done
};

/// The counters of a step.
enum BfsSum : std::uint32_t {
  kFrontierVertices,
  kFrontierEdges,
  kLevels,
  kFarBytes,
  kEarlierVertices,  ///< Reached by a step of several levels, before its last one.
  kReachedTargets
};

struct BfsState {
  BfsPhase phase = BfsPhase::reset;
  std::uint32_t level = 0;  ///< Depth of the frontier's vertices.
  std::uint32_t slot = 0;   ///< The queue in use: entries at slot % 2, counter at slot % 3.
  std::uint32_t flip = 0;   ///< Which bitmap holds the frontier; the other takes the next one.
  std::uint32_t pull_levels = 0;
  std::uint32_t deepest = 0;  ///< Of any vertex so far.
  std::uint32_t ranks = 1;
  bool may_pull = false;
  bool may_go_by_address = false;  ///< The edges are far.
  bool will_go_by_address =
      false;  ///< The bitmap is being made for a push by address, not for a pull.
  double alpha = 0.0;
  double beta = 0.0;
  std::uint64_t vertices = 0;
  std::uint64_t unexplored_edges = 0;
  std::uint64_t frontier_vertices = 0;
  std::uint64_t frontier_edges = 0;
  std::uint64_t reached = 0;
  std::uint64_t pending_vertices = 0;  ///< Found by push itself, before receive adds the rest.
  std::uint64_t pending_edges = 0;
  std::uint64_t far_bytes = 0;            ///< Read so far, by the team.
  std::uint32_t depth_limit = kNoVertex;  ///< Vertices of this depth are not expanded.
  std::uint32_t targets = 0;              ///< The search ends once so many are reached.
  BfsPhase after_check = BfsPhase::done;  ///< Where they are not.
};

/// Whether a frontier is worked off in the order of addresses. A push by address looks at all
/// chunks and words of the bitmap, however few vertices there are.
[[nodiscard]] WARREN_HD inline bool is_worth_push_by_address(std::uint64_t frontier,
                                                             std::uint64_t vertices) {
  constexpr std::uint64_t kShare = 2048;
  return frontier >= kByAddressVertices && frontier >= vertices / kShare;
}

/// With targets, a look at them comes before `state`'s phase.
[[nodiscard]] WARREN_HD inline BfsState check_first(BfsState state) {
  if (state.targets == 0 || state.phase == BfsPhase::done) return state;
  state.after_check = state.phase;
  state.phase = BfsPhase::check;
  return state;
}

/// A level is over, with `vertices` new ones that have `edges` edges: how does the next one go?
[[nodiscard]] WARREN_HD inline BfsState next_level(BfsState state, std::uint64_t vertices,
                                                   std::uint64_t edges, std::uint32_t levels) {
  const bool growing = vertices > state.frontier_vertices;
  const bool was_pulling = state.phase == BfsPhase::pull;
  state.level += levels;
  state.deepest = vertices > 0 || state.level == 0 ? state.level : state.level - 1;
  state.frontier_vertices = vertices;
  state.reached += vertices;
  state.frontier_edges = edges;
  state.unexplored_edges -= edges < state.unexplored_edges ? edges : state.unexplored_edges;
  if (vertices == 0 || edges == 0 || state.level >= state.depth_limit) {
    state.phase = BfsPhase::done;
  } else if (was_pulling) {
    const bool small =
        static_cast<double>(vertices) < static_cast<double>(state.vertices) / state.beta;
    if (small && !growing) {
      state.phase = BfsPhase::bitmap_to_queue;
    } else if (state.ranks > 1) {
      state.phase = BfsPhase::all_gather;
    } else {
      state.flip ^= 1u;
      state.phase = BfsPhase::pull;
    }
  } else {
    const bool large =
        static_cast<double>(edges) > static_cast<double>(state.unexplored_edges) / state.alpha;
    const bool will_pull = state.may_pull && large && growing;
    state.will_go_by_address =
        !will_pull && state.may_go_by_address && is_worth_push_by_address(vertices, state.vertices);
    state.phase = will_pull || state.will_go_by_address ? BfsPhase::clear_bitmap : BfsPhase::push;
  }
  return check_first(state);
}

[[nodiscard]] WARREN_HD inline BfsState next_phase(BfsState state, const team::Sums& sums) {
  state.far_bytes += sums[kFarBytes];
  switch (state.phase) {
    case BfsPhase::reset:
      state.phase = BfsPhase::seed;
      return state;
    case BfsPhase::seed:
      return next_level(state, sums[kFrontierVertices], sums[kFrontierEdges], 0);
    case BfsPhase::push:
    case BfsPhase::push_by_address:
      ++state.slot;
      if (state.ranks == 1) {
        state.reached += sums[kEarlierVertices];
        return next_level(state, sums[kFrontierVertices], sums[kFrontierEdges],
                          static_cast<std::uint32_t>(sums[kLevels]));
      }
      state.pending_vertices = sums[kFrontierVertices];
      state.pending_edges = sums[kFrontierEdges];
      state.phase = BfsPhase::receive;
      return state;
    case BfsPhase::receive:
      return next_level(state, sums[kFrontierVertices] + state.pending_vertices,
                        sums[kFrontierEdges] + state.pending_edges, 1);
    case BfsPhase::clear_bitmap:
      state.phase = BfsPhase::queue_to_bitmap;
      return state;
    case BfsPhase::queue_to_bitmap:
      if (state.will_go_by_address) {
        state.phase = BfsPhase::push_by_address;
      } else if (state.ranks > 1) {
        state.phase = BfsPhase::all_gather;
      } else {
        state.flip ^= 1u;
        state.phase = BfsPhase::pull;
      }
      return state;
    case BfsPhase::all_gather:
      state.phase = BfsPhase::pull;
      return state;
    case BfsPhase::pull:
      ++state.pull_levels;
      return next_level(state, sums[kFrontierVertices], sums[kFrontierEdges], 1);
    case BfsPhase::bitmap_to_queue:
      ++state.slot;
      state.phase = BfsPhase::push;
      return state;
    case BfsPhase::check:
      state.phase = sums[kReachedTargets] >= state.targets ? BfsPhase::done : state.after_check;
      return state;
    case BfsPhase::done:
      return state;
  }
  return state;
}

}  // namespace warren::traverse
