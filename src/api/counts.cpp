// SPDX-License-Identifier: Apache-2.0
// Counts of each vertex: betweenness, core numbers and triangles.
#include <fmt/format.h>

#include "api/call.hpp"

namespace warren {
namespace {

using api::Call;
using api::RankGraph;

void check_plain(const char* what, Edges edges) {
  require(edges != Edges::compressed_host,
          fmt::format("edges: {} are found in plain lists; place the edges on the device or the "
                      "host",
                      what));
}

}  // namespace

BetweennessResult betweenness(const Graph& graph, const BetweennessOptions& options) {
  check_plain("betweenness", options.edges);
  require(options.sources.empty() || options.sample == 0,
          fmt::format("sample: got {} beside {} sources; give one of the two", options.sample,
                      options.sources.size()));
  for (const Vertex source : options.sources) api::check_vertex(graph, source, "sources");
  Call call(graph, api::call_options(std::nullopt, options));
  BetweennessResult all;
  const std::uint64_t n = graph.vertices();
  all.sources =
      options.sources.empty()
          ? traverse::sample_sources(n, options.sample == 0 ? n : options.sample, options.seed)
          : options.sources;
  all.scale =
      traverse::betweenness_scale(n, all.sources.size(), options.normalized, graph.is_symmetric());
  api::Output<double> score(n);
  call.run([&](team::Team& team, RankGraph& rank) {
    if (!rank.betweenness)
      rank.betweenness = std::make_unique<traverse::Betweenness>(team, rank.shard);
    const traverse::BetweennessResult found = rank.betweenness->run(all.sources);
    const double seconds = api::slowest(team, found.seconds);
    api::fill(
        team, rank.shard, [&](double* to) { rank.betweenness->write_scores(to, all.scale); },
        score);
    if (team.rank() == 0) call.info.seconds = seconds;
  });
  all.score = score.take();
  all.info = call.info;
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
    const traverse::CoreNumbersResult found = rank.core_numbers->run();
    const double seconds = api::slowest(team, found.seconds);
    api::fill(
        team, rank.shard, [&](std::uint32_t* to) { rank.core_numbers->write_cores(to); }, core);
    if (team.rank() != 0) return;
    all.largest = found.largest;
    all.innermost = found.innermost;
    call.info.seconds = seconds;
  });
  all.core = core.take();
  all.info = call.info;
  return all;
}

TrianglesResult triangles(const Graph& graph, const TrianglesOptions& options) {
  check_plain("triangles", options.edges);
  require(graph.is_symmetric(),
          "triangles are counted in undirected graphs: this one has an edge without its reverse "
          "(symmetrize adds them)");
  Call call(graph, api::call_options(std::nullopt, options));
  TrianglesResult all;
  api::Output<std::uint64_t> count(graph.vertices());
  call.run([&](team::Team& team, RankGraph& rank) {
    if (!rank.triangles) rank.triangles = std::make_unique<traverse::Triangles>(team, rank.shard);
    const traverse::TrianglesResult found = rank.triangles->run();
    const double seconds = api::slowest(team, found.seconds);
    api::fill(
        team, rank.shard, [&](std::uint64_t* to) { rank.triangles->write_counts(to); }, count);
    if (team.rank() != 0) return;
    all.triangles = found.triangles;
    call.info.seconds = seconds;
  });
  all.count = count.take();
  all.info = call.info;
  return all;
}

}  // namespace warren
