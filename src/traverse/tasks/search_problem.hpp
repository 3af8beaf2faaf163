// SPDX-License-Identifier: Apache-2.0
// What an asynchronous search is about, whoever does it, and its tasks.
#pragma once

#include "warren/graph/shard.hpp"

#include "traverse/tasks/work_tally.hpp"

namespace warren::traverse {

template <class Word>
struct SearchTask {
  Vertex vertex;
  std::uint32_t node;  ///< 0: an update, not yet compared with what the vertex has.
  Word word;
};

/// What a search is about, whoever does it.
template <class MetricType>
struct SearchProblem {
  using Metric = MetricType;
  using Word = typename Metric::Word;

  graph::CsrView out;
  Word* best = nullptr;                 ///< Of all vertices.
  Word* best_of[kMaxRanks] = {};        ///< The same at each rank.
  std::uint32_t updates_are_tasks = 0;  ///< A bit for each rank over a link that gathers.
  WorkTally* tally = nullptr;
  std::uint64_t cuts[kMaxRanks + 1] = {};
  Vertex source = 0;
  int rank = 0;
  int ranks = 1;
  std::uint32_t keep = 0;  ///< Improved vertices that a worker goes on with; at most kMostKept.
  double leap = 0.0;       ///< How much farther than its task, in units of priority.

  [[nodiscard]] WARREN_HD int owner(Vertex v) const {
    int q = 0;
    for (int p = 1; p < ranks; ++p) q += v >= cuts[p] ? 1 : 0;
    return q;
  }
};

}  // namespace warren::traverse
