// SPDX-License-Identifier: Apache-2.0
// The steps of a BFS over a file's windows. `seen` has what was reached before the level,
// `frontier` what was reached by the level before it, `next` what the level reaches. Parents are
// the smallest by an atomic minimum, whichever window comes first.
#pragma once

#include "traverse/common/bitmap.hpp"
#include "traverse/streamed/list_view.hpp"

namespace warren::traverse {

WARREN_HD inline void reach(BitmapWord* next, Vertex* parent, Vertex v, Vertex from) {
  if (exec::atomic_load(parent[v]) <= from) return;  // Then somebody has set the bit, too.
  (void)exec::atomic_min(parent[v], from);
  (void)claim_bit(next, v);
}

/// Vertices of the frontier reach their neighbours.
struct PushFrontier {
  const BitmapWord* frontier;
  const BitmapWord* seen;
  BitmapWord* next;
  Vertex* parent;

  template <class W>
  WARREN_HD void operator()(const W& worker, const ListView& lists,
                            const graph::ListPiece& piece) const {
    const Vertex mine = lists.vertex(piece.row);
    const bool expands = piece.length > 0 && test_bit(frontier, mine);
    worker.expand(expands ? piece.length : 0,
                  [&](bool active, std::uint32_t owner, std::uint32_t k) {
                    const Vertex from = worker.broadcast(mine, owner);
                    const EdgeOffset begin = worker.broadcast(piece.begin, owner);
                    if (!active) return;
                    const Vertex v = lists.list(begin)[k];
                    if (!test_bit(seen, v)) reach(next, parent, v, from);
                  });
  }
};

/// Vertices that are not reached look for the first neighbour in the frontier; neighbours ascend.
struct PullUnseen {
  const BitmapWord* frontier;
  const BitmapWord* seen;
  BitmapWord* next;
  Vertex* parent;

  template <class W>
  WARREN_HD void operator()(const W&, const ListView& lists, const graph::ListPiece& piece) const {
    const Vertex v = lists.vertex(piece.row);
    if (piece.length == 0 || test_bit(seen, v)) return;
    const Vertex* const list = lists.list(piece.begin);
    for (std::uint32_t k = 0; k < piece.length; ++k) {
      if (!test_bit(frontier, list[k])) continue;
      reach(next, parent, v, list[k]);
      return;
    }
  }
};

/// Words of a bitmap that one task looks at.
inline constexpr std::uint64_t kWordSpan = kVertexSpan / kWordBits;

[[nodiscard]] WARREN_HD inline std::uint32_t bits_in(BitmapWord word) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint32_t>(__popc(word));
#else
  return static_cast<std::uint32_t>(std::popcount(word));
#endif
}

/// What was reached becomes the frontier, and gets its depth.
struct FinishLevel {
  BitmapWord* frontier;
  BitmapWord* seen;
  BitmapWord* next;
  Vertex* depth;
  std::uint64_t words;
  Vertex level;
  std::uint64_t* reached;  ///< Is added to.

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const std::uint64_t begin = task * kWordSpan;
    const std::uint64_t end = begin + kWordSpan < words ? begin + kWordSpan : words;
    std::uint64_t count = 0;
    for (std::uint64_t i = begin + worker.lane(); i < end; i += worker.size()) {
      const BitmapWord fresh = next[i];
      frontier[i] = fresh;
      next[i] = 0;
      if (fresh == 0) continue;
      seen[i] |= fresh;
      count += bits_in(fresh);
      for (std::uint32_t bit = 0; bit < kWordBits; ++bit) {
        if ((fresh >> bit & 1) != 0) depth[i * kWordBits + bit] = level;
      }
    }
    count = worker.reduce(count, exec::Plus{});
    if (worker.lane() == 0 && count > 0) exec::atomic_store_add(*reached, count);
  }
};

/// Nothing is reached.
struct ClearVisits {
  Vertex* depth;
  Vertex* parent;
  BitmapWord* frontier;
  BitmapWord* seen;
  BitmapWord* next;
  std::uint64_t vertices;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    for_each_vertex(worker, task, vertices, [&](Vertex v) {
      depth[v] = parent[v] = kNoVertex;
      if (v % kWordBits == 0)
        frontier[v / kWordBits] = seen[v / kWordBits] = next[v / kWordBits] = 0;
    });
  }
};

/// The rows of a chunk.
struct RowRange {
  Vertex first = 0;
  Vertex rows = 0;
};

/// Which ways of a level a chunk has lists for.
enum ChunkWish : std::uint8_t { kWantsPush = 1, kWantsPull = 2 };

/// Finds which chunks a level of either way reads: those of a vertex of the frontier, and those of
/// one with edges that is not reached.
struct FindChunks {
  const RowRange* chunks;
  const BitmapWord* frontier;
  const BitmapWord* seen;
  const BitmapWord* has_edges;  ///< nullptr: nothing pulls.
  std::uint8_t* wishes;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t chunk) const {
    const std::uint64_t first = chunks[chunk].first;
    const std::uint64_t last = first + chunks[chunk].rows;
    const std::uint64_t begin = first / kWordBits;
    const std::uint64_t end = (last + kWordBits - 1) / kWordBits;
    bool pushes = false, pulls = false;
    for (std::uint64_t i = begin + worker.lane(); i < end; i += worker.size()) {
      const BitmapWord mask = range_mask(i, first, last);
      pushes |= (frontier[i] & mask) != 0;
      if (has_edges != nullptr) pulls |= (has_edges[i] & ~seen[i] & mask) != 0;
    }
    pushes = worker.any(pushes);
    pulls = worker.any(pulls);
    if (worker.lane() == 0)
      wishes[chunk] =
          static_cast<std::uint8_t>((pushes ? kWantsPush : 0) | (pulls ? kWantsPull : 0));
  }
};

#if WARREN_HAS_CUDA
extern template struct ListVisit<exec::Cuda, PushFrontier>;
extern template struct ListVisit<exec::Cuda, PullUnseen>;
extern template struct EachTask<exec::Cuda, ClearVisits>;
extern template struct EachTask<exec::Cuda, FinishLevel>;
extern template struct EachTask<exec::Cuda, FindChunks>;
#endif

}  // namespace warren::traverse
