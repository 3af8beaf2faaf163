// SPDX-License-Identifier: Apache-2.0
// Kernels that walk far neighbour lists through a stage, and what they must find and read, for all
// kinds of workers.
#pragma once

#include <set>

#include "warren/graph/adjacency.hpp"

#include "graph/compressed_cases.hpp"

namespace warren::graph {

/// What was seen of a piece: how many edges, and sums that tell sets of them apart.
struct SeenEdges {
  std::uint64_t count = 0;
  std::uint64_t targets = 0;
  std::uint64_t edges = 0;

  [[nodiscard]] WARREN_HD static std::uint64_t mix(std::uint64_t value) {
    value = (value ^ value >> 31) * 0x9e3779b97f4a7c15ull;
    return value ^ value >> 29;
  }
  WARREN_HD void add(Vertex target, EdgeOffset edge) {
    exec::atomic_add(count, std::uint64_t{1});
    exec::atomic_add(targets, mix(target));
    exec::atomic_add(edges, mix(edge));
  }
  bool operator==(const SeenEdges&) const = default;
};

/// Every lane brings a piece; `far_bytes` gets what each task says that it read.
template <class Adjacency>
struct ExpandPieces {
  Adjacency lists;
  const ListPiece* pieces;
  std::uint64_t count;
  SeenEdges* seen;
  std::uint64_t* far_bytes;
  bool by_edges;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    auto& stage = *worker.template scratch<typename Adjacency::Stage>();
    const std::uint64_t first = task * worker.size();
    ListPiece piece;
    if (first + worker.lane() < count) piece = pieces[first + worker.lane()];
    std::uint64_t bytes = 0;
    if constexpr (std::is_same_v<Adjacency, PackedAdjacency>) {
      if (by_edges) {
        bytes = lists.expand_edges(
            worker, piece, [&](bool active, std::uint32_t owner, EdgeOffset edge, Vertex target) {
              if (active) seen[first + owner].add(target, edge);
            });
      }
    }
    if (!by_edges) {
      bytes =
          lists.expand(worker, stage, piece, [&](bool active, std::uint32_t owner, Vertex target) {
            if (active) seen[first + owner].add(target, 0);
          });
    }
    exec::atomic_add(far_bytes[task], bytes);
  }
};

/// Every lane asks for the first neighbour of a row that is a multiple of `divisor`.
template <class Adjacency>
struct FindInRows {
  Adjacency lists;
  std::uint32_t divisor;
  Vertex rows;
  Vertex* found;
  std::uint64_t* far_bytes;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    auto& stage = *worker.template scratch<typename Adjacency::Stage>();
    const std::uint64_t row = task * worker.size() + worker.lane();
    // Every fifth row is not asked for.
    const bool want = row < rows && row % 5 != 3;
    std::uint64_t bytes = 0;
    const Vertex first = lists.find(
        worker, stage, want, want ? static_cast<Vertex>(row) : 0,
        [this](Vertex target) { return target % divisor == 0; }, bytes);
    if (want) found[row] = first;
    exec::atomic_add(*far_bytes, bytes);
  }
};

/// Sectors of the bytes [begin, end) of each piece.
using ByteRange = std::pair<std::uintptr_t, std::uintptr_t>;
inline std::uint64_t distinct_sectors(std::span<const ByteRange> ranges) {
  std::set<std::uintptr_t> sectors;
  for (const auto& [begin, end] : ranges)
    for (std::uintptr_t s = begin / kSectorBytes; begin < end && s <= (end - 1) / kSectorBytes; ++s)
      sectors.insert(s);
  return sectors.size();
}

/// Whole lists in ascending order, `lanes` to a task, then pieces of lists in any order.
template <class Adjacency, class Launch, class RangeOf>
void check_adjacency(const Graph& graph, const Adjacency& lists, const exec::Device& device,
                     std::uint32_t lanes, Launch&& launch, RangeOf&& range_of) {
  constexpr bool kIsPacked = std::is_same_v<Adjacency, PackedAdjacency>;
  constexpr EdgeOffset kLongest = kIsPacked ? 2 * kCompressedBlock : 300;
  std::mt19937_64 random(graph.edges() * 3 + lanes);
  for (const bool in_pieces : {false, true}) {
    std::vector<ListPiece> pieces;
    for (Vertex row = 0; row < graph.vertices; ++row) {
      const EdgeOffset degree = graph.degree(row), longest = in_pieces ? kLongest : degree;
      for (EdgeOffset at = 0; at < degree; at += longest) {
        pieces.push_back({row, graph.offsets[row] + at,
                          static_cast<std::uint32_t>(std::min(longest, degree - at))});
      }
    }
    if (in_pieces) std::shuffle(pieces.begin(), pieces.end(), random);
    const std::uint64_t tasks = (pieces.size() + lanes - 1) / lanes;
    const Shared<ListPiece> shared_pieces(device, pieces);
    for (const bool by_edges : {false, kIsPacked}) {
      const Shared<SeenEdges> seen(device, pieces.size());
      const Shared<std::uint64_t> bytes(device, tasks);
      launch(tasks, ExpandPieces<Adjacency>{lists, shared_pieces.data(), pieces.size(), seen.data(),
                                            bytes.data(), by_edges});
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        SeenEdges expected;
        for (std::uint32_t k = 0; k < pieces[i].length; ++k) {
          const EdgeOffset edge = pieces[i].begin + k;
          expected.add(graph.targets[edge], by_edges ? edge : 0);
        }
        ASSERT_EQ(seen.data()[i], expected) << "piece " << i << " of row " << pieces[i].row;
      }
      for (std::uint64_t task = 0; task < tasks && !in_pieces && !by_edges; ++task) {
        std::vector<ByteRange> ranges;
        for (std::uint64_t i = task * lanes;
             i < std::min<std::uint64_t>((task + 1) * lanes, pieces.size()); ++i)
          ranges.push_back(range_of(pieces[i].row));
        // Each sector once, but where the stage was full.
        const std::uint64_t least = distinct_sectors(ranges);
        const std::uint64_t read = bytes.data()[task] / kSectorBytes;
        EXPECT_LE(read, least + least / 16 + (lanes == 1 ? least : 0)) << "task " << task;
        EXPECT_GE(read, kIsPacked || lanes == 1 ? 0 : least) << "task " << task;
      }
    }
  }
  for (const std::uint32_t divisor : {1u, 3u, 40u, 0xfffffffdu}) {
    const Shared<Vertex> found(device, graph.vertices, kNoVertex - 1);
    const Shared<std::uint64_t> bytes(device, 1);
    launch((graph.vertices + lanes - 1) / lanes,
           FindInRows<Adjacency>{lists, divisor, graph.vertices, found.data(), bytes.data()});
    for (Vertex row = 0; row < graph.vertices; ++row) {
      Vertex expected = row % 5 == 3 ? kNoVertex - 1 : kNoVertex;
      for (const Vertex target : graph.neighbours(row)) {
        if (expected == kNoVertex && target % divisor == 0) expected = target;
      }
      ASSERT_EQ(found.data()[row], expected) << "row " << row << ", multiple of " << divisor;
    }
    EXPECT_EQ(*bytes.data() > 0, graph.edges() > 0);
  }
}

/// Plain and compressed lists of a graph that begin anywhere in a sector.
template <class Launch>
void check_adjacencies(const Graph& graph, const exec::Device& device, std::uint32_t lanes,
                       exec::ThreadPool& pool, Launch&& launch) {
  const Shared<EdgeOffset> offsets(device, graph.offsets.span());
  for (const std::uint32_t shift : {0u, 3u}) {
    SCOPED_TRACE(shift);
    const auto whole_sectors = [&](std::uint64_t elements) {
      return (elements + shift + kSectorWords - 1) / kSectorWords * kSectorWords;
    };
    const Shared<Vertex> targets(device, whole_sectors(graph.edges()));
    std::ranges::copy(graph.targets.span(), targets.data() + shift);
    CsrView csr{.offsets = offsets.data(), .targets = targets.data() + shift};
    csr.count = graph.vertices;
    check_adjacency(graph, FarAdjacency{csr}, device, lanes, launch, [&](Vertex row) {
      const auto first = reinterpret_cast<std::uintptr_t>(csr.targets + graph.offsets[row]);
      return ByteRange{first, first + graph.degree(row) * sizeof(Vertex)};
    });

    const CompressedGraph packed = compress(graph, pool);
    const Shared<CompressedGroup> groups(device, packed.groups.span());
    const Shared<std::uint32_t> fields(device, packed.fields.span());
    const Shared<std::uint32_t> stream(device, whole_sectors(packed.stream.size()));
    std::ranges::copy(packed.stream.span(), stream.data() + shift);
    PackedRows rows{packed.view(), true, packed.stream_bytes()};
    rows.view.groups = groups.data();
    rows.view.fields = fields.data();
    rows.view.stream = stream.data() + shift;
    check_adjacency(graph, PackedAdjacency{csr, rows}, device, lanes, launch, [&](Vertex row) {
      const CompressedRow list = rows.view.row(row);
      const auto origin = reinterpret_cast<std::uintptr_t>(rows.view.stream);
      return ByteRange{origin + list.bits / 8, origin + (list.end + 7) / 8};
    });
  }
}

}  // namespace warren::graph
