// SPDX-License-Identifier: Apache-2.0
// Generated graphs built where they are used, of which no rank holds more than its own rows: drawn
// on its device, or exchanged by the ranks.
#pragma once

#include <optional>

#include "warren/graph/generate.hpp"
#include "warren/graph/shard.hpp"

namespace warren::graph {

/// How a generated graph's vertices are numbered in its shards.
enum class VertexOrder {
  natural,  ///< As the generator numbers them; ranges of about equal drawn edges.
  degree    ///< By descending degree, dealt out to the ranks in turn (as partition_degree, by drawn
            ///< degree): what is read most lies together.
};

/// The same graph that build(*make_source(spec), options) gives, sharded by edge-balanced ranges of
/// drawn edges, with `weights` as set_uniform_weights() draws them: a weight belongs to the
/// generator's vertices, whatever `order` calls them. In-edges come along where the graph is
/// symmetric (options.symmetrize, or an undirected kind); a directed generator gives out-edges
/// only, and with `with_in_edges` the reverse rows too. Collective; the same on every call.
///
/// The edges are placed as `edges` says. On the device it holds at most 1.5 times the final shard
/// at its peak. Lists in host memory are drawn there, as many rows at a time as the device has room
/// for: of the device it takes 40 bytes for each vertex of the whole graph at most (12 in natural
/// order), and a window; of the host the lists as they are drawn, with duplicates. A graph may so
/// be larger than any GPU. Compressed lists pass through host memory uncompressed.
///
/// Weights lie where the lists do. EdgesPlacement::host holds those of at most 255 in a byte each
/// (Shard::has_byte_weights); all others are int32.
///
/// Throws MemoryError, which tells what lists and weights take; UsageError for a cache larger than
/// the device and for weights that check_uniform_weights() refuses. (On the CPU build() is faster:
/// this draws every edge once for each chunk of rows.)
[[nodiscard]] Shard generate_shard(team::Team& team, const GeneratorSpec& spec,
                                   const BuildOptions& options, bool with_in_edges,
                                   VertexOrder order = VertexOrder::natural,
                                   const EdgesOptions& edges = {},
                                   const std::optional<UniformWeights>& weights = {});

/// This rank's shard, as make_shard() makes it of shard_source(build(*make_source(spec), options)),
/// with `weights` as set_uniform_weights() draws them, bit for bit: for ranks in processes, none of
/// which is to hold the whole graph. Each draws an equal part of the edges twice and sends each
/// one to the rank that owns its row, some at a time. A rank holds its own rows in host memory
/// (with duplicates, before they are merged), and the reverse rows of a directed graph; a GPU gets
/// copies. Without in-edges where they are not wanted. Collective.
/// Synchronises. Throws UsageError for ranks that name different graphs, for weights that
/// check_uniform_weights() refuses, and for compressed placements; MemoryError.
[[nodiscard]] Shard draw_shard(team::Team& team, const GeneratorSpec& spec,
                               const BuildOptions& options,
                               const std::optional<UniformWeights>& weights = {},
                               const EdgesOptions& edges = {}, bool with_in_edges = true);

/// The whole graph in host memory, from the ranks' shards, numbered as they are, with its weights:
/// those of a byte become int32. Collective; the result is on rank 0, others get an empty graph.
/// Lists and int32 or float32 weights of one rank that lie in host memory are not copied: the graph
/// is a window of them, and keeps them.
[[nodiscard]] Graph download(team::Team& team, const Shard& shard);

/// The same without weights, whatever the shard has.
[[nodiscard]] Graph download_lists(team::Team& team, const Shard& shard);

}  // namespace warren::graph
