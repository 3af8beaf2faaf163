// SPDX-License-Identifier: Apache-2.0
// Breadth-first search: level-synchronous and direction-optimising, on a team of CPU ranks or GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "warren/core/types.hpp"
#include "warren/graph/shard.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/team/team.hpp"

namespace warren::traverse {

/// Which ranks run the levels of a search.
enum class BfsRanks : std::uint8_t {
  /// `first` on several GPUs that reach each other's memory, for a symmetric graph of fewer than
  /// six
  /// directed edges a vertex, all of which, with what a search keeps, take less than half of what
  /// is free on the first one; else `all`.
  automatic,
  all,  ///< Each its own vertices'.
  /// The first one, on a copy of all lists; the others take the results of their vertices. Lists
  /// of processes on the CPU must be in memory of a CPU device (memory::Buffer).
  first,
};

struct BfsOptions {
  /// Levels with a large frontier look for parents from the unvisited side (Beamer, Asanovic,
  /// Patterson: Direction-Optimizing BFS, SC 2012). Needs a shard with in-edges; without them every
  /// level pushes.
  bool direction_optimizing = true;
  /// Pull once the frontier's edges pass the unexplored edges over alpha; push again once it has
  /// fewer vertices than n / beta.
  double alpha = 14.0;
  double beta = 24.0;
  /// Tell the sum of depths and the reached vertices' edges, which takes a look at all vertices.
  bool adds_up = true;
  /// Grids and road networks have thousands of levels of few vertices, each of which takes several
  /// ranks longer to agree on than one to run.
  BfsRanks ranks = BfsRanks::automatic;
};

/// Where a search may end before it has reached all that it can.
struct BfsLimits {
  static constexpr std::uint32_t kNoDepth = ~std::uint32_t{0};
  std::uint32_t depth = kNoDepth;  ///< Farther vertices are not reached.
  /// The search ends with the level after which all of these (ids of the shard's numbering) are
  /// reached. Where one cannot be, it reaches all that it can.
  std::vector<Vertex> targets = {};
};

struct BfsResult {
  std::uint64_t reached = 0;  ///< Vertices, the source included.
  std::uint32_t max_depth = 0;
  /// With BfsOptions::adds_up: over reached vertices; edges with a reached source endpoint, the
  /// numerator of TEPS.
  std::uint64_t sum_depth = 0;
  std::uint64_t edges = 0;
  double seconds = 0.0;      ///< The traversal alone, on this rank.
  std::uint32_t levels = 0;  ///< Whose vertices were expanded; 0 of an asynchronous search.
  std::uint32_t pull_levels = 0;
  std::uint32_t ranks = 0;  ///< That ran the levels: all, or the first one (BfsRanks::first).
  std::uint64_t far_bytes =
      0;  ///< Read from host memory by the team, where edges are placed there.
};

/// Vertices by their depth, of all ranks; `depth` has this rank's. Collective.
[[nodiscard]] std::vector<std::uint64_t> level_sizes(team::Team& team,
                                                     std::span<const Vertex> depth);

class BfsMemory;
class BfsOfFirst;
struct Visit;

/// depth(v) = the least number of edges from the source to v; parent(v) a neighbour on such a path.
/// Holds about 25 bytes for each own vertex on each device; where the first rank runs all levels
/// (BfsRanks::first) it holds these for all vertices, and all lists once more. The state is made
/// once and reused by every run.
class Bfs {
 public:
  /// Collective. `shard` must outlive this. Throws MemoryError; UsageError for BfsRanks::first with
  /// edges that are not in device memory, or ranks that do not reach each other's memory.
  Bfs(team::Team& team, const graph::Shard& shard, const BfsOptions& options = {});
  ~Bfs();
  Bfs(const Bfs&) = delete;
  Bfs& operator=(const Bfs&) = delete;

  /// Traverses from `source` (an id of the shard's numbering). Collective, synchronous. On GPUs
  /// that may wait for each other the whole traversal is one persistent kernel on each. Depths are
  /// deterministic; which of several possible parents is recorded is not. Throws UsageError for a
  /// source or a target that is no vertex.
  BfsResult run(Vertex source, const BfsLimits& limits = {});
  /// The same from several sources together: depth(v) is that from the nearest source. Each source
  /// is its own parent; repeats count once. Throws UsageError for none, too.
  BfsResult run(std::span<const Vertex> sources, const BfsLimits& limits = {});

  /// Of this rank's vertices, in host memory; kNoVertex where not reached. The source is its own
  /// parent.
  [[nodiscard]] std::vector<Vertex> depth() const;
  [[nodiscard]] std::vector<Vertex> parent() const;
  /// The same to memory of this rank's device; on the CPU, of the host. Returns when it is there.
  void write(Vertex* depth, Vertex* parent) const;
  /// Of all vertices, on every rank. Collective.
  [[nodiscard]] std::vector<Vertex> all_depths() const;
  [[nodiscard]] std::vector<Vertex> all_parents() const;

 private:
  void check_vertex(Vertex v, const char* what) const;
  [[nodiscard]] const memory::Buffer<Visit>& visits() const;
  friend class BfsOfFirst;

  team::Team& team_;
  const graph::Shard& shard_;
  BfsOptions options_;
  exec::Stream stream_;
  std::unique_ptr<BfsOfFirst> first_;  ///< Where the first rank runs all levels,
  std::unique_ptr<BfsMemory> memory_;  ///< or all ranks do.
};

}  // namespace warren::traverse
