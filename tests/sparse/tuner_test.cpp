// SPDX-License-Identifier: Apache-2.0
// The tuner: what it proposes, how much it tries, what it remembers, and tables that cannot be
// used.
#include "warren/sparse/tuner.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "warren/core/error.hpp"

#include "sparse/graphs.hpp"

namespace warren::sparse {
namespace {

namespace fs = std::filesystem;

class Tuner : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("warren-tuner-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    ::setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string table() const { return plan_table_path(); }
  [[nodiscard]] std::string content() const {
    std::ifstream file(table());
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void write(const std::string& text) const {
    fs::create_directories(fs::path(table()).parent_path());
    std::ofstream(table()) << text;
  }

  /// Rank 0's tuning of a product on a team of four.
  static Tuning run(const graph::Graph& graph, std::uint64_t k, const TuneOptions& options) {
    const graph::ShardSource source = fixtures::shard_source(graph, 4);
    team::TeamOptions team_options;
    team_options.ranks = 4;
    team_options.threads = 4;
    Tuning result;
    team::run_team(team_options, [&](team::Team& team) {
      const graph::Shard shard = graph::make_shard(team, source);
      const Rows rows = make_rows(team, shard);
      memory::GlobalArray<float> b(team, shard.cuts, k, memory::Placement::device);
      std::fill_n(b.local_data(), b.local_size(), 1.0f);
      memory::Buffer<float> c(team.device(), shard.out.count * k);
      const Tuning tuning = tune<float>(team, rows, b, c.data(), options);
      for (const auto& strategy : team.all_gather(tuning.best.strategy))
        EXPECT_EQ(strategy, tuning.best.strategy);
      if (team.rank() == 0) result = tuning;
    });
    return result;
  }

  const graph::Graph graph_ = fixtures::generated("community:3000,8", true);
  fs::path folder_;
};

TEST_F(Tuner, MeasuresAtMostAsManyAsAskedAndTakesTheFastest) {
  for (const std::uint32_t tries : {0u, 1u, 3u, 12u}) {
    TuneOptions options;
    options.tries = tries;
    const Tuning tuning = run(graph_, 8, options);
    ASSERT_FALSE(tuning.candidates.empty());
    std::uint32_t measured = 0;
    double best = 1e300;
    DistributedOptions fastest = tuning.candidates.front().options;
    for (const Candidate& candidate : tuning.candidates) {
      EXPECT_NE(candidate.options.strategy, Strategy::once);
      EXPECT_GT(candidate.predicted_seconds, 0.0);
      if (candidate.measured_seconds == 0.0) continue;
      ++measured;
      if (candidate.measured_seconds < best) fastest = candidate.options;
      best = std::min(best, candidate.measured_seconds);
    }
    EXPECT_LE(measured, tries);
    EXPECT_EQ(measured == 0, tries == 0);
    EXPECT_EQ(tuning.best, fastest);
    EXPECT_FALSE(tuning.is_remembered);
  }
}

TEST_F(Tuner, RemembersByMatrixWidthAndWorkgroup) {
  TuneOptions options;
  options.table = table();
  const Tuning first = run(graph_, 8, options);
  EXPECT_FALSE(first.is_remembered);
  const Tuning second = run(graph_, 8, options);
  EXPECT_TRUE(second.is_remembered);
  EXPECT_EQ(second.best, first.best);
  EXPECT_FALSE(run(graph_, 9, options).is_remembered);
  EXPECT_FALSE(run(fixtures::generated("community:3000,8", true, 2), 8, options).is_remembered);
  options.workgroup = 2;
  EXPECT_FALSE(run(graph_, 8, options).is_remembered);
  EXPECT_TRUE(run(graph_, 8, options).is_remembered);
  options.workgroup = 0;
  EXPECT_TRUE(run(graph_, 8, options).is_remembered);
}

TEST_F(Tuner, IgnoresTablesThatCannotBeUsed) {
  TuneOptions options;
  options.table = table();
  const Tuning first = run(graph_, 8, options);
  const std::string good = content();
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const std::string strategy = "\"strategy\": \"" + name_of(first.best.strategy) + "\"";
  for (const std::string& text :
       {std::string("{"), std::string("[]"), std::string(),
        replaced("\"format\": 1", "\"format\": 2"),
        replaced("\"machine\": \"", "\"machine\": \"abacus "),
        replaced(strategy, "\"strategy\": \"push\""), replaced("\"chunks\": ", "\"chunks\": -"),
        good.substr(0, good.size() / 2)}) {
    write(text);
    testing::internal::CaptureStderr();
    const Tuning tuning = run(graph_, 8, options);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_FALSE(tuning.is_remembered) << text;
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << text << "\n" << said;
    EXPECT_TRUE(run(graph_, 8, options).is_remembered) << text;
  }
}

TEST_F(Tuner, RefusesWorkgroupsThatDoNotDivideTheTeam) {
  TuneOptions options;
  options.workgroup = 3;
  EXPECT_THROW((void)run(graph_, 8, options), UsageError);
}

}  // namespace
}  // namespace warren::sparse
