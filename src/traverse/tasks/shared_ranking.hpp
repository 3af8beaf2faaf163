// SPDX-License-Identifier: Apache-2.0
// What ranks tell each other about an asynchronous ranking: how much they have changed, and which
// of all those changes every one of their chunks has seen. From this the end is decided.
//
// Let x be the values as they stand, s their sum and D the part of it at vertices without
// out-edges. A row's new value is b + d (sum of what its in-edges carry), where n b = (1 - d) s + d
// D: that is the synchronous iteration but for the scale, which is free here; ranks are x / s. (A
// constant b would have the same solution, but its sum would be found no faster than by a factor of
// d a sweep.)
//
// The bound. Let r be what one more such step of all rows would change x by; r adds up to 0, and
// the synchronous iteration would change the ranks by r / s. A chunk's last run made r of its rows
// 0 for the b and the contributions that it read. What it has not seen since makes up r: a change
// of x(u) by c reaches the rows that u has edges to with at most d |c| in all and, through b, all
// rows with (1 - d) |c| in all, or all rows with |c| where u has no edges. So |r| is at most the
// sum U of all changes that some chunk has not seen. Before a run a worker reads how much each rank
// has told so far, with acquire; a rank tells a run's changes after it made them, with release:
// what a rank told before the least of these readings has been seen by all, so that U is at most
// the rest, rank by rank. (Sums of the pieces of a long row are such values, too: their changes
// count.)
//
// Of symmetric graphs a row's new value may be w times its step's plus (1 - w) times the value
// before its last one (second_degree.hpp). What its run leaves of r is then not 0 but (1 - w) times
// the distance of the two: each chunk tells how much its last run left, and the bound has the sum.
// The weight is one rank's to choose, by how far its rows were from their steps in one sweep and in
// the next. Where chunks read what others have just written, sweeps are nearly Gauss-Seidel's:
// their eigenvalues are smaller than iterations' and partly complex, so that large weights do harm
// (docs/decisions/pagerank.md has the sweeps by the largest radius allowed). The weight rises while
// there is some way to go. The last sweeps are plain ones again (w = 1), since what they leave is
// 0, and so are all once two sweeps took away less than plain ones have to.
//
// Numbers that are added up by many are kept as integers.
#pragma once

#include "warren/core/types.hpp"
#include "warren/exec/atomic.hpp"

#include "traverse/pagerank/second_degree.hpp"

namespace warren::traverse {

using exec::Order;
using exec::Scope;

/// Of one rank, on its device; written by that rank alone, but for `stop`.
struct SharedRanking {
  /// Runs of a chunk that may be ahead of what all chunks have had, over the team.
  static constexpr std::uint32_t kLead = 1;
  static constexpr std::uint32_t kSweeps = 4;  ///< Under way at once: at most kLead + 1.
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};

  alignas(128) std::uint64_t moved;  ///< The size of all changes made; as the others, in units.
  std::uint64_t spread;              ///< n b: what is spread over all vertices.
  std::uint64_t sum;                 ///< Of the values.
  std::uint64_t left;                ///< Of the residuals, by the chunks' last runs.
  std::uint64_t stored;              ///< Contributions, at each rank: of nothing but reports.
  /// Sweeps that all chunks have had; kAll where there are none.
  alignas(128) std::uint64_t completed;
  std::uint64_t seen[kMaxRanks];  ///< Of each rank's `moved`, by all chunks in the last of them.
  alignas(128) std::uint32_t stop;
  double weight = 1.0;  ///< Of the runs that begin now.
  struct alignas(128) Sweep {
    std::uint64_t seen[kMaxRanks];
    std::uint64_t distance;  ///< Of rows from their steps.
    std::uint32_t finished;  ///< Chunks.
  } sweep[kSweeps];
  /// Of the rank that chooses the weight.
  struct Choice {
    SecondDegree degree;
    double distance;       ///< Of the last sweep.
    std::uint32_t sweeps;  ///< Whose distances are known.
    std::uint32_t slow;    ///< Of those with a weight, that took away less than plain ones have to.

    /// The weight of the next sweeps, after one whose rows were `now` from their steps. `bound`: of
    /// the residual, over the tolerance.
    WARREN_HD double after(double now, double bound, double damping) {
      constexpr std::uint32_t kFirst = 4;  // The start's own errors are gone.
      constexpr double kRaises = 10.0;
      constexpr double kNear = 6.0;
      constexpr double kMostRadius = 0.6;
      const double most = damping < kMostRadius ? damping : kMostRadius;
      const double ratio = now / distance;
      distance = now;
      if (++sweeps < kFirst) return 1.0;
      if (degree.weight > 1.0 && !(ratio < damping)) ++slow;
      if (bound > kRaises && ratio > 0.0 && ratio < 1.0) degree.raise(ratio, most);
      return slow > 1 || bound < kNear ? 1.0 : degree.weight;
    }
  } choice;

  /// Sweeps from the first on, whatever was before: for the host, between runs.
  void begin_sweeps(bool has_chunks) {
    completed = has_chunks ? 0 : kAll;
    stop = 0;
    for (Sweep& each : sweep) begin(each);
    if (has_chunks) return;
    for (std::uint64_t& each : seen) each = kAll;
  }
  WARREN_HD static void begin(Sweep& sweep) {
    for (std::uint64_t& each : sweep.seen) each = kAll;
    sweep.distance = 0;
    sweep.finished = 0;
  }
};

/// Integers in place of numbers, and the bound from them.
struct RankingUnits {
  double scale = 1.0;     ///< Units of 1.
  double rounding = 0.0;  ///< Of contributions, over the values' sum.

  /// So that all changes of a run are less than 2^62 units: residuals begin at no more than 2 in
  /// all, and a change takes away at least 1 - d times as much of them as it moves.
  WARREN_HD static RankingUnits of(double damping, double rounding) {
    RankingUnits units{4611686018427387904.0, rounding};
    for (double most = 1.0; most < 4.0 / (1.0 - damping); most *= 2.0) units.scale /= 2.0;
    return units;
  }
  /// Of a change's size, never less.
  [[nodiscard]] WARREN_HD std::uint64_t size(double amount) const {
    return amount > 0.0 ? static_cast<std::uint64_t>(amount * scale) + 1 : 0;
  }
  /// Of what may be below 0, to the nearest: two's complement.
  [[nodiscard]] WARREN_HD std::uint64_t change(double amount) const {
    const double half = amount < 0.0 ? -0.5 : 0.5;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(amount * scale + half));
  }
  [[nodiscard]] WARREN_HD double amount(std::uint64_t units) const {
    return static_cast<double>(static_cast<std::int64_t>(units)) / scale;
  }

  /// Of what one more synchronous iteration would change the ranks by, in L1; 2 where nothing is
  /// known.
  template <class SharedOf>
  [[nodiscard]] WARREN_HD double bound(int ranks, const SharedOf& shared) const {
    std::uint64_t unseen = 0;
    std::uint64_t sum = 0;
    for (int p = 0; p < ranks; ++p) {
      std::uint64_t seen = SharedRanking::kAll;
      for (int q = 0; q < ranks; ++q) {
        const std::uint64_t by = read(shared(q).seen[p]);
        seen = by < seen ? by : seen;
      }
      // What was seen was read first: it is no more than what has been told.
      const std::uint64_t moved = read(shared(p).moved);
      unseen += seen < moved ? moved - seen : 0;
      unseen += read(shared(p).left);
      sum += read(shared(p).sum);
    }
    const double s = amount(sum);
    if (!(s > 0.0)) return 2.0;
    const double most = amount(unseen) / s + rounding;
    return most < 2.0 ? most : 2.0;
  }

 private:
  [[nodiscard]] WARREN_HD static std::uint64_t read(const std::uint64_t& word) {
    return exec::atomic_load<Order::relaxed, Scope::system>(word);
  }
};

}  // namespace warren::traverse
