// SPDX-License-Identifier: Apache-2.0
// Triangles, counted for every vertex, on a team of CPU ranks or GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "warren/core/types.hpp"
#include "warren/graph/shard.hpp"
#include "warren/team/team.hpp"

namespace warren::traverse {

struct TrianglesResult {
  std::uint64_t triangles = 0;
  double seconds = 0.0;  ///< The count alone, on this rank.
};

class TrianglesMemory;

/// triangles(v) = the pairs of neighbours of v that are neighbours of each other, in an undirected
/// graph; their sum over all vertices is three times the triangles. Parallel edges count once,
/// self-loops not at all. Edges are kept from the vertex with fewer edges (of equal ones the
/// smaller id) to the one with more, so that no list is longer than the root of twice the edges,
/// and for each of these edges the lists of both ends are intersected (Schank and Wagner: Finding,
/// Counting and Listing All Triangles in Large Graphs, WEA 2005). Exact: the same for every device
/// and team size. Holds 12 bytes for each vertex of the graph and for each own vertex 8 on each
/// device, and 8 for each own edge of the two in both directions.
class Triangles {
 public:
  /// Makes the lists. Collective. `shard` must outlive this; it is symmetric, and its lists are not
  /// compressed. Throws UsageError, MemoryError.
  Triangles(team::Team& team, const graph::Shard& shard);
  ~Triangles();
  Triangles(const Triangles&) = delete;
  Triangles& operator=(const Triangles&) = delete;

  /// Collective, synchronous. On GPUs that may wait for each other it is one persistent kernel on
  /// each.
  TrianglesResult run();

  /// Of this rank's vertices, in host memory.
  [[nodiscard]] std::vector<std::uint64_t> counts() const;
  /// The same to memory of this rank's device; on the CPU, of the host. Returns when it is there.
  void write_counts(std::uint64_t* to) const;
  /// Of all vertices, on every rank. Collective.
  [[nodiscard]] std::vector<std::uint64_t> all_counts() const;

 private:
  team::Team& team_;
  exec::Stream stream_;
  std::unique_ptr<TrianglesMemory> memory_;
};

}  // namespace warren::traverse
