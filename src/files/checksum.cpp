// SPDX-License-Identifier: Apache-2.0
#include "warren/files/checksum.hpp"

#include <zlib.h>

namespace warren::files {

std::uint32_t crc32_of(const void* data, std::uint64_t bytes, std::uint32_t before) {
  if (bytes == 0) return before;  // zlib takes a null pointer for a wish to begin anew.
  return static_cast<std::uint32_t>(crc32_z(before, static_cast<const Bytef*>(data), bytes));
}

}  // namespace warren::files
