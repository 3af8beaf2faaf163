// SPDX-License-Identifier: Apache-2.0
// What the components program works on: its arrays, a rank's largest tree, pieces of long lists.
#pragma once

#include "warren/graph/adjacency.hpp"
#include "warren/memory/global_array.hpp"

#include "traverse/components/components_hosts.hpp"

namespace warren::traverse {

struct ComponentsScratch {
  static constexpr std::uint32_t kSamples = 256;
  Vertex root[kSamples];
};

/// What a rank says of its largest tree.
struct ComponentsLargest {
  Vertex root = kNoVertex;     ///< kNoVertex: there is none to skip.
  Vertex skipped = kNoVertex;  ///< The same if it is connected with the other ranks'.
  std::uint32_t meets[kMaxRanks / 32 + 1] = {};  ///< A bit for each rank whose tree it meets.
  Vertex root_of[kMaxRanks] = {};  ///< Of all ranks' that are connected, at last; or kNoVertex.
  Vertex from = kNoVertex;         ///< The own one of these,
  Vertex to = kNoVertex;           ///< and its root in the forest of all ranks.
  std::uint64_t long_pieces = 0;   ///< Of the rank's lists.
};

/// A piece of a long list: a warp's task.
struct ComponentsPiece {
  static constexpr EdgeOffset kEdges = 4096;
  Vertex row;
  std::uint32_t index;
  bool is_in;  ///< Of the in-edges.
  /// Of lists with so many edges, at most.
  [[nodiscard]] static std::uint64_t most(EdgeOffset edges) { return 2 * (edges / kEdges) + 1; }
};

/// What every form of the program works on.
struct ComponentsArrays {
  graph::CsrView out;
  graph::CsrView in;             ///< Without offsets where there are no in-edges.
  graph::PackedRows packed_out;  ///< The lists, where they are compressed.
  graph::PackedRows packed_in;
  bool is_symmetric = false;  ///< Then in-edges are the out-edges.
  std::uint32_t rank = 0;
  std::uint64_t vertices = 0;
  Vertex* parent = nullptr;  ///< All vertices: this rank's forest.
  const Vertex* parent_of[kMaxRanks] = {};
  memory::GlobalView<Vertex> joined;  ///< The forest of all ranks: each one's own part of its own.
  Vertex* second = nullptr;  ///< Own rows, where clear() reads lists: the second neighbour.
  ComponentsPiece* long_pieces = nullptr;
  ComponentsLargest* largest = nullptr;
  const ComponentsLargest* largest_of[kMaxRanks] = {};
  ComponentsHosts hosts;
};

}  // namespace warren::traverse
