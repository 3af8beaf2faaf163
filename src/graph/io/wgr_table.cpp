// SPDX-License-Identifier: Apache-2.0
#include "graph/io/wgr_table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/files/checksum.hpp"
#include "warren/files/number.hpp"

namespace warren::graph::io::wgr {

using files::MappedFile;

std::string name_of(const Section& section) {
  return files::quoted({section.name.data(), strnlen(section.name.data(), section.name.size())});
}

Header read_header(const MappedFile& file, std::uint64_t max_vertices) {
  Header header;
  if (file.size() < sizeof(header)) {
    file.fail(file.size(),
              fmt::format("the file ends within its header of {} bytes; was it cut off?",
                          sizeof(header)));
  }
  std::memcpy(&header, file.data(), sizeof(header));
  if (header.magic != kMagic)
    file.fail(0, "this is no .wgr file: it does not begin with the bytes 89 'WGR'");
  if (header.byte_order != kByteOrder)
    file.fail(8,
              "the file was written in another byte order; convert it on a little-endian machine");
  if (header.version != kVersion && header.version != kCompressedVersion) {
    file.fail(12, fmt::format("the file is of version {}; this program reads versions {} and {}: "
                              "write the file again with it",
                              header.version, kVersion, kCompressedVersion));
  }
  if (header.sections > kMostSections)
    file.fail(52, fmt::format("{} sections; there are {} at most", header.sections, kMostSections));
  const std::uint64_t table_bytes = header.sections * sizeof(Section);
  if (file.size() < sizeof(header) + table_bytes)
    file.fail(file.size(), "the file ends within its table of sections; was it cut off?");
  const std::uint32_t found =
      files::crc32_of(file.data() + sizeof(header), table_bytes,
                      files::crc32_of(file.data(), offsetof(Header, header_crc)));
  if (found != header.header_crc)
    file.fail(0, "the header is damaged: its checksum does not match; get the file anew");
  if (header.file_bytes != file.size()) {
    file.fail(file.size(),
              fmt::format("the file ends here, but the header announces {} bytes; was it cut off?",
                          header.file_bytes));
  }
  if (header.vertices == 0 || header.vertices > max_vertices) {
    file.fail(24, fmt::format("{} vertices; a graph has 1 to {}", header.vertices, max_vertices));
  }
  if (header.weight_type > 2 || header.symmetry > 2)
    file.fail(40, "the type of weights or the symmetry is none that there is; get the file anew");
  if (header.block_bytes != kBlockBytes)
    file.fail(56, fmt::format("checksums over {} bytes; {} would be right", header.block_bytes,
                              kBlockBytes));
  return header;
}

// Places of sections and checksums lie in the file.
std::vector<Section> read_sections(const MappedFile& file, const Header& header) {
  const auto inside = [&](std::uint64_t offset, std::uint64_t bytes) {
    return offset <= file.size() && bytes <= file.size() - offset;
  };
  std::vector<Section> sections(header.sections);
  if (!sections.empty())
    std::memcpy(sections.data(), file.data() + sizeof(Header), sections.size() * sizeof(Section));
  if (!inside(header.checksums_offset, header.checksums_bytes))
    file.fail(64, "the checksums lie outside the file; get it anew");
  if (files::crc32_of(file.data() + header.checksums_offset, header.checksums_bytes) !=
      header.checksums_crc) {
    file.fail(header.checksums_offset, "the checksums are damaged; get the file anew");
  }
  const std::uint64_t checksums = header.checksums_bytes / 4;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const Section& section = sections[i];
    const std::uint64_t at = sizeof(Header) + i * sizeof(Section);
    if (!inside(section.offset, section.bytes) || section.offset % kAlignment != 0) {
      file.fail(at,
                fmt::format("section {} lies outside the file or between pages; get the file anew",
                            name_of(section)));
    }
    const std::uint64_t blocks = wgr::blocks(section.bytes);
    if (section.first_checksum > checksums || blocks > checksums - section.first_checksum) {
      file.fail(at, fmt::format("section {} has fewer checksums than blocks; get the file anew",
                                name_of(section)));
    }
  }
  return sections;
}

void refuse_unknown(const std::string& path, std::span<const Section> sections) {
  for (const Section& section : sections) {
    if (section.required == 0 ||
        (section.kind >= 1 && section.kind <= static_cast<std::uint32_t>(kLastKind)))
      continue;
    throw InputError(
        fmt::format("{}: section {} is of a kind that this program does not know, and needed; use "
                    "a newer warren",
                    path, name_of(section)));
  }
}

const Section* find_section(std::span<const Section> sections, SectionKind kind) {
  const auto found = std::ranges::find(sections, static_cast<std::uint32_t>(kind), &Section::kind);
  return found == sections.end() ? nullptr : &*found;
}

const Section* section_of(const MappedFile& file, std::span<const Section> sections,
                          SectionKind kind, std::uint64_t count, std::uint64_t width,
                          const char* name) {
  const Section* const section = find_section(sections, kind);
  if (section != nullptr) check_size(file, *section, count, width);
  if (section == nullptr && name != nullptr)
    throw InputError(
        fmt::format("{}: there is no section '{}'; get the file anew", file.path(), name));
  return section;
}

void check_size(const MappedFile& file, const Section& section, std::uint64_t count,
                std::uint64_t width) {
  if (section.bytes / width == count && section.bytes % width == 0) return;
  file.fail(section.offset,
            fmt::format("section {} has {} bytes; {} elements of {} bytes would be right",
                        name_of(section), section.bytes, count, width));
}

void check_edges(const MappedFile& file, const Header& header) {
  constexpr std::uint64_t kMostEdges = std::uint64_t{1} << 60;
  constexpr std::uint64_t kPlace = 32;  // In the header.
  if (header.edges > kMostEdges)
    file.fail(kPlace, fmt::format("{} edges; no file has so many", header.edges));
}

std::vector<std::uint32_t> checksums_of(const MappedFile& file, const Header& header,
                                        const Section& section) {
  std::vector<std::uint32_t> checksums(wgr::blocks(section.bytes));
  if (!checksums.empty())  // Of an empty section there is no block.
    std::memcpy(checksums.data(),
                file.data() + header.checksums_offset + section.first_checksum * 4,
                checksums.size() * 4);
  return checksums;
}

}  // namespace warren::graph::io::wgr
