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
#include "warren/files/text_output.hpp"
#include "warren/graph/io.hpp"

#include "graph/io/format.hpp"
#include "support/temporary_folder.hpp"

namespace warren::graph {

using testing_support::TemporaryFolder;

inline void write_bytes(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Writes text, compressed if the name says so.
inline void write_text(const std::string& path, std::string_view text) {
  OutputFile file(path);
  const auto out = files::make_text_output(file, io::required_kind(path).compression);
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
