// SPDX-License-Identifier: Apache-2.0
// What asynchronous traversals count beside the scheduler's own counters.
#pragma once

#include "warren/core/types.hpp"

namespace warren::traverse {

/// Tallies of a search or a ranking, on the device.
struct WorkTally {
  std::uint64_t expanded;  ///< Vertices worked on, each as often as it was.
  std::uint64_t edges;
  std::uint64_t kept;      ///< Tasks that a worker ran without their having been in a queue.
  std::uint64_t put_back;  ///< Tasks that went back into a queue as they were.
};

}  // namespace warren::traverse
