// SPDX-License-Identifier: Apache-2.0
// Weakly connected components, on a team of CPU ranks or GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "warren/core/types.hpp"
#include "warren/graph/shard.hpp"
#include "warren/team/team.hpp"

namespace warren::traverse {

struct ComponentsOptions {
  /// Edges of each vertex that are linked before the largest component is looked for.
  std::uint32_t sampled_edges = 2;
};

struct ComponentsResult {
  std::uint64_t components = 0;
  std::uint64_t largest = 0;  ///< Vertices of the largest one.
  double seconds = 0.0;       ///< The work alone, on this rank.
  std::uint64_t far_bytes =
      0;  ///< Read from host memory by the team, where edges are placed there.
};

class ComponentsMemory;

/// label(v) = the smallest vertex that is connected with v by edges taken in either direction: the
/// same for every device and team size. Afforest (Sutton, Ben-Nun, Barak: Optimizing Parallel Graph
/// Connectivity Computation via Subgraph Sampling, IPDPS 2018): a few edges of each vertex are
/// linked, and of the largest component so far only what leads out of it from elsewhere is looked
/// at. That takes the in-edges of a directed graph; without them all edges are linked. Holds 4
/// bytes for each vertex of the graph on each device.
class Components {
 public:
  /// Collective. `shard` must outlive this. Throws MemoryError.
  Components(team::Team& team, const graph::Shard& shard, const ComponentsOptions& options = {});
  ~Components();
  Components(const Components&) = delete;
  Components& operator=(const Components&) = delete;

  /// Collective, synchronous. On GPUs that may wait for each other it is one persistent kernel on
  /// each.
  ComponentsResult run();

  /// Of this rank's vertices, in host memory.
  [[nodiscard]] std::vector<Vertex> labels() const;
  /// Of all vertices, on every rank. Collective.
  [[nodiscard]] std::vector<Vertex> all_labels() const;

 private:
  team::Team& team_;
  const graph::Shard& shard_;
  ComponentsOptions options_;
  exec::Stream stream_;
  std::unique_ptr<ComponentsMemory> memory_;
};

}  // namespace warren::traverse
