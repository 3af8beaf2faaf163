// SPDX-License-Identifier: Apache-2.0
// Append-unique: the neighbours that are new to a batch get the next numbers, in the order in which
// the edges first name them, and the edges' ends become numbers. Tasks: chunks of edges of each
// batch.
//
// WholeGraph counts the new vertices in buckets of its hash table, so that numbers follow from
// where a vertex fell in the table. Here they follow from the first edge that names it, whose place
// the table carries: the same on every device.
#pragma once

#include "warren/sample/flight.hpp"

#include "sample/choose.hpp"

namespace warren::sample::detail {

/// The edges of one batch that a task is about.
template <class W>
struct EdgeTask {
  std::uint64_t batch;
  std::uint64_t chunk;
  std::uint64_t targets = 0;
  std::uint64_t edges = 0;  ///< 0 where there is nothing to do.
  WARREN_HD EdgeTask(const Flight& flight, const Hop& hop, std::uint64_t task)
      : batch(task / chunks_of(hop.most_edges)), chunk(task % chunks_of(hop.most_edges)) {
    const BatchCounts& counts = flight.counts[batch];
    targets = counts.vertices[hop.index];
    edges = counts.status == kGood ? counts.edges[hop.index] : 0;
    if (chunk * kChunk >= edges) edges = 0;
  }
  [[nodiscard]] WARREN_HD std::uint64_t size() const {
    if (edges == 0) return 0;
    return edges - chunk * kChunk < kChunk ? edges - chunk * kChunk : kChunk;
  }
};

inline constexpr std::uint64_t kEdgesAhead = 16;

/// Enters the edges' ends into the table, each with the first place that names it.
struct InsertNeighbours {
  Flight flight;
  Hop hop;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const EdgeTask<W> mine(flight, hop, task);
    const VertexTable table = flight.table_of(mine.batch);
    const std::uint64_t first = mine.chunk * kChunk;
    const Vertex* const ends = hop.columns + mine.batch * hop.most_edges + first;
    std::uint32_t* const slots =
        flight.is_direct ? nullptr : flight.slots + mine.batch * flight.slot_stride + first;
    const std::uint64_t size = mine.size();
    worker.for_each(size, [&](std::uint64_t i) {
      if constexpr (kIsSerial<W>) {
        if (i + kEdgesAhead < size) table.foresee(ends[i + kEdgesAhead]);
      }
      const auto place = static_cast<std::uint32_t>(first + i);
      const std::uint32_t slot = table.insert(ends[i], kIsPlace | place);
      if (!flight.is_direct) slots[i] = slot;
    });
  }
};

/// Where edge i of a chunk finds its end in the table.
struct EdgeSlots {
  const std::uint32_t* slots;
  WARREN_HD EdgeSlots(const Flight& flight, const Hop& hop, std::uint64_t batch,
                      std::uint64_t first)
      : slots(flight.is_direct ? hop.columns + batch * hop.most_edges + first
                               : flight.slots + batch * flight.slot_stride + first) {}
};

/// Counts the edges of each chunk that are the first to name their end.
struct CountNew {
  Flight flight;
  Hop hop;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const EdgeTask<W> mine(flight, hop, task);
    if (mine.edges == 0) return;
    const VertexTable table = flight.table_of(mine.batch);
    const std::uint64_t first = mine.chunk * kChunk;
    const EdgeSlots at(flight, hop, mine.batch, first);
    const std::uint64_t size = mine.size();
    std::uint32_t fresh = 0;
    worker.for_each(size, [&](std::uint64_t i) {
      if constexpr (kIsSerial<W>) {
        if (i + kEdgesAhead < size) table.foresee_slot(at.slots[i + kEdgesAhead]);
      }
      const auto place = static_cast<std::uint32_t>(first + i);
      fresh += table.value(at.slots[i]) == (kIsPlace | place) ? 1 : 0;
    });
    fresh = worker.reduce(fresh, exec::Plus{});
    if (worker.lane() == 0)
      flight.chunk_sums[mine.batch * flight.chunk_stride + mine.chunk] = fresh;
  }
};

/// Gives those ends their numbers.
struct NumberNew {
  Flight flight;
  Hop hop;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const EdgeTask<W> mine(flight, hop, task);
    if (mine.edges == 0) return;
    const VertexTable table = flight.table_of(mine.batch);
    const EdgeSlots at(flight, hop, mine.batch, 0);
    const Vertex* const ends = hop.columns + mine.batch * hop.most_edges;
    Vertex* const vertices = flight.vertices + mine.batch * flight.vertex_stride;
    const Stretch<W> own(worker, mine.chunk, mine.edges);
    const auto is_new = [&](std::uint64_t e) {
      return table.value(at.slots[e]) == (kIsPlace | static_cast<std::uint32_t>(e));
    };
    std::uint32_t before = 0;
    if constexpr (!kIsSerial<W>) {
      std::uint32_t fresh = 0;
      for (std::uint64_t e = own.begin; e < own.end; ++e) fresh += is_new(e) ? 1 : 0;
      before = worker.exclusive_scan(fresh);
    }
    std::uint64_t number =
        mine.targets + flight.chunk_sums[mine.batch * flight.chunk_stride + mine.chunk] + before;
    for (std::uint64_t e = own.begin; e < own.end; ++e) {
      if constexpr (kIsSerial<W>) {
        if (e + kEdgesAhead < own.end) table.foresee_slot(at.slots[e + kEdgesAhead]);
      }
      if (!is_new(e)) continue;
      const Vertex v = ends[e];
      vertices[number] = v;
      table.set(at.slots[e], v, static_cast<std::uint32_t>(number));
      ++number;
    }
  }
};

/// Writes the numbers of the edges' ends over their ids, and counts the edges of each vertex.
struct Renumber {
  Flight flight;
  Hop hop;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const EdgeTask<W> mine(flight, hop, task);
    const VertexTable table = flight.table_of(mine.batch);
    const std::uint64_t first = mine.chunk * kChunk;
    const EdgeSlots at(flight, hop, mine.batch, first);
    Vertex* const ends = hop.columns + mine.batch * hop.most_edges + first;
    std::uint32_t* const duplicates = hop.duplicates + mine.batch * hop.most_after;
    const std::uint64_t size = mine.size();
    worker.for_each(size, [&](std::uint64_t i) {
      if constexpr (kIsSerial<W>) {
        if (i + kEdgesAhead < size) table.foresee_slot(at.slots[i + kEdgesAhead]);
      }
      const std::uint32_t number = table.value(at.slots[i]);
      ends[i] = number;
      exec::atomic_add(duplicates[number], 1u);
    });
  }
};

/// Disjoint batches: every edge's end is a vertex of its own, in its target's tree. Tasks: groups
/// of kChunk targets.
struct AppendTrees {
  Flight flight;
  Hop hop;
  std::uint64_t chunks;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const TaskPlace at(task, chunks);
    BatchCounts& counts = flight.counts[at.batch];
    const std::uint64_t targets = counts.vertices[hop.index];
    if (counts.status != kGood) return;
    if (at.chunk == 0 && worker.lane() == 0) {
      counts.vertices[hop.index + 1] =
          static_cast<std::uint32_t>(targets + counts.edges[hop.index]);
    }
    Vertex* const vertices = flight.vertices + at.batch * flight.vertex_stride;
    std::uint32_t* const trees = flight.trees + at.batch * flight.vertex_stride;
    Vertex* const ends = hop.columns + at.batch * hop.most_edges;
    std::uint32_t* const duplicates = hop.duplicates + at.batch * hop.most_after;
    const EdgeOffset* const rows = hop.row_offsets + at.batch * hop.row_stride;
    const Stretch<W> mine(worker, at.chunk, targets);
    for (std::uint64_t i = mine.begin; i < mine.end; ++i) {
      for (EdgeOffset e = rows[i]; e < rows[i + 1]; ++e) {
        const std::uint64_t number = targets + e;
        vertices[number] = ends[e];
        trees[number] = trees[i];
        duplicates[number] = 1;
        ends[e] = static_cast<Vertex>(number);
      }
    }
  }
};

}  // namespace warren::sample::detail
