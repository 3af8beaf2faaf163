// SPDX-License-Identifier: Apache-2.0
// BFS on GPUs, edges compressed.
#include "traverse/bfs/bfs_run.hpp"

namespace warren::traverse {
template BfsState BfsRun<exec::Cuda>::traverse(team::Team&, const exec::Stream&,
                                               const BfsProgram<graph::PackedAdjacency>&,
                                               const BfsState&);
}  // namespace warren::traverse
