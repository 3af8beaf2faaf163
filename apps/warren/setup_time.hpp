// SPDX-License-Identifier: Apache-2.0
// How long the ranks of a team take to set something up together.
#pragma once

#include <algorithm>

#include "warren/core/trace.hpp"
#include "warren/team/team.hpp"

namespace warren::app {

/// The longest of the ranks' times. Collective.
inline double slowest(team::Team& team, double seconds) {
  return team.all_reduce(seconds, [](double a, double b) { return std::max(a, b); });
}

/// make(), with the seconds that it took on the slowest rank. Collective.
template <class Make>
auto timed_setup(team::Team& team, double& seconds, Make&& make) {
  team.barrier();
  const double begin = now_seconds();
  auto made = make();
  seconds = slowest(team, now_seconds() - begin);
  return made;
}

}  // namespace warren::app
