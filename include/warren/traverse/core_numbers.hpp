// SPDX-License-Identifier: Apache-2.0
// Core numbers (k-core decomposition), on a team of CPU ranks or GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "warren/core/types.hpp"
#include "warren/graph/shard.hpp"
#include "warren/team/team.hpp"

namespace warren::traverse {

struct CoreNumbersResult {
  std::uint32_t largest = 0;    ///< The largest core number: the graph's degeneracy.
  std::uint64_t innermost = 0;  ///< Vertices that have it.
  std::uint64_t steps = 0;      ///< Of the whole team, with a barrier after each.
  double seconds = 0.0;         ///< The work alone, on this rank.
};

class CoreNumbersMemory;

/// core(v) = the largest k for which v lies in a subgraph whose vertices all have k neighbours or
/// more in it. Edges count whatever their direction, and once however many there are between two
/// vertices; self-loops do not count. Found by
/// peeling (Matula and Beck, Journal of the ACM 1983) level by level: what has k edges or fewer
/// left is taken away, and what that leaves with k or fewer next, until nothing is (Dasari, Ranjan,
/// Zubair: ParK, IEEE Big Data 2014). Exact: the same for every device and team size. Holds 20
/// bytes for each own vertex.
class CoreNumbers {
 public:
  /// Collective. `shard` must outlive this; it has in-edges, and its lists are not compressed.
  /// Throws UsageError, MemoryError.
  CoreNumbers(team::Team& team, const graph::Shard& shard);
  ~CoreNumbers();
  CoreNumbers(const CoreNumbers&) = delete;
  CoreNumbers& operator=(const CoreNumbers&) = delete;

  /// Collective, synchronous. On GPUs that may wait for each other it is one persistent kernel on
  /// each.
  CoreNumbersResult run();

  /// Of this rank's vertices, in host memory.
  [[nodiscard]] std::vector<std::uint32_t> cores() const;
  /// The same to memory of this rank's device; on the CPU, of the host. Returns when it is there.
  void write_cores(std::uint32_t* to) const;
  /// Of all vertices, on every rank. Collective.
  [[nodiscard]] std::vector<std::uint32_t> all_cores() const;

 private:
  team::Team& team_;
  exec::Stream stream_;
  std::unique_ptr<CoreNumbersMemory> memory_;
};

}  // namespace warren::traverse
