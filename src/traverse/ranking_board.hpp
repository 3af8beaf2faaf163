// SPDX-License-Identifier: Apache-2.0
// What ranks tell each other about an asynchronous ranking: how much they have changed, and which
// of all those changes every one of their chunks has seen. From this the end is decided.
//
// The bound. Let x be the values as they stand, r = b + d P' x - x. Take a chunk's last run: it
// made r of its rows 0 for the contributions that it read. Its r is now d times what changed in
// them since, times the edges' shares; over all chunks that is at most d times the L1 sum U of all
// changes that some chunk has not seen. Before a run a worker reads how much each rank has told so
// far, with acquire; a rank tells a run's changes after it made them, with release: what a rank
// told before the least of these readings has been seen by all, so that U is at most the rest, rank
// by rank. (Sums of the pieces of a long row are such values, too: their changes count.)
//
// The ranks are x / s, s being the sum of x. One more synchronous iteration changes them by (r -
// |sum of r| / n) / s, which is at most (d U + |sum of r|) / s in L1; and the sum of r is 1 - d + d
// w - s, w being the sum of x over the vertices with out-edges. All four numbers are kept as
// integers.
#pragma once

#include "warren/core/types.hpp"
#include "warren/exec/atomic.hpp"

namespace warren::traverse {

using exec::Order;
using exec::Scope;

/// Of one rank, on its device; written by that rank alone, but for `stop`.
struct RankingBoard {
  /// Runs of a chunk that may be ahead of what all chunks have had, over the team.
  static constexpr std::uint32_t kLead = 2;
  static constexpr std::uint32_t kSweeps = 4;  ///< Under way at once: at most kLead + 1.
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};

  /// Of changes made, in units; of values; of values of vertices with out-edges.
  alignas(128) std::uint64_t moved;
  std::uint64_t sum;
  std::uint64_t with_out;
  /// Sweeps that all chunks have had; kAll where there are none.
  alignas(128) std::uint64_t completed;
  std::uint64_t seen[kMaxRanks];  ///< Of each rank's `moved`, by all chunks in the last of them.
  alignas(128) std::uint32_t stop;
  struct alignas(128) Sweep {
    std::uint64_t seen[kMaxRanks];
    std::uint32_t finished;  ///< Chunks.
  } sweep[kSweeps];

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
    sweep.finished = 0;
  }
};

/// Integers in place of numbers, and the bound from them.
struct RankingUnits {
  double scale = 1.0;  ///< Units of 1.
  double damping = 0.0;
  double rounding = 0.0;  ///< Of contributions, over the values' sum.

  /// So that 2^62 units are more than all changes of a run. Each moves a residual at least as large
  /// to where it is damped; they begin at no more than 2. Sixteen times as much for readings of
  /// different age.
  WARREN_HD static RankingUnits of(double damping, double rounding) {
    RankingUnits units{4611686018427387904.0, damping, rounding};
    for (double most = 1.0; most < 32.0 / (1.0 - damping); most *= 2.0) units.scale /= 2.0;
    return units;
  }
  /// Of a change's size, never less.
  [[nodiscard]] WARREN_HD std::uint64_t size(double amount) const {
    return amount > 0.0 ? static_cast<std::uint64_t>(amount * scale) + 1 : 0;
  }
  /// Of what may be below 0: two's complement.
  [[nodiscard]] WARREN_HD std::uint64_t change(double amount) const {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(amount * scale));
  }
  [[nodiscard]] WARREN_HD double amount(std::uint64_t units) const {
    return static_cast<double>(static_cast<std::int64_t>(units)) / scale;
  }

  /// See above; 2 where nothing is known.
  template <class BoardOf>
  [[nodiscard]] WARREN_HD double bound(int ranks, const BoardOf& board) const {
    std::uint64_t unseen = 0;
    std::uint64_t sum = 0;
    std::uint64_t with_out = 0;
    for (int p = 0; p < ranks; ++p) {
      std::uint64_t seen = RankingBoard::kAll;
      for (int q = 0; q < ranks; ++q) {
        const std::uint64_t by = read(board(q).seen[p]);
        seen = by < seen ? by : seen;
      }
      // What was seen was read first: it is no more than what has been told.
      const std::uint64_t moved = read(board(p).moved);
      unseen += seen < moved ? moved - seen : 0;
      sum += read(board(p).sum);
      with_out += read(board(p).with_out);
    }
    const double s = amount(sum);
    if (!(s > 0.0)) return 2.0;
    const double residuals = 1.0 - damping + damping * amount(with_out) - s;
    const double most =
        (damping * amount(unseen) + (residuals < 0.0 ? -residuals : residuals)) / s + rounding;
    return most < 2.0 ? most : 2.0;
  }

 private:
  [[nodiscard]] WARREN_HD static std::uint64_t read(const std::uint64_t& word) {
    return exec::atomic_load<Order::relaxed, Scope::system>(word);
  }
};

}  // namespace warren::traverse
