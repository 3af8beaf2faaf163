// SPDX-License-Identifier: Apache-2.0
// Breadth-first search from up to 64 sources in one pass over the graph.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "warren/core/types.hpp"
#include "warren/graph/shard.hpp"
#include "warren/team/team.hpp"

namespace warren::traverse {

/// What one of the sources reaches.
struct SourceReach {
  Vertex source = 0;
  std::uint64_t reached = 0;  ///< Vertices, the source included.
  std::uint32_t max_depth = 0;
  std::uint64_t sum_depth = 0;
};

struct ManySourceBfsResult {
  std::vector<SourceReach> sources;  ///< As given.
  double seconds = 0.0;              ///< The traversal alone, on this rank.
};

class ManySourceBfsMemory;

/// seen(v) = the sources that reach v within the levels so far, a bit each: a level is
///
///   new(v) = (OR over in-edges (u, v) of new'(u)) and not seen(v),   seen(v) |= new(v),
///
/// new' being what the level before found, so that an edge is read once a level for all sources
/// together (Then et al.: The More the Merrier: Efficient Multi-Source Graph Traversal, VLDB 2014).
/// Holds 24 bytes a vertex on each device, 16 of them for all vertices of the graph.
class ManySourceBfs {
 public:
  static constexpr std::size_t kMaxSources = 64;

  /// Collective. `shard` must outlive this and have in-edges. Throws UsageError, MemoryError.
  ManySourceBfs(team::Team& team, const graph::Shard& shard);
  ~ManySourceBfs();
  ManySourceBfs(const ManySourceBfs&) = delete;
  ManySourceBfs& operator=(const ManySourceBfs&) = delete;

  /// From all sources (ids of the shard's numbering; repeats are legal) at once. Collective,
  /// synchronous, deterministic. Throws UsageError for none or more than kMaxSources, and for a
  /// source that is no vertex.
  ManySourceBfsResult run(std::span<const Vertex> sources);

 private:
  team::Team& team_;
  const graph::Shard& shard_;
  exec::Stream stream_;
  std::unique_ptr<ManySourceBfsMemory> memory_;
};

}  // namespace warren::traverse
