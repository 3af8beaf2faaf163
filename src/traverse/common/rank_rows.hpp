// SPDX-License-Identifier: Apache-2.0
// Cuts of arrays that have a row for each rank: counters that all may add to.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

namespace warren::traverse {

inline std::vector<std::uint64_t> a_row_each(int ranks) {
  std::vector<std::uint64_t> cuts(static_cast<std::size_t>(ranks) + 1);
  std::iota(cuts.begin(), cuts.end(), std::uint64_t{0});
  return cuts;
}

}  // namespace warren::traverse
