// SPDX-License-Identifier: Apache-2.0
// In-edges of a directed graph are turned round by those who have them as out-edges.
#include "graph/own_rows.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/graph/edge_chunks.hpp"

#include "graph/edge_digest.hpp"
#include "graph/edge_shares.hpp"
#include "graph/row_exchange.hpp"

namespace warren::graph {
namespace {

bool find_symmetry(team::Team& team, const detail::OwnRows& own) {
  if (own.symmetry != Symmetry::unknown) return own.symmetry == Symmetry::symmetric;
  const auto first = static_cast<Vertex>(own.cuts[static_cast<std::size_t>(team.rank())]);
  detail::BothDigests all;
  for (const detail::BothDigests& part :
       team.all_gather(detail::digests_of(own.out, first, team.device().pool()))) {
    all.forwards.add(part.forwards);
    all.backwards.add(part.backwards);
  }
  return all.forwards == all.backwards;
}

template <class Weight>
void turn(team::Team& team, const detail::OwnRows& own, const Weight* weights, Graph& rows,
          memory::HostArray<Weight>& turned_weights) {
  const std::uint64_t first_row = own.cuts[static_cast<std::size_t>(team.rank())];
  const std::span<const EdgeOffset> offsets = own.out.offsets;
  const EdgeOffset first_edge = offsets.front();
  const auto bring = [&](std::uint64_t begin, std::uint64_t end, auto&& put) {
    const auto stop = first_edge + end;
    EdgeOffset e = first_edge + begin;
    auto row = static_cast<std::uint64_t>(std::ranges::upper_bound(offsets, e) - offsets.begin());
    for (--row; e < stop; ++e) {
      while (offsets[row + 1] <= e) ++row;
      Weight weight{};
      if constexpr (!std::is_same_v<Weight, detail::NoWeight>) weight = weights[e];
      put(own.out.targets[e], static_cast<Vertex>(first_row + row), weight);
    }
  };
  detail::gather_rows(team, own.cuts, offsets.back() - first_edge, detail::Duplicates::kept, bring,
                      rows, turned_weights);
}

detail::HostRows turned_rows(team::Team& team, const detail::OwnRows& own) {
  auto rows = std::make_shared<Graph>();
  rows->vertices = static_cast<Vertex>(own.vertices);
  rows->weight_type = own.weight_type;
  memory::HostArray<detail::NoWeight> none;
  switch (own.weight_type) {
    case WeightType::none:
      turn<detail::NoWeight>(team, own, nullptr, *rows, none);
      break;
    case WeightType::int32:
      turn(team, own, own.out.weights_int, *rows, rows->weights_int);
      break;
    case WeightType::float32:
      turn(team, own, own.out.weights_float, *rows, rows->weights_float);
      break;
  }
  const EdgeOffset before = detail::count_edges(team, rows->edges()).before;
  return detail::rows_of(std::move(rows), before);
}

}  // namespace

std::vector<std::uint64_t> detail::cuts_of(team::Team& team, std::span<const EdgeOffset> own,
                                           std::uint64_t edges, std::uint64_t vertices) {
  // The vertices that lie before a cut, each rank's own of them.
  std::vector<std::uint64_t> cuts;
  for (int p = 0; p < team.size(); ++p) {
    const auto cut = std::ranges::lower_bound(own, share(edges, p, team.size()));
    cuts.push_back(static_cast<std::uint64_t>(cut - own.begin()));
  }
  team.sum(cuts);
  cuts.push_back(vertices);
  return cuts;
}

detail::EdgeCounts detail::count_edges(team::Team& team, std::uint64_t edges) {
  EdgeCounts counts;
  const std::vector<std::uint64_t> all = team.all_gather(edges);
  for (std::size_t q = 0; q < all.size(); ++q) {
    if (q == static_cast<std::size_t>(team.rank())) counts.before = counts.all;
    counts.all += all[q];
  }
  return counts;
}

detail::HostRows detail::rows_of(std::shared_ptr<Graph> rows, EdgeOffset first) {
  for (EdgeOffset& offset : rows->offsets) offset += first;
  const auto all = [&](const auto& array) {
    return array.empty() ? nullptr : rebased(array.data(), first);
  };
  return {std::as_const(*rows).offsets.span(), all(rows->targets), all(rows->weights_int),
          all(rows->weights_float), std::move(rows)};
}

void detail::check_same_weights(team::Team& team, const std::optional<UniformWeights>& rule) {
  struct Mark {
    std::int64_t low, high;
    std::uint64_t seed;
    bool operator==(const Mark&) const = default;
  };
  const std::vector<Mark> all =
      team.all_gather(rule ? Mark{rule->low, rule->high, rule->seed} : Mark{-1, -1, 0});
  for (std::size_t q = 1; q < all.size(); ++q) {
    require(all[q] == all[0],
            fmt::format("the ranks draw different weights: rank {} and rank 0 differ in their "
                        "bounds or their seed; give all ranks the same",
                        q));
  }
}

Shard detail::shard_of(team::Team& team, const OwnRows& own, const EdgesOptions& edges,
                       bool with_in_edges) {
  const auto first = static_cast<Vertex>(own.cuts[static_cast<std::size_t>(team.rank())]);
  Shard shard;
  shard.cuts = own.cuts;
  shard.vertices = own.vertices;
  shard.edges = own.edges;
  shard.weight_type = own.weight_type;
  shard.is_symmetric = with_in_edges && find_symmetry(team, own);
  shard.edges_placement = edges.placement;
  const std::uint64_t cached =
      cache_bytes(team, edges, with_in_edges && !shard.is_symmetric ? 2 : 1, own.count());
  team.barrier();  // Before anybody takes of what is free.
  const exec::Stream stream(team.device());
  const auto put = [&](const HostRows& rows, std::shared_ptr<CsrStorage>& storage) {
    storage = std::make_shared<CsrStorage>();
    return place(stream, rows, first, edges.placement, cached, *storage);
  };
  shard.out = put(own.out, shard.out_storage);
  if (shard.is_symmetric) {
    shard.in = shard.out;
    shard.in_storage = shard.out_storage;
  } else if (with_in_edges) {
    shard.in = put(turned_rows(team, own), shard.in_storage);
  }
  stream.synchronize();
  return shard;
}

}  // namespace warren::graph
