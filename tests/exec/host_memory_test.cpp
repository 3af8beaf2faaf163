// SPDX-License-Identifier: Apache-2.0
// What control groups of either version leave to a process, by folders that look like theirs.
#include "exec/host_memory.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.hpp"

namespace warren::exec {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class HostMemory : public ::testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) const {
    const std::string path = folder.file(name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
  }
  [[nodiscard]] std::vector<std::string> groups(const std::string& text) const {
    return limiting_groups(text, folder.file(""));
  }
  testing_support::TemporaryFolder folder;
};

TEST_F(HostMemory, IsWithinTheMachines) {
  const MemoryInfo memory = host_memory();
  EXPECT_GT(memory.total, 0u);
  EXPECT_LE(memory.free, memory.total);
}

TEST_F(HostMemory, OfTheSecondVersion) {
  put("a/memory.max", "max\n");
  put("a/b/memory.max", "1000000\n");
  put("a/b/memory.current", "700000\n");
  put("a/b/memory.stat", "anon 300000\ninactive_file 100000\nactive_file 9\n");
  ASSERT_THAT(groups("0::/a/b\n"), ElementsAre(folder.file("") + "/a/b"));
  const MemoryInfo memory = group_memory(folder.file("a/b"));
  EXPECT_EQ(memory.total, 1000000u);
  EXPECT_EQ(memory.free, 400000u);
  EXPECT_THAT(groups("0::/a\n"), IsEmpty());
  EXPECT_THAT(groups("0::/nowhere\n"), IsEmpty());
}

TEST_F(HostMemory, OfTheFirstVersion) {
  put("memory/memory.limit_in_bytes", "9223372036854771712\n");
  put("memory/x/memory.limit_in_bytes", "500\n");
  put("memory/x/memory.usage_in_bytes", "600\n");
  put("memory/x/memory.stat", "cache 1\ntotal_inactive_file 200\n");
  ASSERT_THAT(groups("4:cpu,memory:/x/y\n3:cpuset:/z\n0::/\n"),
              ElementsAre(folder.file("") + "/memory/x"));
  EXPECT_EQ(group_memory(folder.file("memory/x")).free, 100u);
  put("memory/x/memory.usage_in_bytes", "900\n");
  EXPECT_EQ(group_memory(folder.file("memory/x")).free, 0u);
  EXPECT_THAT(groups("no line of such a file\n"), IsEmpty());
}

}  // namespace
}  // namespace warren::exec
