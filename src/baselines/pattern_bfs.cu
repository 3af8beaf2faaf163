// SPDX-License-Identifier: Apache-2.0
// BFS by access pattern on GPUs.
#include "baselines/pattern_bfs_program.hpp"

namespace warren::baselines {
template struct PatternBfsRun<exec::Cuda>;
}  // namespace warren::baselines
