// SPDX-License-Identifier: Apache-2.0
// BFS on GPUs.
#include "traverse/bfs_run.hpp"

namespace warren::traverse {
template struct BfsRun<exec::Cuda>;
}  // namespace warren::traverse
