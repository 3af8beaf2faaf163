// SPDX-License-Identifier: Apache-2.0
// Where a search for the largest component starts: one look at every rank's own offsets, when the
// memory of components is made.
#pragma once

#include <cstdint>

#include "warren/exec/atomic.hpp"
#include "warren/exec/launch.hpp"
#include "warren/exec/worker.hpp"
#include "warren/graph/shard.hpp"
#include "warren/team/team.hpp"

namespace warren::traverse {

/// What a rank, or the team, has seen of the degrees of its vertices.
struct ComponentsDegrees {
  /// The largest degree, as far as 32 bits hold it, above the complement of the smallest vertex
  /// that has it: the maximum of these words is the hub's.
  std::uint64_t hub = 0;
  Vertex first = kNoVertex;  ///< The smallest vertex that has an edge.

  [[nodiscard]] WARREN_HD static std::uint64_t word(EdgeOffset degree, Vertex v) {
    constexpr std::uint64_t kMost = 0xffffffff;
    return (degree < kMost ? degree : kMost) << 32 | (kMost - v);
  }
  [[nodiscard]] Vertex hub_vertex() const {
    return static_cast<Vertex>(0xffffffff - hub % (1ull << 32));
  }
  [[nodiscard]] std::uint64_t hub_degree() const { return hub >> 32; }
};

/// The degrees of `rows`, into `found`.
struct LookAtDegrees {
  static constexpr std::uint64_t kSpan = 1024;  ///< Rows of one task.
  graph::CsrView rows;
  ComponentsDegrees* found;

  [[nodiscard]] std::uint64_t tasks() const {
    return (std::uint64_t{rows.count} + kSpan - 1) / kSpan;
  }
  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const std::uint64_t end = (task + 1) * kSpan < rows.count ? (task + 1) * kSpan : rows.count;
    std::uint64_t hub = 0;
    Vertex first = kNoVertex;
    for (std::uint64_t i = task * kSpan + worker.lane(); i < end; i += worker.size()) {
      const auto row = static_cast<Vertex>(i);
      const Vertex v = rows.first + row;
      const EdgeOffset degree = rows.degree(row);
      const std::uint64_t word = ComponentsDegrees::word(degree, v);
      hub = word > hub ? word : hub;
      if (degree > 0 && v < first) first = v;
    }
    hub = worker.reduce(hub, exec::Maximum{});
    first = worker.reduce(first, exec::Minimum{});
    if (worker.lane() != 0) return;
    (void)exec::atomic_max(found->hub, hub);
    (void)exec::atomic_min(found->first, first);
  }
};

/// Where a search starts, and the vertex that its label most likely is.
struct ComponentsStart {
  Vertex hub = 0;            ///< The vertex of the largest degree, the smallest of several.
  std::uint64_t degree = 0;  ///< Its own, as far as 32 bits hold it.
  Vertex first = 0;          ///< The smallest vertex that has an edge; the hub where none has.

  /// Whether the component of such a vertex is likely to hold most edges, and a search of it few
  /// levels: graphs that a few vertices have most edges of.
  [[nodiscard]] bool is_hub(std::uint64_t vertices, std::uint64_t edges) const {
    constexpr std::uint64_t kAboveMean = 8;
    return vertices > 0 && degree > 0 && degree >= vertices / degree &&
           degree >= kAboveMean * (edges / vertices + 1);
  }
  /// Whether it has an edge to a good part of all vertices.
  [[nodiscard]] bool is_great_hub(std::uint64_t vertices) const {
    constexpr std::uint64_t kPart = 100;
    return degree >= vertices / kPart;
  }
};

/// Collective; the same on all ranks. Synchronises `stream`. Throws MemoryError.
[[nodiscard]] ComponentsStart find_start(team::Team& team, const graph::Shard& shard,
                                         const exec::Stream& stream);

}  // namespace warren::traverse
