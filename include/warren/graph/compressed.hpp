// SPDX-License-Identifier: Apache-2.0
// A graph whose neighbour lists are compressed: the gaps between sorted neighbours in as many bits
// as they need, each list readable on its own by a thread or by the lanes of a warp together
// (compressed_decode.hpp).
//
// A list is cut into blocks of 256 neighbours, each of which decodes without the others. A block of
// c neighbours is c selectors of 2 bits, then c numbers; the selector says which of four widths its
// number has. The first number is the neighbour less the vertex, modulo 2^32 and zigzagged; the
// others are the gaps to the neighbour before, less the smallest gap of the graph if that is 1. The
// four widths are chosen for the graph, one set for each power of two of the degree, so that the
// lists of the graph become as short as four widths can make them. (Selectors apart from numbers
// are Stream VByte's, Lemire et al., 2018, with widths in bits that the graph chooses.) A list of
// more than one block begins with the places of its blocks.
//
// The index has a record for every 32 vertices and two packed numbers for each vertex: where its
// edges end and where its list ends, so that place and degree of a list are found in a few reads.
#pragma once

#include <array>
#include <cstdint>

#include "warren/core/types.hpp"
#include "warren/exec/thread_pool.hpp"
#include "warren/graph/graph.hpp"
#include "warren/memory/host_array.hpp"

namespace warren::graph {

/// Neighbours of a block: where reading a long list can begin.
inline constexpr std::uint32_t kCompressedBlock = 256;
/// Vertices of a record of the index.
inline constexpr std::uint32_t kCompressedGroup = 32;
/// Sets of widths: one for each bit length of a degree, the last for all from 2^31 on.
inline constexpr std::uint32_t kDegreeClasses = 33;
/// Bits of the place of a block at the front of a list.
inline constexpr std::uint32_t kBlockPlaceBits = 40;

/// Four widths of 0 to 32 bits, that of selector s in bits 8 s .. 8 s + 7.
using SelectorWidths = std::uint32_t;

/// Where the rows of 32 vertices begin: edges and bytes of the stream before them, and the word of
/// `fields` at which their packed ends begin. 128 bits, read at once.
struct alignas(16) CompressedGroup {
  std::uint64_t low = 0;   ///< Edges (40 bits), low 24 bits of the word.
  std::uint64_t high = 0;  ///< Bytes (40 bits), high 12 bits of the word, two widths of 6 bits.

  static constexpr std::uint64_t kMostEdges = (std::uint64_t{1} << 40) - 1;
  static constexpr std::uint64_t kMostBytes = (std::uint64_t{1} << 40) - 1;
  static constexpr std::uint64_t kMostWords = (std::uint64_t{1} << 36) - 1;

  [[nodiscard]] static CompressedGroup make(std::uint64_t edges, std::uint64_t bytes,
                                            std::uint64_t word, std::uint32_t edge_width,
                                            std::uint32_t bit_width) {
    return {edges | word << 40, bytes | word >> 24 << 40 | std::uint64_t{edge_width} << 52 |
                                    std::uint64_t{bit_width} << 58};
  }
  [[nodiscard]] WARREN_HD std::uint64_t edges() const { return low & kMostEdges; }
  [[nodiscard]] WARREN_HD std::uint64_t bytes() const { return high & kMostBytes; }
  [[nodiscard]] WARREN_HD std::uint64_t word() const {
    return low >> 40 | (high >> 40 & 0xfffu) << 24;
  }
  /// Bits of the end of a vertex's edges, counted from edges().
  [[nodiscard]] WARREN_HD std::uint32_t edge_width() const {
    return static_cast<std::uint32_t>(high >> 52 & 63u);
  }
  /// Bits of the end of a vertex's list, counted in bits from bytes().
  [[nodiscard]] WARREN_HD std::uint32_t bit_width() const {
    return static_cast<std::uint32_t>(high >> 58);
  }
};
static_assert(sizeof(CompressedGroup) == 16);

/// A vertex's list in the stream.
struct CompressedRow {
  std::uint64_t bits = 0;  ///< Where it begins.
  std::uint64_t end = 0;   ///< And ends.
  EdgeOffset edge = 0;     ///< Index of its first edge in the whole graph: of its weights.
  EdgeOffset degree = 0;
  Vertex vertex = 0;
  SelectorWidths widths = 0;
};

/// Up to kCompressedBlock neighbours in the stream. A default-made one has none.
struct CompressedBlock {
  std::uint64_t bits = 0;  ///< Where its selectors begin; its numbers follow.
  std::uint64_t end = 0;   ///< Where its numbers end.
  std::uint32_t count = 0;
  Vertex vertex = 0;
  SelectorWidths widths = 0;
};

/// Compressed rows as a kernel sees them. Places in the index are those of the whole graph, so that
/// a window of rows needs no copy: `groups` is indexed by the vertex's group, `fields` and `stream`
/// by what the group says. Behind `fields` and `stream` 8 more bytes can be read.
struct CompressedView {
  const CompressedGroup* groups = nullptr;
  const std::uint32_t* fields = nullptr;
  const std::uint32_t* stream = nullptr;
  const std::int32_t* weights_int =
      nullptr;  ///< By the edge's index; nullptr where there are none.
  const float* weights_float = nullptr;
  Vertex first = 0;  ///< Vertex id of local row 0.
  Vertex count = 0;  ///< Rows.
  std::uint32_t smallest_gap = 0;
  SelectorWidths widths[kDegreeClasses] = {};

  // Of local rows, in compressed_decode.hpp.
  [[nodiscard]] WARREN_HD CompressedRow row(Vertex row) const;
  [[nodiscard]] WARREN_HD EdgeOffset degree(Vertex row) const;
  /// Block `index` of a row: neighbours 256 index .. 256 index + 255. None past the row's end.
  [[nodiscard]] WARREN_HD CompressedBlock block(const CompressedRow& row,
                                                std::uint64_t index) const;
  /// Where block `index` of a row begins; the row has it.
  [[nodiscard]] WARREN_HD std::uint64_t block_bits(const CompressedRow& row,
                                                   std::uint64_t index) const;
};

/// A Graph with compressed neighbour lists, in host memory, possibly a mapped file. Weights are as
/// in Graph. Copies share the arrays.
struct CompressedGraph {
  Vertex vertices = 0;
  EdgeOffset edge_count = 0;
  std::uint32_t smallest_gap = 0;  ///< 1 if no list has two equal neighbours, else 0.
  std::array<SelectorWidths, kDegreeClasses> widths{};
  memory::HostArray<CompressedGroup> groups;  ///< ceil(n / 32).
  memory::HostArray<std::uint32_t> fields;    ///< With two words of padding.
  memory::HostArray<std::uint32_t> stream;    ///< With two words of padding.
  WeightType weight_type = WeightType::none;
  memory::HostArray<std::int32_t> weights_int;
  memory::HostArray<float> weights_float;
  Symmetry symmetry = Symmetry::unknown;
  memory::HostArray<std::uint64_t> original_ids;

  [[nodiscard]] EdgeOffset edges() const { return edge_count; }
  /// Bytes of the neighbour lists and of what finds them.
  [[nodiscard]] std::uint64_t stream_bytes() const { return stream.size() * 4; }
  [[nodiscard]] std::uint64_t index_bytes() const {
    return groups.size() * sizeof(CompressedGroup) + fields.size() * 4;
  }
  [[nodiscard]] double bits_per_edge() const {
    return edge_count == 0 ? 0.0
                           : static_cast<double>(stream_bytes() + index_bytes()) * 8.0 /
                                 static_cast<double>(edge_count);
  }
  /// All rows.
  [[nodiscard]] CompressedView view() const;
};

/// The graph with compressed lists. Weights and original ids are shared with `graph`. Reads the
/// neighbours three times and holds nothing besides the two graphs; the result does not depend on
/// the number of threads. Throws UsageError, naming the vertex, for a list that does not ascend,
/// and for more than 2^40 - 1 edges or bytes; MemoryError.
[[nodiscard]] CompressedGraph compress(const Graph& graph, exec::ThreadPool& pool);

/// The graph that was compressed, equal in every element.
[[nodiscard]] Graph decompress(const CompressedGraph& graph, exec::ThreadPool& pool);

/// Throws InputError, naming the vertex, unless all lists can be read without leaving the arrays
/// and are those of a graph: m edges in all, every neighbour below n, lists one behind the other.
void validate(const CompressedGraph& graph, const std::string& name, exec::ThreadPool& pool);

}  // namespace warren::graph
