// SPDX-License-Identifier: Apache-2.0
// The one way in which warren writes files: each appears at its place whole, or not at all.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace warren {

/// A file that is written under another name beside its place, brought to the disk, and renamed.
/// The other name is made exclusively, so that no link planted there is followed; a link at the
/// place itself is replaced, and what it leads to stays as it is. A file that is replaced leaves
/// its permissions to the new one.
class OutputFile {
 public:
  /// What is done where the place is no regular file: a pipe, a terminal, /dev/null, a descriptor
  /// of this process (/dev/stdout, /dev/fd/3).
  enum class Special {
    refused,
    in_place  ///< Written as it comes: there is nothing to put in its place.
  };

  /// Whether `path` is of those.
  [[nodiscard]] static bool is_special(const std::string& path);

  /// Throws InputError, naming the file, where it cannot be written; so do all members.
  explicit OutputFile(std::string path, Special special = Special::refused);
  /// Without commit(), nothing stays.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data, std::uint64_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Writes zeros up to byte `offset`.
  void fill_up_to(std::uint64_t offset);
  /// Replaces what was written at `offset`.
  void replace(std::uint64_t offset, const void* data, std::uint64_t bytes);
  /// Takes the space of a file of so many bytes: where there is too little, this says so before
  /// they are made.
  void reserve(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// Puts the file in its place and returns its size.
  std::uint64_t commit();
  /// Puts all in their places: each is on the disk before the first one is renamed, and no signal
  /// comes between.
  static void commit(std::span<OutputFile* const> files);

  /// Removes what files that are not committed have written. For a process that ends without
  /// leaving its functions: from then on, no file can be made or committed.
  static void remove_unfinished() noexcept;

 private:
  [[noreturn]] void refuse(const char* what) const;
  void make_temporary();
  void bring_to_disk();
  void take_place();
  void leave_list() noexcept;

  std::string path_;
  std::string temporary_;  ///< Empty: written in place.
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
  OutputFile* next_ = nullptr;  ///< Of those that are not finished.
};

}  // namespace warren
