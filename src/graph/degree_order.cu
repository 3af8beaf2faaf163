// SPDX-License-Identifier: Apache-2.0
#include "graph/degree_order_kernels.hpp"

namespace warren::graph {
template struct DegreeOrderRun<exec::Cuda>;
}  // namespace warren::graph
