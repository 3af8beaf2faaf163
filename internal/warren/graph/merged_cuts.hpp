// SPDX-License-Identifier: Apache-2.0
// Cuts of vertices over fewer ranks than they were cut for: over those of one host, of all of whose
// ranks the graph is there once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "warren/core/error.hpp"

namespace warren::graph {

/// Some of `cuts`, parts + 1 of them from the first to the last: a part is made of several that
/// follow each other, as many as the others' or one more. Throws UsageError for more parts than
/// there are, or none.
[[nodiscard]] inline std::vector<std::uint64_t> merged_cuts(std::span<const std::uint64_t> cuts,
                                                            int parts) {
  const std::uint64_t all = cuts.empty() ? 0 : cuts.size() - 1;
  const auto count = static_cast<std::uint64_t>(parts);
  require(parts >= 1 && count <= all, "cuts are merged to as many parts at most as there are");
  std::vector<std::uint64_t> merged;
  merged.reserve(count + 1);
  for (std::uint64_t part = 0; part <= count; ++part) merged.push_back(cuts[part * all / count]);
  return merged;
}

}  // namespace warren::graph
