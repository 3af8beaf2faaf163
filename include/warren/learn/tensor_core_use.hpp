// SPDX-License-Identifier: Apache-2.0
// Whether tensor cores add up rows over neighbours.
#pragma once

#include <cstdint>

namespace warren::learn {

/// Whether a GPU's tensor cores make attention's sums over rows of 16 bits (GAT).
enum class TensorCoreUse : std::uint8_t {
  automatic,  ///< Over the whole graph, not in sampled batches: what was measured to be faster.
  off,
  on  ///< Wherever they can.
};

}  // namespace warren::learn
