// SPDX-License-Identifier: Apache-2.0
// How kernels walk neighbour lists: the same operations over every form that a shard's edges take.
//
//   kIsFar        lists are read over a slow link: visit them in address order
//   Stage         near memory that a warp brings to read far lists through
//   degree(row)   edges of a local row
//   expand(worker, stage, piece, f)
//                 every lane brings a piece of a row's list; the lanes together call
//                 f(active, owner, target) for every edge of every piece. All lanes call f at once,
//                 so it may use collectives.
//   find(worker, stage, want, row, is_wanted, bytes)
//                 every lane asks for the first edge of a row of its own whose target satisfies
//                 is_wanted(target); kNoVertex where none does
//
// expand() returns, and find() adds to `bytes`, the bytes of far memory that were read for this
// lane, in whole sectors of 32 bytes; the sum over the lanes is what crossed the link.
#pragma once

#include "warren/graph/adjacency_far.hpp"
#include "warren/graph/adjacency_packed.hpp"

namespace warren::graph {

/// Lists as CSR in memory that is as near as any: the device's own, or the host's for the CPU.
struct NearAdjacency {
  static constexpr bool kIsFar = false;
  struct Stage {};
  CsrView csr;

  [[nodiscard]] WARREN_HD EdgeOffset degree(Vertex row) const { return csr.degree(row); }

  template <class W, class F>
  WARREN_HD std::uint64_t expand(const W& worker, Stage&, const ListPiece& piece, F&& f) const {
    worker.expand(piece.length, [&](bool active, std::uint32_t owner, std::uint32_t k) {
      const EdgeOffset edge = worker.broadcast(piece.begin, owner) + k;
      f(active, owner, active ? csr.targets[edge] : 0);
    });
    return 0;
  }

  /// Lanes scan on their own for a while; what is still open then is scanned by all lanes together,
  /// one list after the other.
  template <class W, class P>
  WARREN_HD Vertex find(const W& worker, Stage&, bool want, Vertex row, P&& is_wanted,
                        std::uint64_t&) const {
    EdgeOffset edge = want ? csr.begin(row) : 0;
    const EdgeOffset end = want ? csr.end(row) : 0;
    const EdgeOffset alone =
        worker.size() == 1 || end - edge < kScanAlone ? end : edge + kScanAlone;
    Vertex found = kNoVertex;
    for (; edge < alone; ++edge) {
      const Vertex u = csr.targets[edge];
      if (is_wanted(u)) {
        found = u;
        break;
      }
    }
    if (worker.size() == 1) return found;
    bool open = found == kNoVertex && edge < end;
    while (worker.any(open)) {
      const std::uint32_t lane =
          worker.reduce(open ? worker.lane() : worker.size(), exec::Minimum{});
      const EdgeOffset first = worker.broadcast(edge, lane);
      const EdgeOffset last = worker.broadcast(end, lane);
      Vertex best = kNoVertex;
      for (EdgeOffset base = first; base < last; base += worker.size()) {
        const EdgeOffset mine = base + worker.lane();
        if (mine < last) {
          const Vertex u = csr.targets[mine];
          if (is_wanted(u)) best = u;
        }
        if (worker.any(best != kNoVertex)) break;
      }
      best = worker.reduce(best, exec::Minimum{});
      if (worker.lane() == lane) {
        found = best;
        open = false;
      }
    }
    return found;
  }

 private:
  static constexpr EdgeOffset kScanAlone = 64;
};

/// Calls f(out, in) with the adjacencies that the shard's placement asks for.
template <class F>
auto with_adjacency(const Shard& shard, F&& f) {
  if (shard.edges_placement == EdgesPlacement::host)
    return f(FarAdjacency{shard.out}, FarAdjacency{shard.in});
  if (shard.edges_placement == EdgesPlacement::compressed_host) {
    return f(PackedAdjacency{shard.out, shard.packed_out},
             PackedAdjacency{shard.in, shard.packed_in});
  }
  return f(NearAdjacency{shard.out}, NearAdjacency{shard.in});
}

}  // namespace warren::graph
