// SPDX-License-Identifier: Apache-2.0
// The files that a run reads and writes, looked at before the work begins; lines about vertices.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "warren/core/types.hpp"

namespace warren::app {

/// The files of one run. None that it writes is one that it reads, or one that it writes already,
/// under whatever name.
class RunFiles {
 public:
  /// Throws InputError where it is one that is written, by its option.
  void reads(const std::string& path);
  /// Throws InputError, naming the option, unless a file can be made at `path`. Creates nothing.
  void writes(const std::string& option, const std::string& path);

 private:
  struct File {
    std::string option;  ///< Empty: it is read.
    std::string path;
  };
  void add(File file);

  std::vector<File> files_;
};

/// Writes a line, or several, for each of `count` vertices: line(text, v) appends them. The file is
/// whole or not there.
void write_lines(const std::string& path, std::uint64_t count,
                 const std::function<void(std::string&, Vertex)>& line);

/// "warren: error: " and the message, on a line of standard error.
void print_error(const std::string& message) noexcept;

}  // namespace warren::app
