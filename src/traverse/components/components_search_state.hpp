// SPDX-License-Identifier: Apache-2.0
// The control of components by a search: which step follows which. Pure functions of small values,
// evaluated alike by every block of every rank.
#pragma once

#include "traverse/bfs/bfs_state.hpp"

namespace warren::traverse {

enum class ComponentsSearchPhase : std::uint32_t {
  search,    ///< A step of the search.
  scan,      ///< Every own vertex has a label to start with; those not reached are listed.
  smallest,  ///< The smallest own vertex that was reached,
  agree,     ///< of all ranks',
  label,     ///< which is what all reached ones hang under.
  link,      ///< The edges of the vertices that were not reached.
  climb,     ///< The root of those that were.
  settle,    ///< Every own vertex hangs under its root.
  done
};

struct ComponentsSearchState {
  ComponentsSearchPhase phase = ComponentsSearchPhase::search;
  BfsState bfs;
  std::uint64_t edges = 0;   ///< Of the graph.
  std::uint64_t rest = 0;    ///< Vertices with edges that were not reached.
  bool may_give_up = false;  ///< The forest takes over where the search leaves many edges.
  bool has_given_up = false;
  bool has_first = false;  ///< The reached vertices' label is the one that was supposed.
};

/// The counters of a step that is not the search's.
enum ComponentsSearchSum : std::uint32_t {
  kRestVertices,
  kReachedFirst  ///< 1: what was supposed to be the reached vertices' label was reached.
};

/// Edges that are linked faster than a search finds what they lead to: each level takes two or
/// three barriers and a look at all vertices.
[[nodiscard]] WARREN_HD inline bool are_few(std::uint64_t left, std::uint64_t edges) {
  constexpr std::uint64_t kShare = 1024;
  return left <= edges / kShare;
}
/// Edges that a forest which first samples takes less time for: here each is linked, those to other
/// ranks' vertices over the link.
[[nodiscard]] WARREN_HD inline bool are_many(std::uint64_t left, std::uint64_t edges) {
  constexpr std::uint64_t kShare = 32;
  return left > edges / kShare;
}

/// After a step of the search. `unexplored_edges` are those of the vertices that it has not
/// reached: the graph is symmetric.
[[nodiscard]] WARREN_HD inline ComponentsSearchState next_of_search(ComponentsSearchState state,
                                                                    const team::Sums& sums) {
  const BfsState before = state.bfs;
  state.bfs = next_phase(before, sums);
  const bool is_done = state.bfs.phase == BfsPhase::done;
  const bool is_level_over = is_done || state.bfs.level != before.level;
  if (!is_done && !(is_level_over && are_few(state.bfs.unexplored_edges, state.edges)))
    return state;
  state.has_given_up = state.may_give_up && are_many(state.bfs.unexplored_edges, state.edges);
  state.phase = state.has_given_up ? ComponentsSearchPhase::done : ComponentsSearchPhase::scan;
  return state;
}

[[nodiscard]] WARREN_HD inline ComponentsSearchState next_phase(ComponentsSearchState state,
                                                                const team::Sums& sums) {
  using Phase = ComponentsSearchPhase;
  switch (state.phase) {
    case Phase::search:
      return next_of_search(state, sums);
    case Phase::scan:
      state.rest = sums[kRestVertices];
      state.has_first = sums[kReachedFirst] != 0;
      state.phase = !state.has_first ? Phase::smallest : state.rest > 0 ? Phase::link : Phase::done;
      return state;
    case Phase::smallest:
      state.phase = Phase::agree;
      return state;
    case Phase::agree:
      state.phase = Phase::label;
      return state;
    case Phase::label:
      state.phase = state.rest > 0 ? Phase::link : Phase::done;
      return state;
    case Phase::link:
      // No vertex with edges is smaller than the one that was supposed: that stays a root.
      state.phase = state.has_first ? Phase::settle : Phase::climb;
      return state;
    case Phase::climb:
      state.phase = Phase::settle;
      return state;
    case Phase::settle:
    case Phase::done:
      state.phase = Phase::done;
      return state;
  }
  return state;
}

}  // namespace warren::traverse
