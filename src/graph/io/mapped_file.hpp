// SPDX-License-Identifier: Apache-2.0
// A file in memory, read-only, followed by at least kPadding readable zero bytes: parsers load
// words without asking whether the file ends first.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace warren::graph::io {

class MappedFile {
 public:
  static constexpr std::uint64_t kPadding = 64;

  /// Maps `path`. Throws InputError for what cannot be opened, is a directory or any other thing
  /// than a regular file.
  explicit MappedFile(std::string path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const char* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  /// Tells the system that [offset, offset + length) is read soon, front to back.
  void will_read(std::uint64_t offset, std::uint64_t length) const noexcept;

  /// Throws InputError "FILE: byte OFFSET: message".
  [[noreturn]] void fail(std::uint64_t offset, const std::string& message) const;

 private:
  std::string path_;
  char* data_ = nullptr;
  std::uint64_t size_ = 0;
  std::uint64_t mapped_ = 0;
};

}  // namespace warren::graph::io
