// SPDX-License-Identifier: Apache-2.0
#include "traversal_input.hpp"

#include <optional>

#include "warren/core/trace.hpp"
#include "warren/exec/memory.hpp"
#include "warren/graph/generate_shard.hpp"
#include "warren/graph/transform.hpp"

namespace warren::app {

void warn_of_cache(const Session& session, const TraversalOptions& traversal) {
  if (session.on_gpu() || traversal.cache.value_or(0) == 0) return;
  warn_without_effect(session.options(), {"--cache"},
                      "this run has no GPU: there is one memory, all of whose lists are counted in "
                      "bytes_read");
}

namespace {

/// Of the commands that are traversals. (Others take their graph from here, too.)
std::optional<traverse::Traversal> traversal_of(const std::string& command) {
  using traverse::Traversal;
  if (command == "bfs") return Traversal::bfs;
  if (command == "sssp") return Traversal::sssp;
  if (command == "cc") return Traversal::components;
  if (command == "pagerank") return Traversal::pagerank;
  return std::nullopt;
}

void settle_devices(Session& session, const TraversalOptions& options, std::uint64_t vertices,
                    std::uint64_t edges, bool is_symmetric) {
  const auto traversal = traversal_of(session.command());
  if (!traversal || !session.on_gpu()) return;
  traverse::TraversalWork work{*traversal, options.mode == "async", options.edges != "device",
                               vertices, edges};
  const std::uint64_t bytes = sizeof(Vertex) + (*traversal == traverse::Traversal::sssp ? 4 : 0);
  work.list_bytes = edges * bytes * (is_symmetric ? 1 : 2);
  work.gpu_bytes =
      options.device_memory != 0 ? options.device_memory : exec::free_memory(exec::Device::cuda(0));
  session.settle_devices(work);
}

}  // namespace

TraversalInput::TraversalInput(Session& session, const GraphOptions& options,
                               const TraversalOptions& traversal, const std::string& method,
                               bool wants_weights, WeightRange range, bool takes_decimals)
    : input_(find_graph(session, options)),
      method_(method),
      is_drawn_(app::is_drawn(input_, options, wants_weights) || app::is_drawn(method)) {
  if (traversal.edges != "device") {
    edges_.placement = traversal.edges == "host" ? graph::EdgesPlacement::host
                                                 : graph::EdgesPlacement::compressed_host;
    edges_.cache_bytes = traversal.cache.value_or(graph::EdgesOptions::kAllThatIsFree);
  }
  memory_limit_ = traversal.device_memory;
  weights_.takes_decimals = takes_decimals;
  // A graph drawn on the device stands there whole before its edges move.
  const bool is_drawn_there = input_.generator && session.on_gpu() && memory_limit_ == 0;
  if (is_drawn_there && !wants_weights && (method == "ranges" || method == "degree")) {
    order_ = method == "degree" ? graph::VertexOrder::degree : graph::VertexOrder::natural;
    names_ = VertexNames(input_.generator->vertices);
    const bool both_ways = input_.build.symmetrize || input_.generator->undirected();
    settle_devices(session, traversal, input_.generator->vertices,
                   input_.generator->draws * (both_ways ? 2 : 1), both_ways);
    return;
  }
  graph::Graph graph = load_graph(session, input_, options, wants_weights, range, &weights_);
  names_ = VertexNames(input_, graph);
  settle_devices(session, traversal, graph.vertices, graph.edges(),
                 graph.symmetry == graph::Symmetry::symmetric);
  place(session, std::move(graph), method);
}

void TraversalInput::place(const Session& session, graph::Graph graph, const std::string& method) {
  const auto progress = session.progress("preparing");
  const TraceSpan span("prepare graph", 0);
  exec::ThreadPool& pool = session.pool();
  (void)graph::is_symmetric(graph, pool);  // What the relabelled graph then knows as well.
  graph_ = std::make_shared<const graph::Graph>(std::move(graph));
  partition_ = graph::make_partition(*graph_, method, session.team().ranks, session.options().seed);
  source_ = graph::shard_source(
      partition_.identity() ? *graph_ : graph::relabel(*graph_, partition_.new_id.span(), pool),
      partition_.cuts, pool);
  if (edges_.placement == graph::EdgesPlacement::compressed_host)
    graph::compress_lists(source_, pool);
}

graph::Shard TraversalInput::shard(team::Team& team) {
  const TraceSpan span("make shard", team.rank());
  if (memory_limit_ != 0) exec::set_memory_limit(team.device(), memory_limit_);
  if (graph_) return graph::make_shard(team, source_, edges_);
  graph::Shard shard = graph::generate_shard(team, *input_.generator, input_.build, true, order_);
  graph::place_edges(team, shard, edges_);
  if (shard.old_id && team.rank() == 0) {
    const exec::Stream stream(team.device());
    partition_.cuts = shard.cuts;
    partition_.new_id = memory::HostArray<Vertex>(shard.vertices);
    partition_.old_id = memory::HostArray<Vertex>(shard.vertices);
    shard.new_id->download(stream, partition_.new_id.span());
    shard.old_id->download(stream, partition_.old_id.span());
    stream.synchronize();
  }
  team.barrier();
  return shard;
}

std::shared_ptr<const graph::Graph> TraversalInput::whole_graph(team::Team& team,
                                                                const graph::Shard& shard) const {
  if (graph_) return graph_;
  const TraceSpan span("fetch graph", team.rank());
  graph::Graph fetched = graph::download(team, shard);
  if (team.rank() != 0) return nullptr;
  if (partition_.identity()) return std::make_shared<const graph::Graph>(std::move(fetched));
  return std::make_shared<const graph::Graph>(
      graph::relabel(fetched, partition_.old_id.span(), exec::Device::cpu().pool()));
}

}  // namespace warren::app
