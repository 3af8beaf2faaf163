// SPDX-License-Identifier: Apache-2.0
// The control of SSSP by scans: which step follows which, and how wide the next bin is.
#pragma once

#include "warren/team/program.hpp"

#include "traverse/common/ordered_push.hpp"

namespace warren::traverse {

/// A queue of fewer entries is worked off as it stands.
inline constexpr std::uint64_t kByAddressEntries = 8192;

/// So many ids of a rank are worth a barrier, after which their distances are read as a list: some
/// 7 us, in which a link carries about as many words that are read one by one (bench/NOTES.md).
inline constexpr std::uint64_t kManyUpdates = 32768;

enum class SsspScanPhase : std::uint32_t {
  clear,             ///< Nothing is reached but the source.
  mark,              ///< Far edges: the bin's vertices enter a bitmap.
  relax_by_address,  ///< They relax the edges to their neighbours, in the order of their edges'
                     ///< addresses.
  scan,              ///< The bin's vertices relax the edges to their neighbours as they are found.
  again,  ///< So do those that fell in the bin meanwhile, and long lists, piece by piece.
  again_by_address,  ///< The same in the order of their edges' addresses.
  forget,            ///< Then they are not queued any more.
  publish,           ///< Many updates: their distances are put beside their ids.
  receive,           ///< What other ranks relax of ours.
  check,             ///< With targets, after each bin: how many of them are settled.
  done
};

/// The counters of a step.
enum SsspScanSum : std::uint32_t {
  kScanAgain,               ///< Entries put into the queue of the bin's next step.
  kScanOpen,                ///< Vertices seen beyond the bin.
  kScanMarked,              ///< Vertices of the bin.
  kScanEdges,               ///< Edges looked at.
  kScanOverflow,            ///< Sums that the words cannot hold.
  kScanFarBytes,            ///< Read of compressed lists in host memory.
  kScanSettled,             ///< Targets whose distance can get no smaller.
  kScanSent = kScanMarked,  ///< Of steps that relax: remote updates.
};

struct SsspScanState {
  SsspScanPhase phase = SsspScanPhase::clear;
  std::uint32_t slot = 0;  ///< Of the again-queue: entries at slot % 2, counter at slot % 3.
  std::uint32_t bin = 0;   ///< It begins at the nearest vertex, which stands at bin % 3.
  std::uint32_t ranks = 1;
  bool is_open = false;  ///< There are vertices beyond the bin.
  bool has_overflowed = false;
  bool may_go_by_address = false;  ///< The edges are far.
  bool is_bounded = false;         ///< Sums that the words cannot hold are beyond the cutoff.
  bool is_settled = false;         ///< All targets are.
  bool may_publish = false;        ///< Ranks read each other's memory, and so distances one by one.
  bool has_published = false;      ///< The updates' distances are beside their ids.
  std::uint32_t targets = 0;
  double width = 1.0;      ///< Of the bin.
  double narrowest = 1.0;  ///< Of all bins.
  std::uint64_t vertices = 0;
  std::uint64_t all_edges = 0;
  std::uint64_t again = 0;      ///< Entries for the bin's next step.
  std::uint64_t bin_edges = 0;  ///< Looked at for this bin.
  std::uint64_t edges = 0;
  std::uint64_t steps = 0;
  std::uint64_t far_bytes = 0;  ///< Of compressed lists.
};

[[nodiscard]] WARREN_HD inline SsspScanState begin_scan(SsspScanState state) {
  state.is_open = false;
  state.bin_edges = 0;
  state.phase = state.may_go_by_address ? SsspScanPhase::mark : SsspScanPhase::scan;
  return state;
}

/// The next bin. Once most edges are behind, those with few are widened: what is left is a tail of
/// vertices of low degree, where a step costs more than a few edges looked at twice.
[[nodiscard]] WARREN_HD inline SsspScanState end_bin(SsspScanState state) {
  if (!state.is_open) {
    state.phase = SsspScanPhase::done;
    return state;
  }
  ++state.bin;
  // A push by address passes over all addresses.
  const std::uint64_t few = state.may_go_by_address ? state.vertices : state.vertices / 4;
  if (state.edges > state.all_edges / 4 && state.bin_edges < few) {
    state.width *= 2.0;
  } else if (state.bin_edges > 8 * few && state.width > state.narrowest) {
    state.width /= 2.0;
  }
  return begin_scan(state);
}

/// Looks at the targets, where there are any, before the next bin.
[[nodiscard]] WARREN_HD inline SsspScanState check_bin(SsspScanState state) {
  if (state.targets == 0) return end_bin(state);
  state.phase = SsspScanPhase::check;
  return state;
}

/// After a step that relaxed edges, and what others sent.
[[nodiscard]] WARREN_HD inline SsspScanState go_on(SsspScanState state) {
  if (state.has_overflowed) {
    state.phase = SsspScanPhase::done;
    return state;
  }
  if (state.again == 0) return check_bin(state);
  const bool by_address = state.may_go_by_address && state.again >= kByAddressEntries;
  state.phase = by_address ? SsspScanPhase::again_by_address : SsspScanPhase::again;
  return state;
}

[[nodiscard]] WARREN_HD inline SsspScanState next_scan(SsspScanState state,
                                                       const team::Sums& sums) {
  ++state.steps;
  if (sums[kScanOpen] > 0) state.is_open = true;
  switch (state.phase) {
    case SsspScanPhase::clear:
      return begin_scan(state);
    case SsspScanPhase::mark:
      if (sums[kScanMarked] == 0) return check_bin(state);
      state.phase = sums[kScanMarked] < kByAddressVertices ? SsspScanPhase::scan
                                                           : SsspScanPhase::relax_by_address;
      return state;
    case SsspScanPhase::relax_by_address:
    case SsspScanPhase::scan:
    case SsspScanPhase::again:
    case SsspScanPhase::again_by_address: {
      const bool went_by_address = state.phase == SsspScanPhase::again_by_address;
      ++state.slot;
      state.again = sums[kScanAgain];
      state.bin_edges += sums[kScanEdges];
      state.edges += sums[kScanEdges];
      state.far_bytes += sums[kScanFarBytes];
      state.has_overflowed = state.has_overflowed || (sums[kScanOverflow] > 0 && !state.is_bounded);
      state.has_published = state.may_publish && sums[kScanSent] >= kManyUpdates * state.ranks;
      if (went_by_address) {
        state.phase = SsspScanPhase::forget;
        return state;
      }
      if (state.ranks == 1) return go_on(state);
      state.phase = state.has_published ? SsspScanPhase::publish : SsspScanPhase::receive;
      return state;
    }
    case SsspScanPhase::forget:
      if (state.ranks == 1) return go_on(state);
      state.phase = state.has_published ? SsspScanPhase::publish : SsspScanPhase::receive;
      return state;
    case SsspScanPhase::publish:
      state.phase = SsspScanPhase::receive;
      return state;
    case SsspScanPhase::receive:
      state.again += sums[kScanAgain];
      return go_on(state);
    case SsspScanPhase::check:
      if (sums[kScanSettled] < state.targets) return end_bin(state);
      state.is_settled = true;
      state.phase = SsspScanPhase::done;
      return state;
    case SsspScanPhase::done:
      return state;
  }
  return state;
}

}  // namespace warren::traverse
