// SPDX-License-Identifier: Apache-2.0
// Shards of a file of which no rank reads all.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/graph/edge_chunks.hpp"
#include "warren/graph/row_file.hpp"

#include "graph/edge_shares.hpp"
#include "graph/own_rows.hpp"

namespace warren::graph {
namespace {

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

void draw_weights(const team::Team& team, Vertex first, const UniformWeights& rule,
                  detail::OwnRows& own) {
  auto graph = std::make_shared<Graph>(*own.out.owner);  // Shares the lists.
  graph->weights_int = detail::uniform_weights_of(own.out, first, rule, team.device().pool());
  own.weight_type = graph->weight_type = WeightType::int32;
  if (!graph->weights_int.empty())
    own.out.weights_int =
        rebased(std::as_const(graph->weights_int).data(), own.out.offsets.front());
  own.out.owner = std::move(graph);
}

}  // namespace

std::vector<std::uint64_t> ranges_of(team::Team& team, const RowFile& file) {
  const std::uint64_t first = detail::share(file.vertices(), team.rank(), team.size());
  const std::uint64_t end = detail::share(file.vertices(), team.rank() + 1, team.size());
  file.check_offsets(first, end, team.device().pool());
  std::vector<std::uint64_t> cuts =
      detail::cuts_of(team, file.graph()->offsets.span().subspan(first, end - first), file.edges(),
                      file.vertices());
  file.drop_offsets(first, end);
  return cuts;
}

Shard read_shard(team::Team& team, const RowFile& file, const ReadShardOptions& options) {
  require(options.edges.placement != EdgesPlacement::compressed_host,
          "a compressed placement needs all lists: read the whole graph, and give make_shard() a "
          "source with compressed lists");
  require(!options.weights || file.weight_type() == WeightType::none,
          file.path() + ": weights are read from it or drawn, not both");
  if (options.weights) check_uniform_weights(*options.weights);
  check_same_file(team, file);
  detail::check_same_weights(team, options.weights);
  detail::OwnRows own;
  own.cuts = ranges_of(team, file);
  const auto rank = static_cast<std::size_t>(team.rank());
  const std::uint64_t first = own.cuts[rank], end = own.cuts[rank + 1];
  file.check_rows(first, end, options.no_negative_weights, team.device().pool());
  own.vertices = file.vertices();
  own.edges = file.edges();
  own.weight_type = file.weight_type();
  own.symmetry = file.symmetry();
  own.out =
      detail::rows_of(file.graph(), static_cast<Vertex>(first), static_cast<Vertex>(end - first));
  if (options.weights) draw_weights(team, static_cast<Vertex>(first), *options.weights, own);
  return detail::shard_of(team, own, options.edges, options.with_in_edges);
}

}  // namespace warren::graph
