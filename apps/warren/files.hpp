// SPDX-License-Identifier: Apache-2.0
// Files that the program writes: looked at before the work begins, and there whole or not at all.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace warren::app {

/// Throws InputError unless a file can be made at `path`. Creates nothing.
void check_writable(const std::string& option, const std::string& path);

/// A file that appears at its place, complete, with commit(); without it, nothing is left behind.
/// What is no regular file (a pipe, /dev/null) is written in place.
class OutputFile {
 public:
  /// Throws InputError.
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  void commit();

 private:
  [[noreturn]] void fail(const std::string& what) const;

  std::string path_;
  std::string written_path_;
  std::FILE* file_ = nullptr;
};

/// Writes to standard output and flushes it. Throws InputError when it takes no more.
void write_standard_output(std::string_view text);

}  // namespace warren::app
