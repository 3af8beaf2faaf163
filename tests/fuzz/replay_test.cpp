// SPDX-License-Identifier: Apache-2.0
// The inputs that are kept for the fuzz targets, and what fuzzing found, without a fuzzer.
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "fuzz/compressed_input.hpp"
#include "fuzz/dataset_input.hpp"
#include "fuzz/reader_input.hpp"
#include "support/folders.hpp"

namespace warren::graph {
namespace {

const std::filesystem::path kSeeds = testing_support::source_folder() / "tests/fuzz/seeds";

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Reads the seeds of a target. A failure aborts the program, under a sanitizer with a report.
template <class F>
void replay(const std::string& target, F&& read) {
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kSeeds / target)) {
    SCOPED_TRACE(entry.path());
    const std::string bytes = bytes_of(entry.path());
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    read(target, data, bytes.size());
    // Cut off, and with other options than its size brings.
    for (const std::size_t cut : {std::size_t{1}, std::size_t{2}, bytes.size() / 2}) {
      if (cut <= bytes.size()) read(target, data, bytes.size() - cut);
    }
    ++inputs;
  }
  EXPECT_GT(inputs, 0);
}

class Replay : public testing::TestWithParam<std::string> {};
TEST_P(Replay, Seeds) { replay(GetParam(), read_input); }

class ReplayDatasets : public testing::TestWithParam<std::string> {};
TEST_P(ReplayDatasets, Seeds) { replay(GetParam(), learn::read_dataset_input); }

// A seed that no longer is what it was made to be shows nothing.
TEST(ReplayDatasets, WholeSeedsAreRead) {
  const learn::InputFolder folder;
  for (const auto& [target, read] : learn::dataset_targets()) {
    int inputs = 0;
    for (const auto& entry : std::filesystem::directory_iterator(kSeeds / target)) {
      if (!entry.path().filename().string().starts_with("whole")) continue;
      SCOPED_TRACE(entry.path());
      EXPECT_NO_THROW(read(folder, bytes_of(entry.path())));
      ++inputs;
    }
    EXPECT_GT(inputs, 0) << target;
  }
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

template <class Targets>
std::vector<std::string> names_of(const Targets& targets) {
  std::vector<std::string> names;
  for (const auto& target : targets) names.push_back(target.first);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Targets, Replay, testing::ValuesIn(names_of(fuzz_targets())),
                         [](const auto& param) { return param.param; });
INSTANTIATE_TEST_SUITE_P(Targets, ReplayDatasets,
                         testing::ValuesIn(names_of(learn::dataset_targets())),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace warren::graph
