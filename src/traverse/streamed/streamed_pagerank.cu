// SPDX-License-Identifier: Apache-2.0
// PageRank over a file's windows on GPUs.
#include "traverse/streamed/streamed_pagerank_kernels.hpp"

namespace warren::traverse {

template struct ListVisit<exec::Cuda, PullRanks<float>>;
template struct ListVisit<exec::Cuda, PullRanks<double>>;
template struct ListVisit<exec::Cuda, PushRanks>;
template struct EachTask<exec::Cuda, BeginPull<float>>;
template struct EachTask<exec::Cuda, BeginPull<double>>;
template struct EachTask<exec::Cuda, FinishPull<float>>;
template struct EachTask<exec::Cuda, FinishPull<double>>;
template struct EachTask<exec::Cuda, TellPulled<float>>;
template struct EachTask<exec::Cuda, TellPulled<double>>;
template struct EachTask<exec::Cuda, FinishPush>;
template struct EachTask<exec::Cuda, TellPushed>;

}  // namespace warren::traverse
