// SPDX-License-Identifier: Apache-2.0
// Components and PageRank: a value for each vertex, found without a source.
#include <cmath>

#include <fmt/format.h>

#include "warren/exec/memory.hpp"
#include "warren/graph/degree_order.hpp"
#include "warren/graph/in_edges.hpp"

#include "api/call.hpp"

namespace warren {
namespace {

using api::Call;
using api::RankGraph;

/// What reads plain lists by iterations alone.
void check_form(const char* option, const PageRankOptions& options) {
  require(options.mode != Mode::asynchronous,
          fmt::format("{}: the asynchronous form has none", option));
  require(options.edges != Edges::compressed_host,
          fmt::format("{}: lists are read as they are; place the edges on the device or the host",
                      option));
}

void check(const Graph& graph, const PageRankOptions& options) {
  require(options.damping >= 0.0 && options.damping < 1.0,
          fmt::format("damping: got {}, expected 0 or more, and less than 1", options.damping));
  require(std::isfinite(options.tolerance) && options.tolerance >= 0.0,
          fmt::format("tolerance: got {}, expected 0 or more", options.tolerance));
  require(options.mode != Mode::asynchronous || options.tolerance > 0.0,
          "tolerance: got 0, expected more: the asynchronous form ends at a bound");
  require(!options.weighted || graph.is_weighted() || graph.edges() == 0,
          "weighted: the graph has no weights");
  if (options.weighted) check_form("weighted", options);
  if (options.personalization.empty()) return;
  check_form("personalization", options);
  traverse::check_personalization(options.personalization, graph.vertices());
}

bool same(const PageRankOptions& a, const PageRankOptions& b) {
  return a.damping == b.damping && a.tolerance == b.tolerance &&
         a.max_iterations == b.max_iterations && a.weighted == b.weighted &&
         a.personalization == b.personalization;
}

/// The rank's memory for these options: what stands there, or made anew.
template <class Form>
Form& form_of(std::unique_ptr<Form>& kept, PageRankOptions& kept_options, team::Team& team,
              const graph::Shard& shard, const PageRankOptions& options) {
  if (kept != nullptr && same(kept_options, options)) return *kept;
  kept.reset();
  traverse::PageRankOptions own{options.damping, options.tolerance, options.max_iterations,
                                options.weighted};
  own.personalization = options.personalization;
  kept = std::make_unique<Form>(team, shard, own);
  kept_options = options;
  kept_options.session.reset();  // Which would keep itself.
  return *kept;
}

/// Whether a few vertices have most of the edges.
bool is_skewed(team::Team& team, const graph::Shard& shard) {
  constexpr std::uint64_t kSkew = 64;
  constexpr std::uint64_t kVertices = std::uint64_t{1} << 18;  // Of less, all values lie near.
  if (shard.vertices < kVertices || shard.edges == 0) return false;
  return graph::max_out_degree(team, shard) > kSkew * (shard.edges / shard.vertices + 1);
}

/// The rank's graph in the order in which a GPU reads ranks in fewer sectors: 0.6 of the time on
/// Kronecker graphs. Made once. nullptr where it would not pay, or has no room.
const graph::Shard* by_degree(team::Team& team, RankGraph& rank) {
  const graph::Shard& shard = rank.shard;
  if (!team.device().is_cuda() || team.size() != 1 ||
      shard.edges_placement != graph::EdgesPlacement::device)
    return nullptr;
  if (!rank.by_degree) {
    rank.by_degree.emplace(nullptr);
    const std::uint64_t bytes =
        shard.edges * sizeof(Vertex) + shard.vertices * 64 +
        graph::in_edges_bytes(shard.vertices, shard.edges, graph::WeightType::none);
    if (is_skewed(team, shard) && 2 * bytes < exec::free_memory(team.device()))
      *rank.by_degree = std::make_unique<graph::Shard>(
          graph::order_by_degree(exec::Stream(team.device()), shard));
  }
  return rank.by_degree->get();
}

/// Puts ranks in the order of the graph's vertices.
void write_in_order(const exec::Stream& stream, RankGraph& rank, double* to) {
  memory::Buffer<double>& ranks = rank.ranks_by_degree;
  if (ranks.size() == 0) ranks = memory::Buffer<double>(stream.device(), rank.shard.vertices);
  rank.pagerank->write_ranks(ranks.data());
  graph::in_old_order(stream, **rank.by_degree, ranks.data(), to);
}

}  // namespace

ComponentsResult connected_components(const Graph& graph, const ComponentsOptions& options) {
  Call call(graph, api::call_options(traverse::Traversal::components, options));
  ComponentsResult all;
  api::Output<Vertex> label(graph.vertices());
  call.run([&](team::Team& team, RankGraph& rank) {
    if (!rank.components)
      rank.components = std::make_unique<traverse::Components>(team, rank.shard);
    const traverse::ComponentsResult found = rank.components->run();
    const double seconds = api::slowest(team, found.seconds);
    api::fill(
        team, rank.shard, [&](Vertex* to) { rank.components->write_labels(to); }, label);
    if (team.rank() != 0) return;
    all.components = found.components;
    all.largest = found.largest;
    call.info.seconds = seconds;
    call.info.bytes_read = found.far_bytes;
  });
  all.label = label.take();
  all.info = call.info;
  return all;
}

PageRankResult pagerank(const Graph& graph, const PageRankOptions& options) {
  check(graph, options);
  Call call(graph, api::call_options(traverse::Traversal::pagerank, options));
  PageRankResult all;
  api::Output<double> ranks(graph.vertices());
  PageRankOptions used = options;
  used.weighted =
      options.weighted && graph.is_weighted();  // Without edges there are none to look at.
  call.run([&](team::Team& team, RankGraph& rank) {
    const auto run = [&](auto& form, const auto& write) {
      const traverse::PageRankResult found = form.run();
      const double seconds = api::slowest(team, found.seconds);
      api::fill(team, rank.shard, write, ranks);
      if (team.rank() != 0) return;
      all.iterations = found.iterations;
      all.residual = found.residual;
      all.converged = found.converged;
      call.info.seconds = seconds;
      call.info.bytes_read = found.far_bytes;
    };
    if (options.mode == Mode::asynchronous) {
      auto& form = form_of(rank.async_pagerank, rank.async_options, team, rank.shard, used);
      run(form, [&](double* to) { form.write_ranks(to); });
      return;
    }
    // Weights, and numbers of a vertex each, are in the graph's order.
    const bool may_order = !used.weighted && used.personalization.empty();
    const graph::Shard* ordered = may_order ? by_degree(team, rank) : nullptr;
    auto& form = form_of(rank.pagerank, rank.pagerank_options, team,
                         ordered != nullptr ? *ordered : rank.shard, used);
    run(form, [&](double* to) {
      if (ordered != nullptr)
        write_in_order(exec::Stream(team.device()), rank, to);
      else
        form.write_ranks(to);
    });
  });
  all.rank = ranks.take();
  all.info = call.info;
  return all;
}

}  // namespace warren
