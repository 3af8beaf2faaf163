// SPDX-License-Identifier: Apache-2.0
// What the tests of graph files share: folders that go away, files with given bytes, and the
// message that a bad file is refused with.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "warren/core/error.hpp"
#include "warren/graph/io.hpp"

#include "graph/io/output_file.hpp"

namespace warren::graph {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "warren_io_XXXXXX").string();
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

inline void write_bytes(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Writes text, compressed if the name says so.
inline void write_text(const std::string& path, std::string_view text) {
  io::OutputFile file(path);
  const auto out = io::make_text_output(file, io::required_kind(path).compression);
  out->write(text);
  out->finish();
  file.commit();
}

/// The message that the file is refused with; empty if it is read.
inline std::string refusal(const std::string& path, const ReadOptions& options = {}) {
  static exec::ThreadPool pool(2);
  try {
    (void)read_graph(path, options, pool);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace warren::graph
