// SPDX-License-Identifier: Apache-2.0
// Partitions: a relabelling of the vertices and P + 1 cut points. After relabelling, rank p owns
// ids [cuts[p], cuts[p + 1]).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "warren/exec/thread_pool.hpp"
#include "warren/graph/graph.hpp"

namespace warren::graph {

struct Partition {
  std::vector<std::uint64_t> cuts;   ///< P + 1, ascending, from 0 to n.
  memory::HostArray<Vertex> new_id;  ///< n: the id of v after relabelling; empty for the identity.
  memory::HostArray<Vertex> old_id;  ///< n: its inverse; empty for the identity.

  [[nodiscard]] int parts() const { return static_cast<int>(cuts.size()) - 1; }
  [[nodiscard]] bool identity() const { return new_id.empty(); }
  [[nodiscard]] Vertex to_new(Vertex v) const { return identity() ? v : new_id[v]; }
  [[nodiscard]] Vertex to_old(Vertex v) const { return identity() ? v : old_id[v]; }
};

/// Contiguous ranges of about equal edges: cut p = lower_bound(offsets, p m / P) (MGG, Algorithm
/// 1). No relabelling.
[[nodiscard]] Partition partition_ranges(const Graph& graph, int parts);
/// The same from offsets alone.
[[nodiscard]] std::vector<std::uint64_t> edge_balanced_cuts(std::span<const EdgeOffset> offsets,
                                                            int parts);
/// A random permutation from `seed`, then ranges of equal numbers of vertices (WholeGraph's hash
/// partition).
[[nodiscard]] Partition partition_random(const Graph& graph, int parts, std::uint64_t seed);
/// By descending out-degree, dealt out to the parts in turn: every part has its share of hubs and
/// of edges, and begins with its hubs, so that what is read most lies together.
[[nodiscard]] Partition partition_degree(const Graph& graph, int parts);
/// Cuts of n vertices dealt out to parts in turn, and the id of the k-th one dealt.
[[nodiscard]] std::vector<std::uint64_t> dealt_cuts(std::uint64_t vertices, int parts);
[[nodiscard]] inline Vertex dealt_id(std::uint64_t k, std::span<const std::uint64_t> cuts,
                                     int parts) {
  const auto p = static_cast<std::uint64_t>(parts);
  return static_cast<Vertex>(cuts[k % p] + k / p);
}
/// By name: "ranges", "random", "degree". Throws UsageError for another, or parts outside 1 ..
/// kMaxRanks.
[[nodiscard]] Partition make_partition(const Graph& graph, const std::string& method, int parts,
                                       std::uint64_t seed);

/// What a partition costs.
struct PartitionQuality {
  std::uint64_t cut_edges = 0;  ///< Edges whose ends have different owners.
  std::uint64_t halo_rows =
      0;  ///< Distinct remote vertices that each rank's edges name, summed over ranks.
  double imbalance = 1.0;       ///< Edges of the fullest rank over the mean.
  std::uint64_t broadcast = 0;  ///< Rows moved when every rank gets all rows: n (P - 1).
  std::uint64_t per_edge = 0;   ///< Rows moved when each remote edge fetches its row: cut_edges.
  std::uint64_t once = 0;       ///< Rows moved when each rank fetches a remote row once: halo_rows.
};
/// `graph` as it was before relabelling.
[[nodiscard]] PartitionQuality partition_quality(const Graph& graph, const Partition& partition,
                                                 exec::ThreadPool& pool);

}  // namespace warren::graph
