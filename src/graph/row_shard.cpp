// SPDX-License-Identifier: Apache-2.0
// Shards of a file of which no rank reads all. In-edges of a directed graph are turned round by
// those who have them as out-edges, and exchanged twice: their ends, which make the offsets, then
// they themselves. Only a part of them is on its way at a time.
#include <algorithm>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/exec/worker.hpp"
#include "warren/graph/edge_chunks.hpp"
#include "warren/graph/row_file.hpp"

#include "graph/build_rows.hpp"
#include "graph/edge_digest.hpp"
#include "graph/edge_shares.hpp"
#include "graph/shard_lists.hpp"

namespace warren::graph {
namespace {

/// Edges that a rank sends at a time.
constexpr std::uint64_t kSentEdges = std::uint64_t{1} << 17;

void check_same_file(team::Team& team, const RowFile& file) {
  const std::vector<RowFile::Mark> all = team.all_gather(file.mark());
  for (std::size_t q = 1; q < all.size(); ++q) {
    const bool has_same_size = all[q].vertices == all[0].vertices && all[q].edges == all[0].edges;
    require(all[q] == all[0],
            fmt::format("the ranks read different graphs: rank {} has {} vertices and {} edges, "
                        "rank 0 {} and {}{}; give all ranks the same file",
                        q, all[q].vertices, all[q].edges, all[0].vertices, all[0].edges,
                        has_same_size ? ", with other lists or weights" : ""));
  }
}

bool find_symmetry(team::Team& team, const RowFile& file, std::uint64_t first, std::uint64_t end) {
  if (file.symmetry() != Symmetry::unknown) return file.symmetry() == Symmetry::symmetric;
  detail::BothDigests all;
  for (const detail::BothDigests& own :
       team.all_gather(detail::digests_of(*file.graph(), first, end, team.device().pool()))) {
    all.forwards.add(own.forwards);
    all.backwards.add(own.backwards);
  }
  return all.forwards == all.backwards;
}

/// Sends something of each edge of rows [first, end) to the rank that owns its target: make(row,
/// edge), and take()s what comes here. Collective.
template <class Record, class Make, class Take>
void send_to_targets(team::Team& team, const Graph& graph, const std::vector<std::uint64_t>& cuts,
                     std::uint64_t first, std::uint64_t end, Make&& make, Take&& take) {
  EdgeOffset e = graph.offsets[first];
  const EdgeOffset end_edge = graph.offsets[end];
  const std::uint64_t rounds =
      team.all_reduce((end_edge - e + kSentEdges - 1) / kSentEdges, exec::Maximum{});
  std::vector<std::vector<Record>> outgoing(static_cast<std::size_t>(team.size()));
  std::uint64_t row = first;
  std::size_t owner = 0;  // Of the target at hand: in a row they ascend.
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (auto& part : outgoing) part.clear();
    for (const EdgeOffset stop = std::min(end_edge, e + kSentEdges); e < stop; ++e) {
      if (graph.offsets[row + 1] <= e) owner = 0;
      while (graph.offsets[row + 1] <= e) ++row;
      while (cuts[owner + 1] <= graph.targets[e]) ++owner;
      outgoing[owner].push_back(make(static_cast<Vertex>(row), e));
    }
    for (const std::vector<Record>& part : team.all_to_all_v(outgoing)) {
      for (const Record& record : part) take(record);
    }
  }
}

/// An edge on its way to the rank of its target.
template <class Weight>
struct TurnedEdge {
  Vertex target;
  Vertex source;
  [[no_unique_address]] Weight weight;
};

/// In-edges of a rank's vertices: a CSR of their rows alone.
struct TurnedRows {
  std::shared_ptr<const Graph> rows;
  EdgeOffset first = 0;  ///< The number, in the whole graph's reverse, of the first one.
};

template <class Weight>
void receive(team::Team& team, const RowFile& file, const std::vector<std::uint64_t>& cuts,
             const memory::HostArray<Weight>& weights, Graph& rows,
             memory::HostArray<Weight>& turned_weights) {
  constexpr bool kIsWeighted = !std::is_same_v<Weight, detail::NoWeight>;
  const auto rank = static_cast<std::size_t>(team.rank());
  const std::uint64_t first = cuts[rank], end = cuts[rank + 1], count = end - first;
  const Graph& graph = *file.graph();
  rows.offsets = memory::HostArray<EdgeOffset>(count + 1, 0);
  send_to_targets<Vertex>(
      team, graph, cuts, first, end, [&](Vertex, EdgeOffset e) { return graph.targets[e]; },
      [&](Vertex target) { ++rows.offsets[target - first + 1]; });
  for (std::uint64_t v = 0; v < count; ++v) rows.offsets[v + 1] += rows.offsets[v];
  memory::HostArray<EdgeOffset> next(count);
  std::copy_n(rows.offsets.begin(), count, next.begin());
  rows.targets = memory::HostArray<Vertex>(rows.offsets[count]);
  if constexpr (kIsWeighted) turned_weights = memory::HostArray<Weight>(rows.offsets[count]);
  using Sent = TurnedEdge<Weight>;
  send_to_targets<Sent>(
      team, graph, cuts, first, end,
      [&](Vertex row, EdgeOffset e) {
        Sent sent{graph.targets[e], row, {}};
        if constexpr (kIsWeighted) sent.weight = weights[e];
        return sent;
      },
      [&](const Sent& sent) {
        const EdgeOffset place = next[sent.target - first]++;
        rows.targets[place] = sent.source;
        if constexpr (kIsWeighted) turned_weights[place] = sent.weight;
      });
  // In the order of the reverse, whoever came first.
  if (count > 0 && !rows.targets.empty())
    (void)detail::finish_rows<Weight>(count, file.vertices(), rows.offsets.data(),
                                      {rows.targets.data(), turned_weights.data()},
                                      detail::Duplicates::kept, team.device().pool());
}

TurnedRows turned_rows(team::Team& team, const RowFile& file,
                       const std::vector<std::uint64_t>& cuts) {
  auto rows = std::make_shared<Graph>();
  rows->vertices = file.vertices();
  rows->weight_type = file.weight_type();
  const Graph& graph = *file.graph();
  memory::HostArray<detail::NoWeight> none;
  switch (file.weight_type()) {
    case WeightType::none:
      receive(team, file, cuts, none, *rows, none);
      break;
    case WeightType::int32:
      receive(team, file, cuts, graph.weights_int, *rows, rows->weights_int);
      break;
    case WeightType::float32:
      receive(team, file, cuts, graph.weights_float, *rows, rows->weights_float);
      break;
  }
  TurnedRows turned;
  const std::vector<std::uint64_t> sizes = team.all_gather(rows->edges());
  for (std::size_t q = 0; q < static_cast<std::size_t>(team.rank()); ++q) turned.first += sizes[q];
  for (EdgeOffset& offset : rows->offsets) offset += turned.first;
  turned.rows = std::move(rows);
  return turned;
}

detail::HostRows rows_of(const TurnedRows& turned) {
  const Graph& rows = *turned.rows;
  const auto all = [&](const auto& array) {
    return array.empty() ? nullptr : rebased(array.data(), turned.first);
  };
  return {rows.offsets.span(), all(rows.targets), all(rows.weights_int), all(rows.weights_float),
          turned.rows};
}

}  // namespace

std::vector<std::uint64_t> ranges_of(team::Team& team, const RowFile& file) {
  const int ranks = team.size();
  const std::span<const EdgeOffset> offsets = file.graph()->offsets.span();
  const std::uint64_t first = detail::share(file.vertices(), team.rank(), ranks);
  const std::uint64_t end = detail::share(file.vertices(), team.rank() + 1, ranks);
  file.check_offsets(first, end, team.device().pool());
  // The vertices that lie before a cut, each rank's own of them.
  const bool is_last = team.rank() == ranks - 1;
  const auto own = offsets.subspan(first, end - first + (is_last ? 1 : 0));
  std::vector<std::uint64_t> cuts;
  for (int p = 0; p < ranks; ++p) {
    const auto cut = std::ranges::lower_bound(own, detail::share(file.edges(), p, ranks));
    cuts.push_back(static_cast<std::uint64_t>(cut - own.begin()));
  }
  file.drop_offsets(first, end);
  team.sum(cuts);
  cuts.push_back(file.vertices());
  return cuts;
}

Shard read_shard(team::Team& team, const RowFile& file, const ReadShardOptions& options) {
  const EdgesPlacement placement = options.edges.placement;
  require(placement != EdgesPlacement::compressed_host,
          "a compressed placement needs all lists: read the whole graph, and give make_shard() a "
          "source with compressed lists");
  check_same_file(team, file);
  Shard shard;
  shard.cuts = ranges_of(team, file);
  const auto rank = static_cast<std::size_t>(team.rank());
  const std::uint64_t first = shard.cuts[rank], end = shard.cuts[rank + 1];
  file.check_rows(first, end, options.no_negative_weights, team.device().pool());
  shard.vertices = file.vertices();
  shard.edges = file.edges();
  shard.weight_type = file.weight_type();
  shard.is_symmetric = find_symmetry(team, file, first, end);
  shard.edges_placement = placement;
  const auto count = static_cast<Vertex>(end - first);
  const std::uint64_t cached =
      detail::cache_bytes(team, options.edges, shard.is_symmetric ? 1 : 2, count);
  team.barrier();  // Before anybody takes of what is free.
  const exec::Stream stream(team.device());
  const auto put = [&](const detail::HostRows& rows, std::shared_ptr<CsrStorage>& storage) {
    storage = std::make_shared<CsrStorage>();
    return detail::place(stream, rows, static_cast<Vertex>(first), placement, cached, *storage);
  };
  shard.out =
      put(detail::rows_of(file.graph(), static_cast<Vertex>(first), count), shard.out_storage);
  if (shard.is_symmetric) {
    shard.in = shard.out;
    shard.in_storage = shard.out_storage;
  } else {
    shard.in = put(rows_of(turned_rows(team, file, shard.cuts)), shard.in_storage);
  }
  stream.synchronize();
  return shard;
}

}  // namespace warren::graph
