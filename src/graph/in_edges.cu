// SPDX-License-Identifier: Apache-2.0
#include "graph/in_edges_kernels.hpp"

namespace warren::graph {
template struct InEdgesRun<exec::Cuda>;
}  // namespace warren::graph
