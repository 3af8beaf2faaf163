// SPDX-License-Identifier: Apache-2.0
// Totals over the distances of all ranks, which both forms of SSSP report.
#pragma once

#include <algorithm>

#include "warren/team/team.hpp"
#include "warren/traverse/sssp.hpp"

namespace warren::traverse {

/// Sets the largest and the sums of `result` to those of all ranks, in the ranks' order. `part` has
/// this rank's. Collective.
inline void add_distances_of_ranks(team::Team& team, const SsspResult& part, SsspResult& result) {
  for (const SsspResult& other : team.all_gather(part)) {
    result.max_distance = std::max(result.max_distance, other.max_distance);
    add_to_sum(result, other.sum_distance, other.sum_distance_high);
    result.max_real_distance = std::max(result.max_real_distance, other.max_real_distance);
    result.sum_real_distance += other.sum_real_distance;
  }
}

}  // namespace warren::traverse
