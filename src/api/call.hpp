// SPDX-License-Identifier: Apache-2.0
// One call of an algorithm on a graph: where it runs, each rank's part of the graph and the
// algorithms' memory that stays there between calls, and what the caller is told.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "warren/api/traverse.hpp"
#include "warren/graph/shard.hpp"
#include "warren/team/team.hpp"
#include "warren/traverse/asynchronous.hpp"
#include "warren/traverse/betweenness.hpp"
#include "warren/traverse/bfs.hpp"
#include "warren/traverse/choose_devices.hpp"
#include "warren/traverse/components.hpp"
#include "warren/traverse/core_numbers.hpp"
#include "warren/traverse/pagerank.hpp"
#include "warren/traverse/sssp.hpp"
#include "warren/traverse/triangles.hpp"

#include "api/array_memory.hpp"
#include "api/graph_state.hpp"
#include "api/teams.hpp"

namespace warren::api {

/// A product's preparation (multiply.cpp).
struct RankProduct {
  virtual ~RankProduct() = default;
};

/// A sampler (sample.cpp).
struct RankSampler {
  virtual ~RankSampler() = default;
};

/// What one rank holds of a graph, for one placement of its edges. An algorithm's memory is made by
/// the first call of it, and again where its options change.
struct RankGraph {
  graph::Shard shard;
  /// With vertices by degree, for ranks (rank_vertices.cpp); nullptr inside: not worth it.
  std::optional<std::unique_ptr<graph::Shard>> by_degree;
  memory::Buffer<double> ranks_by_degree;
  std::unique_ptr<traverse::Bfs> bfs;
  std::unique_ptr<traverse::AsyncBfs> async_bfs;
  std::unique_ptr<traverse::Sssp> sssp;
  std::unique_ptr<traverse::AsyncSssp> async_sssp;
  double sssp_delta = 0.0, async_delta = 0.0;
  std::unique_ptr<traverse::Components> components;
  std::unique_ptr<traverse::Betweenness> betweenness;
  std::unique_ptr<traverse::CoreNumbers> core_numbers;
  std::unique_ptr<traverse::Triangles> triangles;
  std::unique_ptr<traverse::PageRank> pagerank;
  std::unique_ptr<traverse::AsyncPageRank> async_pagerank;
  PageRankOptions pagerank_options, async_options;
  std::unique_ptr<RankProduct> product;
  std::unique_ptr<RankSampler> sampler;
  /// Of Mode::automatic, by what the first search found.
  std::optional<traverse::ModeChoice> bfs_mode, sssp_mode;
};

/// What the calls' options have in common.
struct CallOptions {
  /// By which the number of GPUs is chosen; nothing: one, where nobody says.
  std::optional<traverse::Traversal> traversal;
  Mode mode = Mode::synchronous;
  Edges edges = Edges::device;
  std::optional<DeviceKind> device;
  int devices = 0;
  std::optional<Session> session;
};

template <class Options>
CallOptions call_options(std::optional<traverse::Traversal> traversal, const Options& options) {
  CallOptions call{traversal,      Mode::synchronous, Edges::device,
                   options.device, options.devices,   options.session};
  if constexpr (requires { options.mode; }) call.mode = options.mode;
  if constexpr (requires { options.edges; }) call.edges = options.edges;
  return call;
}

/// The ranks of a call that takes as many as it is told to, else one. `info` is filled with what is
/// known of the call by then. Throws UsageError.
[[nodiscard]] Place place_of(const Teams& teams, const std::optional<DeviceKind>& device,
                             int devices, RunInfo& info);

class Call {
 public:
  /// Chooses the ranks. Throws UsageError.
  Call(const Graph& graph, const CallOptions& options);

  /// Runs `work` on every rank. It may be run a second time, if memory was short.
  void run(const std::function<void(team::Team&, RankGraph&)>& work);

  /// Runs `work` on every rank, whose parts of the graph it needs none of; likewise.
  void on_team(const std::function<void(team::Team&)>& work);
  [[nodiscard]] Teams& teams() const { return *teams_; }

  /// Filled by rank 0, but for what the constructor knows.
  RunInfo info;

 private:
  /// Whether a directed graph's in-edges are made on the GPU, which takes a fraction of the time.
  [[nodiscard]] bool in_edges_on_device() const;

  const Graph graph_;
  const CallOptions options_;
  const std::shared_ptr<Teams> teams_;
  Place place_;
};

/// The form that runs; `known` is what an earlier search in automatic mode chose.
[[nodiscard]] bool is_async(Mode mode, const std::optional<traverse::ModeChoice>& known);
/// Throws VertexError.
void check_vertex(const Graph& graph, Vertex v, const char* name);

/// The largest of the ranks' values. Collective.
[[nodiscard]] double slowest(team::Team& team, double seconds);

}  // namespace warren::api
