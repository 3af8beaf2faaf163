// SPDX-License-Identifier: Apache-2.0
// How many GPUs make a traversal faster.
#pragma once

#include <cstdint>
#include <string>

namespace warren::traverse {

enum class Traversal : std::uint8_t { bfs, sssp, components, pagerank };

/// What a traversal will be, as far as it is known before the ranks have their parts.
struct TraversalWork {
  Traversal traversal = Traversal::bfs;
  bool is_asynchronous = false;
  bool is_on_host = false;  ///< The edge lists are in host memory.
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;       ///< Directed ones.
  std::uint64_t list_bytes = 0;  ///< Of all lists, in both directions where both are held.
  std::uint64_t gpu_bytes = 0;   ///< Free on each GPU; 0: not known.
};

struct DeviceChoice {
  int devices = 1;
  std::string reason;  ///< For people: one clause.
};

/// 1, or all of `gpus` GPUs that reach each other's memory (team::connected_cuda_devices()).
/// Several search one graph faster where a step has more work than the exchange at its end takes:
/// from how many edges on they do was measured (docs/performance.md). Lists in host memory come
/// over a link that each GPU has for itself. Lists that do not fit one GPU are shared out whatever
/// that takes. Depends on the arguments alone.
[[nodiscard]] DeviceChoice choose_devices(const TraversalWork& work, int gpus);

}  // namespace warren::traverse
