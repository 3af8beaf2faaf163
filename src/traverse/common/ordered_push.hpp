// SPDX-License-Identifier: Apache-2.0
// Working off a frontier in the order of its edges' addresses, from a bitmap of its vertices: far
// memory serves a narrow window of addresses at the link's full speed, and random addresses at a
// fraction of it.
#pragma once

#include "warren/graph/adjacency.hpp"
#include "warren/graph/edge_chunks.hpp"

#include "traverse/common/bitmap.hpp"

namespace warren::traverse {

/// A frontier of fewer vertices is worked off from its queue: their lists are few and long, or too
/// few to be worth the order.
inline constexpr std::uint64_t kByAddressVertices = 1024;

/// Calls f(worker, piece), every lane with a piece of its own, until all edges of the own vertices
/// marked in `front` have been in one piece. The tasks are equal stretches of edges, so that a
/// hub's list is many tasks. By all threads of a block.
template <class Grid, class F>
WARREN_HD void for_marked_by_address(Grid& grid, const graph::CsrView& out,
                                     const graph::EdgeChunks& chunks, const BitmapWord* front,
                                     F&& f) {
  using WorkerType = typename Grid::Warp;
  grid.template for_each_claimed<exec::Warp>(
      chunks.count,
      [&](const WorkerType& worker, std::uint64_t chunk) {
        const graph::EdgeChunks::Chunk range = chunks.at(chunk);
        const std::uint64_t first = std::uint64_t{out.first} + range.first_row;
        const std::uint64_t last = std::uint64_t{out.first} + range.last_row + 1;
        // A lane a word: rows without edges may stand here by the million.
        for (std::uint64_t base = first / kWordBits; base * kWordBits < last;
             base += worker.size()) {
          const std::uint64_t w = base + worker.lane();
          BitmapWord bits = w * kWordBits < last ? front[w] & range_mask(w, first, last) : 0;
          while (worker.any(bits != 0)) {
            const std::uint32_t lane =
                worker.reduce(bits != 0 ? worker.lane() : worker.size(), exec::Minimum{});
            const BitmapWord word = worker.broadcast(bits, lane);
            if (worker.lane() == lane) bits = 0;
            for (std::uint32_t b = 0; b < kWordBits; b += worker.size()) {
              const std::uint32_t bit = b + worker.lane();
              const bool is_in = bit < kWordBits && (word >> bit & 1u) != 0;
              if (worker.size() == 1 && !is_in) continue;
              graph::ListPiece piece;
              if (is_in) {
                const auto v = static_cast<Vertex>((base + lane) * kWordBits + bit);
                piece = range.part_of(out, v - out.first);
              }
              f(worker, piece);
            }
          }
        }
      },
      chunks.count / 4);
}

}  // namespace warren::traverse
