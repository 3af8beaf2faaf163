// SPDX-License-Identifier: Apache-2.0
// Integer weights of a byte each (Shard::has_byte_weights), for those who read int32.
#pragma once

#include "warren/exec/stream.hpp"
#include "warren/graph/shard.hpp"

namespace warren::graph {

/// `view` with weights_int: its own, or of weights_byte, whose values go to `made`, int32, in
/// pinned host memory, four bytes for each edge of the rows. A view without weights stays so.
/// Synchronises. Throws MemoryError.
[[nodiscard]] CsrView with_int_weights(const exec::Stream& stream, const CsrView& view,
                                       memory::Buffer<std::int32_t>& made);

}  // namespace warren::graph
