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
  api::Output<Vertex> depth(graph.vertices()), parent(graph.vertices());
  call.run([&](team::Team& team, RankGraph& rank) {
    const auto sync = [&] {
      if (!rank.bfs) {
        traverse::BfsOptions bfs_options;
        bfs_options.adds_up = false;
        rank.bfs = std::make_unique<traverse::Bfs>(team, rank.shard, bfs_options);
      }
      return rank.bfs->run(options.source);
    };
    const auto async = [&] {
      if (!rank.async_bfs) rank.async_bfs = std::make_unique<traverse::AsyncBfs>(team, rank.shard);
      return rank.async_bfs->run(options.source);
    };
    search(team, rank, options.mode, rank.bfs_mode, false, call.info, sync, async,
           [&](const traverse::BfsResult& found, bool is_async) {
             const auto put = [&](const auto& form) {
               api::fill(
                   team, rank.shard, [&](Vertex* to, Vertex* via) { form.write(to, via); }, depth,
                   parent);
             };
             if (is_async)
               put(*rank.async_bfs);
             else
               put(*rank.bfs);
             if (team.rank() != 0) return;
             all.reached = found.reached;
             all.max_depth = found.max_depth;
           });
  });
  all.info = call.info;
  if (options.depth_limit && all.max_depth > *options.depth_limit) {
    all.max_depth = *options.depth_limit;
    const std::span<Vertex> depths = depth.on_host(), parents = parent.on_host();
    for (std::size_t v = 0; v < depths.size(); ++v) {
      if (depths[v] == kNoVertex || depths[v] <= *options.depth_limit) continue;
      depths[v] = kNoVertex;
      parents[v] = kNoVertex;
      --all.reached;
    }
  }
  all.depth = depth.take();
  all.parent = parent.take();
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
  if (graph.state()->has_good_weights()) return;
  const Session session = options.session ? *options.session : Session::standard();
  session.teams()->on_host([&](exec::ThreadPool& pool) { graph.state()->check_weights(pool); });
}

/// Forgets what is farther than `limit`; how many that were.
template <class T>
std::uint64_t cut_off(api::Output<T>& distances, T unreached, double limit) {
  std::uint64_t forgotten = 0;
  for (T& value : distances.on_host()) {
    if (value == unreached || static_cast<double>(value) <= limit) continue;
    value = unreached;
    ++forgotten;
  }
  return forgotten;
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
    auto distance = api::Output<std::int64_t>::of(graph.vertices(), -1);
    distance.on_host()[options.source] = 0;
    all.distance = distance.take();
    all.reached = 1;
    all.info = call.info;
    return all;
  }
  api::Output<std::int64_t> distance(graph.vertices());
  api::Output<double> real_distance(graph.vertices());
  call.run([&](team::Team& team, RankGraph& rank) {
    const auto sync = [&] {
      if (!rank.sssp || rank.sssp_delta != options.delta) {
        rank.sssp.reset();
        traverse::SsspOptions sssp_options;
        sssp_options.delta = options.delta;
        sssp_options.adds_up = false;
        rank.sssp = std::make_unique<traverse::Sssp>(team, rank.shard, sssp_options);
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
             const auto put = [&](const auto& form) {
               if (all.is_integer) {
                 // kUnreachedDistance becomes -1.
                 const auto write = [&](std::int64_t* to) {
                   form.write_distance(reinterpret_cast<std::uint64_t*>(to));
                 };
                 api::fill(team, rank.shard, write, distance);
               } else {
                 api::fill(
                     team, rank.shard, [&](double* to) { form.write_real_distance(to); },
                     real_distance);
               }
             };
             if (is_async)
               put(*rank.async_sssp);
             else
               put(*rank.sssp);
             if (team.rank() == 0) all.reached = found.reached;
           });
  });
  all.info = call.info;
  if (all.is_integer) {
    if (options.cutoff) all.reached -= cut_off(distance, std::int64_t{-1}, *options.cutoff);
    all.distance = distance.take();
  } else {
    if (options.cutoff)
      all.reached -=
          cut_off(real_distance, std::numeric_limits<double>::infinity(), *options.cutoff);
    all.real_distance = real_distance.take();
  }
  return all;
}

}  // namespace warren
