// SPDX-License-Identifier: Apache-2.0
// What an algorithm must know of the weights before it begins.
#pragma once

#include <string>

#include "warren/graph/shard.hpp"
#include "warren/team/team.hpp"

namespace warren::traverse {

struct SsspWeights {
  bool is_integer = true;
  double mean = 0.0;          ///< Of all edges.
  double mean_degree = 0.0;   ///< Of the vertices with out-edges.
  std::uint64_t largest = 0;  ///< Of integer weights.
};

/// Collective. Throws UsageError for a shard without weights, and, naming the edge, for one that is
/// negative or not finite; `who` needs others: "shortest paths".
[[nodiscard]] SsspWeights survey_weights(team::Team& team, const graph::Shard& shard,
                                         const exec::Stream& stream, const std::string& who);

}  // namespace warren::traverse
