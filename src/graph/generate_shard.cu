// SPDX-License-Identifier: Apache-2.0
// Generation on GPUs.
#include "graph/generate_shard_kernels.hpp"

namespace warren::graph {
WARREN_GENERATE_KERNELS()
}  // namespace warren::graph
