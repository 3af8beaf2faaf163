// SPDX-License-Identifier: Apache-2.0
// What is one fact of the whole graph for all ranks that make shards of it.
#pragma once

#include "warren/graph/shard.hpp"

namespace warren::graph {

/// What a source says of the whole graph, the same on all ranks.
struct SourceFacts {
  std::uint64_t vertices = 0, edges = 0;
  WeightType weight_type = WeightType::none;
  bool has_in = false, is_own_reverse = false, is_symmetric = false;
  bool operator==(const SourceFacts&) const = default;
};

/// Collective. Where a graph stands for its own reverse and its symmetry is unknown, rank 0 looks.
/// Throws UsageError, on all ranks, where they bring different graphs, and for a directed graph
/// that stands for its own reverse.
[[nodiscard]] SourceFacts agree(team::Team& team, const ShardSource& source);

}  // namespace warren::graph
