// SPDX-License-Identifier: Apache-2.0
// Workers of asynchronous searches.
#pragma once

#include "warren/core/types.hpp"

namespace warren::traverse {

/// What a worker can hold of its own, and how it works it off.
struct WarpLists {
  static constexpr std::uint32_t kThreadsPerBlock = 256;
  /// Rounds are a chain: more registers serve them better than more warps.
  static constexpr std::uint32_t kBlocksPerProcessor = 1;
  static constexpr std::uint32_t kLanes = 32;
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
  static constexpr std::uint32_t kVertices = 32;
  static constexpr std::uint32_t kEdges = 0;
  static constexpr std::uint32_t kFar = 256;
  static constexpr std::uint32_t kTogether = 1;
  static constexpr std::uint32_t kWorthPushing = 1;
};

}  // namespace warren::traverse
