// SPDX-License-Identifier: Apache-2.0
// What the copies of one warren::Graph share: the graph in host memory, and what was made of it for
// teams. What the ranks hold themselves is in their stores, under the graph's number.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
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
#include "warren/api/run.hpp"
#include "warren/graph/edge_file.hpp"
#include "warren/graph/generate.hpp"
#include "warren/graph/partition.hpp"
#include "warren/graph/row_file.hpp"
#include "warren/graph/shard.hpp"

#include "api/teams.hpp"

namespace warren::api {

/// Throws UsageError where both options for parallel edges are set.
void check_duplicates(const graph::BuildOptions& options);
/// What of reading a graph is done to its edges. Throws as check_duplicates().
[[nodiscard]] graph::BuildOptions build_options(const ReadOptions& options);

/// What is known of a graph beside its arrays.
struct GraphFacts {
  std::vector<std::string> names{};
  bool are_names_ids = false;
  bool may_have_self_loops = true;
  graph::WeightReport weights{};
  std::optional<Session> session{};  ///< That read it.
  std::string lists_reason{};        ///< Graph::lists_reason().
};

/// A graph of a file, and how all of it is read into memory where somebody asks for that.
struct FileGraph {
  std::shared_ptr<const graph::EdgeFile> file;  ///< Whose lists stay in it; else nullptr.
  std::function<graph::Graph(exec::ThreadPool&)> read;
  /// Of which each rank reads its own rows; else nullptr.
  std::shared_ptr<const graph::RowFile> rows = nullptr;
  bool no_negative_weights = false;  ///< Are refused, as the rows are read.
  std::optional<graph::UniformWeights> weights = std::nullopt;  ///< Drawn for the rows.
};

/// A generated graph whose edges are drawn when they are needed.
struct Drawing {
  graph::GeneratorSpec spec;
  graph::BuildOptions build;
  std::optional<graph::UniformWeights> weights{};
  bool by_ranges = false;  ///< Ranks in processes draw it together, on the CPU, too.

  [[nodiscard]] bool is_symmetric() const { return build.symmetrize || spec.undirected(); }
  /// Edges before duplicates are merged.
  [[nodiscard]] std::uint64_t draws() const { return spec.draws * (is_symmetric() ? 2 : 1); }
};

/// A graph cut for a team's ranks.
struct CutGraph : graph::ShardSource {
  /// Between the graph's vertices and the shards'; nullptr: they are the same.
  std::shared_ptr<const graph::Partition> order = nullptr;
};

class GraphState {
 public:
  GraphState(graph::Graph csr, GraphFacts facts);
  GraphState(const Drawing& drawing, GraphFacts facts);
  GraphState(FileGraph in_file, GraphFacts facts);
  ~GraphState();
  GraphState(const GraphState&) = delete;
  GraphState& operator=(const GraphState&) = delete;

  /// Of no other graph in this process.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] std::uint64_t vertices() const { return vertices_; }
  /// Of a drawn graph that is nowhere yet, draws it.
  [[nodiscard]] std::uint64_t edges();
  /// Draws, or reads, a graph that is not in host memory.
  [[nodiscard]] const graph::Graph& csr();
  [[nodiscard]] bool has_csr() const { return has_csr_; }
  [[nodiscard]] std::span<const std::string> names() const { return facts_.names; }
  [[nodiscard]] const GraphFacts& facts() const { return facts_; }
  /// Does `work` of no call's with threads of the host: of the session that read the graph, or the
  /// standard one.
  void on_host(const std::function<void(exec::ThreadPool&)>& work) const;
  /// nullptr where the lists are in memory.
  [[nodiscard]] const std::shared_ptr<const graph::EdgeFile>& file() const { return in_file_.file; }
  /// nullptr where ranks do not read rows of their own.
  [[nodiscard]] const std::shared_ptr<const graph::RowFile>& rows() const { return in_file_.rows; }
  [[nodiscard]] bool refuses_negative_weights() const { return in_file_.no_negative_weights; }
  /// What weights ranks draw for the rows of a file.
  [[nodiscard]] const std::optional<graph::UniformWeights>& row_weights() const {
    return in_file_.weights;
  }
  /// nullptr where it is not drawn late.
  [[nodiscard]] const Drawing* drawing() const { return drawing_ ? &*drawing_ : nullptr; }
  /// Whether ranks in processes each read, or draw, rows of their own.
  [[nodiscard]] bool is_by_ranges() const {
    return in_file_.rows != nullptr || (drawing_ && drawing_->by_ranges);
  }
  /// Draws, or reads, nothing for a graph that is not in host memory, but where its lists are in a
  /// file.
  [[nodiscard]] graph::WeightType weight_type();
  /// Of a drawn graph: what its ranks know, and its arrays, once they were fetched.
  void note_edges(std::uint64_t edges) { drawn_edges_ = edges; }
  void set_csr(graph::Graph csr);
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
  [[nodiscard]] std::shared_ptr<const CutGraph> source(int ranks, Edges edges, InEdges in_edges,
                                                       const std::shared_ptr<Teams>& teams,
                                                       const PlacementOptions& placement = {});
  /// What ranks keep their part of this placement under (RankStore::Key). Notes the session.
  [[nodiscard]] int part_of(Edges edges, const PlacementOptions& placement,
                            const std::shared_ptr<Teams>& teams);
  /// The graph with its edges turned round; nullptr where it is symmetric. Kept.
  [[nodiscard]] std::shared_ptr<GraphState> reversed(exec::ThreadPool& pool);
  /// The same edges, which lie where this graph's do, without weights. Kept.
  [[nodiscard]] std::shared_ptr<GraphState> without_weights();
  void release();

 private:
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

  /// With the lock: its place in placements_.
  [[nodiscard]] std::size_t place_of(const PlacementOptions& placement);
  /// With the lock.
  void find_in(exec::ThreadPool& pool);
  /// With the lock.
  [[nodiscard]] bool find_symmetry(exec::ThreadPool& pool);
  /// With the lock: the session is told when the graph goes.
  void note(const std::shared_ptr<Teams>& teams);

  /// With the lock.
  void keep_csr(graph::Graph csr);
  /// With the lock: the graph in the order of a cut that has one of its own.
  [[nodiscard]] CutGraph relabelled(std::shared_ptr<const graph::Partition> order, InEdges in_edges,
                                    exec::ThreadPool& pool) const;

  const std::uint64_t number_;
  const std::optional<Drawing> drawing_;
  const FileGraph in_file_;
  const GraphFacts facts_;
  const std::uint64_t vertices_;
  std::atomic<std::uint64_t> drawn_edges_{kUnknown};
  std::atomic<bool> has_csr_{false};
  std::shared_ptr<const graph::Graph> csr_;  ///< Set once.
  std::mutex mutex_;
  std::unordered_map<std::string, Vertex> by_name_;  ///< Filled by the first find().
  graph::Symmetry symmetry_;
  std::atomic<bool> has_good_weights_{false};  ///< Looked for, and found so.
  std::shared_ptr<const graph::Graph> known_;  ///< csr_ with its symmetry; nullptr: not yet.
  std::shared_ptr<const graph::Graph> in_;     ///< Of a directed one.
  std::shared_ptr<const graph::CompressedGraph> compressed_out_, compressed_in_;
  std::shared_ptr<GraphState> reversed_, unweighted_;
  /// By ranks, and place in placements_.
  std::map<std::tuple<int, Edges, InEdges, std::size_t>, std::shared_ptr<const CutGraph>> sources_;
  std::vector<PlacementOptions> placements_{PlacementOptions{}};  ///< That calls have named.
  std::vector<std::weak_ptr<Teams>> sessions_;
};

}  // namespace warren::api
