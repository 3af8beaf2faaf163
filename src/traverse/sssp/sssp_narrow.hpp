// SPDX-License-Identifier: Apache-2.0
// Weights in a byte each: of an edge in host memory, five bytes cross the link instead of eight.
#pragma once

#include "warren/graph/shard.hpp"

#include "traverse/sssp/sssp_weights.hpp"

namespace warren::traverse {

/// Whether a search should read narrow weights: always those of a shard that has no others.
[[nodiscard]] bool should_narrow(const graph::Shard& shard, const SsspWeights& weights);

/// The own edges' weights_int, a byte each, in the memory that the edges lie in. Synchronises.
/// Throws MemoryError.
[[nodiscard]] memory::Buffer<std::uint8_t> narrow_weights(const exec::Stream& stream,
                                                          const graph::CsrView& view);

}  // namespace warren::traverse
