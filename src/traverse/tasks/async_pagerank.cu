// SPDX-License-Identifier: Apache-2.0
// Asynchronous PageRank on GPUs.
#include "traverse/tasks/async_pagerank.hpp"

namespace warren::traverse {
template schedule::QueueReport RankingRun<exec::Cuda>::run(team::Team&, const exec::Stream&,
                                                           schedule::TaskQueue<RankingTask>&,
                                                           const RankingFunction<float>&,
                                                           schedule::Form);
template schedule::QueueReport RankingRun<exec::Cuda>::run(team::Team&, const exec::Stream&,
                                                           schedule::TaskQueue<RankingTask>&,
                                                           const RankingFunction<double>&,
                                                           schedule::Form);
}  // namespace warren::traverse
