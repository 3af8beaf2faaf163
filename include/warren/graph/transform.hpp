// SPDX-License-Identifier: Apache-2.0
// Graphs made from graphs in host memory: reversed, symmetrised, relabelled, weighted; and what can
// be counted of one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "warren/exec/thread_pool.hpp"
#include "warren/graph/graph.hpp"

namespace warren::graph {

/// The reverse graph: in-edges of v as its neighbours, weights along. Returns `graph` itself
/// (shared arrays) where it is known symmetric.
[[nodiscard]] Graph transpose(const Graph& graph, exec::ThreadPool& pool);

/// The undirected graph: (v, u) added for every (u, v) unless the graph is known symmetric, merged
/// (weights by minimum) unless `keep_duplicates`. A self-loop is its own reverse.
[[nodiscard]] Graph symmetrize(const Graph& graph, bool keep_duplicates, exec::ThreadPool& pool);

/// Vertex v becomes new_id[v]; neighbour lists sorted again. `new_id` is a permutation of n
/// (checked: UsageError). The result has no original ids: whoever relabelled maps results back to
/// `graph`'s vertices first.
[[nodiscard]] Graph relabel(const Graph& graph, std::span<const Vertex> new_id,
                            exec::ThreadPool& pool);

/// Integer weights low + (a hash of the unordered pair and the seed) mod (high - low + 1): equal in
/// both directions. With seed 1 and low 1 the hash is the one that the benchmark inputs were made
/// with. 0 <= low <= high <= 2^31 - 1, else UsageError.
void set_uniform_weights(Graph& graph, std::int64_t low, std::int64_t high, std::uint64_t seed,
                         exec::ThreadPool& pool);

/// Removes weights.
void drop_weights(Graph& graph);

/// True if every edge (u, v) has its (v, u), of equal weight. Answers from graph.symmetry where
/// known, else looks (and remembers). Looks by comparing 128-bit hashes of the edges and of the
/// reversed edges, which takes no memory; only a graph made to deceive the hash does.
[[nodiscard]] bool is_symmetric(Graph& graph, exec::ThreadPool& pool);

struct Statistics {
  std::uint64_t max_degree = 0;  ///< Out-degree.
  Vertex max_degree_vertex = 0;  ///< The smallest id that has it (0 for a graph without vertices).
  double mean_degree = 0.0;
  std::uint64_t isolated = 0;  ///< Vertices with neither out- nor in-edges, self-loops aside.
  std::uint64_t self_loops = 0;
  /// Vertices by out-degree, in buckets of powers of two: [0] of degree 0, [b] of 2^(b - 1) or more
  /// and less than 2^b. As long as the largest degree takes.
  std::vector<std::uint64_t> degree_counts;
};
[[nodiscard]] Statistics statistics(const Graph& graph, exec::ThreadPool& pool);

/// Throws InputError, naming the first entry that is wrong, unless the arrays are a graph: offsets
/// ascending from 0 to m, targets below n, as many weights as edges.
void validate(const Graph& graph, const std::string& name, exec::ThreadPool& pool);

}  // namespace warren::graph
