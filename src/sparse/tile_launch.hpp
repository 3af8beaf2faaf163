// SPDX-License-Identifier: Apache-2.0
// How many lanes share a task's columns on a GPU, and in how large blocks.
#pragma once

#include <algorithm>

#include "warren/exec/launch.hpp"

namespace warren::sparse::detail {

/// go.operator()<W>() with a group of as many lanes as there is work for, 32 at most.
template <class Go>
void with_lanes(std::uint64_t lanes, Go&& go) {
  if (lanes > 16) return go.template operator()<exec::Warp>();
  if (lanes > 8) return go.template operator()<exec::Tile<16>>();
  if (lanes > 4) return go.template operator()<exec::Tile<8>>();
  return go.template operator()<exec::Tile<4>>();
}

/// Small blocks where large ones would not be some for each processor: these end at more different
/// times.
inline exec::LaunchOptions shape_of(const exec::Stream& stream, std::uint64_t tasks,
                                    std::uint32_t lanes, const exec::LaunchOptions& options) {
  constexpr std::uint64_t kBlocksPerProcessor = 16;
  constexpr std::uint32_t kFewThreads = 128;
  exec::LaunchOptions shape = options;
  const std::uint64_t blocks = tasks * lanes / options.threads_per_block;
  if (blocks < kBlocksPerProcessor * static_cast<std::uint64_t>(stream.device().processors()))
    shape.threads_per_block = std::min(shape.threads_per_block, kFewThreads);
  return shape;
}

}  // namespace warren::sparse::detail
