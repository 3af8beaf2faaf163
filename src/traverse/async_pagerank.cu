// SPDX-License-Identifier: Apache-2.0
// Asynchronous PageRank on GPUs.
#include "traverse/async_pagerank.hpp"

namespace warren::traverse {
template struct ResidualRun<exec::Cuda>;
}  // namespace warren::traverse
