// SPDX-License-Identifier: Apache-2.0
// Shortest paths from one or several sources with non-negative weights, on a team of CPU ranks or
// GPUs.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "warren/core/types.hpp"
#include "warren/graph/shard.hpp"
#include "warren/team/team.hpp"

namespace warren::traverse {

/// Distance of a vertex that was not reached, where distances are integers.
inline constexpr std::uint64_t kUnreachedDistance = ~std::uint64_t{0};

/// How the vertices of a bin are found.
enum class SsspFrontier : std::uint8_t {
  automatic,  ///< scan on GPUs for graphs of a mean degree above 5, else queues.
  queues,     ///< Every vertex enters the queue of its bin, whenever it moves to an earlier one.
  scan,       ///< By a look at all distances for each bin; bins widen where few edges are left.
};

struct SsspOptions {
  /// Width of a bin: vertices whose distances lie so near are worked off together. 0: chosen from
  /// the graph's mean weight and mean degree. Of `scan` the least width.
  double delta = 0.0;
  SsspFrontier frontier = SsspFrontier::automatic;
  /// Tell the largest distance and the sums, for which distances are copied to the host.
  bool adds_up = true;
};

/// Where a search may end before it has reached all that it can.
struct SsspLimits {
  static constexpr double kNoCutoff = std::numeric_limits<double>::infinity();
  double cutoff = kNoCutoff;  ///< Farther vertices are not reached. 0 or more.
  /// The search ends with the bin after which the distances of all of these (ids of the shard's
  /// numbering) are final; then what is farther than the farthest of them is not reached. Where one
  /// cannot be reached, it reaches all that it can.
  std::vector<Vertex> targets = {};
};

struct SsspResult {
  std::uint64_t reached = 0;  ///< Vertices, the source included.
  /// Over reached vertices, with SsspOptions::adds_up; of integer weights exact, else 0.
  std::uint64_t max_distance = 0;
  /// The sum is sum_distance_high 2^64 + sum_distance: 2^32 distances of 2^63 have 95 bits.
  std::uint64_t sum_distance = 0;
  std::uint64_t sum_distance_high = 0;
  /// The same in double precision, for weights of either type.
  double max_real_distance = 0.0;
  double sum_real_distance = 0.0;
  std::uint64_t edges = 0;  ///< Edges with a reached source endpoint: the numerator of TEPS.
  std::uint64_t relaxed_edges = 0;  ///< Edges looked at, each as often as it was.
  std::uint64_t steps = 0;          ///< Steps of the whole team, with a barrier after each.
  double delta = 0.0;
  double seconds = 0.0;  ///< The search alone, on this rank.
  /// Of neighbours and weights in host memory, read by the team; neighbours in a cache count too.
  std::uint64_t far_bytes = 0;
};

/// Adds high 2^64 + low to the sum of distances.
inline void add_to_sum(SsspResult& result, std::uint64_t low, std::uint64_t high = 0) {
  result.sum_distance += low;
  result.sum_distance_high += high + (result.sum_distance < low ? 1 : 0);
}

class SsspMemory;

/// distance(v) = the least sum of weights along a path from the source to v. Integer weights are
/// summed exactly: in 32 bits, and again in 64 where a path turns out longer. float32 weights are
/// summed in double precision from the source on; the result is the least of those sums over all
/// paths. Either way it is deterministic: the same for every device, team size and delta.
/// Delta-stepping with one window of bins (Meyer and Sanders, Journal of Algorithms 2003; Davidson
/// et al., IPDPS 2014), or, where bins hold many vertices, without queues, with bins that begin at
/// the nearest vertex and widen at the end. Integer weights of at most 255 in host memory are
/// copied to a byte each, in host memory, too. Holds about 90 bytes for each own vertex, 8 bytes
/// for each 25 own edges, and 4 (8 for float32 weights and long paths) bytes for each vertex of the
/// graph on each device. Several ranks hold 4 bytes more for each vertex of the graph for what they
/// tell each other, and without queues, or where they do not reach each other's memory, 8 (12).
class Sssp {
 public:
  /// Collective. `shard` must outlive this and have weights. Throws UsageError for a shard without
  /// weights, naming the edge (in the shard's numbering) for a weight that is negative or not
  /// finite, and for a delta below 0 or not finite; MemoryError.
  Sssp(team::Team& team, const graph::Shard& shard, const SsspOptions& options = {});
  ~Sssp();
  Sssp(const Sssp&) = delete;
  Sssp& operator=(const Sssp&) = delete;

  /// Searches from `source` (an id of the shard's numbering). Collective, synchronous. On GPUs that
  /// may wait for each other the whole search is one persistent kernel on each. Throws UsageError
  /// for a source or a target that is no vertex, and a cutoff below 0 or not a number.
  SsspResult run(Vertex source, const SsspLimits& limits = {});
  /// The same from several sources together: distance(v) is that from the nearest source. Repeats
  /// count once. Throws UsageError for none, too.
  SsspResult run(std::span<const Vertex> sources, const SsspLimits& limits = {});

  /// True where the weights, and so the distances, are integers.
  [[nodiscard]] bool has_integer_distances() const;
  /// Of this rank's vertices, in host memory; kUnreachedDistance where not reached. Throws
  /// UsageError where distances are not integers.
  [[nodiscard]] std::vector<std::uint64_t> distance() const;
  /// The same as real numbers, for weights of either type; infinity where not reached.
  [[nodiscard]] std::vector<double> real_distance() const;
  /// The same to memory of this rank's device; on the CPU, of the host. Returns when it is there.
  void write_distance(std::uint64_t* to) const;
  void write_real_distance(double* to) const;
  /// Of all vertices, on every rank. Collective.
  [[nodiscard]] std::vector<std::uint64_t> all_distances() const;
  [[nodiscard]] std::vector<double> all_real_distances() const;

 private:
  team::Team& team_;
  const graph::Shard& shard_;
  exec::Stream stream_;
  double delta_ = 0.0;
  bool scans_ = false;
  bool adds_up_ = true;
  std::unique_ptr<SsspMemory> memory_;
};

}  // namespace warren::traverse
