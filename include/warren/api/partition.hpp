// SPDX-License-Identifier: Apache-2.0
// A graph cut into parts, and a graph's vertices in another order: a call each. Both work on the
// host's threads of the session, whatever device it has. An interrupt ends both, but METIS only
// when it is done: it is another library, which cannot be stopped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warren/api/graph.hpp"
#include "warren/api/session.hpp"
#include "warren/graph/partition.hpp"

namespace warren {

struct PartitionOptions {
  int parts = 2;  ///< 1 to graph::kMaxParts, 1024.
  /// "ranges" (of about equal edges), "random" (a permutation, then equal ranges), "degree" (dealt
  /// out by descending degree), "rabbit" (communities together, then ranges), "metis" (few cut
  /// edges).
  std::string method = "ranges";
  /// Of "random" and "metis": 1 if not given. Others draw nothing, and refuse one.
  std::optional<std::uint64_t> seed{};
  int workgroup = 0;       ///< Parts of a workgroup, for `fused` and `between`; 0: all.
  bool with_cover = true;  ///< Without it `cover` is 0: it takes the most time by far.
  bool with_parts = true;  ///< Without it PartitionResult's part, new_id and cuts are empty.
  /// Runs that are timed (PartitionResult::run_seconds), after one that warms up. 0: one run.
  int repeat = 0;
  std::optional<Session> session{};
};

struct PartitionResult {
  std::vector<int> part;  ///< Of each vertex.
  /// Ids of the vertices where parts are ranges: part p has [cuts[p], cuts[p + 1]) of them.
  std::vector<Vertex> new_id;
  std::vector<std::uint64_t> cuts;  ///< parts + 1, from 0 to n.
  std::uint64_t cut_edges = 0;      ///< Directed edges between parts.
  std::uint64_t halo_rows = 0;  ///< For each part the vertices of others that its edges lead to.
  double imbalance = 1.0;       ///< Edges out of the fullest part over the mean of all.
  graph::MovedRows volume;      ///< Rows that cross in one product with the graph's matrix.
  graph::MovedRows between;     ///< Of these, between workgroups.
  double seconds = 0.0;         ///< Cutting alone, not counting what it costs: the last run.
  std::vector<double> run_seconds{};  ///< The same of each timed run.
};

/// part(v) in 0 .. parts - 1 for every vertex, and what the cut costs (graph/partition.hpp). In
/// host memory. Repeats bit for bit for the same seed, on any number of threads. Throws UsageError
/// for a method that is none, a seed of one that draws nothing, parts and workgroups out of range,
/// and "metis" where its library is missing or the graph too large for its integers; MemoryError.
/// ("metis": Karypis and Kumar, SIAM J. Sci. Comput. 20, 1998.)
[[nodiscard]] PartitionResult partition(const Graph& graph, const PartitionOptions& options = {});

struct ReorderOptions {
  /// "rabbit" (neighbours near each other), "degree" (by descending out-degree, ties by id),
  /// "random".
  std::string order = "rabbit";
  /// Of "random": 1 if not given. The others draw nothing, and refuse one.
  std::optional<std::uint64_t> seed{};
  bool with_graph = false;  ///< ReorderResult::graph is made.
  std::optional<Session> session{};
};

struct ReorderResult {
  std::vector<Vertex> new_id;  ///< Of each vertex: a permutation.
  std::vector<Vertex> old_id;  ///< Its inverse.
  /// With vertex v as new_id[v], its weights and its name.
  std::optional<Graph> graph;
  double seconds = 0.0;  ///< Finding the order alone.
};

/// new_id[v] = the place of v in the order. In host memory. Repeats bit for bit for the same seed,
/// on any number of threads. Ids that the graph's file has are not kept in the new one: they are
/// original_id(old_id[v]) of this one. Throws UsageError for an order that is none, and for a seed
/// of one that draws nothing; MemoryError.
/// ("rabbit": Arai et al., IPDPS 2016.)
[[nodiscard]] ReorderResult reorder(const Graph& graph, const ReorderOptions& options = {});

}  // namespace warren
