// SPDX-License-Identifier: Apache-2.0
// What stands in front of the data of a .wgr file, checked against the file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "warren/files/checksum.hpp"
#include "warren/files/mapped_file.hpp"

#include "graph/io/wgr_layout.hpp"

namespace warren::graph::io::wgr {

/// The section's name, as messages have it.
[[nodiscard]] std::string name_of(const Section& section);
/// Throws InputError for a file that is no .wgr file, is damaged, or has not the size it announces.
[[nodiscard]] Header read_header(const files::MappedFile& file, std::uint64_t max_vertices);
/// Sections and checksums lie in the file. Throws InputError.
[[nodiscard]] std::vector<Section> read_sections(const files::MappedFile& file,
                                                 const Header& header);
/// Throws InputError for a section that is needed and of a kind that this program does not know.
void refuse_unknown(const std::string& path, std::span<const Section> sections);
/// The section of a kind; nullptr where there is none.
[[nodiscard]] const Section* find_section(std::span<const Section> sections, SectionKind kind);
/// The same, of `count` elements of `width` bytes each. Throws InputError for another size and, for
/// one that is not there, by its `name`, where that is given.
[[nodiscard]] const Section* section_of(const files::MappedFile& file,
                                        std::span<const Section> sections, SectionKind kind,
                                        std::uint64_t count, std::uint64_t width, const char* name);
/// Throws InputError for a section of another size.
void check_size(const files::MappedFile& file, const Section& section, std::uint64_t count,
                std::uint64_t width);
/// Throws InputError for more edges than offsets of bytes can count.
void check_edges(const files::MappedFile& file, const Header& header);
/// Of a section's blocks, in order.
[[nodiscard]] std::vector<std::uint32_t> checksums_of(const files::MappedFile& file,
                                                      const Header& header, const Section& section);

/// Block `block` of the data at `offset` of the file, `bytes` bytes in all, which stands at `data`.
/// Throws what file.fail() does, naming the byte, where its checksum does not match.
template <class File>
void check_block(const File& file, std::uint64_t offset, std::uint64_t bytes,
                 std::span<const std::uint32_t> checksums, std::uint64_t block, const char* data) {
  const std::uint64_t from = block * kBlockBytes;
  const std::uint64_t length = std::min<std::uint64_t>(kBlockBytes, bytes - from);
  if (files::crc32_of(data, length) == checksums[block]) return;
  file.fail(offset + from, "the " + std::to_string(length) +
                               " bytes from here are damaged: their checksum does not match; get "
                               "the file anew");
}

}  // namespace warren::graph::io::wgr
