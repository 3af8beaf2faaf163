// SPDX-License-Identifier: Apache-2.0
// Passes over a file's windows on GPUs.
#include "traverse/streamed/streamed_bfs_kernels.hpp"
#include "traverse/streamed/streamed_components_kernels.hpp"

namespace warren::traverse {

template struct ListVisit<exec::Cuda, PushFrontier>;
template struct ListVisit<exec::Cuda, PullUnseen>;
template struct EachTask<exec::Cuda, ClearVisits>;
template struct EachTask<exec::Cuda, FinishLevel>;
template struct EachTask<exec::Cuda, FindChunks>;

template struct ListVisit<exec::Cuda, LinkEdges>;
template struct EachTask<exec::Cuda, PlantTrees>;
template struct EachTask<exec::Cuda, HangUnderRoots>;

}  // namespace warren::traverse
