// SPDX-License-Identifier: Apache-2.0
// One rank's part of a graph, on its device: the rows of the vertices it owns, with out-edges and,
// where asked for, in-edges.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "warren/core/types.hpp"
#include "warren/graph/compressed.hpp"
#include "warren/graph/graph.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/team/team.hpp"

namespace warren::graph {

/// Rows of CSR as a kernel sees them. Offsets are those of the whole graph: `offsets` is indexed by
/// local row, `targets` (and weights) by the offsets' values, so that a shard on the CPU is a
/// window of the graph without a copy.
///
/// Where the edges lie in host memory, the first rows' edges may lie on the device all the same
/// (the cache): those below `cached_end`, which is a row's end, are read from `cached`.
struct CsrView {
  const EdgeOffset* offsets = nullptr;  ///< count + 1.
  const Vertex* targets = nullptr;
  const std::int32_t* weights_int = nullptr;
  const float* weights_float = nullptr;
  /// Integer weights in a byte each: of a shard whose weights were drawn so (has_byte_weights), or
  /// where an algorithm has made that of weights_int for itself.
  const std::uint8_t* weights_byte = nullptr;
  const Vertex* cached = nullptr;
  EdgeOffset cached_end = 0;
  Vertex first = 0;  ///< Vertex id of local row 0.
  Vertex count = 0;  ///< Rows.

  [[nodiscard]] WARREN_HD EdgeOffset begin(Vertex row) const { return offsets[row]; }
  [[nodiscard]] WARREN_HD EdgeOffset end(Vertex row) const {
    return offsets[std::uint64_t{row} + 1];
  }
  [[nodiscard]] WARREN_HD EdgeOffset degree(Vertex row) const { return end(row) - begin(row); }
  /// Where the neighbours from edge `begin` on stand, up to the end of its row at least.
  [[nodiscard]] WARREN_HD const Vertex* list(EdgeOffset begin) const {
    return (begin < cached_end ? cached : targets) + begin;
  }
};

/// Where neighbour lists (and weights) lie; offsets and whatever algorithms keep for each vertex
/// are always on the device.
enum class EdgesPlacement {
  device,
  host,            ///< In pinned host memory, which kernels read in place (zero-copy).
  compressed_host  ///< The same, compressed (compressed.hpp); the index is on the device.
};

/// How a shard's edges are placed.
struct EdgesOptions {
  EdgesPlacement placement = EdgesPlacement::device;
  /// Of `host`: device memory, in bytes for each of out- and in-edges, that holds the first rows'
  /// lists. kAllThatIsFree: what is free when the shard is made, less a quarter, or 40 bytes an own
  /// vertex if more, for algorithms; none on the CPU, where it would gain nothing.
  std::uint64_t cache_bytes = 0;
  static constexpr std::uint64_t kAllThatIsFree = ~std::uint64_t{0};
};

/// The memory behind a CsrView on a GPU, or the graph that it is a window of.
struct CsrStorage {
  memory::Buffer<EdgeOffset> offsets;
  memory::Buffer<Vertex> targets;
  memory::Buffer<Vertex> cached;
  memory::Buffer<std::int32_t> weights_int;
  memory::Buffer<float> weights_float;
  memory::Buffer<std::uint8_t> weights_byte;
  std::shared_ptr<const Graph> host;
  std::shared_ptr<const CompressedGraph> compressed;
  memory::Buffer<CompressedGroup> groups;
  memory::Buffer<std::uint32_t> fields;
  memory::Buffer<std::uint32_t> stream;
};

/// Compressed rows, and whether they are read over the host's link.
struct PackedRows {
  CompressedView view;
  bool is_far = false;
  std::uint64_t bytes = 0;  ///< Of the rows' lists.
};

struct Shard {
  std::uint64_t vertices = 0;       ///< Of the whole graph.
  std::uint64_t edges = 0;          ///< Of the whole graph.
  std::vector<std::uint64_t> cuts;  ///< Of the team: rank p owns [cuts[p], cuts[p + 1]).
  /// Of the whole graph: a rank without edges has no weights that would say so.
  WeightType weight_type = WeightType::none;
  /// The weights, of type int32, are the views' weights_byte; there is no weights_int. On all
  /// ranks.
  bool has_byte_weights = false;
  bool is_symmetric = false;  ///< Known to be, and in-edges were asked for: `in` is `out`.
  /// The lists of a compressed placement; `out` and `in` then have offsets and weights, no targets.
  PackedRows packed_out;
  PackedRows packed_in;
  EdgesPlacement edges_placement = EdgesPlacement::device;
  CsrView out;
  CsrView in;  ///< offsets is nullptr where in-edges were not asked for.
  std::shared_ptr<CsrStorage> out_storage;
  std::shared_ptr<CsrStorage> in_storage;
  /// Of the whole graph, on this rank's device, where the shard was relabelled as it was made: the
  /// generator's id of vertex v, and the id that the generator's vertex v has here. nullptr: ids
  /// are the generator's, or whoever relabelled knows.
  std::shared_ptr<memory::Buffer<Vertex>> old_id;
  std::shared_ptr<memory::Buffer<Vertex>> new_id;

  [[nodiscard]] bool has_in() const { return in.offsets != nullptr; }
};

/// What enters make_shard(): the graph after relabelling, its reverse where in-edges are wanted,
/// the team's cuts. shard_source() makes one of any graph.
struct ShardSource {
  std::shared_ptr<const Graph> out;
  std::shared_ptr<const Graph> in;  ///< May be nullptr; `out` itself where that is symmetric.
  std::vector<std::uint64_t> cuts;
  /// Of EdgesPlacement::compressed_host: see compress_lists().
  std::shared_ptr<const CompressedGraph> compressed_out = nullptr;
  std::shared_ptr<const CompressedGraph> compressed_in = nullptr;
};

/// A graph with its in-edges, cut for a team: the graph is its own reverse where it is symmetric
/// (found out where graph.symmetry does not say), else its transpose is made.
[[nodiscard]] ShardSource shard_source(Graph graph, std::vector<std::uint64_t> cuts,
                                       exec::ThreadPool& pool);
/// The same with partition_ranges()'s cuts for `ranks` ranks. Throws as that does.
[[nodiscard]] ShardSource shard_source(Graph graph, int ranks, exec::ThreadPool& pool);

/// The lists of the graphs compressed, where a placement asks for that and they are not yet; the
/// graphs' own targets are not read any more by make_shard() then.
void compress_lists(ShardSource& source, exec::ThreadPool& pool);

/// This rank's shard on its device: windows of the graph on the CPU, copies on a GPU, the edges
/// placed as `edges` says (on the CPU all memory is one, and a cache changes nothing). Collective:
/// the ranks agree on what the shard says of the whole graph. Synchronises. Throws MemoryError;
/// UsageError for a cache larger than the device, for ranks that bring different graphs, and for a
/// graph that is given as its own reverse and is not. Whether it is, is looked for by every call
/// where graph.symmetry does not say: shard_source() finds it out once.
[[nodiscard]] Shard make_shard(team::Team& team, const ShardSource& source,
                               const EdgesOptions& edges = {});

/// Bytes of the lists that are read from host memory. Synchronises.
[[nodiscard]] std::uint64_t far_list_bytes(const exec::Stream& stream, const CsrView& view,
                                           const PackedRows& packed, EdgesPlacement placement);

/// Throws UsageError, naming the algorithm, for a shard whose lists are compressed.
void require_plain_lists(const Shard& shard, const std::string& algorithm);

/// The longest list of out-edges over the team. Collective. Copies the offsets to host memory.
[[nodiscard]] EdgeOffset max_out_degree(team::Team& team, const Shard& shard);

/// Moves the edges of a shard that stands on its device as `edges` says. Collective. Synchronises.
/// For a compressed placement the graph passes through host memory. Throws as make_shard().
void place_edges(team::Team& team, Shard& shard, const EdgesOptions& edges);

}  // namespace warren::graph
