// SPDX-License-Identifier: Apache-2.0
// Which files lie where in memory: what is read of a file that was cut short meanwhile is a signal
// (SIGBUS), of which only the address says whose it is.
#pragma once

#include <cstdint>

namespace warren {

/// [data, data + bytes) holds a file's bytes while this lives.
class MappedRange {
 public:
  /// `path` outlives it.
  MappedRange(const void* data, std::uint64_t bytes, const char* path) noexcept;
  ~MappedRange();
  MappedRange(const MappedRange&) = delete;
  MappedRange& operator=(const MappedRange&) = delete;

 private:
  friend const char* mapped_file_at(const void* address) noexcept;

  std::uintptr_t first_;
  std::uint64_t bytes_;
  const char* path_;
  MappedRange* next_;
};

/// The file that lies at `address`; nullptr: none does. Takes a lock that no thread holds while it
/// reads a file, so that a handler of SIGBUS may ask.
[[nodiscard]] const char* mapped_file_at(const void* address) noexcept;

}  // namespace warren
