// SPDX-License-Identifier: Apache-2.0
// PageRank on GPUs.
#include "traverse/pagerank/pagerank_program.hpp"

namespace warren::traverse {
template PageRankState PageRankRun<exec::Cuda>::run(team::Team&, const exec::Stream&,
                                                    const PageRankProgram<float, false>&,
                                                    const PageRankState&);
template PageRankState PageRankRun<exec::Cuda>::run(team::Team&, const exec::Stream&,
                                                    const PageRankProgram<double, false>&,
                                                    const PageRankState&);
}  // namespace warren::traverse
