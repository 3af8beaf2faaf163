// SPDX-License-Identifier: Apache-2.0
// Shards of a generated graph that ranks draw together. Where the graph is cut is known only once
// duplicates are merged, so rows are first gathered by ranges of as many vertices. Merged rows then
// move to the ranks that own them, which are mostly those that have them.
#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/trace.hpp"
#include "warren/exec/worker.hpp"
#include "warren/graph/generate_shard.hpp"

#include "graph/build_sinks.hpp"
#include "graph/edge_shares.hpp"
#include "graph/generate_draws.hpp"
#include "graph/own_rows.hpp"
#include "graph/row_exchange.hpp"

namespace warren::graph {
namespace {

using Cuts = std::vector<std::uint64_t>;

/// What a rank draws, in words that are the same on all ranks.
using DrawnMark = std::array<std::uint64_t, 9>;

DrawnMark mark_of(const GeneratorSpec& spec, const BuildOptions& options) {
  return {static_cast<std::uint64_t>(spec.kind),
          static_cast<std::uint64_t>(spec.scale),
          spec.vertices,
          spec.width,
          spec.draws,
          spec.seed,
          static_cast<std::uint64_t>(options.symmetrize),
          static_cast<std::uint64_t>(options.drop_self_loops),
          static_cast<std::uint64_t>(options.keep_duplicates)};
}

void check_same_draws(team::Team& team, const DrawnMark& mark) {
  const std::vector<DrawnMark> all = team.all_gather(mark);
  for (std::size_t q = 1; q < all.size(); ++q) {
    require(all[q] == all[0],
            fmt::format("the ranks draw different graphs: rank {} and rank 0 differ in the "
                        "generator, its seed or what is done to its edges; give all ranks the "
                        "same",
                        q));
  }
}

/// Edges of a generator, as they go into the graph.
class Drawer {
 public:
  Drawer(const team::Team& team, const GeneratorSpec& spec, const BuildOptions& options)
      : spec_(spec),
        options_(options),
        first_(detail::share(spec.draws, team.rank(), team.size())),
        count_(detail::share(spec.draws, team.rank() + 1, team.size()) - first_) {}

  /// Of this rank.
  [[nodiscard]] std::uint64_t draws() const { return count_; }

  /// put(row, target) for the entries that draws [begin, end) of this rank's make.
  template <class Put>
  void draw(std::uint64_t begin, std::uint64_t end, Put&& put) const {
    std::array<Edge, kBatchDraws> batch;
    detail::Chunk chunk(options_);
    detail::ReadingTotals totals;
    for (; begin < end; begin += kBatchDraws) {
      const std::span<Edge> edges(batch.data(), std::min(kBatchDraws, end - begin));
      detail::draw_edges(spec_, first_ + begin, edges);
      detail::for_chunks(edges, [&](std::span<const Edge> part, std::size_t) {
        chunk.load(part, totals);
        for (std::size_t i = 0; i < chunk.size(); ++i) put(chunk.row(i), chunk.target(i));
      });
    }
  }

 private:
  static constexpr std::uint64_t kBatchDraws = 2048;

  GeneratorSpec spec_;
  BuildOptions options_;
  std::uint64_t first_, count_;
};

/// Ranges of as many vertices: generators spread edges evenly over ids, but for single vertices.
Cuts equal_cuts(std::uint64_t vertices, int ranks) {
  Cuts cuts;
  for (int p = 0; p <= ranks; ++p) cuts.push_back(detail::share(vertices, p, ranks));
  return cuts;
}

/// Rows that one rank has and another is to have, as rows of the first one.
struct RowRange {
  std::uint64_t begin, end;
};
RowRange common_rows(const Cuts& cuts, std::size_t rank, const Cuts& others, std::size_t other) {
  const std::uint64_t first = cuts[rank], last = cuts[rank + 1];
  const std::uint64_t begin = std::clamp(others[other], first, last);
  return {begin - first, std::clamp(others[other + 1], begin, last) - first};
}

/// The rows of `old_cuts` become those of `cuts`. Lists go from the back, and their memory is given
/// back as they have gone.
void send_rows(team::Team& team, const Cuts& old_cuts, const Cuts& cuts, Graph& rows) {
  if (old_cuts == cuts) return;
  const auto rank = static_cast<std::size_t>(team.rank());
  const auto ranks = static_cast<std::size_t>(team.size());
  std::vector<std::vector<EdgeOffset>> degrees(ranks);
  for (std::size_t q = 0; q < ranks; ++q) {
    const RowRange sent = common_rows(old_cuts, rank, cuts, q);
    for (std::uint64_t v = sent.begin; v < sent.end; ++v)
      degrees[q].push_back(rows.offsets[v + 1] - rows.offsets[v]);
  }
  Graph moved;
  moved.offsets = memory::HostArray<EdgeOffset>(cuts[rank + 1] - cuts[rank] + 1);
  std::vector<EdgeOffset> ends(ranks);  // Of what is still to come from each rank.
  EdgeOffset edges = 0;
  std::uint64_t row = 0;
  moved.offsets[0] = 0;
  for (std::size_t q = 0; const std::vector<EdgeOffset>& part : team.all_to_all_v(degrees)) {
    for (const EdgeOffset degree : part) moved.offsets[++row] = edges += degree;
    ends[q++] = edges;
  }
  degrees.clear();
  moved.targets = memory::HostArray<Vertex>(edges);
  std::vector<std::vector<Vertex>> lists(ranks);
  EdgeOffset left = rows.offsets[old_cuts[rank + 1] - old_cuts[rank]];
  const std::uint64_t rounds =
      team.all_reduce((left + detail::kSentEdges - 1) / detail::kSentEdges, exec::Maximum{});
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const EdgeOffset begin = left - std::min(left, detail::kSentEdges);
    for (std::size_t q = 0; q < ranks; ++q) {
      const RowRange sent = common_rows(old_cuts, rank, cuts, q);
      const EdgeOffset from = std::clamp(rows.offsets[sent.begin], begin, left);
      const EdgeOffset to = std::clamp(rows.offsets[sent.end], from, left);
      lists[q].assign(rows.targets.data() + from, rows.targets.data() + to);
    }
    left = begin;
    rows.targets.shrink(left);
    for (std::size_t q = 0; const std::vector<Vertex>& part : team.all_to_all_v(lists)) {
      ends[q] -= part.size();
      std::ranges::copy(part, moved.targets.data() + ends[q++]);
    }
  }
  rows.offsets = std::move(moved.offsets);
  rows.targets = std::move(moved.targets);
}

/// The rank's rows, [cuts[rank], cuts[rank + 1]), without duplicates that are merged.
std::shared_ptr<Graph> gather_drawn(team::Team& team, const Drawer& drawer, const Cuts& cuts,
                                    bool keeps_duplicates) {
  auto rows = std::make_shared<Graph>();
  memory::HostArray<detail::NoWeight> none;
  detail::gather_rows(
      team, cuts, drawer.draws(),
      keeps_duplicates ? detail::Duplicates::kept : detail::Duplicates::smallest,
      [&](std::uint64_t begin, std::uint64_t end, auto&& put) {
        drawer.draw(begin, end, [&](Vertex row, Vertex target) { put(row, target, {}); });
      },
      *rows, none);
  return rows;
}

/// Of all rows together, of which the rank's offsets count from 0.
Cuts balanced_cuts(team::Team& team, Graph& rows, const detail::EdgeCounts& edges,
                   std::uint64_t vertices) {
  const std::span<EdgeOffset> own = rows.offsets.span().first(rows.offsets.size() - 1);
  for (EdgeOffset& offset : own) offset += edges.before;
  Cuts cuts = detail::cuts_of(team, own, edges.all, vertices);
  for (EdgeOffset& offset : own) offset -= edges.before;
  return cuts;
}

}  // namespace

Shard draw_shard(team::Team& team, const GeneratorSpec& spec, const BuildOptions& options,
                 const std::optional<UniformWeights>& weights, const EdgesOptions& edges,
                 bool with_in_edges) {
  const TraceSpan span("generate", team.rank());
  require(edges.placement != EdgesPlacement::compressed_host,
          "a compressed placement needs all lists: build() the graph, and give make_shard() a "
          "source with compressed lists");
  if (weights) check_uniform_weights(*weights);
  const BuildOptions effective = effective_options(spec, options);
  check_same_draws(team, mark_of(spec, effective));
  detail::check_same_weights(team, weights);
  const Drawer drawer(team, spec, effective);
  const Cuts drawn = equal_cuts(spec.vertices, team.size());
  const std::shared_ptr<Graph> rows = gather_drawn(team, drawer, drawn, effective.keep_duplicates);

  detail::OwnRows own;
  const detail::EdgeCounts merged = detail::count_edges(team, rows->edges());
  own.vertices = spec.vertices;
  own.edges = merged.all;
  own.symmetry = effective.symmetrize ? Symmetry::symmetric : Symmetry::unknown;
  own.cuts = balanced_cuts(team, *rows, merged, spec.vertices);
  send_rows(team, drawn, own.cuts, *rows);
  const auto first = static_cast<Vertex>(own.cuts[static_cast<std::size_t>(team.rank())]);
  if (weights) {
    own.weight_type = WeightType::int32;
    rows->weights_int =
        detail::uniform_weights_of(detail::rows_of(*rows), first, *weights, team.device().pool());
  }
  own.out = detail::rows_of(rows, detail::count_edges(team, rows->edges()).before);
  return detail::shard_of(team, own, edges, with_in_edges);
}

}  // namespace warren::graph
