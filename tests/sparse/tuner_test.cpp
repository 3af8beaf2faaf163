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

  static team::TeamOptions four_ranks() {
    team::TeamOptions options;
    options.ranks = 4;
    options.threads = 4;
    return options;
  }

  /// Rank 0's tuning of a product on a team of four.
  static Tuning run(const graph::Graph& graph, std::uint64_t k, const TuneOptions& options,
                    const team::TeamOptions& team_options = four_ranks()) {
    const graph::ShardSource source = fixtures::shard_source(graph, team_options.ranks);
    Tuning result;
    team::run_team(team_options, [&](team::Team& team) {
      const graph::Shard shard = graph::make_shard(team, source);
      const Rows rows = make_rows(team, shard);
      memory::GlobalArray<float> b(team, shard.cuts, k, memory::Placement::device);
      const exec::Stream stream(team.device());
      b.buffer().upload(stream, std::vector<float>(b.local_size(), 1.0f));
      stream.synchronize();
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

/// Of times that are told: pieces of 64 entries are the fastest.
TEST_F(Tuner, IterationsTryWhatIsAskedForAndRememberTheFastest) {
  const graph::ShardSource source = fixtures::shard_source(graph_, 4);
  TuneOptions options;
  options.strategy = Strategy::pull;
  options.tries = 9;
  options.table = table();
  team::run_team(four_ranks(), [&](team::Team& team) {
    const Rows rows = make_rows(team, graph::make_shard(team, source));
    std::vector<DistributedOptions> tried;
    IterationTuner tuner(team, rows, 16, "float32", sizeof(float), "tests", options);
    while (tuner.next()) {
      const DistributedOptions way = *tuner.next();
      for (const DistributedOptions& before : tried) EXPECT_NE(before, way);
      tried.push_back(way);
      EXPECT_EQ(way.strategy, Strategy::pull);
      tuner.took(way.piece_entries == 64 ? 1.0 : 2.0);
    }
    EXPECT_LE(tried.size(), options.tries);
    EXPECT_GT(tried.size(), 1u);
    EXPECT_EQ(tuner.tuning().best.piece_entries, 64u);
    EXPECT_THROW(tuner.took(1.0), UsageError);
    team.barrier();
    const IterationTuner again(team, rows, 16, "float32", sizeof(float), "tests", options);
    EXPECT_FALSE(again.next().has_value());
    EXPECT_TRUE(again.tuning().is_remembered);
    EXPECT_EQ(again.tuning().best, tuner.tuning().best);
    const IterationTuner other(team, rows, 16, "float32", sizeof(float), "others", options);
    EXPECT_TRUE(other.next().has_value());
  });
}

TEST_F(Tuner, RemembersByMatrixWidthAndWorkgroup) {
  TuneOptions options;
  options.table = table();
  const Tuning first = run(graph_, 8, options);
  EXPECT_FALSE(first.is_remembered);
  const Tuning second = run(graph_, 8, options);
  EXPECT_TRUE(second.is_remembered);
  EXPECT_EQ(second.best, first.best);
  ASSERT_EQ(second.candidates.size(), first.candidates.size());
  for (std::size_t i = 0; i < first.candidates.size(); ++i) {
    EXPECT_EQ(second.candidates[i].options, first.candidates[i].options);
    EXPECT_EQ(second.candidates[i].rows_moved, first.candidates[i].rows_moved);
    EXPECT_EQ(second.candidates[i].predicted_seconds, first.candidates[i].predicted_seconds);
    EXPECT_EQ(second.candidates[i].measured_seconds, first.candidates[i].measured_seconds);
  }
  EXPECT_FALSE(run(graph_, 9, options).is_remembered);
  EXPECT_FALSE(run(fixtures::generated("community:3000,8", true, 2), 8, options).is_remembered);
  EXPECT_FALSE(run(fixtures::weighted(graph_, 1), 8, options).is_remembered);
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
        replaced(strategy, "\"strategy\": \"push\""), replaced("\"chunks\": ", "\"chunks\": -1"),
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

/// Links of two speeds, in GB/s, between the ranks of four in groups and between groups.
team::Links links_of(const std::vector<int>& group_of, double near, double far,
                     double memory = 1000.0) {
  std::vector<exec::Device> devices;
  std::vector<team::Link> table;
  std::vector<team::Link> host;
  for (const int a : group_of) {
    devices.push_back(exec::Device::cpu(1));
    host.push_back({near, 1.0});
    for (const int b : group_of) table.push_back({a == b ? near : far, 1.0});
  }
  for (std::size_t a = 0; a < group_of.size(); ++a)
    table[a * group_of.size() + a].gigabytes_per_second = memory;
  return {devices, table, host};
}

TEST_F(Tuner, TakesWorkgroupsFromTheLinks) {
  EXPECT_EQ(workgroup_of(links_of({0, 0, 1, 1}, 400, 20)), 2);
  EXPECT_EQ(workgroup_of(links_of({0, 0, 0, 1, 1, 1}, 400, 20)), 3);
  EXPECT_EQ(workgroup_of(links_of({0, 0, 1, 1, 2, 2}, 400, 20)), 2);
  EXPECT_EQ(workgroup_of(links_of({0, 0, 1, 1}, 400, 300)), 0);  // All are linked well.
  EXPECT_EQ(workgroup_of(links_of({0, 1, 0, 1}, 400, 20)), 0);   // Not consecutive.
  EXPECT_EQ(workgroup_of(links_of({0, 0, 0, 1}, 400, 20)), 0);   // Not equal.
  EXPECT_EQ(workgroup_of(links_of({0, 0, 1}, 400, 20)), 0);
  EXPECT_EQ(workgroup_of(links_of({0}, 400, 20)), 0);
  TuneOptions options;
  options.table = table();
  options.tries = 3;
  options.links = links_of({0, 0, 1, 1}, 400, 20);
  const Tuning tuning = run(graph_, 8, options);
  for (const Candidate& candidate : tuning.candidates) EXPECT_EQ(candidate.options.workgroup, 2);
  // Remembered as what it was, without links.
  options.links.reset();
  const Tuning again = run(graph_, 8, options);
  EXPECT_TRUE(again.is_remembered);
  EXPECT_EQ(again.best.workgroup, 2);
}

/// Predicted candidates on four ranks, by strategy.
std::vector<Candidate> predicted(const graph::Graph& graph, std::uint64_t k,
                                 const team::Links& links, int workgroup) {
  const graph::ShardSource source = fixtures::shard_source(graph, 4);
  team::TeamOptions options;
  options.ranks = options.threads = 4;
  std::vector<Candidate> result;
  team::run_team(options, [&](team::Team& team) {
    const Rows rows = make_rows(team, graph::make_shard(team, source));
    const auto mine = predict(team, rows, k, sizeof(float), links, workgroup);
    if (team.rank() == 0) result = mine;
  });
  return result;
}

double seconds_of(const std::vector<Candidate>& all, Strategy strategy) {
  for (const Candidate& candidate : all) {
    if (candidate.options.strategy == strategy) return candidate.predicted_seconds;
  }
  ADD_FAILURE() << name_of(strategy) << " is not among the candidates";
  return 0.0;
}

/// Of all vertices with all others, two on each rank, over links beside which the rest takes no
/// time: what is predicted is what moves.
TEST(TunerModel, TimesAreBytesOverLinks) {
  std::vector<graph::Edge> edges;
  for (Vertex u = 0; u < 8; ++u) {
    for (Vertex v = 0; v < 8; ++v) edges.push_back({u, v});
  }
  const graph::Graph graph = fixtures::from_list(8, edges);
  const double near = 4e9;  // Bytes a second.
  const double far = 1e9;
  const auto all = predicted(graph, 1, links_of({0, 0, 1, 1}, 4, 1, 1e12), 2);
  EXPECT_EQ(all.size(), all_strategies().size() - 1);
  const auto expect = [&](Strategy strategy, double near_rows, double far_rows) {
    const double seconds = 4 * (near_rows / near + far_rows / far);
    EXPECT_NEAR(seconds_of(all, strategy), seconds, 1e-6 * seconds) << name_of(strategy);
  };
  expect(Strategy::broadcast, 2, 4);
  expect(Strategy::broadcast_pipelined, 2, 4);
  expect(Strategy::staged, 2, 4);
  expect(Strategy::cover, 2, 4);
  expect(Strategy::pull, 4, 8);
  expect(Strategy::fused, 4, 2);  // From each rank of the other group one's two rows; then copies.
  EXPECT_EQ(all.front().options.strategy, Strategy::fused);
}

TEST(TunerModel, ProposesWhatSuitsTheLinks) {
  const graph::Graph graph = fixtures::generated("kron:10", true);
  const auto equal = predicted(graph, 64, links_of({0, 0, 0, 0}, 100, 100), 0);
  EXPECT_EQ(equal.front().options.strategy, Strategy::cover);  // The fewest rows.
  EXPECT_LT(seconds_of(equal, Strategy::staged), seconds_of(equal, Strategy::pull));
  // In one workgroup it moves what `staged` does, which has one pass for its two.
  EXPECT_EQ(seconds_of(equal, Strategy::fused), seconds_of(equal, Strategy::staged));
  // Between groups the slow link decides: in order of the rows that cross it.
  const auto slow = predicted(graph, 64, links_of({0, 0, 1, 1}, 100, 1), 2);
  const graph::ShardSource source = fixtures::shard_source(graph, 4);
  graph::Partition partition;
  partition.cuts = source.cuts;
  exec::ThreadPool pool(2);
  const auto between = graph::partition_quality(graph, partition, pool, {2, true}).between;
  const Strategy best = between.fused < between.cover ? Strategy::fused : Strategy::cover;
  EXPECT_EQ(slow.front().options.strategy, best);
  EXPECT_LT(seconds_of(slow, Strategy::cover), seconds_of(slow, Strategy::staged));
  EXPECT_LT(seconds_of(slow, Strategy::fused), seconds_of(slow, Strategy::staged));
  EXPECT_LT(seconds_of(slow, Strategy::staged), seconds_of(slow, Strategy::pull));
  // With the slow link not known to be between groups, the slowest is reckoned with for all.
  const auto ungrouped = predicted(graph, 64, links_of({0, 0, 1, 1}, 100, 1), 0);
  EXPECT_GT(seconds_of(ungrouped, Strategy::staged), seconds_of(slow, Strategy::staged));
  // Where links are as fast as memory, passes over C cost more than anything that moves.
  const auto fast = predicted(graph, 64, links_of({0, 0, 0, 0}, 2000, 2000), 0);
  EXPECT_LT(seconds_of(fast, Strategy::staged), seconds_of(fast, Strategy::broadcast));
}

TEST_F(Tuner, Cuda) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const int ranks : {2, 4}) {
    TuneOptions options;
    options.table = table();
    options.tries = 8;
    const Tuning tuning = run(graph_, 32, options, fixtures::cuda_team(ranks));
    EXPECT_FALSE(tuning.is_remembered);
    EXPECT_GT(tuning.candidates.front().measured_seconds, 0.0);
    EXPECT_EQ(tuning.best, run(graph_, 32, options, fixtures::cuda_team(ranks)).best);
  }
}

TEST_F(Tuner, TunesTheStrategyThatIsAskedFor) {
  for (const Strategy strategy : {Strategy::pull, Strategy::staged}) {
    TuneOptions options;
    options.table = table();
    options.strategy = strategy;
    const Tuning tuning = run(graph_, 8, options);
    EXPECT_FALSE(tuning.is_remembered);
    EXPECT_EQ(tuning.best.strategy, strategy);
    EXPECT_GE(tuning.candidates.size(), 3u);
    EXPECT_LE(tuning.candidates.size(), options.tries);
    for (std::size_t i = 0; i < tuning.candidates.size(); ++i) {
      EXPECT_EQ(tuning.candidates[i].options.strategy, strategy);
      EXPECT_GT(tuning.candidates[i].measured_seconds, 0.0);
      for (std::size_t j = 0; j < i; ++j)
        EXPECT_FALSE(tuning.candidates[i].options == tuning.candidates[j].options);
    }
    // The first is what stands without a tuner.
    DistributedOptions usual;
    usual.strategy = strategy;
    EXPECT_EQ(tuning.candidates.front().options, usual);
    EXPECT_EQ(run(graph_, 8, options).best, tuning.best);
  }
}

TEST_F(Tuner, RefusesStrategiesWithoutParameters) {
  for (const Strategy strategy : {Strategy::broadcast, Strategy::once}) {
    TuneOptions options;
    options.strategy = strategy;
    EXPECT_THROW((void)run(graph_, 8, options), UsageError);
  }
}

TEST_F(Tuner, RefusesWorkgroupsThatDoNotDivideTheTeam) {
  TuneOptions options;
  options.workgroup = 3;
  EXPECT_THROW((void)run(graph_, 8, options), UsageError);
}

}  // namespace
}  // namespace warren::sparse
