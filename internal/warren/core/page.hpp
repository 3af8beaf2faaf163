// SPDX-License-Identifier: Apache-2.0
// Pages of this machine's memory: 4 KiB on x86-64; 4, 16 or 64 KiB on aarch64, as its kernel was
// built.
#pragma once

#include <cstdint>

#include <unistd.h>

namespace warren {

/// Bytes of a page. madvise(2) refuses addresses that are no multiple of them. Throws nothing.
[[nodiscard]] inline std::uint64_t bytes_of_page() noexcept {
  static const auto bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// bytes_of_page() * ceil(bytes / bytes_of_page()): the bytes of the pages that hold so many.
/// Throws nothing.
[[nodiscard]] inline std::uint64_t in_pages(std::uint64_t bytes) noexcept {
  const std::uint64_t page = bytes_of_page();
  return (bytes + page - 1) / page * page;
}

}  // namespace warren
