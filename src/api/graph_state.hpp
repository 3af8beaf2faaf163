// SPDX-License-Identifier: Apache-2.0
// What the copies of one warren::Graph share: the graph in host memory, and what was made of it for
// teams. What the ranks hold themselves is in their stores, under the graph's number.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "warren/api/graph.hpp"
#include "warren/api/traverse.hpp"
#include "warren/graph/shard.hpp"

#include "api/teams.hpp"

namespace warren::api {

/// Throws UsageError where both options for parallel edges are set.
void check_duplicates(const graph::BuildOptions& options);
/// What of reading a graph is done to its edges. Throws as check_duplicates().
[[nodiscard]] graph::BuildOptions build_options(const ReadOptions& options);

class GraphState {
 public:
  GraphState(graph::Graph csr, std::vector<std::string> names);
  ~GraphState();
  GraphState(const GraphState&) = delete;
  GraphState& operator=(const GraphState&) = delete;

  /// Of no other graph in this process.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] const graph::Graph& csr() const { return *csr_; }
  [[nodiscard]] std::span<const std::string> names() const { return names_; }
  [[nodiscard]] Vertex find(const std::string& name);
  [[nodiscard]] bool is_symmetric(exec::ThreadPool& pool);
  /// What is_symmetric() found; nothing before.
  [[nodiscard]] std::optional<bool> known_symmetry();
  /// Throws UsageError, naming the edge, for a weight that is negative or not finite.
  void check_weights(exec::ThreadPool& pool);
  /// Whether check_weights() has found no such edge.
  [[nodiscard]] bool has_good_weights() const { return has_good_weights_; }

  /// Who makes the in-edges of a directed graph.
  enum class InEdges : std::uint8_t { host, device };
  /// The graph cut for `ranks` ranks, with in-edges, but where the device makes them. Kept, and so
  /// are the session's stores. The host's threads are waited for where something is still to be
  /// made.
  [[nodiscard]] graph::ShardSource source(int ranks, Edges edges, InEdges in_edges,
                                          const std::shared_ptr<Teams>& teams);
  /// The graph with its edges turned round; nullptr where it is symmetric. Kept.
  [[nodiscard]] std::shared_ptr<GraphState> reversed(exec::ThreadPool& pool);
  void release();

 private:
  /// With the lock.
  void find_in(exec::ThreadPool& pool);
  /// With the lock.
  [[nodiscard]] bool find_symmetry(exec::ThreadPool& pool);
  /// With the lock: the session is told when the graph goes.
  void note(const std::shared_ptr<Teams>& teams);

  const std::uint64_t number_;
  const std::shared_ptr<const graph::Graph> csr_;
  const std::vector<std::string> names_;
  std::mutex mutex_;
  std::unordered_map<std::string, Vertex> by_name_;  ///< Filled by the first find().
  graph::Symmetry symmetry_;
  std::atomic<bool> has_good_weights_{false};  ///< Looked for, and found so.
  std::shared_ptr<const graph::Graph> known_;  ///< csr_ with its symmetry; nullptr: not yet.
  std::shared_ptr<const graph::Graph> in_;     ///< Of a directed one.
  std::shared_ptr<const graph::CompressedGraph> compressed_out_, compressed_in_;
  std::shared_ptr<GraphState> reversed_;
  std::map<std::tuple<int, Edges, InEdges>, graph::ShardSource> sources_;  ///< By ranks.
  std::vector<std::weak_ptr<Teams>> sessions_;
};

}  // namespace warren::api
