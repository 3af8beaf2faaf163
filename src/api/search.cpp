// SPDX-License-Identifier: Apache-2.0
// Breadth-first search and shortest paths.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "warren/traverse/search_figures.hpp"
#include "warren/traverse/sources.hpp"

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

constexpr const char* kLimitReason =
    "with a limit, or several sources, the search goes step by step";

std::vector<Vertex> sources_of(const Graph& graph, const BfsOptions& options) {
  if (options.sources.empty()) {
    api::check_vertex(graph, options.source, "source");
    return {options.source};
  }
  require(options.source == 0, fmt::format("source: got {} and {} sources; give one or the other",
                                           options.source, options.sources.size()));
  require(options.sources.size() == 1 || options.mode != Mode::asynchronous,
          "sources: an asynchronous search starts at one vertex; leave the mode automatic");
  for (const Vertex source : options.sources) api::check_vertex(graph, source, "sources");
  return options.sources;
}

void check_targets(const Graph& graph, const std::vector<Vertex>& targets) {
  for (const Vertex target : targets) api::check_vertex(graph, target, "targets");
}

/// What has limits is searched step by step: tasks know of none.
template <class Options>
Mode mode_of(const Options& options, bool is_limited) {
  const bool goes_by_steps = is_limited || !options.targets.empty();
  return options.mode == Mode::automatic && goes_by_steps ? Mode::synchronous : options.mode;
}

/// Where a search with limits would have ended, by what it found without them.
template <class T>
T limit_of(std::span<const T> values, const std::vector<Vertex>& targets, T limit, T unreached) {
  if (targets.empty()) return limit;
  T farthest{};
  for (const Vertex target : targets) {
    if (values[target] == unreached) return limit;
    farthest = std::max(farthest, values[target]);
  }
  return std::min(limit, farthest);
}

}  // namespace

BfsResult bfs(const Graph& graph, const BfsOptions& options) {
  const std::vector<Vertex> sources = sources_of(graph, options);
  check_targets(graph, options.targets);
  const Mode mode = mode_of(options, sources.size() > 1 || options.depth_limit.has_value());
  const traverse::BfsLimits limits{options.depth_limit.value_or(traverse::BfsLimits::kNoDepth),
                                   options.targets};
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
      return rank.bfs->run(sources, limits);
    };
    const auto async = [&] {
      if (!rank.async_bfs) rank.async_bfs = std::make_unique<traverse::AsyncBfs>(team, rank.shard);
      return rank.async_bfs->run(sources.front());
    };
    search(team, rank, mode, rank.bfs_mode, false, call.info, sync, async,
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
  if (mode != options.mode) call.info.mode_reason = kLimitReason;
  all.info = call.info;
  if (all.info.mode == Mode::asynchronous &&
      (options.depth_limit.has_value() || !options.targets.empty())) {
    const std::span<Vertex> depths = depth.on_host(), parents = parent.on_host();
    const Vertex limit = limit_of<Vertex>(depths, options.targets, limits.depth, kNoVertex);
    all.max_depth = std::min(all.max_depth, limit);
    for (std::size_t v = 0; v < depths.size(); ++v) {
      if (depths[v] == kNoVertex || depths[v] <= limit) continue;
      depths[v] = kNoVertex;
      parents[v] = kNoVertex;
      --all.reached;
    }
  }
  if (options.deterministic) {
    call.teams().on_host([&](exec::ThreadPool& pool) {
      std::ranges::copy(traverse::smallest_parents(graph.csr(), sources, depth.on_host(), pool),
                        parent.on_host().begin());
    });
  }
  all.depth = depth.take();
  all.parent = parent.take();
  return all;
}

Vertex busiest_vertex(const Graph& graph) { return traverse::busiest_vertex(graph.csr()); }

std::vector<Vertex> random_sources(const Graph& graph, std::uint64_t count, std::uint64_t seed) {
  return traverse::random_sources(graph.csr(), count, seed, "count");
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

/// Forgets what is beyond the limits of a search that had none; how many that were.
template <class T>
std::uint64_t cut_off(api::Output<T>& distances, T unreached, const SsspOptions& options) {
  std::uint64_t forgotten = 0;
  const std::span<T> values = distances.on_host();
  const T all = std::numeric_limits<T>::max();
  const T farthest = limit_of<T>(values, options.targets, all, unreached);
  const double cutoff = options.cutoff.value_or(traverse::SsspLimits::kNoCutoff);
  for (T& value : values) {
    if (value == unreached || (value <= farthest && static_cast<double>(value) <= cutoff)) continue;
    value = unreached;
    ++forgotten;
  }
  return forgotten;
}

}  // namespace

SsspResult sssp(const Graph& graph, const SsspOptions& options) {
  api::check_vertex(graph, options.source, "source");
  check_targets(graph, options.targets);
  check_weights(graph, options);
  const Mode mode = mode_of(options, options.cutoff.has_value());
  const traverse::SsspLimits limits{options.cutoff.value_or(traverse::SsspLimits::kNoCutoff),
                                    options.targets};
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
      return rank.sssp->run(options.source, limits);
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
    search(team, rank, mode, rank.sssp_mode, true, call.info, sync, async,
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
  if (mode != options.mode) call.info.mode_reason = kLimitReason;
  all.info = call.info;
  const bool is_whole = all.info.mode == Mode::asynchronous &&
                        (options.cutoff.has_value() || !options.targets.empty());
  if (all.is_integer) {
    if (is_whole) all.reached -= cut_off(distance, std::int64_t{-1}, options);
    all.distance = distance.take();
  } else {
    if (is_whole)
      all.reached -= cut_off(real_distance, std::numeric_limits<double>::infinity(), options);
    all.real_distance = real_distance.take();
  }
  return all;
}

}  // namespace warren
