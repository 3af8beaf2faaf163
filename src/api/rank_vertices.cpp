// SPDX-License-Identifier: Apache-2.0
// Components and PageRank: a value for each vertex, found without a source.
#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "warren/exec/memory.hpp"
#include "warren/graph/degree_order.hpp"
#include "warren/graph/in_edges.hpp"

#include "api/call.hpp"
#include "api/streamed.hpp"

namespace warren {
namespace {

using api::Call;
using api::KeptRanking;
using api::RankGraph;

/// What reads plain lists by iterations alone.
void check_form(const char* option, const PageRankOptions& options) {
  require(options.mode != Mode::asynchronous,
          fmt::format("{}: --mode async has no form of it; give --mode sync", option));
  require(options.edges != Edges::compressed_host,
          fmt::format("{}: lists are read as they are; place the edges on the device or the host",
                      option));
}

void check_numbers(const PageRankOptions& options) {
  const bool is_plain = options.weighted || !options.personalization.empty() ||
                        !options.dangling.empty() || !options.start.empty();
  require(options.damping >= 0.0 && (options.damping < 1.0 || (is_plain && options.damping == 1.0)),
          fmt::format("damping: got {}, expected 0 or more, and less than 1{}", options.damping,
                      options.damping == 1.0 ? "; weighted, and with a personalization, it may be "
                                               "1, by which the ranks may not converge"
                                             : ""));
  require(std::isfinite(options.tolerance) && options.tolerance >= 0.0,
          fmt::format("tolerance: got {}, expected 0 or more", options.tolerance));
}

void check(const Graph& graph, const PageRankOptions& options) {
  check_numbers(options);
  require(options.mode != Mode::asynchronous || options.tolerance > 0.0,
          "tolerance: got 0, expected more: the asynchronous form ends at a bound");
  require(!options.weighted || graph.is_weighted() || graph.edges() == 0,
          "weighted: the graph has no weights");
  if (options.weighted) check_form("weighted", options);
  const auto check_vector = [&](const char* name, const std::vector<double>& values) {
    if (values.empty()) return;
    check_form(name, options);
    traverse::check_shares(name, values, graph.vertices());
  };
  check_vector("personalization", options.personalization);
  check_vector("dangling", options.dangling);
  check_vector("start", options.start);
}

bool same(const PageRankOptions& a, const PageRankOptions& b) {
  return a.damping == b.damping && a.tolerance == b.tolerance &&
         a.max_iterations == b.max_iterations && a.weighted == b.weighted &&
         a.personalization == b.personalization && a.dangling == b.dangling && a.start == b.start;
}

traverse::PageRankOptions own_options(const PageRankOptions& options) {
  return {options.damping,         options.tolerance, options.max_iterations, options.weighted,
          options.personalization, options.dangling,  options.start};
}

/// The rank's memory for these options: what stands there, or made anew. `ordered`: the shard in
/// another order, where that is ranked.
template <class Form>
Form& form_of(std::unique_ptr<Form>& kept, KeptRanking& kept_for, team::Team& team,
              const RankGraph& rank, const PageRankOptions& options,
              const graph::Shard* ordered = nullptr) {
  if (kept != nullptr && kept_for.is_ordered == (ordered != nullptr) &&
      same(kept_for.options, options))
    return *kept;
  kept.reset();
  traverse::PageRankOptions own = own_options(options);
  std::vector<double> anew, dangling, start;  // In the shard's numbering.
  const auto put_in_order = [&](std::vector<double>& moved, std::span<const double>& values) {
    if (!rank.order || values.empty()) return;
    moved.resize(values.size());
    for (std::size_t v = 0; v < moved.size(); ++v)
      moved[rank.order->to_new(static_cast<Vertex>(v))] = values[v];
    values = moved;
  };
  put_in_order(anew, own.personalization);
  put_in_order(dangling, own.dangling);
  put_in_order(start, own.start);
  kept = std::make_unique<Form>(team, ordered != nullptr ? *ordered : rank.shard, own);
  kept_for = {options, ordered != nullptr};
  kept_for.options.session.reset();  // Which would keep itself.
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

/// The largest, ties by vertex.
std::vector<RankedVertex> largest(std::vector<RankedVertex> ranked, std::size_t most) {
  const std::size_t count = std::min(most, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(count),
                    ranked.end(), [](const RankedVertex& a, const RankedVertex& b) {
                      return a.rank != b.rank ? a.rank > b.rank : a.vertex < b.vertex;
                    });
  ranked.resize(count);
  return ranked;
}

/// Of all vertices, of which each rank looks at its own. Collective.
std::vector<RankedVertex> top_of_all(team::Team& team, const std::vector<double>& own,
                                     const RankGraph& rank, std::size_t most) {
  std::vector<RankedVertex> ranked;
  ranked.reserve(own.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto v = static_cast<Vertex>(rank.shard.out.first + i);
    ranked.push_back({rank.order ? rank.order->to_old(v) : v, own[i]});
  }
  ranked = largest(std::move(ranked), most);
  std::vector<RankedVertex> all;
  for (const auto& part : team.all_gather_v(std::span<const RankedVertex>(ranked)))
    all.insert(all.end(), part.begin(), part.end());
  return largest(std::move(all), most);
}

/// Labels of another order of vertices become the smallest vertices of the components.
void take_smallest(std::span<Vertex> labels) {
  std::vector<Vertex> smallest(labels.size(), kNoVertex);
  for (std::size_t v = 0; v < labels.size(); ++v) {
    Vertex& first = smallest[labels[v]];
    if (first == kNoVertex) first = static_cast<Vertex>(v);
    labels[v] = first;
  }
}

traverse::ComponentsForm own_form(ComponentsForm form) {
  switch (form) {
    case ComponentsForm::forest:
      return traverse::ComponentsForm::forest;
    case ComponentsForm::search:
      return traverse::ComponentsForm::search;
    case ComponentsForm::automatic:
      break;
  }
  return traverse::ComponentsForm::automatic;
}
ComponentsForm told_form(traverse::ComponentsForm form) {
  return form == traverse::ComponentsForm::search ? ComponentsForm::search : ComponentsForm::forest;
}

constexpr const char* kIterationsReason = "an iteration has work for all vertices";

}  // namespace

ComponentsResult connected_components(const Graph& graph, const ComponentsOptions& options) {
  if (options.edges == Edges::file) return api::streamed_components(graph, options);
  Call call(graph, api::call_options(traverse::Traversal::components, options));
  ComponentsResult all;
  api::Output<Vertex> label(graph.vertices());
  const ResultArrays arrays = options.run.verify && options.run.arrays == ResultArrays::none
                                  ? ResultArrays::host
                                  : options.run.arrays;
  bool is_in_order = true;
  call.run([&](team::Team& team, RankGraph& rank) {
    const auto form = own_form(options.form);
    if (!rank.components || rank.components_form != form) {
      rank.components.reset();
      rank.components = std::make_unique<traverse::Components>(
          team, rank.shard, traverse::ComponentsOptions{.form = form});
      rank.components_form = form;
    }
    const traverse::ComponentsResult found =
        api::runs_of(team, options.run, call.info, [&] { return rank.components->run(); });
    api::put(
        team, rank, arrays, [&](Vertex* to) { rank.components->write_labels(to); },
        [&] { return std::tuple(rank.components->all_labels()); }, label);
    if (!team.reports()) return;
    all.components = found.components;
    all.largest = found.largest;
    all.form = told_form(found.form);
    all.search_levels = found.search_levels;
    call.info.bytes_read = found.far_bytes;
    is_in_order = rank.order == nullptr;
  });
  call.put_in_order(label);
  if (!is_in_order && label.has_started()) take_smallest(label.on_host());
  all.label = label.take();
  if (options.run.verify) {
    call.verify([&](const graph::Graph& csr, exec::ThreadPool& pool) {
      return traverse::verify_components(csr, all.label.host(), pool);
    });
  }
  if (options.run.arrays == ResultArrays::none) all.label = {};
  all.info = std::move(call.info);
  return all;
}

PageRankResult pagerank(const Graph& graph, const PageRankOptions& options) {
  if (options.edges == Edges::file) {
    check_numbers(options);
    return api::streamed_pagerank(graph, options);
  }
  check(graph, options);
  Call call(graph, api::call_options(traverse::Traversal::pagerank, options));
  PageRankResult all;
  traverse::PageRankResult last;
  api::Output<double> ranks(graph.vertices());
  PageRankOptions used = options;
  used.weighted =
      options.weighted && graph.is_weighted();  // Without edges there are none to look at.
  const ResultArrays arrays = options.run.verify && options.run.arrays == ResultArrays::none
                                  ? ResultArrays::host
                                  : options.run.arrays;
  call.run([&](team::Team& team, RankGraph& rank) {
    const auto run = [&](auto& form, const auto& write) {
      const traverse::PageRankResult found =
          api::runs_of(team, options.run, call.info, [&] { return form.run(); });
      if (options.top > 0) {
        auto top = top_of_all(team, form.ranks(), rank, options.top);
        if (team.reports()) all.top = std::move(top);
      }
      api::put(
          team, rank, arrays, write, [&] { return std::tuple(form.all_ranks()); }, ranks);
      if (!team.reports()) return;
      last = found;
      call.info.bytes_read = found.far_bytes;
    };
    if (options.mode == Mode::asynchronous) {
      auto& form = form_of(rank.async_pagerank, rank.async_options, team, rank, used);
      run(form, [&](double* to) { form.write_ranks(to); });
      if (team.reports()) call.info.report = api::told(form.report());
      return;
    }
    // Weights, and numbers of a vertex each, are in the graph's order, and so is what is told of
    // single vertices.
    const bool may_order = !used.weighted && !own_options(used).has_vectors() && options.top == 0 &&
                           options.placement.method.empty() && arrays == ResultArrays::device;
    const graph::Shard* ordered = may_order ? by_degree(team, rank) : nullptr;
    auto& form = form_of(rank.pagerank, rank.pagerank_options, team, rank, used, ordered);
    run(form, [&](double* to) {
      if (ordered != nullptr)
        write_in_order(exec::Stream(team.device()), rank, to);
      else
        form.write_ranks(to);
    });
  });
  all.iterations = last.iterations;
  all.residual = last.residual;
  all.converged = last.converged;
  call.put_in_order(ranks);
  all.rank = ranks.take();
  if (options.mode == Mode::automatic) call.info.mode_reason = kIterationsReason;
  if (options.run.verify) {
    call.verify([&](const graph::Graph& csr, exec::ThreadPool& pool) {
      const double bound = traverse::pagerank_bound(own_options(used), last);
      return traverse::verify_pagerank(csr, options.damping, all.rank.host(), bound, pool,
                                       used.weighted, options.personalization, options.dangling);
    });
  }
  if (options.run.arrays == ResultArrays::none) all.rank = {};
  all.info = std::move(call.info);
  return all;
}

}  // namespace warren
