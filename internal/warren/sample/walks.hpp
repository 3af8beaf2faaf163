// SPDX-License-Identifier: Apache-2.0
// Random walks over a graph that lies over the memories of a team: plain ones, and node2vec's.
#pragma once

#include <cstdint>

#include "warren/sample/graph_store.hpp"

namespace warren::sample {

inline constexpr std::uint32_t kMostWalkSteps = 1u << 18;

/// A walk goes from v to a neighbour x along v's edges with a probability in proportion to
/// a(x) w(v, x), w the edge's weight where `weighted`, else 1; a(x) = 1 in the first step, and
/// then, with t the vertex that it came to v from,
///
///   a(t) = 1 / p,   a(x) = 1 where t has an edge to x,   a(x) = 1 / q of all others
///
/// (Grover and Leskovec, "node2vec", KDD 2016, section 3.2). p = q = 1: a plain walk.
struct WalkOptions {
  std::uint32_t length = 80;  ///< Steps, up to kMostWalkSteps.
  bool weighted = false;      ///< Needs StoreOptions::weights and cumulative.
  double p = 1.0, q = 1.0;    ///< From 1e-100 to 1e100.
  std::uint64_t seed = 1;
  std::uint64_t batch = 0;  ///< Below 2^48: walks of one seed differ by it.
  std::uint64_t first = 0;  ///< The first walk's number, in its batch: below 2^32, all of them.
  /// Of the CPU: once this is not 0 all walks end where they are, and what is written of them means
  /// nothing.
  const std::uint32_t* stop = nullptr;
};

/// Throws UsageError, naming it, for what is out of range.
void check(const WalkOptions& options);

/// walks[i][0] = starts[i], and walks[i][s] for s = 1 ... length where the walk is after s steps;
/// `walks` is count x (length + 1), row-major. A walk at a vertex without edges, or all of whose
/// weights are 0, stays there. Starts are vertices of the store; both arrays are on the stream's
/// device. A function of the graph, the seed, the batch and the walk's number alone, with the same
/// bits on every device and number of ranks. Asynchronous. Throws UsageError.
void random_walks(const exec::Stream& stream, const GraphStore& store, const Vertex* starts,
                  std::uint64_t count, const WalkOptions& options, Vertex* walks);

}  // namespace warren::sample
