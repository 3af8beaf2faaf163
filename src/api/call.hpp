// SPDX-License-Identifier: Apache-2.0
// One call of an algorithm on a graph: where it runs, each rank's part of the graph and the
// algorithms' memory that stays there between calls, and what the caller is told.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "warren/api/ranks.hpp"
#include "warren/api/traverse.hpp"
#include "warren/graph/shard.hpp"
#include "warren/team/team.hpp"
#include "warren/traverse/asynchronous.hpp"
#include "warren/traverse/betweenness.hpp"
#include "warren/traverse/bfs.hpp"
#include "warren/traverse/choose_devices.hpp"
#include "warren/traverse/components.hpp"
#include "warren/traverse/core_numbers.hpp"
#include "warren/traverse/many_source_bfs.hpp"
#include "warren/traverse/pagerank.hpp"
#include "warren/traverse/sssp.hpp"
#include "warren/traverse/triangles.hpp"
#include "warren/traverse/verify.hpp"

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

/// What a rank's memory for ranks was made for.
struct KeptRanking {
  PageRankOptions options;
  bool is_ordered = false;  ///< By degree.
};

/// What one rank holds of a graph, for one placement of its edges. An algorithm's memory is made by
/// the first call of it, and again where its options change.
struct RankGraph {
  graph::Shard shard;
  /// Between the graph's vertices and the shard's; nullptr: they are the same.
  std::shared_ptr<const graph::Partition> order;
  /// With vertices by degree, for ranks (rank_vertices.cpp); nullptr inside: not worth it.
  std::optional<std::unique_ptr<graph::Shard>> by_degree;
  memory::Buffer<double> ranks_by_degree;
  std::unique_ptr<traverse::Bfs> bfs;
  std::unique_ptr<traverse::ManySourceBfs> many_source_bfs;
  std::unique_ptr<traverse::AsyncBfs> async_bfs;
  std::unique_ptr<traverse::Sssp> sssp;
  std::unique_ptr<traverse::AsyncSssp> async_sssp;
  double sssp_delta = 0.0, async_delta = 0.0;
  bool bfs_adds_up = false, sssp_adds_up = false;
  std::unique_ptr<traverse::Components> components;
  traverse::ComponentsForm components_form = traverse::ComponentsForm::automatic;
  std::unique_ptr<traverse::Betweenness> betweenness;
  std::unique_ptr<traverse::CoreNumbers> core_numbers;
  std::unique_ptr<traverse::Triangles> triangles;
  std::unique_ptr<traverse::PageRank> pagerank;
  std::unique_ptr<traverse::AsyncPageRank> async_pagerank;
  KeptRanking pagerank_options, async_options;
  std::unique_ptr<RankProduct> product;
  std::unique_ptr<RankSampler> sampler;
  std::unique_ptr<RankSampler> walker;                     ///< Of random_walks().
  std::vector<std::unique_ptr<RankSampler>> own_samplers;  ///< Of SampleBatchesOptions::own.
  /// Of Mode::automatic, by what the first search found.
  std::optional<traverse::ModeChoice> bfs_mode, sssp_mode;

  [[nodiscard]] Vertex to_shard(Vertex v) const { return order ? order->to_new(v) : v; }
  [[nodiscard]] std::vector<Vertex> to_shard(std::vector<Vertex> vertices) const {
    if (order)
      std::ranges::transform(vertices, vertices.begin(),
                             [&](Vertex v) { return order->to_new(v); });
    return vertices;
  }
};

/// What the calls' options have in common.
struct CallOptions {
  /// By which the number of GPUs is chosen; nothing: one, where nobody says.
  std::optional<traverse::Traversal> traversal;
  Mode mode = Mode::synchronous;
  Edges edges = Edges::device;
  PlacementOptions placement{};
  RunOptions run{};
  std::optional<DeviceKind> device;
  int devices = 0;
  std::optional<Session> session;
  int gpu = -1;  ///< Of the caller's arrays: a call of one rank runs there.
  /// Parts of the graph are over the ranks of a host (Team::of_host()), of which each has all:
  /// what reads other ranks' lists where they lie.
  bool of_host = false;
  /// Each rank makes the call at a time of its own, but for the first time: nothing is told to all.
  bool own = false;
};

template <class Options>
CallOptions call_options(std::optional<traverse::Traversal> traversal, const Options& options) {
  CallOptions call;
  call.traversal = traversal;
  call.device = options.device;
  call.devices = options.devices;
  call.session = options.session;
  if constexpr (requires { options.placement.method; }) call.placement = options.placement;
  if constexpr (requires { options.run.repeat; }) call.run = options.run;
  if constexpr (requires { options.mode; }) call.mode = options.mode;
  if constexpr (requires { options.edges; }) call.edges = options.edges;
  if constexpr (requires { options.of_host; }) call.of_host = options.of_host;
  return call;
}

/// The ranks of a call that takes as many as it is told to, else one: on GPU `gpu`, where that is
/// not -1. `info` is filled with what is known of the call by then. `has_hosts`: ranks may be on
/// several. Throws UsageError.
[[nodiscard]] Place place_of(const Teams& teams, const std::optional<DeviceKind>& device,
                             int devices, RunInfo& info, int gpu = -1, bool has_hosts = false);

/// Each process has read the graph for itself: from files that may differ. Throws UsageError, the
/// same on all ranks, where sizes differ, or numbers made of entries all over the arrays.
/// Collective.
void check_same_graph(team::Team& team, const CutGraph& cut);

class Call {
 public:
  /// Chooses the ranks. Throws UsageError.
  Call(const Graph& graph, const CallOptions& options);

  /// Runs `work` on every rank. It may be run a second time, if memory was short.
  void run(const std::function<void(team::Team&, RankGraph&)>& work);

  /// Runs `work` on every rank, whose parts of the graph it needs none of; likewise.
  void on_team(const std::function<void(team::Team&)>& work);
  [[nodiscard]] Teams& teams() const { return *teams_; }

  /// The graph's arrays; of one that the ranks drew, fetched from them.
  [[nodiscard]] const graph::Graph& csr();
  /// What a check reads: the lists alone of a graph whose weights the ranks drew, which it
  /// computes.
  enum class Checked : std::uint8_t { graph, lists };
  /// `check` of the graph's arrays, with the host's threads: what it finds is in info.verdict.
  void verify(const std::function<traverse::Verdict(const graph::Graph&, exec::ThreadPool&)>& check,
              Checked what = Checked::graph);
  /// Brings values of the shards' vertices, which may themselves be vertices, into the graph's
  /// order and numbers.
  template <class T>
  void put_in_order(Output<T>& values, bool are_vertices = false) const {
    if (order_ == nullptr || !values.has_started()) return;
    Output<T> ordered(values.size());
    ordered.start(exec::Device::cpu(1));
    const std::span<T> from = values.on_host(), to = ordered.on_host();
    for (std::size_t v = 0; v < to.size(); ++v) {
      T value = from[order_->new_id[v]];
      if constexpr (std::is_same_v<T, Vertex>) {
        if (are_vertices && value != kNoVertex) value = order_->old_id[value];
      }
      to[v] = value;
    }
    values = std::move(ordered);
  }
  /// True if the ranks draw the graph.
  [[nodiscard]] bool draws() const;
  /// True if each rank has its own ranges of the graph, and no process all of it: read from the
  /// file, or drawn on the CPU.
  [[nodiscard]] bool has_ranges() const;

  /// Filled by the rank that reports, but for what the constructor knows.
  RunInfo info;

 private:
  /// True if each rank reads its own ranges of the graph's file.
  [[nodiscard]] bool reads_ranges() const;
  /// True if the call has a form for processes that each have their own ranges alone.
  [[nodiscard]] bool takes_ranges() const;
  /// What the ranks drew, in the graph's order.
  [[nodiscard]] graph::Graph fetch(Checked what);
  /// Brings what rank 0's process has found to all.
  void tell_verdict();
  /// Whether a directed graph's in-edges are made on the GPU, which takes a fraction of the time.
  [[nodiscard]] bool in_edges_on_device() const;
  /// One rank's part of the graph. Collective.
  [[nodiscard]] std::shared_ptr<RankGraph> make_part(team::Team& team, const CutGraph& cut);
  [[nodiscard]] std::shared_ptr<RankGraph> draw_part(team::Team& team);
  [[nodiscard]] std::shared_ptr<RankGraph> read_part(team::Team& team) const;

  const Graph graph_;
  const CallOptions options_;
  const std::shared_ptr<Teams> teams_;
  Place place_;
  std::shared_ptr<const graph::Partition> order_;  ///< The reporting rank's, after run().
};

/// Throws UsageError for options that do not go together.
void check_placement(Mode mode, Edges edges, const PlacementOptions& placement,
                     const RunOptions& run);

/// The form that runs; `known` is what an earlier search in automatic mode chose.
[[nodiscard]] bool is_async(Mode mode, const std::optional<traverse::ModeChoice>& known);
/// Throws VertexError.
void check_vertex(const Graph& graph, Vertex v, const char* name);

/// What all ranks have sent to other hosts since this one had sent `before` bytes. Collective.
[[nodiscard]] std::uint64_t bytes_between_hosts(team::Team& team, std::uint64_t before);

/// The largest of the ranks' values. Collective.
[[nodiscard]] double slowest(team::Team& team, double seconds);

/// The timed runs of `once()`, which a warming run came before; the last result. Sets the times on
/// the rank that reports. Collective.
template <class Once>
auto timed_runs(team::Team& team, const RunOptions& run, RunInfo& info, Once&& once) {
  std::vector<double> seconds;
  auto result = once();
  seconds.push_back(slowest(team, result.seconds));
  for (int r = 1; r < run.repeat; ++r) {
    result = once();
    seconds.push_back(slowest(team, result.seconds));
  }
  if (team.reports()) {
    info.seconds = seconds.back();
    info.run_seconds = std::move(seconds);
  }
  return result;
}
/// The same after the warming run, where the options want one.
template <class Once>
auto runs_of(team::Team& team, const RunOptions& run, RunInfo& info, Once&& once) {
  if (run.repeat > 0 && run.warm_up) (void)once();
  return timed_runs(team, run, info, std::forward<Once>(once));
}

/// Puts this rank's values where the options want them: `write(to...)` as fill(), or `all()...`, of
/// which each gives the values of all vertices on every rank. Collective.
template <class Write, class All, class... T>
void put(team::Team& team, const RankGraph& rank, ResultArrays arrays, Write&& write, All&& all,
         Output<T>&... outputs) {
  if (arrays == ResultArrays::none) return;
  const bool stays = arrays == ResultArrays::device && rank.order == nullptr;
  if (stays || !team.device().is_cuda()) {
    fill(team, rank.shard, std::forward<Write>(write), outputs...);
    return;
  }
  std::tuple<std::vector<T>...> values = all();
  if (team.rank() != 0) return;
  std::apply([&](std::vector<T>&... each) { (outputs.adopt(std::move(each)), ...); }, values);
}

[[nodiscard]] TaskReport told(const traverse::AsyncReport& report);

}  // namespace warren::api
