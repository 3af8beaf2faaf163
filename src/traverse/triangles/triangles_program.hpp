// SPDX-License-Identifier: Apache-2.0
// The two BSP programs of triangles. ForwardProgram finds, of each row, the targets that come
// later in the order of degrees; its last phase writes them, when the host has added up how many
// there are. TrianglesProgram takes every such edge, intersects the lists of its two ends, and
// counts what is in both for the three vertices of the triangle, whosever they are.
#pragma once

#include <cstdint>

#include "warren/graph/shard.hpp"
#include "warren/memory/global_array.hpp"
#include "warren/team/program.hpp"

namespace warren::traverse {

struct ForwardState {
  enum class Phase : std::uint8_t { degrees, count, fill, done };
  Phase phase = Phase::degrees;
};

struct ForwardProgram {
  using State = ForwardState;
  using Phase = ForwardState::Phase;
  static constexpr std::uint32_t kThreadsPerBlock = 512;
  static constexpr std::uint32_t kBlocksPerProcessor = 2;
  static constexpr std::uint32_t kScratchBytes = 0;
  static constexpr std::uint32_t kClusterBlocks = 1;

  graph::CsrView lists;
  memory::GlobalView<std::uint32_t> degree;  ///< Replicated.
  std::uint32_t* count = nullptr;            ///< Own rows: targets that come later.
  const std::uint64_t* begin = nullptr;      ///< Own rows: where the targets go.
  Vertex* target = nullptr;                  ///< Own edges that are kept.
  Vertex* source = nullptr;

  WARREN_HD static bool finished(const State& state) { return state.phase == Phase::done; }
  WARREN_HD static State next(State state, const team::Sums&) {
    state.phase = state.phase == Phase::degrees ? Phase::count : Phase::done;
    return state;
  }

  template <class Grid>
  WARREN_HD void step(Grid& grid, const State& state) const {
    if (state.phase == Phase::degrees) {
      grid.template for_each<exec::Thread>(lists.count, [&](auto&, std::uint64_t i) {
        const auto row = static_cast<Vertex>(i);
        degree.write_all(std::uint64_t{lists.first} + row,
                         static_cast<std::uint32_t>(lists.degree(row)));
      });
      return;
    }
    grid.template for_each<exec::Warp>(lists.count, [&](auto& worker, std::uint64_t i) {
      walk(worker, static_cast<Vertex>(i), state.phase == Phase::fill);
    });
  }

 private:
  /// All lanes walk the row together, so that the targets keep their order.
  template <class W>
  WARREN_HD void walk(const W& worker, Vertex row, bool fills) const {
    const EdgeOffset first = lists.begin(row);
    const EdgeOffset length = lists.end(row) - first;
    const Vertex* list = lists.list(first);
    const Vertex self = lists.first + row;
    const std::uint32_t* degrees = degree.base[degree.rank];
    std::uint32_t found = 0;
    for (EdgeOffset base = 0; base < length; base += worker.size()) {
      const EdgeOffset k = base + worker.lane();
      const Vertex to = k < length ? list[k] : self;
      bool is_later = to != self && comes_later(degrees, to, self);
      if (is_later && k > 0 && list[k - 1] == to) is_later = false;  // A parallel edge.
      if (fills && is_later) {
        const std::uint64_t place = begin[row] + found + worker.count_before(is_later);
        target[place] = to;
        source[place] = self;
      } else if (fills) {
        (void)worker.count_before(is_later);
      }
      found += worker.count(is_later);
    }
    if (!fills && worker.lane() == 0) count[row] = found;
  }

  [[nodiscard]] WARREN_HD static bool comes_later(const std::uint32_t* degrees, Vertex a,
                                                  Vertex b) {
    return degrees[a] != degrees[b] ? degrees[a] > degrees[b] : a > b;
  }
};

struct TrianglesState {
  enum class Phase : std::uint8_t { clear, count, done };
  Phase phase = Phase::clear;
  std::uint64_t triangles = 0;
};

struct TrianglesProgram {
  using State = TrianglesState;
  using Phase = TrianglesState::Phase;
  static constexpr std::uint32_t kThreadsPerBlock = 512;
  static constexpr std::uint32_t kBlocksPerProcessor = 2;
  static constexpr std::uint32_t kScratchBytes = 0;
  static constexpr std::uint32_t kClusterBlocks = 1;

  /// Of all vertices, and one more: where a vertex' targets begin in the numbering of all ranks.
  const std::uint64_t* begin = nullptr;
  memory::GlobalView<Vertex> target;  ///< Rows are edges.
  const Vertex* source = nullptr;     ///< Own edges.
  memory::GlobalView<std::uint64_t> triangles;

  WARREN_HD static bool finished(const State& state) { return state.phase == Phase::done; }
  WARREN_HD static State next(State state, const team::Sums& sums) {
    if (state.phase == Phase::count) state.triangles = sums[0];
    state.phase = state.phase == Phase::clear ? Phase::count : Phase::done;
    return state;
  }

  template <class Grid>
  WARREN_HD void step(Grid& grid, const State& state) const {
    std::uint64_t seen = 0;
    if (state.phase == Phase::clear) {
      grid.template for_each<exec::Thread>(
          triangles.local_rows(), [&](auto&, std::uint64_t row) { triangles.local(row) = 0; });
    } else {
      grid.template for_each<exec::Warp>(
          target.local_rows(), [&](auto& worker, std::uint64_t edge) {
            const std::uint32_t found = count_edge(worker, source[edge], target.local(edge));
            seen += worker.lane() == 0 ? found : 0;
          });
    }
    grid.sum(0, seen);
  }

 private:
  /// A vertex' targets, in ascending order.
  struct List {
    const Vertex* data;
    std::uint64_t size;
  };
  [[nodiscard]] WARREN_HD List list(Vertex v) const {
    return {target.row(begin[v]), begin[std::uint64_t{v} + 1] - begin[v]};
  }

  template <class W>
  WARREN_HD std::uint32_t count_edge(const W& worker, Vertex u, Vertex v) const {
    const List one = list(u), other = list(v);
    const List& few = one.size < other.size ? one : other;
    const List& many = one.size < other.size ? other : one;
    if (few.size == 0) return 0;
    std::uint32_t found = 0;
    if (worker.size() == 1 && many.size < kSearched * few.size) {
      found = merge(few, many);
    } else {
      worker.for_each(few.size, [&](std::uint64_t i) {
        if (!contains(many, few.data[i])) return;
        triangles.atomic_add(few.data[i], 1);
        ++found;
      });
    }
    found = worker.reduce(found, exec::Plus{});
    if (worker.lane() != 0 || found == 0) return found;
    triangles.atomic_add(u, found);
    triangles.atomic_add(v, found);
    return found;
  }

  /// One thread, through both lists.
  WARREN_HD std::uint32_t merge(const List& a, const List& b) const {
    std::uint32_t found = 0;
    for (std::uint64_t i = 0, j = 0; i < a.size && j < b.size;) {
      const Vertex x = a.data[i], y = b.data[j];
      if (x == y) {
        triangles.atomic_add(x, 1);
        ++found;
      }
      i += x <= y ? 1 : 0;
      j += y <= x ? 1 : 0;
    }
    return found;
  }

  [[nodiscard]] WARREN_HD static bool contains(const List& list, Vertex wanted) {
    std::uint64_t low = 0, high = list.size;
    while (low < high) {
      const std::uint64_t middle = (low + high) / 2;
      if (list.data[middle] < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < list.size && list.data[low] == wanted;
  }

  /// A list so many times as long is searched, not walked through.
  static constexpr std::uint64_t kSearched = 16;
};

template <class Backend>
struct TrianglesRun {
  static void run(team::Team& team, const exec::Stream& stream, const ForwardProgram& program,
                  ForwardState first);
  static TrianglesState run(team::Team& team, const exec::Stream& stream,
                            const TrianglesProgram& program);
};

template <class Backend>
void TrianglesRun<Backend>::run(team::Team& team, const exec::Stream& stream,
                                const ForwardProgram& program, ForwardState first) {
  (void)team::run_program<Backend>(team, stream, program, first);
}

template <class Backend>
TrianglesState TrianglesRun<Backend>::run(team::Team& team, const exec::Stream& stream,
                                          const TrianglesProgram& program) {
  return team::run_program<Backend>(team, stream, program, TrianglesState{});
}

#if WARREN_HAS_CUDA
extern template struct TrianglesRun<exec::Cuda>;
#endif

}  // namespace warren::traverse
