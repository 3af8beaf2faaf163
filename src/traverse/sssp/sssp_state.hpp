// SPDX-License-Identifier: Apache-2.0
// The control of SSSP: which step follows which. Pure functions of small values, evaluated alike by
// every block of every rank.
#pragma once

#include "warren/team/program.hpp"

#include "traverse/sssp/sssp_metric.hpp"

namespace warren::traverse {

enum class SsspPhase : std::uint32_t {
  clear,    ///< Nothing is reached.
  seed,     ///< The source is.
  mark,     ///< The current bin's vertices enter a bitmap, to be worked off in address order.
  relax,    ///< The vertices of the current bin relax the edges to their neighbours.
  receive,  ///< What other ranks relax of ours.
  survey,   ///< The window is done: which of the far vertices are still open, and the nearest.
  refill,   ///< The next window: its vertices go from the far ones to the bins.
  check,    ///< With targets, after each bin: how many of them are settled.
  done
};

/// The counters of a step.
enum SsspSum : std::uint32_t {
  kBinned,                ///< Entries put into bins.
  kTaken,                 ///< Entries that a bin held when it became the current one.
  kAgain,                 ///< Entries put into the queue of the current bin's next step.
  kFar,                   ///< Entries put to the far ones.
  kEdges,                 ///< Edges looked at.
  kOverflow,              ///< Sums that the words cannot hold.
  kSsspFarBytes,          ///< Read of compressed lists in host memory.
  kSsspSettled = kBinned  ///< Of a check: targets whose distance can get no smaller.
};

struct SsspState {
  SsspPhase phase = SsspPhase::clear;
  std::uint32_t slot = 0;    ///< Of the again-queue: entries at slot % 2, counter at slot % 3.
  std::uint32_t bin = 0;     ///< The current one.
  std::uint32_t window = 0;  ///< Windows begun; the far vertices stand at window % 2.
  bool is_first = true;      ///< The bin's own entries come first, then the again-queue's.
  bool has_overflowed = false;
  bool may_go_by_address = false;  ///< The edges are far.
  bool is_bounded = false;         ///< Sums that the words cannot hold are beyond the cutoff.
  bool is_settled = false;         ///< All targets are.
  std::uint32_t targets = 0;
  std::uint32_t flip = 0;  ///< Which bitmap takes the current bin.
  std::uint32_t ranks = 1;
  std::uint64_t binned = 0;  ///< Entries in bins after the current one.
  std::uint64_t again = 0;   ///< Entries for the current bin's next step.
  std::uint64_t far = 0;     ///< Far entries, some of them closed by now.
  std::uint64_t steps = 0;
  std::uint64_t edges = 0;
  std::uint64_t far_bytes = 0;  ///< Of compressed lists.
};

/// Begins with the entries that stand in the current bin.
[[nodiscard]] WARREN_HD inline SsspState begin_bin(SsspState state) {
  state.is_first = true;
  state.flip ^= 1u;
  state.phase = state.may_go_by_address ? SsspPhase::mark : SsspPhase::relax;
  return state;
}

/// The current bin is empty: the next bin, the next window, or the end.
[[nodiscard]] WARREN_HD inline SsspState end_bin(SsspState state) {
  if (state.binned > 0) {
    ++state.bin;
    state = begin_bin(state);
  } else if (state.far > 0) {
    state.phase = SsspPhase::survey;
  } else {
    state.phase = SsspPhase::done;
  }
  return state;
}

/// What the current step leaves: the current bin again, or what follows it.
[[nodiscard]] WARREN_HD inline SsspState next_bin(SsspState state) {
  if (state.has_overflowed) {
    state.phase = SsspPhase::done;
  } else if (state.again > 0) {
    state.phase = SsspPhase::relax;
    state.is_first = false;
  } else if (state.targets > 0) {
    state.phase = SsspPhase::check;
  } else {
    return end_bin(state);
  }
  return state;
}

[[nodiscard]] WARREN_HD inline SsspState next_phase(SsspState state, const team::Sums& sums) {
  ++state.steps;
  switch (state.phase) {
    case SsspPhase::clear:
      state.phase = SsspPhase::seed;
      return state;
    case SsspPhase::seed:
      state.binned = sums[kBinned];
      if (state.binned == 0) {
        state.phase = SsspPhase::done;
        return state;
      }
      return begin_bin(state);  // A hub's pieces alone may be enough for a push by address.
    case SsspPhase::mark:
      state.phase = SsspPhase::relax;
      return state;
    case SsspPhase::relax:
      ++state.slot;
      state.binned += sums[kBinned] - sums[kTaken];
      state.again = sums[kAgain];
      state.far += sums[kFar];
      state.edges += sums[kEdges];
      state.far_bytes += sums[kSsspFarBytes];
      state.has_overflowed = state.has_overflowed || (sums[kOverflow] > 0 && !state.is_bounded);
      if (state.ranks == 1) return next_bin(state);
      state.phase = SsspPhase::receive;
      return state;
    case SsspPhase::receive:
      state.binned += sums[kBinned];
      state.again += sums[kAgain];
      state.far += sums[kFar];
      return next_bin(state);
    case SsspPhase::survey:
      ++state.window;
      state.far = sums[kFar];
      if (state.far > 0) {
        state.phase = SsspPhase::refill;
      } else {
        state.phase = state.targets > 0 ? SsspPhase::check : SsspPhase::done;
      }
      return state;
    case SsspPhase::refill:
      state.bin = 0;
      state.binned = sums[kBinned];
      return begin_bin(state);
    case SsspPhase::check:
      if (sums[kSsspSettled] < state.targets) return end_bin(state);
      state.is_settled = true;
      state.phase = SsspPhase::done;
      return state;
    case SsspPhase::done:
      return state;
  }
  return state;
}

}  // namespace warren::traverse
