// SPDX-License-Identifier: Apache-2.0
// BFS from many sources on GPUs.
#include "traverse/bfs/many_source_bfs_program.hpp"

namespace warren::traverse {
template struct ManySourceBfsRun<exec::Cuda, false>;
template struct ManySourceBfsRun<exec::Cuda, true>;
}  // namespace warren::traverse
