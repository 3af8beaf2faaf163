// SPDX-License-Identifier: Apache-2.0
// Sampled neighbourhoods of vertices: one in host memory, or many batches at once that stay on the
// device (docs/sampling.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "warren/api/array.hpp"
#include "warren/api/array_view.hpp"
#include "warren/api/graph.hpp"
#include "warren/api/session.hpp"
#include "warren/api/traverse.hpp"

namespace warren {

/// A time for every edge of a graph, in the order of its edges. Calls with the same object keep
/// what they made of it.
using EdgeTimes = std::shared_ptr<const std::vector<std::int64_t>>;

struct SampleOptions {
  std::vector<Vertex> seeds{};  ///< One or more; a vertex may come several times.
  /// Neighbours of each vertex, hop by hop from the seeds: 1 and more, or -1 for all.
  std::vector<std::int64_t> fanouts{};
  bool replace = false;   ///< Each draw is of all neighbours: the same one may come again.
  bool weighted = false;  ///< Draws go by the edges' weights, 0 or more.
  /// Layer-neighbour sampling: the sample's vertices share the neighbours that they draw, so that
  /// it has fewer of them. Not with `replace`, `disjoint` or `edge_times`.
  bool labor = false;
  bool layer_dependency = false;  ///< Of `labor`: hops share them, too.
  /// Where there are some, edges that are not later than the time of their seed are sampled alone.
  /// Trees are then disjoint.
  EdgeTimes edge_times{};
  std::vector<std::int64_t> seed_times{};  ///< Of `edge_times`: a time for each seed.
  /// Of `edge_times`: the latest of these edges, and none is drawn. Not with `replace` or
  /// `weighted`.
  bool temporal_last = false;
  bool disjoint = false;  ///< Every sampled edge has a vertex of its own: a tree for each seed.
  bool once = false;      ///< Neighbours of a vertex are drawn once, not again in every later hop.
  std::uint64_t seed = 1;
  std::uint64_t batch = 0;      ///< Its number, below 2^48: batches of one seed draw differently.
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

/// Hop h takes every vertex that the sample has so far, or with `once` those that the hop before it
/// found: of its N neighbours along its edges min(N, M) different ones, uniformly, M being the
/// hop's fanout; with `replace` M draws; with `weighted`
/// draws in proportion to the weights, edges of weight 0 never. With `labor` the neighbours t of s
/// with the smallest r_t, or with `weighted` r_t / w(s, t), r_t being a random number of (0, 1)
/// that is the same for all s (Balin and Catalyurek, "Layer-Neighbor Sampling", NeurIPS 2023);
/// parallel edges have the same one. With `temporal_last` the latest min(N, M) edges in the order
/// of their times; of equal times those further on among the vertex' edges. In host memory. A
/// function of the graph, `seed`, `batch`, the seeds and times alone: the same on every device and
/// number of ranks. Throws VertexError for a seed that is no vertex; UsageError for no seeds, a
/// fanout out of range, `weighted` for a graph without weights, with a negative one or with none
/// above 0, times that are not one for each edge and seed, and options that do not go together;
/// MemoryError.
[[nodiscard]] SampleResult sample_neighbours(const Graph& graph, const SampleOptions& options);

struct SampleBatchesOptions {
  std::vector<Vertex> seeds{};  ///< One or more, batch after batch.
  /// In place of `seeds`: where the caller has them, on a GPU too, where a call of one rank on
  /// GPUs runs and reads them.
  IdsView seeds_in_place{};
  std::vector<std::int64_t> fanouts{};  ///< As of SampleOptions, like all that is not told here.
  std::uint64_t batch_size = 1024;      ///< Seeds of a batch, 1 or more. The last one has the rest.
  bool replace = false;
  bool weighted = false;
  bool labor = false;
  bool layer_dependency = false;
  EdgeTimes edge_times{};
  std::vector<std::int64_t> seed_times{};  ///< Of all seeds, batch after batch.
  bool temporal_last = false;
  bool disjoint = false;
  bool once = false;
  bool edge_ids = false;  ///< Tell the edges' places in the graph, too.
  std::uint64_t seed = 1;
  std::uint64_t batch = 0;  ///< The first batch's number; the others follow.
  /// Batches that a rank samples at a time, 0: chosen. It changes times and memory alone.
  std::uint32_t in_flight = 0;
  /// Of ranks that are processes: each gives seeds of its own and gets their samples alone, on its
  /// device, at a time of its own; draws differ from rank to rank. The first call with its options
  /// all ranks make together. Batches are prepared for `batch_size` seeds also where there are
  /// less.
  bool own = false;
  Edges edges = Edges::device;
  std::optional<DeviceKind> device{};
  int devices = 0;
  std::optional<Session> session{};
};

/// One hop of all batches, batch after batch.
struct SampledLayers {
  /// Batch b's, from offset_begins[b]: for each of its rows where its edges begin among the batch's
  /// own, from 0, and the end of the last.
  Array<EdgeOffset> offsets;
  Array<Vertex> targets;  ///< Batch b's, from edge_begins[b]: places among the batch's vertices.
  Array<EdgeOffset> edge_ids;  ///< As `targets`; empty where not asked for.
  std::vector<std::uint64_t> offset_begins, edge_begins;  ///< Batches + 1.
};

struct SampleBatchesResult {
  Array<Vertex> vertices;      ///< Batch b's, from vertex_begins[b]: as SampleResult::vertices.
  Array<std::uint32_t> trees;  ///< Of `disjoint`, as `vertices`.
  std::vector<std::uint64_t> vertex_begins;  ///< Batches + 1.
  std::vector<SampledLayers> layers;
  RunInfo info;
  [[nodiscard]] std::uint64_t batches() const { return vertex_begins.size() - 1; }
};

/// The samples of many batches, each as of sample_neighbours() with that batch's seeds and number.
/// Arrays are on the device (of several: on the first, the batches being shared out among them).
/// Deterministic likewise: neither ranks nor `in_flight` change anything. Throws as
/// sample_neighbours(), and UsageError for a batch size of 0, for seeds in both places, and for
/// `own` with several ranks in one process.
[[nodiscard]] SampleBatchesResult sample_batches(const Graph& graph,
                                                 const SampleBatchesOptions& options);

}  // namespace warren
