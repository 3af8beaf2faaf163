// SPDX-License-Identifier: Apache-2.0
// The bytes of a .wgr file, as docs/wgr.md describes them: a header, a table of sections, checksums
// of all blocks of all sections, and the sections, each on a page of its own so that the file is
// used as it is mapped.
#pragma once

#include <array>
#include <cstdint>

namespace warren::graph::io::wgr {

// The first byte is no text, and the line ends show a transfer that took the file for text.
inline constexpr std::array<unsigned char, 8> kMagic{0x89, 'W', 'G', 'R', '\r', '\n', 0x1a, '\n'};
inline constexpr std::uint32_t kByteOrder = 0x01020304;
inline constexpr std::uint32_t kVersion = 1;            ///< Plain neighbour lists.
inline constexpr std::uint32_t kCompressedVersion = 2;  ///< Compressed ones.
inline constexpr std::uint64_t kAlignment = 4096;
inline constexpr std::uint32_t kBlockBytes = 1u << 20;
inline constexpr std::uint32_t kMostSections = 64;

enum Flags : std::uint32_t {
  rows_sorted = 1,        ///< Neighbours of a vertex ascend.
  no_parallel_edges = 2,  ///< And no two are equal.
  no_self_loops = 4       ///< No vertex is a neighbour of its own.
};

struct Header {
  std::array<unsigned char, 8> magic;
  std::uint32_t byte_order;
  std::uint32_t version;
  std::uint64_t file_bytes;
  std::uint64_t vertices;
  std::uint64_t edges;
  std::uint32_t weight_type;  ///< As WeightType.
  std::uint32_t symmetry;     ///< As Symmetry.
  std::uint32_t flags;
  std::uint32_t sections;
  std::uint32_t block_bytes;
  std::uint32_t checksums_crc;  ///< Of the array of checksums.
  std::uint64_t checksums_offset;
  std::uint64_t checksums_bytes;
  std::array<std::uint32_t, 11> reserved;
  std::uint32_t header_crc;  ///< Of what stands before, then the section table.
};
static_assert(sizeof(Header) == 128);

enum class SectionKind : std::uint32_t {
  offsets = 1,        ///< uint64, vertices + 1.
  targets = 2,        ///< uint32, edges.
  weights_int = 3,    ///< int32, edges.
  weights_float = 4,  ///< float32, edges.
  original_ids = 5,   ///< uint64, vertices, ascending.
  // Instead of offsets and targets, in files of version 2.
  compressed_parameters = 6,  ///< One CompressedParameters.
  compressed_groups = 7,      ///< CompressedGroup, vertices / 32 rounded up.
  compressed_fields = 8,      ///< uint32.
  compressed_lists = 9        ///< uint32.
};
inline constexpr SectionKind kLastKind = SectionKind::compressed_lists;

struct CompressedParameters {
  std::uint32_t block;  ///< Neighbours of a block: kCompressedBlock.
  std::uint32_t group;  ///< Vertices of a record of the index: kCompressedGroup.
  std::uint32_t smallest_gap;
  std::array<std::uint32_t, 33> widths;
  std::array<std::uint32_t, 4> reserved;
};
static_assert(sizeof(CompressedParameters) == 160);

struct Section {
  std::array<char, 24> name;  ///< ASCII, filled up with zeros.
  std::uint32_t kind;
  std::uint32_t required;  ///< 1: a reader that does not know the kind must refuse the file.
  std::uint64_t offset;    ///< A multiple of kAlignment.
  std::uint64_t bytes;
  std::uint64_t first_checksum;  ///< Index of its first block's CRC-32 in the array of checksums.
  std::uint64_t reserved;
};
static_assert(sizeof(Section) == 64);

[[nodiscard]] constexpr std::uint64_t aligned(std::uint64_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}
[[nodiscard]] constexpr std::uint64_t blocks(std::uint64_t bytes) {
  return bytes / kBlockBytes + (bytes % kBlockBytes != 0 ? 1 : 0);
}

}  // namespace warren::graph::io::wgr
