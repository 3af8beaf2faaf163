// SPDX-License-Identifier: Apache-2.0
// Betweenness centrality, exact or from a sample of sources, on a team of CPU ranks or GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "warren/core/types.hpp"
#include "warren/graph/shard.hpp"
#include "warren/team/team.hpp"

namespace warren::traverse {

struct BetweennessResult {
  std::uint64_t steps = 0;  ///< Of the whole team, with a barrier after each.
  double seconds = 0.0;     ///< The searches and sums alone, on this rank.
};

class BetweennessMemory;

/// score(v) = the sum over sources s and all t of sigma_st(v) / sigma_st, for s, v and t that
/// differ: sigma_st counts the shortest paths from s to t by edges, sigma_st(v) those of them
/// through v. A search from each source counts paths level by level; on the way back
///
///   delta(v) = sum over edges (v, w) to the next level of sigma(v) / sigma(w) (1 + delta(w))
///
/// is what v adds (Brandes: A Faster Algorithm for Betweenness Centrality, Journal of Mathematical
/// Sociology 2001). In float64. Repeats bit for bit on one device and team size while no count of
/// paths passes 2^53. Parallel edges are paths of their own. Holds 40 bytes for each own vertex; on
/// the CPU, where eight sources are searched from together if the shard has in-edges, 188, and 32
/// more for graphs so deep that each is searched from by itself.
class Betweenness {
 public:
  /// Collective. `shard` must outlive this; its lists are not compressed. Throws UsageError,
  /// MemoryError.
  Betweenness(team::Team& team, const graph::Shard& shard);
  ~Betweenness();
  Betweenness(const Betweenness&) = delete;
  Betweenness& operator=(const Betweenness&) = delete;

  /// From scores of 0, over `sources` (ids of the shard's numbering; repeats count each).
  /// Collective, synchronous. On GPUs that may wait for each other it is one persistent kernel for
  /// each source. Throws UsageError for a source that is no vertex.
  BetweennessResult run(std::span<const Vertex> sources);

  /// Of this rank's vertices, in host memory.
  [[nodiscard]] std::vector<double> scores() const;
  /// The same times `factor` to memory of this rank's device; on the CPU, of the host. Returns when
  /// it is there.
  void write_scores(double* to, double factor = 1.0) const;
  /// Of all vertices, on every rank. Collective.
  [[nodiscard]] std::vector<double> all_scores() const;

 private:
  void search_one_by_one(std::span<const Vertex> sources, BetweennessResult& result);
  /// Eight at a time, on the CPU; returns those that are left to be searched from one by one.
  std::span<const Vertex> search_lanes(std::span<const Vertex> sources, BetweennessResult& result);

  team::Team& team_;
  const graph::Shard& shard_;
  exec::Stream stream_;
  std::unique_ptr<BetweennessMemory> memory_;
};

/// `count` different vertices of `vertices`, drawn by `seed`, ascending; all where there are no
/// more.
[[nodiscard]] std::vector<Vertex> sample_sources(std::uint64_t vertices, std::uint64_t count,
                                                 std::uint64_t seed);

/// By what scores over `sources` of the vertices are multiplied, as NetworkX does: by n / sources,
/// and `normalized` by 1 / ((n - 1) (n - 2)), else of undirected graphs by a half.
[[nodiscard]] double betweenness_scale(std::uint64_t vertices, std::uint64_t sources,
                                       bool normalized, bool is_symmetric);

}  // namespace warren::traverse
