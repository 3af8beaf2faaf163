// SPDX-License-Identifier: Apache-2.0
// Orders of the vertices, as permutations: v becomes new_id[v] (see relabel()).
#pragma once

#include <cstdint>
#include <string>

#include "warren/exec/thread_pool.hpp"
#include "warren/graph/graph.hpp"
#include "warren/graph/partition.hpp"

namespace warren::graph {

/// Neighbours near each other: the order in which a walk over a hierarchy of communities meets the
/// vertices (Rabbit order: Arai et al., IPDPS 2016). Vertices join, in ascending order of degree,
/// the neighbouring community that raises modularity most. They are looked at in batches: all of a
/// batch on the state before it, on the pool's threads, then joined one after the other, so that
/// the order is the same for every number of threads. Of a directed graph, with its edges taken
/// both ways. Holds about 8 bytes for each edge and 40 for each vertex.
[[nodiscard]] memory::HostArray<Vertex> rabbit_order(const Graph& graph, exec::ThreadPool& pool);
/// By descending out-degree, ties by id.
[[nodiscard]] memory::HostArray<Vertex> degree_order(const Graph& graph);
/// A random permutation.
[[nodiscard]] memory::HostArray<Vertex> random_order(const Graph& graph, std::uint64_t seed);
/// By name: "none" (empty), "rabbit", "degree", "random". Throws UsageError for another.
[[nodiscard]] memory::HostArray<Vertex> make_order(const Graph& graph, const std::string& name,
                                                   std::uint64_t seed, exec::ThreadPool& pool);

/// The inverse of a permutation.
[[nodiscard]] memory::HostArray<Vertex> inverse(std::span<const Vertex> permutation);
/// Rabbit order, then ranges of about equal edges.
[[nodiscard]] Partition partition_rabbit(const Graph& graph, int parts, exec::ThreadPool& pool);
/// The partition of a graph from that of the graph relabelled by `order` (empty: the same).
[[nodiscard]] Partition after_order(const memory::HostArray<Vertex>& order,
                                    const Partition& partition);

}  // namespace warren::graph
