// SPDX-License-Identifier: Apache-2.0
// The steps of connected components over a file's windows: a forest in which every edge joins the
// trees of its ends, the larger root hanging under the smaller.
#pragma once

#include "warren/exec/atomic.hpp"

#include "traverse/streamed/list_view.hpp"

namespace warren::traverse {

/// Every vertex is a tree.
struct PlantTrees {
  Vertex* parent;
  std::uint32_t* sizes;
  std::uint64_t vertices;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    for_each_vertex(worker, task, vertices, [&](Vertex v) {
      parent[v] = v;
      sizes[v] = 0;
    });
  }
};

/// Joins the trees of an edge's ends. Of a symmetric graph the edge to the smaller vertex does.
struct LinkEdges {
  Vertex* parent;
  bool is_symmetric;

  template <class W>
  WARREN_HD void operator()(const W& worker, const ListView& lists,
                            const graph::ListPiece& piece) const {
    const Vertex mine = lists.vertex(piece.row);
    worker.expand(piece.length, [&](bool active, std::uint32_t owner, std::uint32_t k) {
      const Vertex u = worker.broadcast(mine, owner);
      const EdgeOffset begin = worker.broadcast(piece.begin, owner);
      if (!active) return;
      const Vertex v = lists.list(begin)[k];
      if (is_symmetric ? v < u : v != u) link(u, v);
    });
  }

  WARREN_HD void link(Vertex u, Vertex v) const {
    Vertex a = exec::atomic_load(parent[u]);
    Vertex b = exec::atomic_load(parent[v]);
    while (a != b) {
      const Vertex high = a < b ? b : a;
      const Vertex low = a < b ? a : b;
      Vertex above = exec::atomic_load(parent[high]);
      if (above == low) return;
      if (above == high && exec::atomic_compare_exchange(parent[high], above, low)) return;
      // `high` is no root, or is none any more: on with what is above both.
      a = exec::atomic_load(parent[above]);
      b = exec::atomic_load(parent[low]);
    }
  }
};

/// Every vertex hangs under its root.
struct HangUnderRoots {
  Vertex* parent;
  std::uint64_t vertices;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    for_each_vertex(worker, task, vertices, [&](Vertex v) {
      Vertex root = exec::atomic_load(parent[v]);
      for (Vertex above = exec::atomic_load(parent[root]); above != root;
           above = exec::atomic_load(parent[root]))
        root = above;
      exec::atomic_store(parent[v], root);
    });
  }
};

#if WARREN_HAS_CUDA
extern template struct ListVisit<exec::Cuda, LinkEdges>;
extern template struct EachTask<exec::Cuda, PlantTrees>;
extern template struct EachTask<exec::Cuda, HangUnderRoots>;
#endif

}  // namespace warren::traverse
