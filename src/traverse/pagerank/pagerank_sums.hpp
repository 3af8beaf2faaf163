// SPDX-License-Identifier: Apache-2.0
// What the forms of PageRank share: sums over the graph as integers of 2^-60, so that no order of
// addition shows in the result, and the CPU's sum over a row.
#pragma once

#include <cstdint>

#include "warren/graph/compressed_decode.hpp"

namespace warren::traverse {

/// What all forms are told.
struct PageRankTask {
  std::uint32_t max_iterations = 0;
  double damping = 0.0;
  double tolerance = 0.0;
  double vertices = 0.0;
};

inline constexpr double kRankUnits = 1152921504606846976.0;  ///< 2^60.

/// Amounts lie between -7 and 7; those below 0 wrap around, and so do their sums. Through the
/// signed conversion: CPUs have no unsigned one.
template <class Real>
WARREN_HD std::uint64_t fixed(Real amount) {
  return static_cast<std::uint64_t>(
      static_cast<std::int64_t>(static_cast<double>(amount) * kRankUnits));
}

WARREN_HD inline double from_fixed(std::uint64_t sum) {
  return static_cast<double>(static_cast<std::int64_t>(sum)) / kRankUnits;
}

/// Fours are added up as they are and their sums in double, as on GPUs: a sixth faster than one by
/// one, eights and gathers of 8 or 16 lanes not. A function of its own, so that what it needs stays
/// in registers.
template <class Real>
[[gnu::noinline]] double pulled_serially(const Vertex* list, const Vertex* end,
                                         const Real* source) {
  double sum = 0.0;
  for (; end - list >= 4; list += 4)
    sum += static_cast<double>((source[list[0]] + source[list[1]]) +
                               (source[list[2]] + source[list[3]]));
  for (; list != end; ++list) sum += static_cast<double>(source[*list]);
  return sum;
}

/// A worker's part of the sum over a compressed row.
template <class W, class Real>
WARREN_HD double pulled_packed(const W& worker, const graph::CompressedView& view,
                               const graph::CompressedRow& list, const Real* source) {
  double sum = 0.0;
  graph::for_each_neighbour(worker, view, list, 0, list.degree,
                            [&](bool active, EdgeOffset, Vertex from) {
                              if (active) sum += static_cast<double>(source[from]);
                            });
  return sum;
}

}  // namespace warren::traverse
