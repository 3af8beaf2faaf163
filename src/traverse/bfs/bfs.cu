// SPDX-License-Identifier: Apache-2.0
// BFS on GPUs, edges on the device.
#include "traverse/bfs/bfs_run.hpp"

namespace warren::traverse {
template struct BfsRun<exec::Cuda>;
template BfsState BfsRun<exec::Cuda>::traverse(team::Team&, const exec::Stream&,
                                               const BfsProgram<graph::NearAdjacency>&,
                                               const BfsState&);
}  // namespace warren::traverse
