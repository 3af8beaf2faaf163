// SPDX-License-Identifier: Apache-2.0
// PageRank on GPUs, by weights.
#include "traverse/pagerank/pagerank_program.hpp"

namespace warren::traverse {
template PageRankState PageRankRun<exec::Cuda>::run(team::Team&, const exec::Stream&,
                                                    const PageRankProgram<double, false, true>&,
                                                    const PageRankState&);
}  // namespace warren::traverse
