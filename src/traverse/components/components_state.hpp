// SPDX-License-Identifier: Apache-2.0
// The control of connected components: which step follows which. Pure functions of small values,
// evaluated alike by every block of every rank.
#pragma once

#include "warren/team/program.hpp"

namespace warren::traverse {

enum class ComponentsPhase : std::uint32_t {
  clear,        ///< Every vertex is a tree, or hangs under its first neighbour: see clear().
  sample,       ///< The round's edge of each vertex.
  compress,     ///< Vertices hang under their roots, in the rank's forest: see compress().
  adopt,        ///< Roots hang where other ranks have hung them.
  choose,       ///< The rank's largest tree, by a sample of its vertices.
  meet,         ///< Which other ranks' largest trees have a vertex of this rank's.
  agree,        ///< Whether the largest tree is connected with the first rank's.
  finish,       ///< All other edges, but those out of the largest tree and of long lists.
  finish_long,  ///< The long lists that finish() left, in pieces.
  introduce,    ///< What the ranks' largest trees hang under.
  join,    ///< Other ranks' vertices are linked in the forest of all ranks with their roots here.
  climb,   ///< The root of the largest tree in that forest.
  settle,  ///< Every own vertex hangs under its root in that one.
  // Of ranks that need windows, which have one forest a host, or a device.
  host_join,    ///< The host's ranks link their forests in the first one's.
  host_hang,    ///< Its vertices hang under their roots.
  hosts_meet,   ///< The other hosts' forests are linked in it.
  host_settle,  ///< Every own vertex hangs under its root in it.
  done
};

struct ComponentsState {
  ComponentsPhase phase = ComponentsPhase::clear;
  std::uint32_t round = 0;
  std::uint32_t rounds = 2;       ///< Sampled edges of each vertex.
  std::uint32_t most_rounds = 2;  ///< As many where the largest tree is small still.
  std::uint32_t ranks = 1;
  bool needs_windows = false;
  bool is_finishing = false;  ///< The sample is behind us.
  bool has_adopted = false;   ///< What other ranks know of roots, once a run.
  bool has_sampled = false;   ///< Vertices of other ranks may hang deep.
  bool is_far = false;        ///< The edges.
  bool hooks = false;         ///< How sampled edges join trees: by hook(), not by link().
  bool begins_hung = false;   ///< The first round is clear()'s, which keeps the second's edges.
  std::uint64_t far_bytes = 0;
};

/// The counters of a step.
enum ComponentsSum : std::uint32_t {
  kComponentsFarBytes,
  kVotes,  ///< Of a sample of vertices with edges, those in the rank's largest tree,
  kAsked,  ///< and all.
  kLong    ///< Pieces of lists that are left for finish_long.
};

[[nodiscard]] WARREN_HD inline ComponentsState next_phase(ComponentsState state,
                                                          const team::Sums& sums) {
  state.far_bytes += sums[kComponentsFarBytes];
  switch (state.phase) {
    case ComponentsPhase::clear:
      state.round = state.begins_hung ? 1 : 0;
      state.phase = state.rounds == 0   ? ComponentsPhase::finish
                    : state.begins_hung ? ComponentsPhase::compress
                                        : ComponentsPhase::sample;
      state.is_finishing = state.rounds == 0;
      return state;
    case ComponentsPhase::sample:
      // Between the rounds, too: linking climbs, and short trees are climbed fast.
      ++state.round;
      state.has_sampled = true;
      state.phase = ComponentsPhase::compress;
      return state;
    case ComponentsPhase::compress:
      state.has_sampled = false;
      if (state.needs_windows) {
        // Nothing is asked of other ranks, and so all edges are looked at.
        const bool is_sampled = state.round >= state.rounds;
        state.phase = state.is_finishing ? ComponentsPhase::host_join
                      : is_sampled       ? ComponentsPhase::finish
                                         : ComponentsPhase::sample;
        state.is_finishing = is_sampled;
      } else if (!state.is_finishing) {
        state.phase = state.round < state.rounds              ? ComponentsPhase::sample
                      : state.ranks > 1 && !state.has_adopted ? ComponentsPhase::adopt
                                                              : ComponentsPhase::choose;
      } else {
        state.phase = state.ranks > 1 ? ComponentsPhase::introduce : ComponentsPhase::done;
      }
      return state;
    case ComponentsPhase::adopt:
      state.has_adopted = true;
      state.phase = ComponentsPhase::compress;
      return state;
    case ComponentsPhase::choose:
      // Few in the largest tree: another round costs less than all edges of the others.
      if (4 * sums[kVotes] < 3 * sums[kAsked] && state.round < state.most_rounds) {
        ++state.rounds;
        state.phase = ComponentsPhase::sample;
        return state;
      }
      state.is_finishing = true;
      state.phase = state.ranks > 1 ? ComponentsPhase::meet : ComponentsPhase::finish;
      return state;
    case ComponentsPhase::meet:
      state.phase = ComponentsPhase::agree;
      return state;
    case ComponentsPhase::agree:
      state.phase = ComponentsPhase::finish;
      return state;
    case ComponentsPhase::finish:
      state.phase = sums[kLong] > 0 ? ComponentsPhase::finish_long : ComponentsPhase::compress;
      return state;
    case ComponentsPhase::finish_long:
      state.phase = ComponentsPhase::compress;
      return state;
    case ComponentsPhase::introduce:
      state.phase = ComponentsPhase::join;
      return state;
    case ComponentsPhase::join:
      state.phase = ComponentsPhase::climb;
      return state;
    case ComponentsPhase::climb:
      state.phase = ComponentsPhase::settle;
      return state;
    case ComponentsPhase::settle:
      state.phase = ComponentsPhase::done;
      return state;
    case ComponentsPhase::host_join:
      state.phase = ComponentsPhase::host_hang;
      return state;
    case ComponentsPhase::host_hang:
      state.phase = ComponentsPhase::hosts_meet;
      return state;
    case ComponentsPhase::hosts_meet:
      state.phase = ComponentsPhase::host_settle;
      return state;
    case ComponentsPhase::host_settle:
      state.phase = ComponentsPhase::done;
      return state;
    case ComponentsPhase::done:
      return state;
  }
  return state;
}

}  // namespace warren::traverse
