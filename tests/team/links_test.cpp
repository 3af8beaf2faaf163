// SPDX-License-Identifier: Apache-2.0
// Links: measured figures, groups, and the file that keeps them.
#include "warren/team/links.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/backends.hpp"

namespace warren::team {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LinksCache : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ("warren_links_" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
    path_ = (folder_ / "deep" / "links.json").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string content() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
    std::ofstream(path_) << text;
  }
  /// What known_links() warns.
  std::string warnings() {
    ::testing::internal::CaptureStderr();
    const Links links = known_links(devices_, path_);
    EXPECT_GT(links.between(0, 1).gigabytes_per_second, 0.0);
    return ::testing::internal::GetCapturedStderr();
  }

  std::filesystem::path folder_;
  std::string path_;
  std::vector<exec::Device> devices_ = {exec::Device::cpu(1), exec::Device::cpu(1)};
};

void expect_figures(const Links& links) {
  for (int a = 0; a < links.size(); ++a) {
    for (int b = 0; b < links.size(); ++b) {
      EXPECT_GT(links.between(a, b).gigabytes_per_second, 0.05);
      EXPECT_GE(links.between(a, b).microseconds, 0.0);
      EXPECT_LT(links.between(a, b).microseconds, 1e5);
    }
    EXPECT_GT(links.host(a).gigabytes_per_second, 0.05);
  }
}

TEST(Links, OfTheCpu) {
  const Links links = measure_links({exec::Device::cpu(2), exec::Device::cpu(1)});
  expect_figures(links);
  EXPECT_THROW((void)links.between(0, 2), UsageError);
  EXPECT_THROW((void)links.between(-1, 0), UsageError);
  EXPECT_THROW((void)links.host(2), UsageError);
}

TEST(Links, OfNothing) {
  const Links links = measure_links({});
  EXPECT_EQ(links.size(), 0);
  EXPECT_TRUE(links.workgroups().empty());
}

Links made_up(const std::vector<std::vector<double>>& gigabytes) {
  std::vector<Link> table;
  std::vector<exec::Device> devices;
  for (const auto& row : gigabytes) {
    devices.push_back(exec::Device::cpu(1));
    for (const double figure : row) table.push_back({figure, 1.0});
  }
  return {devices, table, std::vector<Link>(gigabytes.size(), {50.0, 1.0})};
}

TEST(Links, Workgroups) {
  EXPECT_THAT(made_up({{1000}}).workgroups(), ElementsAre(ElementsAre(0)));
  EXPECT_THAT(
      made_up({{1000, 20, 19, 19}, {20, 1000, 15, 11}, {18, 15, 1000, 15}, {19, 12, 17, 1000}})
          .workgroups(),
      ElementsAre(ElementsAre(0, 1, 2, 3)));
  // Two pairs of GPUs, with a slow bridge between the pairs.
  EXPECT_THAT(
      made_up({{900, 10, 300, 10}, {10, 900, 10, 300}, {300, 10, 900, 10}, {10, 300, 10, 900}})
          .workgroups(),
      ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  // One slow direction is enough to part two devices.
  EXPECT_THAT(made_up({{900, 100, 40}, {100, 900, 100}, {100, 100, 900}}).workgroups(),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
}

TEST(Links, SizesMustFit) { EXPECT_THROW(Links({exec::Device::cpu(1)}, {}, {}), UsageError); }

TEST_F(LinksCache, IsReadAgain) {
  const Links first = known_links(devices_, path_);
  const std::string written = content();
  EXPECT_THAT(written, HasSubstr("cpu:1 cpu:1"));
  EXPECT_EQ(warnings(), "");
  const Links second = known_links(devices_, path_);
  EXPECT_EQ(first.between(0, 1).gigabytes_per_second, second.between(0, 1).gigabytes_per_second);
  EXPECT_EQ(first.host(0).microseconds, second.host(0).microseconds);
  EXPECT_EQ(content(), written);
  // Another device is added to what is known.
  (void)known_links({exec::Device::cpu(2)}, path_);
  EXPECT_THAT(content(), ::testing::AllOf(HasSubstr("cpu:1 cpu:1"), HasSubstr("cpu:2 cpu:2")));
}

TEST_F(LinksCache, DamagedFilesAreReplaced) {
  for (const char* text :
       {"", "{", "[1, 2]", "{\"format\": 99, \"machines\": {}}", "{\"format\": 1}",
        "{\"format\": 1, \"machines\": 5}", "{\"format\": 1, \"machines\": {\"another\": {}}}"}) {
    SCOPED_TRACE(text);
    write(text);
    EXPECT_THAT(warnings(), HasSubstr("measured again"));
    EXPECT_EQ(warnings(), "") << "once";
  }
  (void)known_links(devices_, path_);
  std::string bad = content();
  bad.replace(bad.find('[') + 1, 1, "-");
  write(bad);
  EXPECT_THAT(warnings(), HasSubstr("measured again"));
}

TEST_F(LinksCache, UnwritableFoldersAreNoFailure) {
  path_ = "/proc/nothing/warren/links.json";
  EXPECT_EQ(warnings(), "");
  path_ = "";
  EXPECT_EQ(warnings(), "");
}

TEST_F(LinksCache, Path) {
  const char* before = std::getenv("XDG_CACHE_HOME");
  const std::string kept = before != nullptr ? before : "";
  setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ(links_cache_path(), "/somewhere/warren/links.json");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/home/nobody", 1);
  EXPECT_EQ(links_cache_path(), "/home/nobody/.cache/warren/links.json");
  if (before != nullptr) setenv("XDG_CACHE_HOME", kept.c_str(), 1);
}

TEST_F(LinksCache, OfATeam) {
  run_team({exec::DeviceKind::cpu, 3, 3}, [&](Team& team) {
    const Links links = known_links(team, path_);
    EXPECT_EQ(links.size(), 3);
    expect_figures(links);
    for (const double other : team.all_gather(links.between(0, 2).gigabytes_per_second)) {
      EXPECT_EQ(other, links.between(0, 2).gigabytes_per_second);
    }
  });
}

TEST_F(LinksCache, CudaTeams) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  for (const TeamOptions& options : testing_support::teams<exec::Cuda>()) {
    SCOPED_TRACE(testing_support::name_of(options));
    run_team(options, [&](Team& team) {
      const Links links = known_links(team, path_);
      EXPECT_EQ(links.size(), team.size());
      expect_figures(links);
      for (int a = 0; a < links.size(); ++a)
        EXPECT_GT(links.between(a, a).gigabytes_per_second, 10.0);
      std::size_t members = 0;
      for (const auto& group : links.workgroups()) members += group.size();
      EXPECT_EQ(members, static_cast<std::size_t>(team.size()));
    });
  }
}

}  // namespace
}  // namespace warren::team
