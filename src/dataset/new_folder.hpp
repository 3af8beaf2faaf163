// SPDX-License-Identifier: Apache-2.0
// A folder that appears whole or not at all.
#pragma once

#include <filesystem>
#include <string>

namespace warren::learn {

/// A folder beside its place, which goes unless it is moved there. What processes that were killed
/// have left of the same name goes, too.
class NewFolder {
 public:
  /// `root` is made where it is not there. Throws InputError where nothing can be written in it.
  NewFolder(const std::filesystem::path& root, const std::string& name);
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  [[nodiscard]] std::filesystem::path path() const { return path_; }
  /// In one step, also where a folder is there already, which goes: at every moment one of the two
  /// is there. Throws InputError.
  void move_to(const std::filesystem::path& place);

 private:
  std::string path_;
  int lock_ = -1;  // Held while this process lives.
};

}  // namespace warren::learn
