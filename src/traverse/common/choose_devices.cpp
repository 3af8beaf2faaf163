// SPDX-License-Identifier: Apache-2.0
#include "warren/traverse/choose_devices.hpp"

#include <fmt/format.h>

#include "traverse/common/short_levels.hpp"

namespace warren::traverse {
namespace {

constexpr std::uint64_t kMillion = 1'000'000;
/// Each GPU has a link to the host of its own.
constexpr std::uint64_t kOnHost = 200 * kMillion;

/// From how many directed edges on several GPUs are faster than one: H100s and H200s, one, two and
/// four (bench/results/headline-*x4.json, scaling-*x4.json, asynchronous-h200x4.json). BFS gained
/// on 103 million edges, on 128 million with four GPUs (with two it lost 7%); SSSP on 520 million,
/// not on 128 million; PageRank and asynchronous searches on all. Components of graphs with a hub
/// gained on 520 million and, with two GPUs, 8% on 128 million, those of comm lost half on 103
/// million (headline-h200x2.json, scaling-h200x2.json).
std::uint64_t least_edges(const TraversalWork& work) {
  if (work.is_on_host) return kOnHost;
  if (work.is_asynchronous) return 60 * kMillion;
  switch (work.traversal) {
    case Traversal::bfs:
      return 100 * kMillion;
    case Traversal::components:
      return 200 * kMillion;
    case Traversal::sssp:
      return 300 * kMillion;
    case Traversal::pagerank:
      return 30 * kMillion;
  }
  return 100 * kMillion;
}

}  // namespace

DeviceChoice choose_devices(const TraversalWork& work, int gpus) {
  if (gpus <= 1) return {1, "there is one GPU, or none that reaches another's memory"};
  // Vertices' state needs room, too.
  if (!work.is_on_host && work.gpu_bytes != 0 && work.list_bytes > work.gpu_bytes / 10 * 9)
    return {gpus, "the lists do not fit one GPU"};
  const bool has_levels = work.traversal == Traversal::bfs || work.traversal == Traversal::sssp;
  if (has_levels && has_short_levels(work.vertices, work.edges))
    return {1, "with few edges a vertex, one GPU passes the many short levels fastest"};
  const std::uint64_t least = least_edges(work);
  return {work.edges < least ? 1 : gpus,
          fmt::format("{} million edges, where several GPUs are faster from about {} million on",
                      work.edges / kMillion, least / kMillion)};
}

}  // namespace warren::traverse
