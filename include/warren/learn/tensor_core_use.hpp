// SPDX-License-Identifier: Apache-2.0
// Whether tensor cores add up rows over neighbours.
#pragma once

#include <cstdint>

namespace warren::learn {

/// Whether a GPU's tensor cores make attention's sums over rows of 16 bits (GAT).
enum class TensorCoreUse : std::uint8_t {
  automatic,  ///< Where it was measured to be faster: wherever they can, so far.
  off,
  on  ///< Wherever they can.
};

}  // namespace warren::learn
