// SPDX-License-Identifier: Apache-2.0
// Sampled batches in host memory, and the properties that make one a sample of a graph.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "warren/graph/graph.hpp"
#include "warren/sample/sampler.hpp"

namespace warren::sample {

/// A SampledBatch in host memory.
struct HostHop {
  std::vector<EdgeOffset> row_offsets;
  std::vector<Vertex> columns;
  std::vector<EdgeOffset> edge_ids;  ///< Empty where they were not asked for.
  std::vector<std::uint32_t> duplicates;
};
struct HostBatch {
  std::vector<Vertex> vertices;
  std::vector<std::uint32_t> trees;  ///< Empty unless disjoint.
  std::vector<HostHop> hops;
};

/// Batch b of the sampler's last call, with its counts. Synchronises.
[[nodiscard]] HostBatch fetch(const exec::Stream& stream, const NeighbourSampler& sampler,
                              std::uint32_t b, const BatchCounts& counts);

/// Of `temporal`: a time for every edge of the graph, in its order, and for every seed.
struct SampleTimes {
  std::span<const std::int64_t> edges;
  std::span<const std::int64_t> seeds;
};

/// Of `labor`: the batch's number, and the number in the sampler's store of every vertex of the
/// graph; of none: its own.
struct SharedDraws {
  std::uint64_t batch = 0;
  std::span<const Vertex> store_ids;
};

/// What is wrong with a batch, in words; empty where it is a sample of `graph` (in host memory,
/// numbered as the batch's vertices are) by `options` (fanouts, replace, weighted, disjoint, once,
/// temporal by `times`, and labor by `shared`): every row has the number of edges that the options
/// say, to neighbours only and, without replacement, each edge once; vertices are numbered in the
/// order of their first edge, none twice; duplicates are counted right. With `labor` a row's
/// neighbours must be those with the smallest numbers, with `temporal_last` no edge that was left
/// may be later than one that was taken; of other options, which neighbours were drawn is not
/// checked. O(sampled edges x log(largest degree)), and O(edges of the targets) with these two.
[[nodiscard]] std::string verify(const graph::Graph& graph, const HostBatch& batch,
                                 std::uint64_t seeds, const SamplerOptions& options,
                                 const SampleTimes& times = {}, const SharedDraws& shared = {});

/// A number that batches with different contents do not share but by chance.
[[nodiscard]] std::uint64_t digest(const HostBatch& batch);

}  // namespace warren::sample
