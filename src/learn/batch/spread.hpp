// SPDX-License-Identifier: Apache-2.0
// What the graph and the features of sampled batches are spread over: the ranks of each host, of
// which every host has all (WholeGraph, section III-D).
#pragma once

#include <cstdint>
#include <vector>

#include "warren/team/team.hpp"

namespace warren::learn {

struct Spread {
  team::Team& team;                 ///< Of the ranks of one host.
  std::vector<std::uint64_t> cuts;  ///< Of the vertices, over them.

  /// This rank's vertices are [begin(), end()).
  [[nodiscard]] std::uint64_t begin() const { return cuts[static_cast<std::size_t>(team.rank())]; }
  [[nodiscard]] std::uint64_t end() const {
    return cuts[static_cast<std::size_t>(team.rank()) + 1];
  }
};

}  // namespace warren::learn
