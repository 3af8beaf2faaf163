// SPDX-License-Identifier: Apache-2.0
// Counts of each vertex: betweenness, core numbers and triangles.
#include <tuple>

#include <fmt/format.h>

#include "api/call.hpp"

namespace warren {
namespace {

using api::Call;
using api::RankGraph;

void check_plain(const std::string& what, Edges edges) {
  require(edges != Edges::compressed_host,
          "--edges compressed-host: " + what +
              " cannot walk compressed lists; give --edges device or host");
}

/// Where a call makes its array: one that is only checked, in host memory.
ResultArrays arrays_of(const RunOptions& run) {
  return run.verify && run.arrays == ResultArrays::none ? ResultArrays::host : run.arrays;
}

/// What the ranks made becomes the result's array, in the graph's order, and is checked.
template <class T, class Check>
void finish(Call& call, const RunOptions& run, api::Output<T>& output, Array<T>& values,
            Check&& check) {
  call.put_in_order(output);
  values = output.take();
  if (run.verify) call.verify(check);
  if (run.arrays == ResultArrays::none) values = {};
}

/// What counts without weights: the graph, or the same edges without weights where these alone may
/// keep it from being symmetric.
Graph plain(const Graph& graph) {
  return !graph.is_weighted() || graph.is_symmetric() ? graph : graph.without_weights();
}

}  // namespace

BetweennessResult betweenness(const Graph& graph, const BetweennessOptions& options) {
  const Graph unweighted = plain(graph);
  check_plain("betweenness", options.edges);
  require(options.sources.empty() || options.sample == 0,
          fmt::format("sample: got {} beside {} sources; give one of the two", options.sample,
                      options.sources.size()));
  for (const Vertex source : options.sources) api::check_vertex(unweighted, source, "sources");
  Call call(unweighted, api::call_options(std::nullopt, options));
  BetweennessResult all;
  const std::uint64_t n = unweighted.vertices();
  all.sources =
      options.sources.empty()
          ? traverse::sample_sources(n, options.sample == 0 ? n : options.sample, options.seed)
          : options.sources;
  api::Output<double> score(n);
  call.run([&](team::Team& team, RankGraph& rank) {
    if (!rank.betweenness)
      rank.betweenness = std::make_unique<traverse::Betweenness>(team, rank.shard);
    const std::vector<Vertex> sources = rank.to_shard(all.sources);
    const double scale =
        traverse::betweenness_scale(n, sources.size(), options.normalized, rank.shard.is_symmetric);
    const traverse::BetweennessResult found =
        api::runs_of(team, options.run, call.info, [&] { return rank.betweenness->run(sources); });
    api::put(
        team, rank, arrays_of(options.run),
        [&](double* to) { rank.betweenness->write_scores(to, scale); },
        [&] {
          std::vector<double> scores = rank.betweenness->all_scores();
          for (double& each : scores) each *= scale;
          return std::tuple(std::move(scores));
        },
        score);
    if (!team.reports()) return;
    all.scale = scale;
    all.steps = found.steps;
  });
  finish(call, options.run, score, all.score, [&](const graph::Graph& csr, exec::ThreadPool& pool) {
    return traverse::verify_betweenness(csr, all.sources, all.score.host(), all.scale, pool);
  });
  all.info = std::move(call.info);
  return all;
}

CoreNumbersResult core_numbers(const Graph& graph, const CoreNumbersOptions& options) {
  check_plain("core numbers", options.edges);
  Call call(graph, api::call_options(std::nullopt, options));
  CoreNumbersResult all;
  api::Output<std::uint32_t> core(graph.vertices());
  call.run([&](team::Team& team, RankGraph& rank) {
    if (!rank.core_numbers)
      rank.core_numbers = std::make_unique<traverse::CoreNumbers>(team, rank.shard);
    const traverse::CoreNumbersResult found =
        api::runs_of(team, options.run, call.info, [&] { return rank.core_numbers->run(); });
    api::put(
        team, rank, arrays_of(options.run),
        [&](std::uint32_t* to) { rank.core_numbers->write_cores(to); },
        [&] { return std::tuple(rank.core_numbers->all_cores()); }, core);
    if (!team.reports()) return;
    all.largest = found.largest;
    all.innermost = found.innermost;
    all.steps = found.steps;
  });
  finish(call, options.run, core, all.core, [&](const graph::Graph& csr, exec::ThreadPool&) {
    return traverse::verify_cores(csr, all.core.host());
  });
  all.info = std::move(call.info);
  return all;
}

TrianglesResult triangles(const Graph& graph, const TrianglesOptions& options) {
  check_plain("triangles", options.edges);
  const Graph unweighted = plain(graph);
  require(unweighted.is_symmetric(),
          "triangles are counted in undirected graphs: this one has an edge without its reverse "
          "(symmetrize adds them)");
  Call call(unweighted, api::call_options(std::nullopt, options));
  TrianglesResult all;
  api::Output<std::uint64_t> count(unweighted.vertices());
  call.run([&](team::Team& team, RankGraph& rank) {
    if (!rank.triangles) rank.triangles = std::make_unique<traverse::Triangles>(team, rank.shard);
    const traverse::TrianglesResult found =
        api::runs_of(team, options.run, call.info, [&] { return rank.triangles->run(); });
    api::put(
        team, rank, arrays_of(options.run),
        [&](std::uint64_t* to) { rank.triangles->write_counts(to); },
        [&] { return std::tuple(rank.triangles->all_counts()); }, count);
    if (team.reports()) all.triangles = found.triangles;
  });
  finish(call, options.run, count, all.count, [&](const graph::Graph& csr, exec::ThreadPool& pool) {
    return traverse::verify_triangles(csr, all.count.host(), pool);
  });
  all.info = std::move(call.info);
  return all;
}

}  // namespace warren
