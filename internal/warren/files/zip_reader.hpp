// SPDX-License-Identifier: Apache-2.0
// Members of a ZIP archive (stored or deflated, ZIP64 too), out of a mapped file. Only what NumPy's
// .npz needs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "warren/files/mapped_file.hpp"
#include "warren/files/zip_stream.hpp"
#include "warren/memory/host_array.hpp"

namespace warren::files {

/// Bytes of a member: a window of the file, or inflated.
struct ZipMember {
  const char* data = nullptr;
  std::uint64_t size = 0;
  std::uint64_t offset = 0;  ///< In the file, where the member's (compressed) data begins.
  memory::HostArray<char> inflated;
};

class ZipReader {
 public:
  /// Reads the directory of `file`, which must outlive the reader. Throws InputError, also where
  /// members lie over each other.
  explicit ZipReader(const MappedFile& file);

  /// Of all members, as the directory has them.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool contains(const std::string& name) const;
  /// Loads a member and checks its CRC-32. Throws InputError where there is none of that name, or
  /// it is damaged.
  [[nodiscard]] ZipMember load(const std::string& name) const;
  /// A member to be read in pieces. Throws likewise.
  [[nodiscard]] ZipStream open(const std::string& name) const;

 private:
  struct Entry {
    std::string name;
    std::uint16_t method = 0;
    std::uint16_t flags = 0;
    std::uint32_t crc = 0;
    std::uint64_t compressed = 0;
    std::uint64_t size = 0;
    std::uint64_t header_offset = 0;
    std::uint64_t directory_offset = 0;
  };
  [[nodiscard]] std::uint64_t find_directory(std::uint64_t& count, std::uint64_t& end) const;
  void read_entry(std::uint64_t& at, std::uint64_t end);
  void check_overlaps() const;
  [[nodiscard]] ZipPlace place_of(const std::string& name) const;

  const MappedFile& file_;
  std::vector<Entry> entries_;
};

}  // namespace warren::files
