// SPDX-License-Identifier: Apache-2.0
// The CRC-32 of zlib, gzip and ZIP.
#pragma once

#include <cstdint>

namespace warren::files {

/// Of `bytes` bytes; goes on from `before`, the checksum of what stands in front of them.
[[nodiscard]] std::uint32_t crc32_of(const void* data, std::uint64_t bytes,
                                     std::uint32_t before = 0);

}  // namespace warren::files
