// SPDX-License-Identifier: Apache-2.0
// Makes the checksums of a mutated file right again, as far as the file still says where they are.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "warren/files/checksum.hpp"

#include "graph/io/wgr_layout.hpp"

namespace warren::graph {

template <class T>
T load(const std::uint8_t* data) {
  T value;
  std::memcpy(&value, data, sizeof(value));
  return value;
}
template <class T>
void store(std::uint8_t* data, T value) {
  std::memcpy(data, &value, sizeof(value));
}

inline void sign_warren(std::uint8_t* data, std::size_t size) {
  namespace wgr = io::wgr;
  if (size < sizeof(wgr::Header)) return;
  auto header = load<wgr::Header>(data);
  header.magic = wgr::kMagic;
  header.byte_order = wgr::kByteOrder;
  if (header.version != wgr::kCompressedVersion) header.version = wgr::kVersion;
  header.file_bytes = size;
  header.block_bytes = wgr::kBlockBytes;
  const auto inside = [&](std::uint64_t offset, std::uint64_t bytes) {
    return offset <= size && bytes <= size - offset;
  };
  const std::uint64_t table_bytes = std::uint64_t{header.sections} * sizeof(wgr::Section);
  if (!inside(sizeof(header), table_bytes) ||
      !inside(header.checksums_offset, header.checksums_bytes)) {
    return;
  }
  for (std::uint32_t i = 0; i < header.sections; ++i) {
    const auto section = load<wgr::Section>(data + sizeof(header) + i * sizeof(wgr::Section));
    if (!inside(section.offset, section.bytes)) continue;
    for (std::uint64_t block = 0; block < wgr::blocks(section.bytes); ++block) {
      const std::uint64_t begin = block * wgr::kBlockBytes;
      const std::uint64_t bytes = std::min<std::uint64_t>(wgr::kBlockBytes, section.bytes - begin);
      const std::uint64_t index = section.first_checksum + block;
      if (index >= header.checksums_bytes / 4) break;
      store(data + header.checksums_offset + index * 4,
            files::crc32_of(data + section.offset + begin, bytes));
    }
  }
  header.checksums_crc = files::crc32_of(data + header.checksums_offset, header.checksums_bytes);
  store(data, header);
  header.header_crc = files::crc32_of(data + sizeof(header), table_bytes,
                                      files::crc32_of(data, offsetof(wgr::Header, header_crc)));
  store(data, header);
}

/// The stored members of an archive, by its directory.
inline void sign_zip(std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kDirectoryBytes = 46, kLocalBytes = 30;
  for (std::size_t at = 0; at + kDirectoryBytes <= size; ++at) {
    if (load<std::uint32_t>(data + at) != 0x02014b50) continue;
    std::uint64_t bytes = load<std::uint32_t>(data + at + 20),
                  offset = load<std::uint32_t>(data + at + 42);
    const std::size_t extra = at + kDirectoryBytes + load<std::uint16_t>(data + at + 28);
    if (bytes == 0xffffffffu && extra + 28 <= size) {
      bytes = load<std::uint64_t>(data + extra + 12);
      offset = load<std::uint64_t>(data + extra + 20);
    }
    if (offset > size || size - offset < kLocalBytes) continue;
    const std::uint64_t begin = offset + kLocalBytes + load<std::uint16_t>(data + offset + 26) +
                                load<std::uint16_t>(data + offset + 28);
    if (begin > size || size - begin < bytes) continue;
    if (load<std::uint16_t>(data + at + 10) == 0)
      store(data + at + 16, files::crc32_of(data + begin, bytes));
  }
}

inline void sign(std::string_view target, std::uint8_t* data, std::size_t size) {
  if (target == "warren") sign_warren(data, size);
  if (target == "scipy" || target == "zip") sign_zip(data, size);
}

}  // namespace warren::graph
