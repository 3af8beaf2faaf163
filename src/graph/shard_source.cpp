// SPDX-License-Identifier: Apache-2.0
// What shards are made from: a graph with its reverse, their compressed lists, and what the ranks
// agree on before they take their parts.
#include "graph/shard_source.hpp"

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/exec/worker.hpp"
#include "warren/graph/partition.hpp"
#include "warren/graph/transform.hpp"

namespace warren::graph {

void compress_lists(ShardSource& source, exec::ThreadPool& pool) {
  const auto compressed = [&](const std::shared_ptr<const Graph>& graph) {
    return std::make_shared<const CompressedGraph>(compress(*graph, pool));
  };
  if (!source.compressed_out) source.compressed_out = compressed(source.out);
  if (source.in && !source.compressed_in)
    source.compressed_in = source.in == source.out ? source.compressed_out : compressed(source.in);
}

ShardSource shard_source(Graph graph, std::vector<std::uint64_t> cuts, exec::ThreadPool& pool) {
  const bool is_own_reverse = is_symmetric(graph, pool);
  ShardSource source;
  source.cuts = std::move(cuts);
  source.out = std::make_shared<const Graph>(std::move(graph));
  source.in =
      is_own_reverse ? source.out : std::make_shared<const Graph>(transpose(*source.out, pool));
  return source;
}

ShardSource shard_source(Graph graph, int ranks, exec::ThreadPool& pool) {
  require(ranks >= 1 && ranks <= kMaxRanks,
          fmt::format("shards of {} ranks; there should be 1 to {}", ranks, kMaxRanks));
  std::vector<std::uint64_t> cuts = partition_ranges(graph, ranks).cuts;
  return shard_source(std::move(graph), std::move(cuts), pool);
}

SourceFacts agree(team::Team& team, const ShardSource& source) {
  const Graph& out = *source.out;
  SourceFacts mine{out.vertices,
                   out.edges(),
                   out.weight_type,
                   source.in != nullptr,
                   source.in == source.out,
                   source.in && out.symmetry == Symmetry::symmetric};
  if (team.rank() == 0 && mine.is_own_reverse && out.symmetry == Symmetry::unknown) {
    Graph looked_at = out;
    mine.is_symmetric = is_symmetric(looked_at, team.device().pool());
  }
  const std::vector<SourceFacts> all = team.all_gather(mine);
  // What only rank 0 has looked for holds for all.
  if (mine.is_own_reverse && out.symmetry == Symmetry::unknown)
    mine.is_symmetric = all[0].is_symmetric;
  require(team.all_reduce(mine == all[0] ? 1 : 0, exec::Minimum{}) != 0,
          "the ranks of a team make shards of one graph: theirs differ in vertices, edges, type of "
          "weights or symmetry, or some have in-edges and some have none");
  require(!mine.is_own_reverse || mine.is_symmetric,
          "a directed graph was given as its own reverse: ShardSource::in should be its transpose, "
          "as graph::shard_source() makes it");
  return mine;
}

}  // namespace warren::graph
