// SPDX-License-Identifier: Apache-2.0
// How long the ranks of a team take to set something up together.
#pragma once

#include "warren/core/trace.hpp"
#include "warren/exec/worker.hpp"
#include "warren/team/team.hpp"

namespace warren::app {

/// make(), with the seconds that it took on the slowest rank. Collective.
template <class Make>
auto timed_setup(team::Team& team, double& seconds, Make&& make) {
  team.barrier();
  const double begin = now_seconds();
  auto made = make();
  seconds = team.all_reduce(now_seconds() - begin, exec::Maximum{});
  return made;
}

}  // namespace warren::app
