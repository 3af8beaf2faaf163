// SPDX-License-Identifier: Apache-2.0
// A graph's structure over the memories of a team, for kernels that read the neighbours of any
// vertex on any rank (WholeGraph, section III-B).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "warren/graph/shard.hpp"
#include "warren/memory/global_array.hpp"

namespace warren::sample {

/// Where a vertex's edges are: edges [begin, begin + degree) of rank `owner`.
struct NeighbourList {
  EdgeOffset begin = 0;
  std::uint32_t degree = 0;
  int owner = 0;
};

/// What enters a kernel: the shards' arrays of all ranks, as this device addresses them. Offsets
/// are indexed by a rank's own row, all arrays of edges by the offsets' values.
struct StoreView {
  const EdgeOffset* offsets[kMaxRanks] = {};
  const Vertex* targets[kMaxRanks] = {};
  const std::int32_t* weights_int[kMaxRanks] = {};
  const float* weights_float[kMaxRanks] = {};
  const double* cumulative[kMaxRanks] = {};    ///< Sums of the row's weights up to here, inclusive.
  const std::int64_t* times[kMaxRanks] = {};   ///< Ascending in each row.
  const EdgeOffset* edge_ids[kMaxRanks] = {};  ///< nullptr: an edge's id is its place.
  std::uint64_t cuts[kMaxRanks + 1] = {};      ///< Rank q holds vertices [cuts[q], cuts[q + 1]).
  int ranks = 1;
  bool has_zero_weights = false;

  [[nodiscard]] WARREN_HD std::uint64_t vertices() const { return cuts[ranks]; }
  [[nodiscard]] WARREN_HD int owner(Vertex v) const {
    int q = 0;
    for (int p = 1; p < ranks; ++p) q += v >= cuts[p] ? 1 : 0;
    return q;
  }
  [[nodiscard]] WARREN_HD NeighbourList list(Vertex v) const {
    const int q = owner(v);
    const EdgeOffset* row = offsets[q] + (v - cuts[q]);
    return {row[0], static_cast<std::uint32_t>(row[1] - row[0]), q};
  }
  [[nodiscard]] WARREN_HD double weight(int q, EdgeOffset edge) const {
    if (weights_int[q] != nullptr) return weights_int[q][edge];
    return weights_float[q] != nullptr ? static_cast<double>(weights_float[q][edge]) : 1.0;
  }
  [[nodiscard]] WARREN_HD EdgeOffset edge_id(int q, EdgeOffset edge) const {
    return edge_ids[q] == nullptr ? edge : edge_ids[q][edge];
  }
};

struct StoreOptions {
  bool weights = false;       ///< Draws are by the graph's edge weights, of 0 and above.
  bool edge_weights = false;  ///< Sampled edges have their weights written, which may be negative.
  bool cumulative = false;    ///< And their sums kept, for weighted draws with replacement: 8 bytes
                              ///< an edge.
  /// Every device has all ranks' lists, so that draws read none over a link; of lists on devices.
  bool replicated = false;
  /// Of this rank's edges, in the shard's order; the same on all ranks whether given. The store
  /// then keeps a copy of the edges, each row in the order of its times: 20 to 24 bytes an edge.
  std::optional<std::span<const std::int64_t>> times = {};
};

/// How large a graph is: all that the memory of its samplers depends on.
struct StoreSizes {
  std::uint64_t vertices = 0, edges = 0, max_degree = 0;
};

/// The owner of one rank's part, and of the view of all.
class GraphStore {
 public:
  /// Collective. Shares the shard's arrays as they lie (device or pinned host memory) without a
  /// copy, or, where they are to be replicated, with one of the other ranks' arrays. Ranks that are
  /// processes show a copy of theirs, in memory that all processes have. The shard's vertices are
  /// those of the store, whatever the partition. Throws UsageError for compressed lists, lists in
  /// host memory that are to be replicated, weights that are absent, or, where draws are by them,
  /// negative, not finite or all zero, timestamps not one an edge, and devices that cannot reach
  /// each other; MemoryError. Synchronises.
  GraphStore(team::Team& team, const graph::Shard& shard, const StoreOptions& options = {});
  /// Of a graph that is not there, without memory: for samplers of dry runs (exec::DryRun).
  GraphStore(const StoreSizes& sizes, const StoreOptions& options);

  [[nodiscard]] const StoreView& view() const { return view_; }
  [[nodiscard]] std::uint64_t vertices() const { return view_.vertices(); }
  [[nodiscard]] std::uint64_t edges() const { return edges_; }
  /// Of any vertex.
  [[nodiscard]] std::uint64_t max_degree() const { return max_degree_; }
  [[nodiscard]] bool has_weights() const { return has_weights_; }  ///< For draws.
  [[nodiscard]] bool has_edge_weights() const { return has_edge_weights_; }
  [[nodiscard]] bool has_cumulative() const { return cumulative_.has_value(); }
  [[nodiscard]] bool has_times() const { return times_.has_value(); }

 private:
  template <class T>
  [[nodiscard]] const T* shown(team::Team& team, const exec::Stream& stream, const T* own,
                               std::uint64_t count);
  template <class T>
  void share_edges(team::Team& team, const T* first, bool is_pinned, const T* (&table)[kMaxRanks]);
  void sort_by_time(team::Team& team, const exec::Stream& stream, const graph::Shard& shard,
                    std::span<const std::int64_t> times);
  void inspect(team::Team& team, const exec::Stream& stream);
  void accumulate(team::Team& team, const exec::Stream& stream, memory::Placement placement);
  void replicate(const exec::Stream& stream, int rank);

  graph::Shard shard_;  ///< Keeps what is shared alive.
  std::vector<std::uint64_t> edge_cuts_;
  StoreView view_;
  std::uint64_t edges_ = 0;
  std::uint64_t max_degree_ = 0;
  bool has_weights_ = false, has_edge_weights_ = false;
  std::optional<memory::GlobalArray<double>> cumulative_;
  std::optional<memory::GlobalArray<Vertex>> targets_;
  std::optional<memory::GlobalArray<float>> weights_float_;
  std::optional<memory::GlobalArray<std::int32_t>> weights_int_;
  memory::Buffer<std::int32_t> wide_weights_;  ///< Of a shard whose weights are bytes.
  std::optional<memory::GlobalArray<std::int64_t>> times_;
  std::optional<memory::GlobalArray<EdgeOffset>> edge_ids_;
  std::vector<memory::Buffer<std::byte>> copies_;  ///< Of other ranks' arrays, or for them.
};

}  // namespace warren::sample
