// SPDX-License-Identifier: Apache-2.0
// What the command line's measurements find: results that are right on every number of ranks, and
// volumes that are those of the cut.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/api/measure_gather.hpp"
#include "warren/api/measure_lookups.hpp"
#include "warren/api/measure_patterns.hpp"
#include "warren/api/measure_products.hpp"
#include "warren/api/measure_sampling.hpp"
#include "warren/api/training.hpp"

#include "graphs.hpp"

namespace warren {
namespace {

using ::testing::HasSubstr;

Session cpu(int ranks) {
  return Session({.device = DeviceKind::cpu, .devices = ranks, .threads = 2});
}

Graph some_graph() { return read("kron:7", {.symmetrize = true, .weights = "uniform:1:5"}); }

TEST(MeasureProducts, AreRightOnEveryNumberOfRanksAndInEveryOrder) {
  const api::ProductOptions alone{.k = 5, .verify = true};
  const api::MeasuredMatrix whole(some_graph(), {.session = cpu(1)});
  const api::ProductFigures right = whole.spmm(alone);
  EXPECT_TRUE(right.is_right);
  EXPECT_EQ(right.strategy, "local");
  EXPECT_EQ(right.seconds.size(), 1u);
  const api::ProductFigures edges = whole.sddmm(alone);
  EXPECT_TRUE(edges.is_right);
  const api::MeasuredMatrix cut(some_graph(),
                                {.method = "random", .reorder = "degree", .session = cpu(3)});
  const auto volume = cut.quality(0, true).moved;
  const auto moved = [&](const std::string& strategy) {
    const api::ProductFigures found =
        cut.spmm({.k = 5, .strategy = strategy, .repeat = 2, .verify = true});
    EXPECT_TRUE(found.is_right) << strategy << " is off by " << found.error;
    EXPECT_DOUBLE_EQ(found.sum, right.sum) << strategy;
    EXPECT_EQ(found.seconds.size(), 2u);
    return found.rows_moved;
  };
  EXPECT_EQ(moved("once:chunks=2"), volume.once);
  EXPECT_EQ(moved("broadcast"), volume.broadcast);
  EXPECT_EQ(moved("cover"), volume.cover);
  EXPECT_DOUBLE_EQ(cut.sddmm({.k = 5, .verify = true}).sum, edges.sum);
  EXPECT_TRUE(
      cut.spmm({.k = 5, .type = "bfloat16", .strategy = "staged", .verify = true}).is_right);
}

TEST(MeasureProducts, RefuseWhatDoesNotGoTogether) {
  EXPECT_THROW(api::check(api::ProductOptions{.type = "int8"}, 1), UsageError);
  EXPECT_THROW(api::check(api::ProductOptions{.strategy = "staged", .slow = 2}, 2), UsageError);
  EXPECT_THROW(api::check(api::ProductOptions{.strategy = "pull:auto", .deterministic = true}, 2),
               UsageError);
  EXPECT_THROW(api::check(api::MatrixOptions{.method = "nothing"}), UsageError);
}

TEST(MeasureGather, FindsTheTablesElements) {
  api::GatherTrialOptions options{.rows = 1000, .k = 3, .count = 500, .skew = 1.0, .verify = true};
  for (const char* placement : {"device", "host", "cached"}) {
    options.placement = placement;
    options.session = cpu(2);
    const api::GatherFigures found = measure_gather(options);
    EXPECT_EQ(found.wrong, 0u) << placement;
    EXPECT_GT(found.rate, 0.0);
    EXPECT_EQ(found.use.rows > 0, options.is_cached());
  }
  options.strategy = "messages";
  EXPECT_THROW((void)measure_gather(options), UsageError);
}

TEST(MeasureLookups, AreExactByEveryStrategy) {
  const api::LookupTrialOptions options{.rows = 1000,
                                        .k = 4,
                                        .batch = 64,
                                        .verify = true,
                                        .features = 4,
                                        .interact = true,
                                        .session = cpu(2)};
  const auto found = measure_lookups(
      options, {{8, 0.0, "auto"}, {8, 1.0, "pull"}, {3, 0.0, "owner-sum"}, {3, 0.5, "messages"}});
  ASSERT_EQ(found.size(), 4u);
  for (const api::LookupFigures& figures : found) EXPECT_TRUE(figures.is_right) << figures.strategy;
  EXPECT_FALSE(found[0].why.empty());
  EXPECT_GT(found[1].rows_moved, 0u);
  EXPECT_THROW(check(options, {.bag = 8, .strategy = "push"}), UsageError);
}

TEST(MeasureSampling, DrawsTheSameBatchesOnEveryNumberOfRanks) {
  const Graph graph = some_graph();
  api::SamplingTrialOptions options{.batches = 5, .verify = true};
  options.sampler.fanouts = {3, 2};
  options.sampler.batch = 8;
  options.sampler.weighted = true;
  WhereOptions where;
  where.session = cpu(1);
  const api::SamplingFigures alone = measure_sampling(graph, where, options);
  EXPECT_EQ(alone.wrong, "");
  where.session = cpu(2);
  const api::SamplingFigures together = measure_sampling(graph, where, options);
  EXPECT_EQ(together.vertices, alone.vertices);
  EXPECT_EQ(together.digest, alone.digest);
  where.placement.method = "random";
  EXPECT_EQ(measure_sampling(graph, where, options).wrong, "");
  options.sampler.batch = 1000;
  EXPECT_THROW((void)measure_sampling(graph, where, options), UsageError);
  options.sampler.temporal = true;
  EXPECT_THROW(check(options), UsageError);
}

TEST(MeasurePatterns, ReadEveryListOfWhatIsReached) {
  WhereOptions where;
  where.session = cpu(1);
  where.edges = Edges::host;
  where.placement.cache = 0;
  const api::PatternsResult found = api::measure_patterns(some_graph(), where, {0, 1});
  ASSERT_GE(found.figures.size(), 5u);
  EXPECT_EQ(found.figures.front().name, "strided");
  EXPECT_GT(found.figures.front().requests, 0.0);
  EXPECT_EQ(found.figures.front().seconds.size(), 2u);
  EXPECT_THROW((void)api::measure_patterns(some_graph(), where, {}), UsageError);
}

TEST(Training, TellsWhichOptionsChangeNothing) {
  learn::TrainOptions train = api::train_options({.model = "gcn"});
  const auto has = [&](const std::string& option) {
    return std::ranges::any_of(api::unused_options(train, 1, false),
                               [&](const api::UnusedOption& one) { return one.option == option; });
  };
  EXPECT_TRUE(has("--heads"));
  EXPECT_TRUE(has("--explain"));
  EXPECT_FALSE(has("--dropout"));
  train.model.kind = learn::ModelKind::gat;
  EXPECT_FALSE(has("--heads"));
}

TEST(Training, SharesOutAnEpochsTime) {
  api::TrainingOutcome outcome;
  outcome.batches = 2;
  for (const double seconds : {100.0, 4.0, 6.0}) {
    learn::EpochRecord epoch;
    epoch.seconds = seconds;
    epoch.train_seconds = seconds / 2.0;
    epoch.sampled_edges = 30;
    outcome.epochs.push_back(epoch);
  }
  const api::EpochBreakdown parts = outcome.breakdown();
  EXPECT_DOUBLE_EQ(parts.train, 2.5);  // Without the first.
  EXPECT_DOUBLE_EQ(parts.exposed, 2.5);
  EXPECT_DOUBLE_EQ(parts.other, 2.5);
  EXPECT_DOUBLE_EQ(parts.train_share, 0.5);
  EXPECT_EQ(parts.sampled_edges, 30u);
}

TEST(Training, ScoresPairs) {
  const std::vector<float> rows = {1.0f, 2.0f, 3.0f, -1.0f};
  const std::vector<learn::Link> pairs = {{0, 1}, {1, 1}};
  EXPECT_EQ(api::pair_scores(pairs, rows, 2), (std::vector<float>{1.0f, 10.0f}));
  EXPECT_DOUBLE_EQ(api::probability_of(0.0f), 0.5);
  EXPECT_EQ(api::largest_classes(rows, 2), (std::vector<std::int32_t>{1, 0}));
}

}  // namespace
}  // namespace warren
