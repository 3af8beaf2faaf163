// SPDX-License-Identifier: Apache-2.0
// BFS by access pattern on GPUs.
#include "traverse/bfs/pattern_bfs_program.hpp"

namespace warren::traverse {
template struct PatternBfsRun<exec::Cuda>;
}  // namespace warren::traverse
