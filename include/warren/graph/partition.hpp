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

/// Parts of a partition: more than ranks of a team (kMaxRanks), for what more machines would move.
constexpr int kMaxParts = 1024;

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
/// By name: "ranges", "random", "degree", "rabbit" (reorder.hpp), "metis" (partition_metis.hpp).
/// Throws UsageError for another, or parts outside 1 .. kMaxParts.
[[nodiscard]] Partition make_partition(const Graph& graph, const std::string& method, int parts,
                                       std::uint64_t seed);

/// Rows of B that cross between ranks in one product A B with the graph's matrix A, summed over
/// ranks (CoLa, equations 5 to 9; cover: SHIRO, arXiv 2512.20178).
struct MovedRows {
  std::uint64_t broadcast = 0;  ///< Every rank gets all rows: n (P - 1).
  std::uint64_t per_edge = 0;   ///< Each remote edge fetches its row: cut_edges.
  std::uint64_t once = 0;       ///< Each rank fetches a remote row once: halo rows.
  /// Each workgroup fetches a row of another once, to the rank of the owner's place in the group,
  /// and from there, as from all ranks of the group, each rank that needs it fetches it once.
  std::uint64_t fused = 0;
  /// For every block between two ranks the fewest rows of B and partial rows of C together that its
  /// entries need.
  std::uint64_t cover = 0;
};

/// What a partition costs.
struct PartitionQuality {
  std::uint64_t cut_edges = 0;  ///< Edges whose ends have different owners.
  std::uint64_t halo_rows =
      0;  ///< Distinct remote vertices that each rank's edges name, summed over ranks.
  double imbalance = 1.0;  ///< Edges of the fullest rank over the mean.
  MovedRows moved;         ///< Between all ranks.
  MovedRows between;       ///< Of these, between ranks of different workgroups.
};
struct QualityOptions {
  int workgroup = 0;       ///< Ranks of a workgroup, consecutive ones; 0: all ranks are one.
  bool with_cover = true;  ///< Without it MovedRows::cover is 0: it takes the most time by far.
};
/// `graph` as it was before relabelling. Throws UsageError for workgroups that do not divide the
/// parts. Takes a bit for each vertex and part.
[[nodiscard]] PartitionQuality partition_quality(const Graph& graph, const Partition& partition,
                                                 exec::ThreadPool& pool,
                                                 const QualityOptions& options = {});
/// Throws UsageError unless workgroups of `workgroup` ranks divide `ranks`.
void check_workgroup(int workgroup, int ranks);
/// Adds to `moved` and `between` what it takes, by `once` and `fused`, that the ranks of the bits
/// of `needing` (rank p's is bit p % 32 of word p / 32) need a row of `owner`, in workgroups
/// of `workgroup`.
void count_row(int owner, std::span<const std::uint32_t> needing, int workgroup, MovedRows& moved,
               MovedRows& between);

}  // namespace warren::graph
