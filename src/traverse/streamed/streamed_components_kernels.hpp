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

/// Counts the vertices of each label: what is equal in a row is added at once, as most are.
struct CountLabels {
  const Vertex* labels;
  std::uint32_t* sizes;
  std::uint64_t vertices;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    Vertex label = kNoVertex;
    std::uint32_t members = 0;
    for_each_vertex(worker, task, vertices, [&](Vertex v) {
      if (labels[v] == v && label != v) return add(v, 1);  // Mostly alone.
      if (labels[v] != label) {
        add(label, members);
        label = labels[v];
        members = 0;
      }
      ++members;
    });
    const Vertex common = worker.broadcast(label, 0);
    const std::uint32_t together =
        worker.reduce(label == common ? members : std::uint32_t{0}, exec::Plus{});
    if (label != common) add(label, members);
    if (worker.lane() == 0) add(common, together);
  }
  WARREN_HD void add(Vertex label, std::uint32_t members) const {
    if (members > 0) (void)exec::atomic_add(sizes[label], members);
  }
};

struct ComponentTotals {
  std::uint64_t components = 0;
  std::uint64_t largest = 0;
};

struct SumComponents {
  const std::uint32_t* sizes;
  std::uint64_t vertices;
  ComponentTotals* totals;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    std::uint64_t components = 0, largest = 0;
    for_each_vertex(worker, task, vertices, [&](Vertex v) {
      const std::uint64_t size = sizes[v];
      components += size > 0 ? 1 : 0;
      largest = size > largest ? size : largest;
    });
    components = worker.reduce(components, exec::Plus{});
    largest = worker.reduce(largest, exec::Maximum{});
    if (worker.lane() != 0 || components == 0) return;
    exec::atomic_store_add(totals->components, components);
    (void)exec::atomic_max(totals->largest, largest);
  }
};

#if WARREN_HAS_CUDA
extern template struct ListVisit<exec::Cuda, LinkEdges>;
extern template struct EachTask<exec::Cuda, PlantTrees>;
extern template struct EachTask<exec::Cuda, HangUnderRoots>;
extern template struct EachTask<exec::Cuda, CountLabels>;
extern template struct EachTask<exec::Cuda, SumComponents>;
#endif

}  // namespace warren::traverse
