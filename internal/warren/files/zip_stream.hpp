// SPDX-License-Identifier: Apache-2.0
// A member of a ZIP archive front to back, in pieces: archives of arrays larger than memory are
// read so.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "warren/files/mapped_file.hpp"

namespace warren::files {

/// Where a member stands in its file, as the archive's directory says.
struct ZipPlace {
  std::string name;
  std::uint64_t offset = 0;  ///< Of its data.
  std::uint64_t compressed = 0;
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  bool is_deflated = false;
};

class ZipStream {
 public:
  /// `place` lies within `file`, which must outlive the stream. Throws InputError for a size that
  /// the compressed bytes cannot hold.
  ZipStream(const MappedFile& file, ZipPlace place);
  ~ZipStream();
  ZipStream(ZipStream&&) noexcept;
  ZipStream& operator=(ZipStream&&) = delete;

  [[nodiscard]] std::uint64_t size() const noexcept { return place_.size; }
  /// Fills `capacity` bytes at `out`, fewer only at the end, and returns how many. The member's
  /// CRC-32 is checked with its last byte. Throws InputError for what is damaged.
  std::uint64_t read(char* out, std::uint64_t capacity);

 private:
  struct Inflater;
  void inflate(char* out, std::uint64_t count);
  void finish();
  [[noreturn]] void fail_inflating() const;

  const MappedFile* file_;
  ZipPlace place_;
  std::uint64_t at_ = 0;     // Of the member's bytes.
  std::uint64_t taken_ = 0;  // Of the compressed ones.
  std::uint32_t crc_ = 0;
  bool is_finished_ = false;
  std::unique_ptr<Inflater> inflater_;  // Of deflated members.
};

}  // namespace warren::files
