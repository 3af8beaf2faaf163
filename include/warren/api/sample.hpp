// SPDX-License-Identifier: Apache-2.0
// Sampled neighbourhoods of vertices, a call each (docs/sampling.md).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "warren/api/graph.hpp"
#include "warren/api/session.hpp"
#include "warren/api/traverse.hpp"

namespace warren {

struct SampleOptions {
  std::vector<Vertex> seeds{};  ///< One or more; a vertex may come several times.
  /// Neighbours of each vertex, hop by hop from the seeds: 1 and more, or -1 for all.
  std::vector<std::int64_t> fanouts{};
  bool replace = false;   ///< Each draw is of all neighbours: the same one may come again.
  bool weighted = false;  ///< Draws go by the edges' weights, 0 or more.
  bool disjoint = false;  ///< Every sampled edge has a vertex of its own: a tree for each seed.
  std::uint64_t seed = 1;
  std::uint64_t batch = 0;      ///< Its number: batches of one seed draw differently.
  Edges edges = Edges::device;  ///< Not compressed.
  std::optional<DeviceKind> device{};
  int devices = 0;
  std::optional<Session> session{};
};

/// One hop: row i holds the sampled edges of vertex i, for the vertices that the sample had before
/// the hop.
struct SampledLayer {
  std::vector<EdgeOffset> offsets;   ///< Rows + 1, from 0.
  std::vector<Vertex> targets;       ///< Places in SampleResult::vertices.
  std::vector<EdgeOffset> edge_ids;  ///< Places of these edges in the graph's targets.
};

struct SampleResult {
  /// The seeds in their order, then, hop by hop, the vertices that are new.
  std::vector<Vertex> vertices;
  std::vector<Vertex> trees;  ///< Of `disjoint`: which seed's tree a vertex is in.
  std::vector<SampledLayer> layers;
  RunInfo info;
};

/// Hop h takes every vertex that the sample has so far: of its N neighbours along its edges min(N,
/// M) different ones, uniformly, M being the hop's fanout; with `replace` M draws; with `weighted`
/// draws in proportion to the weights, edges of weight 0 never. In host memory. A function of the
/// graph, `seed`, `batch` and the seeds alone: the same on every device and number of ranks. Throws
/// VertexError for a seed that is no vertex; UsageError for no seeds, a fanout out of range, and
/// `weighted` for a graph without weights, with a negative one or with none above 0; MemoryError.
[[nodiscard]] SampleResult sample_neighbours(const Graph& graph, const SampleOptions& options);

}  // namespace warren
