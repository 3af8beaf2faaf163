// SPDX-License-Identifier: Apache-2.0
// A file that appears whole or not at all: written under another name beside its place, brought to
// the disk, and renamed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "graph/io/format.hpp"

namespace warren::graph::io {

class OutputFile {
 public:
  /// Throws InputError, naming the file, where it cannot be written; so do all members.
  explicit OutputFile(std::string path);
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
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// Puts the file in its place and returns its size.
  std::uint64_t commit();

 private:
  [[noreturn]] void refuse(const char* what) const;

  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
};

/// Text on its way into a file, compressed or not.
class TextOutput {
 public:
  virtual ~TextOutput() = default;
  virtual void write(std::string_view text) = 0;
  /// Ends the compressed stream. Nothing can be written afterwards.
  virtual void finish() = 0;
};
[[nodiscard]] std::unique_ptr<TextOutput> make_text_output(OutputFile& file,
                                                           Compression compression);

}  // namespace warren::graph::io
