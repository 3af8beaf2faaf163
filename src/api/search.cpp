// SPDX-License-Identifier: Apache-2.0
// Breadth-first search and shortest paths.
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "api/call.hpp"

namespace warren {
namespace {

using api::Call;
using api::RankGraph;

/// Runs the search's form, and in automatic mode chooses that of the next one.
template <class Sync, class Async, class Found>
void search(team::Team& team, const RankGraph& rank, Mode mode,
            std::optional<traverse::ModeChoice>& known, bool is_weighted, RunInfo& info,
            Sync&& sync, Async&& async, Found&& found) {
  const bool runs_async = api::is_async(mode, known);
  auto result = runs_async ? async() : sync();
  const double seconds = api::slowest(team, result.seconds);
  if (team.rank() == 0) {
    info.mode = runs_async ? Mode::asynchronous : Mode::synchronous;
    if (mode == Mode::automatic && known) info.mode_reason = known->reason;
    info.seconds = seconds;
    info.bytes_read = result.far_bytes;
  }
  if (mode == Mode::automatic && !known) {
    std::uint64_t levels = 0;
    if constexpr (requires { result.max_depth; })
      levels = std::uint64_t{result.max_depth} + 1;
    else
      levels = result.steps;
    known = traverse::choose_mode(team, rank.shard, result.reached, levels, is_weighted);
  }
  found(result, runs_async);
}

}  // namespace

BfsResult bfs(const Graph& graph, const BfsOptions& options) {
  api::check_vertex(graph, options.source, "source");
  Call call(graph, api::call_options(traverse::Traversal::bfs, options));
  BfsResult all;
  all.depth.resize(graph.vertices());
  all.parent.resize(graph.vertices());
  call.run([&](team::Team& team, RankGraph& rank) {
    const auto sync = [&] {
      if (!rank.bfs) rank.bfs = std::make_unique<traverse::Bfs>(team, rank.shard);
      return rank.bfs->run(options.source);
    };
    const auto async = [&] {
      if (!rank.async_bfs) rank.async_bfs = std::make_unique<traverse::AsyncBfs>(team, rank.shard);
      return rank.async_bfs->run(options.source);
    };
    search(team, rank, options.mode, rank.bfs_mode, false, call.info, sync, async,
           [&](const traverse::BfsResult& found, bool is_async) {
             api::put(all.depth, rank.shard,
                      is_async ? rank.async_bfs->depth() : rank.bfs->depth());
             api::put(all.parent, rank.shard,
                      is_async ? rank.async_bfs->parent() : rank.bfs->parent());
             if (team.rank() != 0) return;
             all.reached = found.reached;
             all.max_depth = found.max_depth;
           });
  });
  all.info = call.info;
  if (!options.depth_limit || all.max_depth <= *options.depth_limit) return all;
  all.max_depth = *options.depth_limit;
  for (std::size_t v = 0; v < all.depth.size(); ++v) {
    if (all.depth[v] == kNoVertex || all.depth[v] <= *options.depth_limit) continue;
    all.depth[v] = kNoVertex;
    all.parent[v] = kNoVertex;
    --all.reached;
  }
  return all;
}

namespace {

void check_weights(const Graph& graph, const SsspOptions& options) {
  require(std::isfinite(options.delta) && options.delta >= 0.0,
          fmt::format("delta: got {}, expected a width above 0, or 0 to choose", options.delta));
  require(!options.cutoff || *options.cutoff >= 0.0,
          fmt::format("cutoff: got {}, expected a distance of 0 or more",
                      options.cutoff.value_or(0.0)));
  require(graph.is_weighted() || graph.edges() == 0,
          "sssp: the graph has no weights, and shortest paths need some; bfs counts edges");
  const Session session = options.session ? *options.session : Session::standard();
  session.teams()->on_host([&](exec::ThreadPool& pool) { graph.state()->check_weights(pool); });
}

void cut_off(SsspResult& all, double limit) {
  const auto forget = [&](auto& values, auto unreached) {
    for (auto& value : values) {
      if (value == unreached || static_cast<double>(value) <= limit) continue;
      value = unreached;
      --all.reached;
    }
  };
  forget(all.distance, std::int64_t{-1});
  forget(all.real_distance, std::numeric_limits<double>::infinity());
}

}  // namespace

SsspResult sssp(const Graph& graph, const SsspOptions& options) {
  api::check_vertex(graph, options.source, "source");
  check_weights(graph, options);
  Call call(graph, api::call_options(traverse::Traversal::sssp, options));
  SsspResult all;
  // A graph without edges has no type of weights: integers, as there is only a distance of 0.
  all.is_integer = graph.csr().weight_type != graph::WeightType::float32;
  if (graph.edges() == 0) {
    all.distance.assign(graph.vertices(), -1);
    all.distance[options.source] = 0;
    all.reached = 1;
    all.info = call.info;
    return all;
  }
  (all.is_integer ? all.distance.resize(graph.vertices())
                  : all.real_distance.resize(graph.vertices()));
  call.run([&](team::Team& team, RankGraph& rank) {
    const auto sync = [&] {
      if (!rank.sssp || rank.sssp_delta != options.delta) {
        rank.sssp.reset();
        rank.sssp = std::make_unique<traverse::Sssp>(team, rank.shard,
                                                     traverse::SsspOptions{options.delta});
        rank.sssp_delta = options.delta;
      }
      return rank.sssp->run(options.source);
    };
    const auto async = [&] {
      if (!rank.async_sssp || rank.async_delta != options.delta) {
        rank.async_sssp.reset();
        traverse::AsyncOptions async_options;
        async_options.delta = options.delta;
        rank.async_sssp = std::make_unique<traverse::AsyncSssp>(team, rank.shard, async_options);
        rank.async_delta = options.delta;
      }
      return rank.async_sssp->run(options.source);
    };
    search(team, rank, options.mode, rank.sssp_mode, true, call.info, sync, async,
           [&](const traverse::SsspResult& found, bool is_async) {
             if (all.is_integer) {
               // kUnreachedDistance becomes -1.
               api::put(all.distance, rank.shard,
                        is_async ? rank.async_sssp->distance() : rank.sssp->distance());
             } else {
               api::put(all.real_distance, rank.shard,
                        is_async ? rank.async_sssp->real_distance() : rank.sssp->real_distance());
             }
             if (team.rank() == 0) all.reached = found.reached;
           });
  });
  all.info = call.info;
  if (options.cutoff) cut_off(all, *options.cutoff);
  return all;
}

}  // namespace warren
