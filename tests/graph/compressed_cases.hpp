// SPDX-License-Identifier: Apache-2.0
// Kernels that read compressed lists in every way, and what they must find, for all kinds of
// workers.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "warren/exec/atomic.hpp"
#include "warren/exec/launch.hpp"
#include "warren/graph/compressed_decode.hpp"
#include "warren/memory/buffer.hpp"

#include "reference/graph_source.hpp"

namespace warren::graph {

/// A block of a row, as an entry of a frontier names it.
struct Piece {
  Vertex row;
  std::uint32_t block;
};

/// Every lane brings a block; targets[edge] and visits[edge] get what was read.
struct ReadPieces {
  CompressedView view;
  const Piece* pieces;
  std::uint64_t count;
  Vertex* targets;
  std::uint32_t* visits;
  std::uint32_t* mismatches;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const std::uint64_t index = task * worker.size() + worker.lane();
    CompressedBlock block;
    EdgeOffset first = 0;
    if (index < count) {
      const CompressedRow row = view.row(pieces[index].row);
      if (row.degree != view.degree(pieces[index].row)) exec::atomic_add(*mismatches, 1u);
      block = view.block(row, pieces[index].block);
      first = row.edge + std::uint64_t{pieces[index].block} * kCompressedBlock;
    }
    for_each_in_blocks(worker, view, block, block.count,
                       [&](bool active, std::uint32_t owner, std::uint32_t k, Vertex target) {
                         const EdgeOffset edge = worker.broadcast(first, owner) + k;
                         if (worker.count(active) == 0) exec::atomic_add(*mismatches, 1u);
                         if (!active) return;
                         targets[edge] = target;
                         exec::atomic_add(visits[edge], 1u);
                       });
  }
};

/// Neighbours [first, last) of a row, whose first edge is `edge`.
struct Range {
  Vertex row;
  EdgeOffset first, last;
  std::uint64_t out;  ///< Where the neighbours are written.
};
struct ReadRanges {
  CompressedView view;
  const Range* ranges;
  Vertex* targets;
  std::uint32_t* visits;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const Range range = ranges[task];
    for_each_neighbour(worker, view, view.row(range.row), range.first, range.last,
                       [&](bool active, EdgeOffset k, Vertex target) {
                         if (!active) return;
                         targets[range.out + k - range.first] = target;
                         exec::atomic_add(visits[range.out + k - range.first], 1u);
                       });
  }
};

/// The first neighbour from `first` on that is a multiple of `divisor`.
struct Search {
  Vertex row;
  std::uint32_t divisor;
  EdgeOffset first;
};
struct FindNeighbours {
  CompressedView view;
  const Search* searches;
  Vertex* found;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t task) const {
    const Search search = searches[task];
    const Vertex result =
        find_neighbour(worker, view, view.row(search.row), search.first,
                       [&](Vertex target) { return target % search.divisor == 0; });
    if (worker.lane() == worker.size() - 1) found[task] = result;
  }
};

/// An array that the CPU and the device can read and write.
template <class T>
struct Shared {
  Shared(const exec::Device& device, std::span<const T> values) : Shared(device, values.size()) {
    std::copy(values.begin(), values.end(), buffer.data());
  }
  Shared(const exec::Device& device, std::uint64_t size, T value = T{})
      : buffer(device, exec::MemoryKind::pinned, std::max<std::uint64_t>(size, 1)) {
    std::fill(buffer.data(), buffer.data() + buffer.size(), value);
  }
  memory::Buffer<T> buffer;
  [[nodiscard]] T* data() const { return buffer.data(); }
};

/// Runs the kernels by launch(tasks, kernel), with workers of `lanes`, on memory of `device`.
template <class Launch>
void check_reading(const Graph& graph, const CompressedGraph& packed, const exec::Device& device,
                   std::uint32_t lanes, Launch&& launch) {
  const Shared<CompressedGroup> groups(device, packed.groups.span());
  const Shared<std::uint32_t> fields(device, packed.fields.span());
  const Shared<std::uint32_t> stream(device, packed.stream.span());
  CompressedView view = packed.view();
  view.groups = groups.data();
  view.fields = fields.data();
  view.stream = stream.data();

  std::vector<Piece> pieces;
  std::vector<Range> ranges;
  std::vector<Search> searches;
  std::mt19937_64 random(graph.edges() + lanes);
  std::uint64_t outs = 0;
  for (Vertex v = 0; v < graph.vertices; ++v) {
    const EdgeOffset degree = graph.degree(v);
    for (std::uint32_t b = 0; b < compressed_blocks(degree); ++b) pieces.push_back({v, b});
    for (int i = 0; i < 2 && ranges.size() < 300 && degree > 0; ++i) {
      EdgeOffset first = random() % degree, last = random() % degree + 1;
      if (i == 1) first = 0, last = degree + 3;  // Past the end: as far as it goes.
      if (first > last) std::swap(first, last);
      ranges.push_back({v, first, last, outs});
      outs += std::min(last, degree) - first;
      searches.push_back({v, static_cast<std::uint32_t>(1 + random() % 50), first});
      searches.push_back({v, 0xfffffffdu, first});  // Nothing is found, but for vertex 0.
    }
  }
  std::shuffle(pieces.begin(), pieces.end(), random);
  for (int i = 0; i < 3; ++i) pieces.insert(pieces.begin(), {0, 77});  // No such block.
  if (graph.vertices == 0) pieces.clear();

  const Shared<std::uint32_t> mismatches(device, 1);
  const Shared<Piece> shared_pieces(device, pieces);
  const Shared<Vertex> targets(device, graph.edges(), kNoVertex);
  const Shared<std::uint32_t> visits(device, graph.edges());
  launch((pieces.size() + lanes - 1) / lanes,
         ReadPieces{view, shared_pieces.data(), pieces.size(), targets.data(), visits.data(),
                    mismatches.data()});
  EXPECT_EQ(*mismatches.data(), 0u);
  for (EdgeOffset e = 0; e < graph.edges(); ++e) {
    ASSERT_EQ(targets.data()[e], graph.targets[e]) << "edge " << e;
    ASSERT_EQ(visits.data()[e], 1u) << "edge " << e;
  }

  const Shared<Range> shared_ranges(device, ranges);
  const Shared<Vertex> parts(device, outs, kNoVertex);
  const Shared<std::uint32_t> part_visits(device, outs);
  launch(ranges.size(), ReadRanges{view, shared_ranges.data(), parts.data(), part_visits.data()});
  for (const Range& range : ranges) {
    const auto list = graph.neighbours(range.row);
    for (EdgeOffset k = range.first; k < std::min<EdgeOffset>(range.last, list.size()); ++k) {
      ASSERT_EQ(parts.data()[range.out + k - range.first], list[k])
          << "neighbour " << k << " of vertex " << range.row << " from " << range.first;
    }
  }
  for (std::uint64_t i = 0; i < outs; ++i) ASSERT_EQ(part_visits.data()[i], 1u);

  const Shared<Search> shared_searches(device, searches);
  const Shared<Vertex> found(device, searches.size());
  launch(searches.size(), FindNeighbours{view, shared_searches.data(), found.data()});
  for (std::size_t i = 0; i < searches.size(); ++i) {
    Vertex expected = kNoVertex;
    for (const Vertex target : graph.neighbours(searches[i].row).subspan(searches[i].first)) {
      if (target % searches[i].divisor == 0) {
        expected = target;
        break;
      }
    }
    ASSERT_EQ(found.data()[i], expected) << "search " << i;
  }
}

/// Graphs whose lists are awkward to compress: those that are so for all graph code, long lists
/// around the ends of blocks, and neighbours as far apart as ids can be. Some of the latter are not
/// below n: lists are compressed whatever their neighbours are.
inline std::vector<std::pair<std::string, Graph>> compression_graphs(exec::ThreadPool& pool) {
  std::vector<std::pair<std::string, Graph>> graphs;
  for (const auto& [name, list] : reference::awkward_lists()) {
    for (const bool keep : {false, true}) {
      reference::ListSource source(list);
      BuildOptions options;
      options.keep_duplicates = keep;
      graphs.emplace_back(name + (keep ? ", kept" : ", merged"), build(source, options, pool));
    }
  }
  const auto add = [&](const std::string& name, const std::vector<std::vector<Vertex>>& lists) {
    Graph graph;
    graph.vertices = static_cast<Vertex>(lists.size());
    graph.offsets = memory::HostArray<EdgeOffset>(lists.size() + 1, 0);
    for (std::size_t v = 0; v < lists.size(); ++v)
      graph.offsets[v + 1] = graph.offsets[v] + lists[v].size();
    graph.targets = memory::HostArray<Vertex>(graph.offsets[lists.size()]);
    EdgeOffset edge = 0;
    for (const auto& list : lists) {
      for (const Vertex target : list) graph.targets[edge++] = target;
    }
    graphs.emplace_back(name, std::move(graph));
  };
  constexpr Vertex kLast = kNoVertex - 1;
  add("the last id", {{kLast}, {0, kLast}, {}, {0, 0, 1, 0x7fffffff, 0x80000000, kLast, kLast}});
  add("the largest gaps", {{0, 0x7fffffff, 0xfffffffe}, {0x80000001}, {0x80000000}, {0x80000002}});
  std::mt19937_64 random(11);
  std::vector<std::vector<Vertex>> lists;
  for (const std::size_t degree : std::initializer_list<std::size_t>{
           255, 256, 257, 511, 512, 513, 1000, 0, 1, 31, 32, 33, 64, 2500}) {
    for (const int bits : {4, 12, 32}) {
      std::vector<Vertex> list(degree);
      for (Vertex& target : list)
        target = static_cast<Vertex>((random() & ((std::uint64_t{1} << bits) - 1)) % kNoVertex);
      std::sort(list.begin(), list.end());
      lists.push_back(list);
    }
  }
  add("long lists around the ends of blocks", lists);
  add("five of them", {lists[1], lists[4], lists[7], lists[22], lists[13]});
  for (auto& list : lists) {
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = static_cast<Vertex>(i);
  }
  add("lists of consecutive ids", lists);
  return graphs;
}

}  // namespace warren::graph
