// SPDX-License-Identifier: Apache-2.0
// Checks of results against the properties that define them. They run on the host, over the whole
// graph, and share no code with what they check.
#pragma once

#include <span>
#include <string>

#include "warren/exec/thread_pool.hpp"
#include "warren/graph/generate.hpp"
#include "warren/graph/graph.hpp"
#include "warren/traverse/bfs.hpp"
#include "warren/traverse/pagerank.hpp"
#include "warren/traverse/sssp.hpp"

namespace warren::traverse {

/// What a check found. `message` names the first vertex or edge that is wrong, in the graph's ids.
struct Verdict {
  bool correct = true;
  std::string message;
};

/// The Graph500 rules for a BFS: a source has depth 0 and is its own parent; every other reached
/// vertex has a reached parent one level above it and the edge (parent, v) exists; no edge leaves a
/// reached vertex for an unreached one or spans more than one level downwards; unreached vertices
/// have neither depth nor parent. Of a search that ended early: those hold up to `limits`, and
/// beyond, nothing is reached.
[[nodiscard]] Verdict verify_bfs(const graph::Graph& graph, std::span<const Vertex> sources,
                                 std::span<const Vertex> depth, std::span<const Vertex> parent,
                                 exec::ThreadPool& pool, const BfsLimits& limits = {});
[[nodiscard]] inline Verdict verify_bfs(const graph::Graph& graph, Vertex source,
                                        std::span<const Vertex> depth,
                                        std::span<const Vertex> parent, exec::ThreadPool& pool,
                                        const BfsLimits& limits = {}) {
  return verify_bfs(graph, std::span<const Vertex>(&source, 1), depth, parent, pool, limits);
}

/// The edge conditions of shortest paths: a source has distance 0; no edge (u, v) of weight w has
/// distance(v) > distance(u) + w; every other reached vertex has an edge into it along which its
/// distance is attained, and, following such edges, a source; unreached vertices are those that
/// no edge from a reached one enters. Of integer weights, kUnreachedDistance marking unreached
/// vertices; of float32 weights, exactly as the sums come out in double precision, with infinity.
/// Limits as of verify_bfs().
[[nodiscard]] Verdict verify_sssp(const graph::Graph& graph, std::span<const Vertex> sources,
                                  std::span<const std::uint64_t> distance, exec::ThreadPool& pool,
                                  const SsspLimits& limits = {});
[[nodiscard]] Verdict verify_sssp(const graph::Graph& graph, std::span<const Vertex> sources,
                                  std::span<const double> distance, exec::ThreadPool& pool,
                                  const SsspLimits& limits = {});
/// The same of drawn weights, which are computed where they are needed: the graph needs none, but
/// the generator's ids.
[[nodiscard]] Verdict verify_sssp(const graph::Graph& graph, const graph::UniformWeights& weights,
                                  std::span<const Vertex> sources,
                                  std::span<const std::uint64_t> distance, exec::ThreadPool& pool,
                                  const SsspLimits& limits = {});
[[nodiscard]] inline Verdict verify_sssp(const graph::Graph& graph, Vertex source,
                                         std::span<const std::uint64_t> distance,
                                         exec::ThreadPool& pool, const SsspLimits& limits = {}) {
  return verify_sssp(graph, std::span<const Vertex>(&source, 1), distance, pool, limits);
}
[[nodiscard]] inline Verdict verify_sssp(const graph::Graph& graph, Vertex source,
                                         std::span<const double> distance, exec::ThreadPool& pool,
                                         const SsspLimits& limits = {}) {
  return verify_sssp(graph, std::span<const Vertex>(&source, 1), distance, pool, limits);
}

/// Weakly connected components: every edge joins vertices of one label; a label is a vertex that
/// has itself as its label, and no vertex' label is larger than the vertex; and there are as many
/// labels as a sequential union-find finds components. Together: the label is the smallest vertex
/// of the component, and no other labelling passes.
[[nodiscard]] Verdict verify_components(const graph::Graph& graph, std::span<const Vertex> label,
                                        exec::ThreadPool& pool);

/// Core numbers are those of the sequential algorithm. Takes about the time to sort the edges.
[[nodiscard]] Verdict verify_cores(const graph::Graph& graph, std::span<const std::uint32_t> cores);

/// Every vertex of an undirected graph has as many triangles as there are edges between its
/// neighbours. Takes the sum over the edges of the degrees of their ends.
[[nodiscard]] Verdict verify_triangles(const graph::Graph& graph,
                                       std::span<const std::uint64_t> counts,
                                       exec::ThreadPool& pool);

/// Scores are `scale` times those of the sequential algorithm over `sources`, within rounding.
/// Takes the time of a search, and about three times that, for each source.
[[nodiscard]] Verdict verify_betweenness(const graph::Graph& graph, std::span<const Vertex> sources,
                                         std::span<const double> scores, double scale,
                                         exec::ThreadPool& pool);

/// The first edge whose weight is negative or not finite, as a message that names it; correct where
/// there is none.
[[nodiscard]] Verdict check_weights(const graph::Graph& graph, exec::ThreadPool& pool);

/// How much one more iteration in double precision may change the ranks. The iteration is a
/// contraction, so that in exact arithmetic the change is below that of the last one: the tolerance
/// where it converged. Rounding adds three units of 2^-24 (ranks in single precision) or 2^-53 of
/// each rank, which sum to 1; the bound leaves a few times that.
[[nodiscard]] double pagerank_bound(const PageRankOptions& options, const PageRankResult& result);
/// Ranks sum to 1 within 1e-4, none is negative, and one more iteration in double precision, along
/// edges by their weights where `weighted`, starting anew by `personalization` and with `dangling`
/// as PageRankOptions has them, changes them by at most `bound` in L1.
[[nodiscard]] Verdict verify_pagerank(const graph::Graph& graph, double damping,
                                      std::span<const double> ranks, double bound,
                                      exec::ThreadPool& pool, bool weighted = false,
                                      std::span<const double> personalization = {},
                                      std::span<const double> dangling = {});

}  // namespace warren::traverse
