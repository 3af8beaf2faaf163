// SPDX-License-Identifier: Apache-2.0
// Neighbour sampling for mini-batches: several hops in one call, each a block of CSR over the
// batch's own numbering of its vertices (WholeGraph, section III-C).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "warren/sample/graph_store.hpp"

namespace warren::sample {

inline constexpr std::uint32_t kMaxHops = 16;

struct SamplerOptions {
  /// Neighbours of each target, hop by hop from the seeds outwards: 1 and more, or -1 for all.
  std::vector<std::int64_t> fanouts;
  std::uint64_t batch = 1024;   ///< Seeds of a batch.
  std::uint32_t in_flight = 1;  ///< Batches that one call samples at the same time.
  bool replace = false;         ///< Each draw is of all neighbours: the same one may come again.
  bool weighted = false;        ///< Draws have probabilities in proportion to the edges' weights.
  /// Draws of a hop share neighbours: a target takes those with the smallest numbers, which belong
  /// to the neighbours and not to the target. Not with `replace` or `disjoint`.
  bool labor = false;
  /// Of `labor`: the neighbours' numbers are those of the batch, the same in all of its hops.
  bool layer_dependency = false;
  bool temporal = false;  ///< Only edges not later than their seed's time. Needs `disjoint`.
  /// Of `temporal`: the latest of these edges, and none is drawn. Not with `replace` or `weighted`.
  bool temporal_last = false;
  bool disjoint = false;  ///< Every sampled edge has a vertex of its own: a tree for each seed.
  /// Neighbours of a vertex are drawn once a batch, in the hop after the one that found it: other
  /// rows of that hop are empty.
  bool once = false;
  bool edge_ids = false;      ///< The sampled edges' places in the graph are written, too.
  bool edge_weights = false;  ///< Their weights, too. Draws do not look at these.
  std::uint64_t seed = 1;
  /// Most sampled edges of one hop of a batch; 0: what the fanouts and the graph's largest degree
  /// allow. A batch with more is reported by counts().
  std::uint64_t max_edges = 0;
  /// How a batch's vertices are found again: by a hash table, or by an array of all vertices, which
  /// `automatic` takes where it is the smaller one.
  enum class Table { automatic, hash, direct } table = Table::automatic;
  /// Called by run() before each hop, on the host: what it throws ends the run.
  std::function<void()> before_hop{};
};

/// How much of a batch's arrays is filled. On the device first.
struct BatchCounts {
  std::uint32_t vertices[kMaxHops + 1] = {};  ///< Before the first hop (seeds), after each one.
  std::uint32_t edges[kMaxHops] = {};
  std::uint32_t status = 0;  ///< 0 where all went well.
  std::uint64_t needed = 0;  ///< Edges of the hop that did not fit.
};

/// One hop of a batch, on the device: row i are the sampled edges of vertex i, for the vertices
/// that the batch had before the hop; columns are places in the batch's list of vertices.
struct SampledHop {
  const EdgeOffset* row_offsets = nullptr;  ///< vertices[hop] + 1, from 0.
  const Vertex* columns = nullptr;          ///< edges[hop].
  const EdgeOffset* edge_ids = nullptr;     ///< edges[hop], or nullptr where not asked for.
  const float* weights = nullptr;           ///< Likewise.
  /// vertices[hop + 1]: how many of the hop's edges end at the vertex.
  const std::uint32_t* duplicates = nullptr;
};

/// A batch, on the device: seeds first, in their order, then, hop by hop, the vertices that are
/// new, in the order in which the hop's edges first name them.
struct SampledBatch {
  const Vertex* vertices = nullptr;      ///< Ids in the store.
  const std::uint32_t* trees = nullptr;  ///< Of `disjoint`: which seed's tree a vertex is in.
  std::vector<SampledHop> hops;
  const BatchCounts* counts = nullptr;
};

/// Samples batches for one rank. The sample is a function of the store's graph, the options' seed,
/// the batch's number, and its seeds: the same on the CPU, on GPUs, for every team size and every
/// number of batches in flight.
///
/// Hop h takes every vertex that the batch has so far as a target (with `once` those that hop h - 1
/// found; the first hop the seeds): of its N neighbours min(N, M)
/// different ones, uniformly (or with `replace` M draws; with `weighted` successive draws in
/// proportion to the weights, edges of weight 0 never). Without `replace` all N are taken, in the
/// list's order, where N <= M.
///
/// With `labor` the min(N, M) neighbours t of target s with the smallest r_t, or, with `weighted`,
/// r_t / w(s, t), in that order, where r_t is uniform in (0, 1) and a function of seed, batch, hop
/// (but with `layer_dependency`) and t alone: a batch has fewer vertices, each target's draws being
/// what they are without it (Balin and Catalyurek, "Layer-Neighbor Sampling", NeurIPS 2023: LABOR-0
/// by sequential Poisson sampling). Parallel edges of equal weight have equal numbers, and are
/// taken in the list's order.
///
/// With `temporal_last` the min(N, M) latest of the N edges that are not later than the seed, in
/// the order of their times; of equal times those further on in the list.
///
/// A seed that is repeated is a target of its own for each time; edges
/// to that vertex name its first place.
class NeighbourSampler {
 public:
  /// Takes the device memory that the largest batches need (for full neighbourhoods that is up to
  /// the graph's own size). Throws UsageError for options that make no sense or that `store` has no
  /// data for; MemoryError, which names the table of vertices and its size where that does not fit.
  NeighbourSampler(const exec::Device& device, const GraphStore& store,
                   const SamplerOptions& options);

  /// Samples the batches first_batch, first_batch + 1, ... of `count` seeds (ids in the store, on
  /// the stream's device, at most batch x in_flight of them; the last batch may be smaller).
  /// `times`: of the seeds, for `temporal`. Asynchronous, and no host in between; results stand
  /// until the next call. Each rank calls for itself.
  void run(const exec::Stream& stream, const Vertex* seeds, std::uint64_t count,
           std::uint64_t first_batch, const std::int64_t* times = nullptr);

  /// Batches of the last call.
  [[nodiscard]] std::uint32_t batches() const { return batches_; }
  /// Where batch b of the last call is.
  [[nodiscard]] SampledBatch batch(std::uint32_t b) const;
  /// Counts of the last call's batches; in a dry run (exec::DryRun) the most that they can be, of
  /// seeds that differ. Synchronises. Throws UsageError for a seed that is no vertex, and for a hop
  /// with more edges than `max_edges`.
  [[nodiscard]] std::vector<BatchCounts> counts(const exec::Stream& stream) const;

  [[nodiscard]] std::uint32_t hops() const { return static_cast<std::uint32_t>(plan_.size()); }
  /// The most that a hop of a batch can have.
  [[nodiscard]] std::uint64_t most_edges(std::uint32_t hop) const { return plan_[hop].edges; }
  [[nodiscard]] std::uint64_t most_vertices() const { return plan_.back().vertices_after; }
  /// Device memory held.
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  struct HopPlan {
    std::uint32_t fanout = 0;
    std::uint64_t targets = 0;
    std::uint64_t edges = 0;
    std::uint64_t vertices_after = 0;
  };
  struct HopBuffers {
    memory::Buffer<EdgeOffset> row_offsets;
    memory::Buffer<Vertex> columns;
    memory::Buffer<EdgeOffset> edge_ids;
    memory::Buffer<float> weights;
    memory::Buffer<std::uint32_t> duplicates;
  };

  void plan(const GraphStore& store);
  [[nodiscard]] BatchCounts most_counts() const;
  void take(const exec::Device& device);
  void take_table(const exec::Device& device, std::uint64_t entries);

  SamplerOptions options_;
  StoreView store_;
  std::uint64_t edges_ = 0;  ///< Of the store.
  std::vector<HopPlan> plan_;
  std::vector<HopBuffers> hops_;
  bool is_direct_ = false;
  std::uint64_t table_entries_ = 0;  ///< Of one batch.
  std::uint64_t chunks_ = 0;         ///< Of one batch.
  std::uint32_t batches_ = 0;
  memory::Buffer<BatchCounts> counts_;
  memory::Buffer<Vertex> vertices_;
  memory::Buffer<std::uint32_t> trees_;
  memory::Buffer<EdgeOffset> begins_;
  memory::Buffer<std::uint32_t> degrees_;
  memory::Buffer<std::uint32_t> slots_;
  memory::Buffer<std::uint64_t> chunk_sums_;
  memory::Buffer<std::uint64_t> table_;
  memory::Buffer<std::uint64_t> scratch_;
};

}  // namespace warren::sample
