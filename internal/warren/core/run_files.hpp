// SPDX-License-Identifier: Apache-2.0
// The files that a run reads and writes, looked at before the work begins.
#pragma once

#include <string>
#include <vector>

namespace warren {

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

}  // namespace warren
