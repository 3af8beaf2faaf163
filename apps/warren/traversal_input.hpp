// SPDX-License-Identifier: Apache-2.0
// The graph of a traversal, ready to be sharded: read and partitioned on the host, or, for
// generators on GPUs, drawn where it is used.
#pragma once

#include <cstdint>
#include <memory>

#include "warren/graph/generate_shard.hpp"
#include "warren/graph/partition.hpp"
#include "warren/graph/shard.hpp"

#include "graph_input.hpp"
#include "session.hpp"
#include "vertex_names.hpp"

namespace warren::app {

/// Warns of --cache where there is no GPU, and the command counts what it reads without it.
void warn_of_cache(const Session& session, const TraversalOptions& traversal);

class TraversalInput {
 public:
  /// Finds and, unless it will be drawn by the ranks, reads the graph. Throws as find_graph() and
  /// load_graph(). With `wants_weights` the graph has those that it comes with, or that are asked
  /// for, and is in host memory: the ranks draw none. With `takes_decimals` those of a file may be
  /// integers in the units of weights().scale. Settles how many ranks run, if --devices does not.
  TraversalInput(Session& session, const GraphOptions& options, const TraversalOptions& traversal,
                 const std::string& method, bool wants_weights = false,
                 WeightRange range = WeightRange::any, bool takes_decimals = false);

  /// This rank's shard, with in-edges. Collective. Synchronises.
  [[nodiscard]] graph::Shard shard(team::Team& team);
  /// The whole graph in the user's order, on rank 0 (elsewhere perhaps nullptr). Collective:
  /// fetches it from the ranks where the host has none.
  [[nodiscard]] std::shared_ptr<const graph::Graph> whole_graph(team::Team& team,
                                                                const graph::Shard& shard) const;

  [[nodiscard]] const VertexNames& names() const { return names_; }
  [[nodiscard]] std::uint64_t vertices() const { return names_.vertices(); }
  /// nullptr where the ranks draw the graph.
  [[nodiscard]] const std::shared_ptr<const graph::Graph>& graph() const { return graph_; }
  /// Of the partition.
  [[nodiscard]] const std::string& method() const { return method_; }
  /// True if the seed decides about the graph, its weights or its partition.
  [[nodiscard]] bool is_drawn() const { return is_drawn_; }
  /// What the file's reader told of its weights.
  [[nodiscard]] const graph::WeightReport& weights() const { return weights_; }
  /// True if the graph may have self-loops.
  [[nodiscard]] bool may_have_self_loops() const { return !input_.build.drop_self_loops; }

  /// Between the user's order and the shards'.
  [[nodiscard]] Vertex to_shard(Vertex v) const { return partition_.to_new(v); }
  /// Values of all vertices, as the ranks hold them one after the other, in the user's order.
  template <class T>
  [[nodiscard]] std::vector<T> in_user_order(std::vector<T> values,
                                             bool are_vertices = false) const {
    if (partition_.identity()) return values;
    std::vector<T> result(values.size());
    for (std::size_t v = 0; v < values.size(); ++v) {
      T value = values[partition_.new_id[v]];
      if constexpr (std::is_same_v<T, Vertex>) {
        if (are_vertices && value != kNoVertex) value = partition_.old_id[value];
      }
      result[v] = value;
    }
    return result;
  }
  [[nodiscard]] Vertex to_user(Vertex v) const { return partition_.to_old(v); }

 private:
  void place(const Session& session, graph::Graph graph, const std::string& method);

  GraphInput input_;
  std::string method_;
  bool is_drawn_ = false;
  graph::WeightReport weights_;
  VertexNames names_{0};
  std::shared_ptr<const graph::Graph> graph_;
  graph::Partition partition_;
  graph::ShardSource source_;
  graph::EdgesOptions edges_;
  std::uint64_t memory_limit_ = 0;                          ///< Of each device; 0: none.
  graph::VertexOrder order_ = graph::VertexOrder::natural;  ///< Where the ranks draw the graph.
};

}  // namespace warren::app
