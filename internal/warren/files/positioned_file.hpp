// SPDX-License-Identifier: Apache-2.0
// A file that is read at places, without a mapping and, where the file system allows it, past the
// system's page cache: for files that are larger than the memory.
#pragma once

#include <cstdint>
#include <string>

#include <sys/stat.h>

namespace warren::files {

class PositionedFile {
 public:
  /// Of places in the file, sizes and addresses of what is read past the page cache.
  static constexpr std::uint64_t kAlignment = 4096;

  /// Opens a regular file. Throws InputError, naming it.
  explicit PositionedFile(std::string path);
  ~PositionedFile();
  PositionedFile(const PositionedFile&) = delete;
  PositionedFile& operator=(const PositionedFile&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// Whether reads pass the page cache by (O_DIRECT). Where they do not, what was read is dropped
  /// from it at once.
  [[nodiscard]] bool is_direct() const noexcept { return is_direct_; }

  /// Bytes of a buffer that takes `bytes` bytes of any place.
  [[nodiscard]] static constexpr std::uint64_t buffer_bytes(std::uint64_t bytes) {
    return bytes == 0 ? 0 : (bytes + 2 * kAlignment - 2) / kAlignment * kAlignment;
  }
  /// Bytes that are asked of the disk for them: whole units of the alignment.
  [[nodiscard]] static constexpr std::uint64_t disk_bytes(std::uint64_t offset,
                                                          std::uint64_t bytes) {
    if (bytes == 0) return 0;
    return (offset + bytes + kAlignment - 1) / kAlignment * kAlignment -
           offset / kAlignment * kAlignment;
  }
  /// Reads [offset, offset + bytes) into `buffer`, which is aligned to kAlignment and has
  /// buffer_bytes(bytes); returns where byte `offset` stands. May be called by several threads.
  /// Throws InputError, naming the file and the byte, for what cannot be read, for a file that ends
  /// before, and for one whose size or time of writing is not what it was when it was opened.
  [[nodiscard]] const char* read(std::uint64_t offset, std::uint64_t bytes, char* buffer) const;
  /// Throws InputError where the file is not what it was when it was opened.
  void check_unchanged() const;
  /// Throws InputError "FILE: byte OFFSET: message".
  [[noreturn]] void fail(std::uint64_t offset, const std::string& message) const;

 private:
  void open_direct();

  std::string path_;
  int file_ = -1;
  bool is_direct_ = false;
  std::uint64_t size_ = 0;
  struct stat status_ {};
};

}  // namespace warren::files
