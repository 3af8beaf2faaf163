// SPDX-License-Identifier: Apache-2.0
// Workers of asynchronous searches, and the lists that they keep.
#pragma once

#include "warren/core/types.hpp"

namespace warren::traverse {

/// What a worker can hold of its own, and how it works it off.
struct WarpLists {
  static constexpr std::uint32_t kThreadsPerBlock = 256;
  /// Rounds are a chain: more registers serve them better than more warps.
  static constexpr std::uint32_t kBlocksPerProcessor = 1;
  static constexpr std::uint32_t kLanes = 32;
  static constexpr bool kMayNotFit = false;
  static constexpr std::uint32_t kVertices = 32;
  static constexpr std::uint32_t kEdges = 192;
  static constexpr std::uint32_t kFar = kEdges + kLanes;  ///< Vertices for queues.
  static constexpr std::uint32_t kTogether = 1;           ///< Edges of a lane.
  static constexpr std::uint32_t kWorthPushing = 8;       ///< Before the worker is done.
};
struct BlockLists {
  static constexpr std::uint32_t kThreadsPerBlock = 512;
  static constexpr std::uint32_t kBlocksPerProcessor = 1;
  static constexpr std::uint32_t kLanes = 512;
  static constexpr bool kMayNotFit = true;  ///< They take more than 64 KiB of shared memory.
  static constexpr std::uint32_t kVertices = 1024;
  static constexpr std::uint32_t kEdges = 4096;
  static constexpr std::uint32_t kFar = kEdges + kLanes;
  static constexpr std::uint32_t kTogether = 1;
  static constexpr std::uint32_t kWorthPushing = 256;
};
/// Warps that keep nothing, for graphs whose lists fill them; more of them hide more waiting.
struct NoLists {
  static constexpr std::uint32_t kThreadsPerBlock = 256;
  static constexpr std::uint32_t kBlocksPerProcessor = 3;
  static constexpr std::uint32_t kLanes = 32;
  static constexpr bool kMayNotFit = false;
  static constexpr std::uint32_t kVertices = 32;
  static constexpr std::uint32_t kEdges = 0;
  static constexpr std::uint32_t kFar = 256;
  static constexpr std::uint32_t kTogether = 1;
  static constexpr std::uint32_t kWorthPushing = 1;
};

/// A worker's vertices of this round and of the next with their edges, and those that are not for
/// itself. Counts go around: while one round's are read, the next one's grow, and those after are
/// cleared.
template <class Word, class Lists>
struct SearchLists {
  static constexpr bool kKeeps = Lists::kEdges > 0;
  /// Longer lists are not kept.
  static constexpr std::uint32_t kKeptEdges = 16;

  /// A vertex of a round.
  struct Kept {
    EdgeOffset begin;
    Word word;
    Vertex vertex;
  };
  /// One of a vertex's edges: its place in the round's list, and which.
  struct Edge {
    std::uint16_t place;
    std::uint16_t number;  ///< kNoEdge: none.
  };
  static constexpr std::uint16_t kNoEdge = 0xffff;
  struct Far {
    Word word;
    Vertex vertex;
  };
  /// What has been put into a round's lists so far, also what found no room: vertices above edges
  /// in one word.
  struct alignas(8) Filled {
    std::uint32_t kept;
    std::uint32_t far;
  };
  static constexpr std::uint32_t kOneVertex = 1u << 17;
  static_assert((Lists::kEdges + 2 * Lists::kLanes) * kKeptEdges < kOneVertex &&
                Lists::kEdges + 2 * Lists::kLanes <= ~0u / kOneVertex);

  Kept vertices[kKeeps ? 2 : 1][Lists::kVertices];
  Edge edges[2][kKeeps ? Lists::kEdges : 1];
  Far far[Lists::kFar];
  Filled filled[3];
  std::uint32_t starts[Lists::kLanes];  ///< Of the lanes' edges.
};

}  // namespace warren::traverse
