// SPDX-License-Identifier: Apache-2.0
// Weakly connected components, on a team of CPU ranks or GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "warren/core/types.hpp"
#include "warren/graph/shard.hpp"
#include "warren/team/team.hpp"

namespace warren::traverse {

/// How the sampled edges join trees.
enum class ComponentsSampling : std::uint8_t {
  automatic,  ///< hook on GPUs for edges in device memory, else link.
  link,       ///< Roots by compare-and-swap, climbing until one holds: no sampled edge is missed.
  hook,       ///< Parents by an atomic minimum, once: what is overwritten is found at the end.
};

/// Which program finds the components.
enum class ComponentsForm : std::uint8_t {
  /// search where it can run, its memory fits, and it is likely to be faster; else forest. Faster
  /// it is on several ranks where a vertex has far more edges than most, which on GPUs lead to one
  /// vertex in 100 or are of 256 million; on one GPU where both holds; on one rank of a CPU from
  /// 65,536 vertices of six directed edges each in the mean on. Where a search leaves more than a
  /// small part of the edges, forest finds all, and later runs begin with it.
  automatic,
  forest,  ///< Afforest: sampled edges first. Runs everywhere.
  /// A breadth-first search from a hub, and then the edges of the vertices that it has not reached.
  /// Of symmetric graphs with in-edges, whose lists are in device memory, on ranks that reach each
  /// other's memory.
  search
};

struct ComponentsOptions {
  /// Edges of each vertex that are taken before the largest component is looked for. Left out: 2,
  /// and where they are hooked up to 4 while the largest component is small.
  std::optional<std::uint32_t> sampled_edges{};
  ComponentsSampling sampling = ComponentsSampling::automatic;
  /// With one of the two above automatic is forest, and search is refused.
  ComponentsForm form = ComponentsForm::automatic;
};

struct ComponentsResult {
  std::uint64_t components = 0;
  std::uint64_t largest = 0;  ///< Vertices of the largest one.
  double seconds = 0.0;       ///< The work alone, on this rank.
  std::uint64_t far_bytes =
      0;  ///< Read from host memory by the team, where edges are placed there.
  ComponentsForm form = ComponentsForm::forest;  ///< That found the labels: forest or search.
  std::uint32_t search_levels = 0;  ///< Of the search, where one was made, in vain or not.
};

class ComponentsMemory;
class ComponentsSearch;

/// label(v) = the smallest vertex that is connected with v by edges taken in either direction: the
/// same for every device, team size and form. One uint32 for each vertex.
///
/// ComponentsForm::forest is Afforest (Sutton, Ben-Nun, Barak: Optimizing Parallel Graph
/// Connectivity Computation via Subgraph Sampling, IPDPS 2018): a few edges of each vertex are
/// linked, and of the largest component so far only what leads out of it from elsewhere is looked
/// at. That takes the in-edges of a directed graph; without them all edges are linked. Holds 4
/// bytes for each vertex of the graph on each device, and for each of its own 4, or 8 where edges
/// are hooked or lie in host memory.
///
/// ComponentsForm::search is the first part of Multistep (Slota, Rajamanickam, Madduri: BFS and
/// Coloring-based Parallel Algorithms for Strongly Connected Components and Related Problems, IPDPS
/// 2014): a direction-optimising breadth-first search from the vertex of the largest degree takes
/// the component that has most edges. It ends as soon as few edges are left, which are linked in
/// one forest over all ranks. Holds what Bfs does, about 25 bytes a vertex on each device, 8 of
/// them for each vertex of the graph where there are several ranks, and 8 for each own vertex;
/// with ComponentsForm::automatic what the forest holds, besides.
class Components {
 public:
  /// Collective. `shard` must outlive this. Throws MemoryError; UsageError for
  /// ComponentsForm::search where it cannot run.
  Components(team::Team& team, const graph::Shard& shard, const ComponentsOptions& options = {});
  ~Components();
  Components(const Components&) = delete;
  Components& operator=(const Components&) = delete;

  /// Collective, synchronous. On GPUs that may wait for each other it is one persistent kernel on
  /// each; two where a search was in vain.
  ComponentsResult run();

  /// Of this rank's vertices, in host memory.
  [[nodiscard]] std::vector<Vertex> labels() const;
  /// The same to memory of this rank's device; on the CPU, of the host. Returns when it is there.
  void write_labels(Vertex* to) const;
  /// Of all vertices, on every rank. Collective.
  [[nodiscard]] std::vector<Vertex> all_labels() const;

 private:
  void run_forest(ComponentsResult& result);

  team::Team& team_;
  const graph::Shard& shard_;
  ComponentsOptions options_;
  exec::Stream stream_;
  std::unique_ptr<ComponentsSearch> search_;  ///< nullptr: the forest alone.
  std::unique_ptr<ComponentsMemory> memory_;
};

}  // namespace warren::traverse
