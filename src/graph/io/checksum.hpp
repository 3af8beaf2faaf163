// SPDX-License-Identifier: Apache-2.0
// The CRC-32 of zlib, gzip and ZIP.
#pragma once

#include <cstdint>

#include <zlib.h>

namespace warren::graph::io {

/// Of `bytes` bytes; goes on from `before`, the checksum of what stands in front of them.
[[nodiscard]] inline std::uint32_t crc32_of(const void* data, std::uint64_t bytes,
                                            std::uint32_t before = 0) {
  if (bytes == 0) return before;  // zlib takes a null pointer for a wish to begin anew.
  return static_cast<std::uint32_t>(crc32_z(before, static_cast<const Bytef*>(data), bytes));
}

}  // namespace warren::graph::io
