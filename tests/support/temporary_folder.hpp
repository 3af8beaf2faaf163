// SPDX-License-Identifier: Apache-2.0
// A folder of a test's own.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace warren::testing_support {

/// Goes with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "warren_test_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  /// Files and folders in it.
  [[nodiscard]] int files() const {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      count += entry.path().empty() ? 0 : 1;
    return count;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace warren::testing_support
