// SPDX-License-Identifier: Apache-2.0
// PageRank by pulling along in-edges, on a team of CPU ranks or GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "warren/core/types.hpp"
#include "warren/graph/shard.hpp"
#include "warren/team/team.hpp"

namespace warren::traverse {

struct PageRankOptions {
  double damping = 0.85;    ///< In [0, 1]; 1 where `weighted`, or with a vector below, alone.
  double tolerance = 1e-6;  ///< Stops at an L1 change of at most this. At least 0.
  std::uint32_t max_iterations = 100;
  /// An edge (u, v) of weight w passes on w / (sum of u's out-weights) of u's rank, in place of
  /// 1 / outdegree(u).
  bool weighted = false;
  /// Where ranks start anew: p, one number for each vertex of the graph in the shard's numbering,
  /// the same on every rank; read by the constructor alone. At least 0, with a sum above 0, by
  /// which it is divided. Empty: 1 / n each.
  std::span<const double> personalization = {};
  /// Likewise: where the rank of the vertices without out-edges goes. Empty: as `personalization`.
  std::span<const double> dangling = {};
  /// Likewise: the ranks before the first iteration. Empty: 1 / n each.
  std::span<const double> start = {};

  /// Whether some vector gives each vertex a number of its own.
  [[nodiscard]] bool has_vectors() const {
    return !personalization.empty() || !dangling.empty() || !start.empty();
  }
};

/// Throws UsageError, which begins with `name`, unless there is a number for each vertex, none is
/// negative or not finite, and their sum is finite and above 0.
void check_shares(const char* name, std::span<const double> values, std::uint64_t vertices);

struct PageRankResult {
  std::uint32_t iterations = 0;
  double residual = 0.0;  ///< L1 change of the last iteration; swept: a bound of one more's.
  bool converged = false;
  double seconds = 0.0;         ///< The iterations alone, on this rank.
  std::uint64_t far_bytes = 0;  ///< Of lists (and weights) in host memory, read by the team.
};

class PageRankMemory;

/// Whether unweighted ranks are held in float64: where rounding of float32 ranks would keep the L1
/// change above the tolerance. That is so for tolerances below 1e-6, and for larger ones where the
/// damping is so near 1 that changes of single iterations, and their rounding, add up over many.
[[nodiscard]] constexpr bool needs_double_precision(double damping, double tolerance) {
  // At a tolerance of 1e-6 a damping of 0.95 still converges in float32; 0.99 does not.
  return tolerance < 1e-6 || tolerance * (1.0 - damping) < 4.9e-8;
}

/// r(v) = (1 - d) / n + d (sum over in-edges (u, v) of r(u) / outdegree(u) + D / n), D being the
/// rank of the vertices without out-edges; r starts at 1 / n, and sums to 1. Parallel edges count
/// each, self-loops count. `weighted`: w(u, v) / (sum of u's out-weights) stands for 1 /
/// outdegree(u), and vertices whose out-weights sum to 0 count as those without out-edges.
/// `personalization`: p(v) stands for 1 / n, in both places (Page, Brin, Motwani, Winograd: The
/// PageRank Citation Ranking, 1999, section 6). `dangling`: D q(v) stands for D / n or D p(v).
/// `start`: r starts there. With any of these, ranks are held in float64 and found by plain
/// iterations. Ranks are held in float32 or
/// float64 by needs_double_precision(); with the former CPUs sweep over the vertices in parts
/// (block Gauss-Seidel), and count sweeps as iterations. On GPUs ranks of symmetric graphs are
/// found by a second-degree iteration (Golub and Varga), those of others, and all in float64, by
/// plain ones. Sums over the graph are exact in 2^-60 fixed point, so that results repeat bit for
/// bit on one device and team size. Holds 4 values a vertex on each device (5 where weighted, and
/// one more for each vector of the options), and the values of all vertices once more where there
/// are several ranks.
class PageRank {
 public:
  /// Collective. `shard` must outlive this and have in-edges; `weighted` needs weights that are
  /// finite and not negative; it and the vectors need lists that are not compressed. Throws
  /// UsageError for options out of range and, naming the edge (in the shard's numbering), for other
  /// weights; MemoryError.
  PageRank(team::Team& team, const graph::Shard& shard, const PageRankOptions& options = {});
  ~PageRank();
  PageRank(const PageRank&) = delete;
  PageRank& operator=(const PageRank&) = delete;

  /// From the start to convergence. Collective, synchronous. On GPUs that may wait for each
  /// other it is one persistent kernel on each.
  PageRankResult run();
  /// Ranks of this rank's vertices, in host memory.
  [[nodiscard]] std::vector<double> ranks() const;
  /// The same to memory of this rank's device; on the CPU, of the host. Returns when it is there.
  void write_ranks(double* to) const;
  /// Of all vertices, on every rank. Collective.
  [[nodiscard]] std::vector<double> all_ranks() const;

 private:
  team::Team& team_;
  const graph::Shard& shard_;
  PageRankOptions options_;
  exec::Stream stream_;
  std::unique_ptr<PageRankMemory> memory_;
  std::uint64_t far_bytes_ = 0;         ///< An iteration, by the team: neighbours.
  std::uint64_t far_weight_bytes_ = 0;  ///< And weights.
};

}  // namespace warren::traverse
