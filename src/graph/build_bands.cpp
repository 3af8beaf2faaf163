// SPDX-License-Identifier: Apache-2.0
#include "graph/build_bands.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace warren::graph::detail {
namespace {

/// A smaller sample says too little, of a graph too small to matter.
constexpr std::uint64_t kLeastSample = 1024;
/// For what the sample does not see.
constexpr double kMargin = 1.02;

}  // namespace

BandPlan plan_bands(const EntrySample& sample, const EdgeOffset* starts, std::uint64_t vertices,
                    std::uint64_t entries) {
  BandPlan whole{{{0, vertices, entries}}, entries};
  const std::uint64_t sampled = sample.entries().size();
  if (sampled < kLeastSample) return whole;
  std::vector<std::uint64_t> distinct = sample.entries();
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const double times = static_cast<double>(sampled) / static_cast<double>(distinct.size());
  if (times <= 1.0 + kMostDuplicates) return whole;

  const auto many = static_cast<std::uint64_t>(std::ceil((times - 1.0) / kMostDuplicates));
  const double scale = kMargin * static_cast<double>(entries) / static_cast<double>(sampled);
  BandPlan plan;
  std::uint64_t first = 0;
  for (std::uint64_t b = 1; b <= many && first < vertices; ++b) {
    const auto goal = static_cast<EdgeOffset>(static_cast<double>(entries) *
                                              static_cast<double>(b) / static_cast<double>(many));
    const std::uint64_t last =
        b == many ? vertices
                  : static_cast<std::uint64_t>(
                        std::lower_bound(starts + first, starts + vertices, goal) - starts);
    if (last == first) continue;
    const EdgeOffset end = last == vertices ? entries : starts[last];
    plan.bands.push_back({first, last, end - starts[first]});
    const auto before = std::distance(
        distinct.begin(), std::lower_bound(distinct.begin(), distinct.end(), first << 32));
    const auto merged = static_cast<std::uint64_t>(static_cast<double>(before) * scale);
    plan.capacity = std::max(plan.capacity, merged + plan.bands.back().entries);
    first = last;
  }
  plan.capacity = std::min(plan.capacity, entries);
  return plan;
}

}  // namespace warren::graph::detail
