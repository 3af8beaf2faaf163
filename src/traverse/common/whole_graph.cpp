// SPDX-License-Identifier: Apache-2.0
#include "traverse/common/whole_graph.hpp"

#include "warren/exec/memory.hpp"
#include "warren/graph/edge_chunks.hpp"
#include "warren/team/alone.hpp"

namespace warren::traverse {

WholeGraph::WholeGraph(team::Team& team, const graph::Shard& shard, const exec::Stream& stream) {
  const graph::CsrView& out = shard.out;
  const graph::EdgeRange edges = graph::edge_range(stream, out);
  // Offsets are the whole graph's, and so is what lists are indexed by.
  const std::vector<graph::EdgeRange> edges_of = team.all_gather(edges);
  const std::vector<void*> offsets_of =
      team.share_with_all(const_cast<EdgeOffset*>(out.count > 0 ? out.offsets : nullptr));
  const std::vector<void*> targets_of = team.share_with_all(
      const_cast<Vertex*>(edges.count() > 0 ? out.targets + edges.first : nullptr));
  team.with_peer_memory([&] {
    team.barrier();
    if (team.rank() == 0) {
      offsets_ = memory::Buffer<EdgeOffset>(team.device(), shard.vertices + 1);
      targets_ = memory::Buffer<Vertex>(team.device(), shard.edges);
      exec::fill_bytes(stream, offsets_.data(), 0, offsets_.bytes());
      for (std::size_t q = 0; q < edges_of.size(); ++q) {
        const std::uint64_t rows = shard.cuts[q + 1] - shard.cuts[q];
        if (rows > 0)
          exec::copy(stream, offsets_.data() + shard.cuts[q], offsets_of[q],
                     (rows + 1) * sizeof(EdgeOffset));
        if (edges_of[q].count() > 0)
          exec::copy(stream, targets_.data() + edges_of[q].first, targets_of[q],
                     edges_of[q].count() * sizeof(Vertex));
      }
      stream.synchronize();
    }
    team.barrier();
  });
  if (team.rank() != 0) return;
  alone_ = team::alone(team);
  shard_.vertices = shard.vertices;
  shard_.edges = shard.edges;
  shard_.cuts = {0, shard.vertices};
  shard_.is_symmetric = shard.is_symmetric;
  shard_.out.offsets = offsets_.data();
  shard_.out.targets = targets_.data();
  shard_.out.count = static_cast<Vertex>(shard.vertices);
  if (shard.is_symmetric && shard.has_in()) shard_.in = shard_.out;
}

}  // namespace warren::traverse
