// SPDX-License-Identifier: Apache-2.0
#include "graph/edge_chunks_kernels.hpp"

namespace warren::graph {
template struct EdgeChunksRun<exec::Cuda>;
}  // namespace warren::graph
