// SPDX-License-Identifier: Apache-2.0
// From a stream of edges to CSR in two passes or more, count then fill, so that the most memory
// held is close to the graph itself: the edges are never stored as a list.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "warren/exec/thread_pool.hpp"
#include "warren/graph/graph.hpp"

namespace warren::graph {

struct Edge {
  Vertex source;
  Vertex target;
};

/// Takes edges in batches. Weights are empty, or as many as the edges, in the element type that the
/// source announced.
class EdgeSink {
 public:
  virtual ~EdgeSink() = default;
  virtual void take(std::span<const Edge> edges, std::span<const std::int32_t> weights_int,
                    std::span<const float> weights_float) = 0;
};

/// A stream of edges that can be read more than once, in pieces that different threads read at the
/// same time. Every reading of a piece gives the same edges in the same order.
class EdgeSource {
 public:
  virtual ~EdgeSource() = default;
  /// Number of vertices; every id that is emitted is smaller. At most kMaxVertices. A source that
  /// cannot know before it was read returns kUnknownVertices: the largest id plus one is then used,
  /// and vertices_after_first_pass() may raise it.
  [[nodiscard]] virtual std::uint64_t vertices() const = 0;
  [[nodiscard]] virtual std::uint64_t vertices_after_first_pass() const { return 0; }
  /// Of a source of unknown vertices: ids are seldom this large. Memory for as many counters is
  /// reserved, and a larger id costs another reading.
  [[nodiscard]] virtual std::uint64_t likely_vertices() const { return kMaxVertices; }
  [[nodiscard]] virtual WeightType weight_type() const = 0;
  [[nodiscard]] virtual std::uint64_t pieces() const = 0;
  /// Emits the edges of one piece. Called concurrently for different pieces, each with a sink of
  /// its own.
  virtual void read(std::uint64_t piece, EdgeSink& sink) = 0;

  static constexpr std::uint64_t kUnknownVertices = ~std::uint64_t{0};
};

struct BuildOptions {
  bool symmetrize = false;  ///< Adds (v, u) for every (u, v), of equal weight. A self-loop is its
                            ///< own reverse: added once.
  bool drop_self_loops = false;
  bool keep_duplicates = false;  ///< Default: parallel edges are merged, weights by minimum.
  bool sum_duplicates = false;   ///< Parallel edges are merged, weights by sum.
};

/// Builds the graph of `source` on `pool`'s threads. Neighbour lists come out sorted by id (then by
/// weight, where duplicates are kept; floats by value, negative zero first). The result does not
/// depend on the number of threads. Besides the graph it holds duplicates until they are merged,
/// and 64 KiB a thread: less than 1.5 times the final graph. Where duplicates are more than that
/// (of some 65,000 edges or more, estimated from a sample), rows are filled a band at a time, and
/// the source is read once for each. Sets symmetry to symmetric where `options.symmetrize`, else
/// unknown. Throws InputError for more than kMaxVertices, for an id that the source said could not
/// be, and where the two readings of the source differ; MemoryError; and whatever the source
/// throws.
[[nodiscard]] Graph build(EdgeSource& source, const BuildOptions& options, exec::ThreadPool& pool);

}  // namespace warren::graph
