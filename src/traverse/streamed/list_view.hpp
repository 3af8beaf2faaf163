// SPDX-License-Identifier: Apache-2.0
// A window of lists as kernels see it, and how they walk it: tasks are parts of equal numbers of
// edges, however long the lists are.
#pragma once

#include "warren/exec/launch.hpp"
#include "warren/graph/list_piece.hpp"

namespace warren::traverse {

/// Edges [begin, end), and the offsets of the rows that they are of.
struct ListView {
  const EdgeOffset* offsets = nullptr;  ///< rows + 1, of the whole graph's edges.
  const Vertex* targets = nullptr;      ///< Of edge `begin` on.
  EdgeOffset begin = 0;
  EdgeOffset end = 0;
  Vertex first = 0;  ///< Vertex of row 0.
  Vertex rows = 0;

  [[nodiscard]] WARREN_HD Vertex vertex(Vertex row) const { return first + row; }
  /// Of the whole list, which may go on in other windows.
  [[nodiscard]] WARREN_HD EdgeOffset degree(Vertex row) const {
    return offsets[std::uint64_t{row} + 1] - offsets[row];
  }
  /// Whether the piece is its row's whole list.
  [[nodiscard]] WARREN_HD bool is_whole(const graph::ListPiece& piece) const {
    return piece.length == degree(piece.row);
  }
  /// The targets from edge `begin` on.
  [[nodiscard]] WARREN_HD const Vertex* list(EdgeOffset from) const {
    return targets + (from - begin);
  }
  /// The row that an edge of the window is of.
  [[nodiscard]] WARREN_HD Vertex row_of(EdgeOffset edge) const {
    Vertex low = 0, high = rows - 1;
    while (low < high) {
      const Vertex middle = low + (high - low) / 2;
      if (offsets[std::uint64_t{middle} + 1] > edge) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
};

/// Brings every list of a window to visit(worker, lists, piece): each lane has a piece of its own,
/// of no edges where there is none left. All lanes call at once, so that visit may use collectives.
template <class Visit>
struct VisitLists {
  ListView lists;
  Visit visit;
  std::uint64_t task_edges = 0;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const EdgeOffset begin = lists.begin + task * task_edges;
    const EdgeOffset end = lists.end - begin > task_edges ? begin + task_edges : lists.end;
    for (std::uint64_t row = lists.row_of(begin); row < lists.rows && lists.offsets[row] < end;
         row += worker.size()) {
      graph::ListPiece piece;
      if (row + worker.lane() < lists.rows) {
        piece.row = static_cast<Vertex>(row + worker.lane());
        const EdgeOffset low = lists.offsets[piece.row];
        const EdgeOffset high = lists.offsets[std::uint64_t{piece.row} + 1];
        piece.begin = low < begin ? begin : low;
        const EdgeOffset last = high < end ? high : end;
        if (last > piece.begin) piece.length = static_cast<std::uint32_t>(last - piece.begin);
      }
      visit(worker, lists, piece);
    }
  }
};

/// Edges of a task: enough for a CPU's thread to be worth the asking, and for a GPU few enough that
/// a window has work for all of it.
inline constexpr std::uint64_t kCpuTaskEdges = std::uint64_t{1} << 14;
inline constexpr std::uint64_t kGpuTaskEdges = std::uint64_t{1} << 9;

/// Both are defined outside their classes, so that only nvcc instantiates the GPU's members.
template <class Backend, class Visit>
struct ListVisit {
  static void run(const exec::Stream& stream, const ListView& lists, const Visit& visit);
};
/// kernel(worker, task) for every task: of vertices, or of chunks.
template <class Backend, class Kernel>
struct EachTask {
  static void run(const exec::Stream& stream, std::uint64_t tasks, const Kernel& kernel);
};

template <class Backend, class Visit>
void ListVisit<Backend, Visit>::run(const exec::Stream& stream, const ListView& lists,
                                    const Visit& visit) {
  const std::uint64_t task_edges = stream.device().is_cuda() ? kGpuTaskEdges : kCpuTaskEdges;
  const std::uint64_t edges = lists.end - lists.begin;
  exec::launch<Backend, exec::Warp>(stream, (edges + task_edges - 1) / task_edges,
                                    VisitLists<Visit>{lists, visit, task_edges}, {.grain = 1});
}
template <class Backend, class Kernel>
void EachTask<Backend, Kernel>::run(const exec::Stream& stream, std::uint64_t tasks,
                                    const Kernel& kernel) {
  exec::launch<Backend, exec::Warp>(stream, tasks, kernel);
}

/// Vertices of one task of a step over all of them.
inline constexpr std::uint64_t kVertexSpan = 4096;

[[nodiscard]] WARREN_HD inline std::uint64_t vertex_tasks(std::uint64_t vertices) {
  return (vertices + kVertexSpan - 1) / kVertexSpan;
}

/// f(v) for every vertex of a task, shared out over the lanes.
template <class W, class F>
WARREN_HD void for_each_vertex(const W& worker, std::uint64_t task, std::uint64_t vertices, F&& f) {
  const std::uint64_t begin = task * kVertexSpan;
  const std::uint64_t end = begin + kVertexSpan < vertices ? begin + kVertexSpan : vertices;
  worker.for_each(end - begin, [&](std::uint64_t i) { f(static_cast<Vertex>(begin + i)); });
}

}  // namespace warren::traverse
