// SPDX-License-Identifier: Apache-2.0
// What stands in front of the data of a .wgr file, checked against the file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

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
/// Of a section's blocks, in order.
[[nodiscard]] std::vector<std::uint32_t> checksums_of(const files::MappedFile& file,
                                                      const Header& header, const Section& section);

}  // namespace warren::graph::io::wgr
