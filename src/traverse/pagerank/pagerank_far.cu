// SPDX-License-Identifier: Apache-2.0
// PageRank on GPUs, edges in host memory.
#include "traverse/pagerank/pagerank_program.hpp"

namespace warren::traverse {
template PageRankState PageRankRun<exec::Cuda>::run(
    team::Team&, const exec::Stream&, const PageRankProgram<float, false, false, true>&,
    const PageRankState&);
template PageRankState PageRankRun<exec::Cuda>::run(
    team::Team&, const exec::Stream&, const PageRankProgram<double, false, false, true>&,
    const PageRankState&);
}  // namespace warren::traverse
