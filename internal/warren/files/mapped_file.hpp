// SPDX-License-Identifier: Apache-2.0
// A file in memory, read-only, followed by at least kPadding readable zero bytes: parsers load
// words without asking whether the file ends first. A file is mapped; what a pipe delivers is read
// into memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "warren/core/mapped_ranges.hpp"

namespace warren::files {

class MappedFile {
 public:
  static constexpr std::uint64_t kPadding = 64;

  enum class Pipes { refused, read };

  /// Maps `path`. Throws InputError for what cannot be opened, is a directory, or, unless `pipes`
  /// are read, any other thing than a regular file; MemoryError for a pipe that delivers more than
  /// there is memory. /dev/stdin is standard input as it was handed over, from where it stands.
  explicit MappedFile(std::string path, Pipes pipes = Pipes::refused);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const char* data() const noexcept { return mapping_.data; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  /// Tells the system that [offset, offset + length) is read soon, front to back.
  void will_read(std::uint64_t offset, std::uint64_t length) const noexcept;
  /// Of a file that is mapped: what of it lies in pages of [offset, offset + length) alone no
  /// longer counts as this process' memory, until it is read again.
  void drop(std::uint64_t offset, std::uint64_t length) const noexcept;

  /// Throws InputError "FILE: byte OFFSET: message".
  [[noreturn]] void fail(std::uint64_t offset, const std::string& message) const;

 private:
  struct Mapping {
    ~Mapping();
    char* data = nullptr;
    std::uint64_t bytes = 0;
  };
  void map(int file);
  void take(int file);
  void grow();
  [[noreturn]] void refuse(const char* call) const;

  std::string path_;
  Mapping mapping_;
  std::optional<MappedRange> range_;  ///< Of a file that is mapped.
  std::uint64_t size_ = 0;
};

}  // namespace warren::files
