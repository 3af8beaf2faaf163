// SPDX-License-Identifier: Apache-2.0
// A text file as blocks of whole lines. A plain file is mapped and cut into pieces that threads
// read at the same time; a compressed one is a single piece, decompressed block by block on every
// reading, so that its text is never in memory as a whole. A byte order mark of UTF-8 is no text.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "warren/files/decompressor.hpp"
#include "warren/files/mapped_file.hpp"

namespace warren::files {

/// Whole lines. The last line of a text may lack its line end; a NUL stands after it then. At least
/// 8 bytes past `end` can be read.
struct TextBlock {
  const char* begin;
  const char* end;
  std::uint64_t lines_before;    ///< Lines of the text that stand before `begin`; kCount: they have
                                 ///< to be counted.
  const char* origin = nullptr;  ///< Of lines that were written anew: the front of the block that
                                 ///< they stand for, line by line.

  static constexpr std::uint64_t kCount = ~std::uint64_t{0};
};

class TextFile {
 public:
  /// Opens `path`. A line that is longer than `longest_line` is refused when it is met; of a plain
  /// file, which is in memory as it is, some are let pass. Throws InputError.
  TextFile(const std::string& path, Compression compression,
           std::uint64_t longest_line = std::uint64_t{1} << 20);

  [[nodiscard]] const std::string& path() const { return file_.path(); }
  /// Bytes of text, where that is known: not for compressed files, which say the largest number.
  [[nodiscard]] std::uint64_t text_bytes() const;

  /// About as many, of compressed files too.
  [[nodiscard]] std::uint64_t likely_text_bytes() const;

  /// Shows the text from its front: `look(block)` returns where the lines end that it has taken,
  /// block.end if it wants more. What follows is the data that for_each_block() delivers.
  void read_head(const std::function<const char*(const TextBlock&)>& look);

  [[nodiscard]] std::uint64_t pieces() const { return pieces_; }
  /// Calls `body` for the blocks of one piece, in order. May be called for different pieces at the
  /// same time.
  void for_each_block(std::uint64_t piece, const std::function<void(const TextBlock&)>& body) const;

  /// Number of the line, from 1, that `at` lies in.
  [[nodiscard]] std::uint64_t line_of(const TextBlock& block, const char* at) const;
  /// Throws InputError for a line that is too long.
  void check_line(const TextBlock& block, std::string_view line) const;
  /// Throws InputError "FILE:LINE: message" for the line that `at` lies in.
  [[noreturn]] void fail(const TextBlock& block, const char* at, const std::string& message) const;
  [[noreturn]] void fail(std::uint64_t line, const std::string& message) const;

 private:
  [[noreturn]] void refuse_length(std::uint64_t line) const;
  void stream(const std::function<bool(const TextBlock&)>& body) const;
  /// The first line start at or after `offset`; looks at `limit` bytes and returns their end if it
  /// is not among them.
  [[nodiscard]] const char* line_start(std::uint64_t offset, std::uint64_t limit) const;

  MappedFile file_;
  Compression compression_;
  std::uint64_t longest_line_;
  std::uint64_t text_begin_ = 0;  // Of a plain file: behind its byte order mark.
  std::uint64_t data_begin_ = 0;  // Byte of the text where the data begins.
  std::uint64_t pieces_ = 1;
};

}  // namespace warren::files
