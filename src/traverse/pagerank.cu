// SPDX-License-Identifier: Apache-2.0
// PageRank on GPUs.
#include "traverse/pagerank_program.hpp"

namespace warren::traverse {
template PageRankState PageRankRun<exec::Cuda>::run(team::Team&, const exec::Stream&,
                                                    const PageRankProgram<float>&,
                                                    const PageRankState&);
template PageRankState PageRankRun<exec::Cuda>::run(team::Team&, const exec::Stream&,
                                                    const PageRankProgram<double>&,
                                                    const PageRankState&);
}  // namespace warren::traverse
