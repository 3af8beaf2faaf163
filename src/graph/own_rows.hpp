// SPDX-License-Identifier: Apache-2.0
// A graph of which each rank has its own rows in host memory, and nobody the rest: where it is cut,
// and the shard of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "warren/exec/thread_pool.hpp"
#include "warren/graph/generate.hpp"
#include "warren/graph/shard.hpp"
#include "warren/memory/host_array.hpp"
#include "warren/team/team.hpp"

#include "graph/shard_lists.hpp"

namespace warren::graph::detail {

/// What a rank has, and what all know of the whole graph.
struct OwnRows {
  HostRows out;
  std::vector<std::uint64_t> cuts;
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  WeightType weight_type = WeightType::none;
  Symmetry symmetry = Symmetry::unknown;

  [[nodiscard]] Vertex count() const { return static_cast<Vertex>(out.offsets.size() - 1); }
};

/// partition_ranges()'s cuts, of offsets of which each rank has `own`: those of rows that are no
/// other rank's. `edges` and `vertices` are the whole graph's. Collective.
[[nodiscard]] std::vector<std::uint64_t> cuts_of(team::Team& team, std::span<const EdgeOffset> own,
                                                 std::uint64_t edges, std::uint64_t vertices);

/// Edges of the ranks before this one, and of all.
struct EdgeCounts {
  EdgeOffset before = 0;
  EdgeOffset all = 0;
};
/// Of ranks that have `edges` each. Collective.
[[nodiscard]] EdgeCounts count_edges(team::Team& team, std::uint64_t edges);

/// All rows of a CSR that has the rank's alone, whose offsets count from 0: they become those of
/// the whole graph, of which the first is `first`.
[[nodiscard]] HostRows rows_of(std::shared_ptr<Graph> rows, EdgeOffset first);

/// The weights that set_uniform_weights() draws for the edges of the rows from vertex `first` on.
/// Throws MemoryError.
[[nodiscard]] memory::HostArray<std::int32_t> uniform_weights_of(const HostRows& rows, Vertex first,
                                                                 const UniformWeights& rule,
                                                                 exec::ThreadPool& pool);

/// Throws UsageError for ranks that draw weights by different rules, or some none. Collective.
void check_same_weights(team::Team& team, const std::optional<UniformWeights>& rule);

/// The shard of the whole graph, bit for bit as make_shard() makes it of shard_source(). In-edges
/// of a directed graph are brought by the ranks that have them as out-edges, some at a time; where
/// nobody knows whether it is directed, the ranks find out. Without in-edges where they are not
/// wanted. No compressed placement. Collective. Synchronises. Throws MemoryError.
[[nodiscard]] Shard shard_of(team::Team& team, const OwnRows& own, const EdgesOptions& edges,
                             bool with_in_edges);

}  // namespace warren::graph::detail
