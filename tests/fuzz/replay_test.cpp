// SPDX-License-Identifier: Apache-2.0
// The inputs that are kept for the fuzz targets, and what fuzzing found, without a fuzzer.
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "fuzz/compressed_input.hpp"
#include "fuzz/reader_input.hpp"
#include "support/folders.hpp"

namespace warren::graph {
namespace {

const std::filesystem::path kSeeds = testing_support::source_folder() / "tests/fuzz/seeds";

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Replay : public testing::TestWithParam<std::string> {};

// A failure aborts the program, under a sanitizer with a report.
TEST_P(Replay, Seeds) {
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kSeeds / GetParam())) {
    SCOPED_TRACE(entry.path());
    std::string bytes = bytes_of(entry.path());
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    read_input(GetParam(), data, bytes.size());
    // Cut off, and with other options than its size brings.
    for (const std::size_t cut : {std::size_t{1}, std::size_t{2}, bytes.size() / 2}) {
      if (cut <= bytes.size()) read_input(GetParam(), data, bytes.size() - cut);
    }
    ++inputs;
  }
  EXPECT_GT(inputs, 0);
}

TEST(ReplayCompressed, Seeds) {
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kSeeds / "compressed")) {
    SCOPED_TRACE(entry.path());
    const std::string bytes = bytes_of(entry.path());
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    for (std::size_t size = 0; size <= bytes.size(); ++size) read_compressed_input(data, size);
    ++inputs;
  }
  EXPECT_GT(inputs, 0);
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const auto& [name, kinds] : fuzz_targets()) result.push_back(name);
  return result;
}
INSTANTIATE_TEST_SUITE_P(Targets, Replay, testing::ValuesIn(names()),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace warren::graph
