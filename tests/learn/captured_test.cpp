// SPDX-License-Identifier: Apache-2.0
// Trainings whose epochs are captured: the same bit for bit as those whose kernels are started one
// by one, whatever changes from epoch to epoch.
#include <gtest/gtest.h>

#include "warren/learn/trainer.hpp"

#include "learn/problems.hpp"
#include "learn/train/repeated_pass.hpp"
#include "support/size.hpp"

namespace warren::learn {
namespace {

using fixtures::Problem;
using fixtures::problem;
using fixtures::quick;
using fixtures::ranks;

TEST(EpochKeys, AreTheSameFromWhereverTheyAreRead) {
  const std::vector<Vertex> ids = {7, 3, 11};
  for (const std::uint64_t epoch : {1u, 2u, 9u}) {
    const std::uint64_t key = epoch_key(5, epoch);
    for (const std::uint64_t purpose : {0u, 17u}) {
      const Dropout given{random_key(5, epoch, purpose), 0.5f, ids.data()};
      const Dropout read{purpose, 0.5f, ids.data(), &key};
      for (std::uint64_t row = 0; row < ids.size(); ++row)
        EXPECT_EQ(given.row_key(row), read.row_key(row));
    }
  }
}

TEST(RepeatedPasses, OfTheCpuRunEachTime) {
  team::run_team(ranks(2), [&](team::Team& team) {
    Context context(team);
    RepeatedPass pass(true);
    int runs = 0;
    for (int i = 0; i < 4; ++i) pass.run(context, [&] { ++runs; });
    EXPECT_EQ(runs, 4);
    EXPECT_FALSE(pass.is_captured());
  });
}

struct Epochs {
  std::vector<double> numbers;
  std::vector<float> parameters;
  std::vector<bool> are_captured;
};

/// `between` is called before every epoch.
template <class F>
Epochs train(const Problem& p, const TrainOptions& options, const team::TeamOptions& team_options,
             F&& between) {
  Epochs found;
  const GraphPair graphs = fixtures::pair_of(p.graph, team_options.ranks);
  team::run_team(team_options, [&](team::Team& team) {
    Trainer trainer(team, graphs, p.dataset, options);
    for (std::uint64_t e = 0; e < options.epochs; ++e) {
      between(team, trainer, e);
      const EpochRecord record = trainer.epoch();
      if (team.rank() != 0) continue;
      found.are_captured.push_back(record.is_captured);
      found.numbers.push_back(record.loss);
      for (const SplitScore& score : record.scores) found.numbers.push_back(score.loss);
      if (options.type == NumberType::float16)
        found.numbers.push_back(static_cast<double>(record.skipped_steps));
    }
    const auto values = trainer.model().parameters().values().to_host(trainer.context().stream());
    if (team.rank() == 0) found.parameters = values;
  });
  return found;
}
Epochs train(const Problem& p, const TrainOptions& options, const team::TeamOptions& team) {
  return train(p, options, team, [](team::Team&, Trainer&, std::uint64_t) {});
}

/// Where ranks share a GPU what they exchange is carried by the host.
bool may_capture(const team::TeamOptions& team) { return team.sharing == team::Sharing::refused; }

void expect_equal(const Problem& p, TrainOptions options, const team::TeamOptions& team) {
  SCOPED_TRACE(name_of(options.model.kind) + ", " + std::string(name_of(options.type)) + ", " +
               std::to_string(team.ranks) + " ranks");
  options.capture = true;
  const Epochs captured = train(p, options, team);
  options.capture = false;
  const Epochs plain = train(p, options, team);
  EXPECT_EQ(captured.numbers, plain.numbers);
  EXPECT_EQ(captured.parameters, plain.parameters);
  EXPECT_EQ(captured.are_captured.back(), may_capture(team));
  EXPECT_FALSE(captured.are_captured.front());
  EXPECT_FALSE(plain.are_captured.back());
}

std::vector<team::TeamOptions> gpu_teams() { return fixtures::cuda_teams(); }

TEST(CapturedTrainingCuda, IsTheSameOfEveryModelAndType) {
  if (gpu_teams().empty()) GTEST_SKIP() << "no GPU";
  for (const ModelKind kind : fixtures::kAllKinds) {
    for (const bool is_directed : {false, true}) {
      const Problem p = problem(is_directed, is_directed, kind == ModelKind::sage && is_directed);
      TrainOptions options = quick(kind);
      options.model.dropout = 0.4f;
      options.optimizer.schedule = Schedule::cosine;
      options.optimizer.warmup = 3;
      if (kind == ModelKind::sage && !is_directed) options.model.aggregate = SageAggregate::max;
      if (kind == ModelKind::gcn) options.optimizer.clip = 0.5f;
      options.model.recompute = kind == ModelKind::gin && is_directed;
      for (const auto& team : gpu_teams()) {
        for (const NumberType type :
             {NumberType::float32, NumberType::bfloat16, NumberType::float16}) {
          options.type = type;
          // Steps are left out at first.
          options.loss_scale = {.initial = 0x1p24f, .interval = 3};
          expect_equal(p, options, team);
        }
      }
    }
  }
}

TEST(CapturedTrainingCuda, IsTheSameOfAttentionByWeights) {
  if (gpu_teams().empty()) GTEST_SKIP() << "no GPU";
  Problem p = problem(true, false, false);
  p.graph = fixtures::with_weights(std::move(p.graph),
                                   [](EdgeOffset e) { return static_cast<float>(e % 7) * 0.25f; });
  for (const ModelKind kind : {ModelKind::gat, ModelKind::gatv2}) {
    TrainOptions options = quick(kind);
    options.model.edge_weights = true;
    for (const auto& team : gpu_teams()) expect_equal(p, options, team);
  }
}

/// Sums by every strategy whose bits repeat are part of captured epochs.
TEST(CapturedTrainingCuda, IsTheSameByEveryStrategy) {
  if (gpu_teams().empty()) GTEST_SKIP() << "no GPU";
  const Problem p = problem(true, false, false);
  TrainOptions options = quick(ModelKind::sage);
  for (const auto& team : gpu_teams()) {
    if (team.ranks == 1) continue;
    for (const sparse::Strategy strategy : sparse::all_strategies()) {
      SCOPED_TRACE(sparse::name_of(strategy));
      options.exchange.product = sparse::DistributedOptions{.strategy = strategy};
      options.exchange.is_deterministic = true;
      expect_equal(p, options, team);
    }
  }
}

TEST(CapturedTrainingCuda, ContinuesWhereMemoryChangesHands) {
  if (gpu_teams().empty()) GTEST_SKIP() << "no GPU";
  const Problem p = problem(false, false, false);
  TrainOptions options = quick(ModelKind::gat);
  options.epochs = 12;
  for (const auto& team : gpu_teams()) {
    if (!may_capture(team)) continue;
    options.capture = false;
    const Epochs plain = train(p, options, team);
    options.capture = true;
    memory::Buffer<float> taken;
    const Epochs found = train(p, options, team, [&](team::Team& t, Trainer& trainer, auto e) {
      // Rank 0's alone, and other passes between epochs.
      if (e == 6 && t.rank() == 0) taken = memory::Buffer<float>(t.device(), 1000);
      if (e == 9) (void)trainer.predict();
      if (e == 10) (void)trainer.evaluate();
    });
    EXPECT_EQ(found.numbers, plain.numbers);
    EXPECT_EQ(found.parameters, plain.parameters);
    EXPECT_TRUE(found.are_captured[5]);
    EXPECT_FALSE(found.are_captured[6]);
    EXPECT_TRUE(found.are_captured.back());
  }
}

class CapturedCheckpointsCuda : public fixtures::InFolder {};

TEST_F(CapturedCheckpointsCuda, GoOnBitForBit) {
  if (gpu_teams().empty()) GTEST_SKIP() << "no GPU";
  const Problem p = problem(true, false, false);
  const team::TeamOptions team = gpu_teams().front();
  TrainOptions options = quick(ModelKind::gcn);
  options.epochs = 14;
  const auto whole = fixtures::train_on(p, options, team);
  options.checkpoint = folder_;
  options.epochs = 7;
  (void)fixtures::train_on(p, options, team);
  options.epochs = 14;
  const auto rest = fixtures::train_on(p, options, team, false, true);
  EXPECT_EQ(rest.numbers, std::vector<double>(whole.numbers.begin() + 28, whole.numbers.end()));
  EXPECT_EQ(rest.parameters, whole.parameters);
}

}  // namespace
}  // namespace warren::learn
