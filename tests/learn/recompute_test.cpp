// SPDX-License-Identifier: Apache-2.0
// Trainings whose layers are recomputed: bit for bit those that keep everything, in less memory, as
// planned.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/exec/memory.hpp"
#include "warren/learn/kept.hpp"
#include "warren/learn/memory_plan.hpp"

#include "learn/problems.hpp"
#include "support/size.hpp"

namespace warren::learn {
namespace {

using fixtures::Kind;
using fixtures::kKinds;
using fixtures::Problem;
using fixtures::problem;
using fixtures::ranks;
using fixtures::train_on;
using fixtures::Trained;

constexpr NormKind kNorms[] = {NormKind::none, NormKind::batch, NormKind::layer};

TrainOptions deep(const Kind& kind, NormKind norm) {
  TrainOptions options;
  options.model.kind = kind.kind;
  options.model.aggregate = kind.aggregate;
  options.model.norm = norm;
  options.model.layers = 4;
  options.model.hidden = 16;
  options.model.heads = 4;
  options.model.residual = true;
  options.optimizer.rate = 0.02f;
  options.epochs = 3;
  return options;
}

Trained recomputed(const Problem& p, TrainOptions options, const team::TeamOptions& team) {
  options.model.recompute = true;
  return train_on(p, options, team, team.ranks == 3);
}

void expect_equal(const Problem& p, const TrainOptions& options, const team::TeamOptions& team) {
  SCOPED_TRACE(std::to_string(team.ranks) + " ranks, " + name_of(options.model.norm) + ", " +
               name_of(options.type));
  const Trained kept = train_on(p, options, team, team.ranks == 3);
  const Trained again = recomputed(p, options, team);
  ASSERT_EQ(kept.numbers.size(), 4 * options.epochs);
  EXPECT_EQ(again.numbers, kept.numbers);
  EXPECT_EQ(again.parameters, kept.parameters);
}

/// All, or one where tests are to be small.
std::vector<NumberType> types_of(const team::TeamOptions& team) {
  if (testing_support::is_small()) return {static_cast<NumberType>(team.ranks % 3)};
  return {NumberType::float32, NumberType::float16, NumberType::bfloat16};
}

void check_models(const std::vector<team::TeamOptions>& teams) {
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    for (const NormKind norm : kNorms) {
      const bool is_directed = norm == NormKind::batch;
      const Problem p = problem(is_directed, false, false);
      TrainOptions options = deep(kind, norm);
      options.model.residual = norm != NormKind::layer;
      options.model.skip = norm == NormKind::layer;
      for (const auto& team : teams) {
        // In small tests each norm on every second team.
        if (testing_support::is_small() && (team.ranks + static_cast<int>(norm)) % 2 == 0) continue;
        for (const NumberType type : types_of(team)) {
          options.type = type;
          expect_equal(p, options, team);
        }
      }
    }
  }
}

TEST(Recomputation, IsBitForBitTheSame) { check_models({ranks(1), ranks(2), ranks(3), ranks(4)}); }
TEST(RecomputationCuda, IsBitForBitTheSame) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_models(gpus);
}

/// Widths that are padded, layers that aggregate first or not, sparse features, few layers.
void check_shapes(const team::TeamOptions& team) {
  const Problem dense = problem(true, false, true);
  const Problem sparse = problem(false, true, false);
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    for (const std::uint64_t layers : {1u, 2u, 3u, 5u}) {
      // 32: GAT's first layer attends to x.
      for (const std::uint64_t hidden : {2u, 6u, 32u}) {
        if (testing_support::is_small() && (layers + hidden / 2) % 2 == 0) continue;
        SCOPED_TRACE(std::to_string(layers) + " layers of " + std::to_string(hidden));
        TrainOptions options = deep(kind, kNorms[(layers + hidden / 2) % 3]);
        options.model.layers = layers;
        options.model.hidden = hidden;
        options.model.heads = 2;
        expect_equal(dense, options, team);
        if (kind.aggregate != SageAggregate::max) expect_equal(sparse, options, team);
      }
    }
  }
}

TEST(Recomputation, OfAllShapesIsTheSame) {
  if (!testing_support::is_small()) check_shapes(ranks(1));
  check_shapes(ranks(2));
}
TEST(RecomputationCuda, OfAllShapesIsTheSame) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_shapes(gpus.front());
}

/// Of ranks as ranks() has them, or with a GPU each.
MemoryPlan planned_for(const Problem& p, const GraphPair& graphs, const TrainOptions& options,
                       exec::DeviceKind kind = exec::DeviceKind::cpu) {
  const exec::Device device =
      kind == exec::DeviceKind::cuda ? exec::Device::cuda(0) : exec::Device::cpu(1);
  return plan_memory(graphs, p.dataset, options, device);
}

void check_plan(const team::TeamOptions& team) {
  Problem p;
  p.graph = fixtures::generated(
      testing_support::is_small() ? "community:2000,3" : "community:8000,3", true);
  exec::ThreadPool pool(1);
  p.dataset = generate_dataset(p.graph.vertices, 24, 8, 1, pool);
  const GraphPair graphs = fixtures::pair_of(p.graph, team.ranks);
  for (const Kind& kind : kKinds) {
    for (const NormKind norm : kNorms) {
      for (const NumberType type : {NumberType::float32, NumberType::bfloat16}) {
        if (testing_support::is_small() &&
            (type == NumberType::float32) == (norm == NormKind::none))
          continue;
        SCOPED_TRACE(std::string(kind.name) + ", " + name_of(norm) + ", " + name_of(type));
        TrainOptions options = deep(kind, norm);
        options.model.hidden = 32;
        options.model.layers = 5;
        options.type = type;
        options.epochs = 1;
        const MemoryPlan kept = planned_for(p, graphs, options, team.kind);
        const std::uint64_t most = fixtures::most_held(p, graphs, options, team, options.epochs);
        options.model.recompute = true;
        const MemoryPlan again = planned_for(p, graphs, options, team.kind);
        const std::uint64_t least = fixtures::most_held(p, graphs, options, team, options.epochs);
        // What is saved, and nothing else, tells the two apart.
        EXPECT_EQ(kept.total() - again.total(), kept.recompute_saves);
        EXPECT_EQ(again.recompute_saves, kept.recompute_saves);
        ASSERT_FALSE(kept.alternatives.empty());
        EXPECT_EQ(kept.alternatives[0].first, "--recompute");
        EXPECT_EQ(kept.alternatives[0].second, again.total());
        const auto planned = static_cast<double>(kept.recompute_saves);
        EXPECT_NEAR(static_cast<double>(most) - static_cast<double>(least), planned,
                    0.02 * planned + 10'000.0);
        const bool keeps_much = norm != NormKind::none || kind.kind == ModelKind::gat ||
                                kind.kind == ModelKind::gin || kind.aggregate == SageAggregate::max;
        EXPECT_EQ(planned > 0.15 * static_cast<double>(kept.total()), keeps_much);
        // What a GPU's products hold is in plans for GPUs alone.
        if (team.kind == exec::DeviceKind::cuda) continue;
        EXPECT_NEAR(static_cast<double>(least), static_cast<double>(again.total()),
                    0.01 * static_cast<double>(again.total()));
      }
    }
  }
}

TEST(Recomputation, SavesWhatIsPlanned) { check_plan(ranks(1)); }

/// Ranks of the CPU hold all of their parts together. Every rank needs nearly all rows of others.
TEST(MemoryPlans, HaveTheRowsOfOtherRanks) {
  for (const bool is_symmetric : {true, false}) {
    Problem p;
    p.graph = fixtures::random_graph(3000, 40000, 3, is_symmetric);
    exec::ThreadPool pool(1);
    p.dataset = generate_dataset(p.graph.vertices, 24, 8, 1, pool);
    for (const int size : {2, 3}) {
      const GraphPair graphs = fixtures::pair_of(p.graph, size);
      for (const Kind& kind : kKinds) {
        for (const bool skips : {false, true}) {
          if (testing_support::is_small() && skips != (size == 2)) continue;
          SCOPED_TRACE(std::string(kind.name) + ", " + std::to_string(size) + " ranks" +
                       (is_symmetric ? ", symmetric" : "") + (skips ? ", skips" : ""));
          TrainOptions options = deep(kind, NormKind::none);
          options.model.hidden = 32;
          options.model.residual = false;
          options.model.skip = skips;
          options.epochs = 1;
          const MemoryPlan plan = planned_for(p, graphs, options);
          const auto planned = static_cast<double>(plan.total()) * size;
          EXPECT_NEAR(static_cast<double>(
                          fixtures::most_held(p, graphs, options, ranks(size), options.epochs)),
                      planned, 0.01 * planned);
        }
      }
    }
  }
}

/// Of the whole graph, on one rank and where nearly all rows are others', and of what layers keep.
TEST(MemoryPlans, HaveTheWeightsOfEdges) {
  for (const bool is_symmetric : {true, false}) {
    Problem p;
    p.graph = fixtures::random_graph(3000, 40000, 3, is_symmetric);
    exec::ThreadPool pool(1);
    graph::set_uniform_weights(p.graph, 1, 9, 1, pool);
    p.dataset = generate_dataset(p.graph.vertices, 24, 8, 1, pool);
    for (const int size : {1, 3}) {
      const GraphPair graphs = fixtures::pair_of(p.graph, size);
      for (const Kind& kind : kKinds) {
        if (!can_weigh_edges(kind.kind, kind.aggregate)) continue;
        for (const bool recomputes : {false, true}) {
          SCOPED_TRACE(std::string(kind.name) + ", " + std::to_string(size) + " ranks" +
                       (is_symmetric ? ", symmetric" : "") + (recomputes ? ", recomputes" : ""));
          TrainOptions options = deep(kind, NormKind::none);
          options.model.hidden = 32;
          options.model.edge_weights = true;
          options.model.recompute = recomputes;
          options.epochs = 1;
          const auto planned = static_cast<double>(planned_for(p, graphs, options).total()) * size;
          EXPECT_NEAR(static_cast<double>(
                          fixtures::most_held(p, graphs, options, ranks(size), options.epochs)),
                      planned, 0.01 * planned);
        }
      }
    }
  }
}
TEST(RecomputationCuda, SavesWhatIsPlanned) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_plan(gpus.front());
}

/// The message of a device with `limit` bytes left.
std::string message(const MemoryPlan& plan, std::uint64_t limit, int size) {
  const exec::Device device = exec::Device::cpu(1);
  exec::set_memory_limit(device, exec::memory_use(device).current + limit);
  std::string text;
  try {
    check_memory(plan, device, size);
  } catch (const MemoryError& error) {
    text = error.what();
  }
  exec::set_memory_limit(device, 0);
  return text;
}

TEST(MemoryPlans, NameTheOptionThatWouldFit) {
  const Problem p = problem(false, false, false);
  const GraphPair graphs = fixtures::pair_of(p.graph, 2);
  TrainOptions options = deep(kKinds[0], NormKind::batch);
  const MemoryPlan plan = plan_memory(graphs, p.dataset, options);
  ASSERT_EQ(plan.alternatives.size(), 3u);
  const auto fits = [&](std::size_t i) { return 2 * plan.alternatives[i].second; };
  EXPECT_EQ(message(plan, 2 * plan.total(), 2), "");
  EXPECT_THAT(message(plan, 2 * plan.total() - 1, 2), ::testing::HasSubstr("with --recompute a"));
  EXPECT_THAT(message(plan, fits(0), 2), ::testing::HasSubstr("with --recompute a rank holds"));
  EXPECT_THAT(message(plan, fits(1), 2), ::testing::HasSubstr("with --type bfloat16 a rank"));
  EXPECT_THAT(message(plan, fits(2), 2), ::testing::HasSubstr("with --recompute --type bfloat16"));
  EXPECT_THAT(message(plan, fits(2) - 1, 2), ::testing::HasSubstr("a smaller --hidden"));
  options.model.recompute = true;
  EXPECT_THAT(message(plan_memory(graphs, p.dataset, options), fits(0) - 1, 2),
              ::testing::Not(::testing::HasSubstr("--recompute")));
}

TEST(MemoryPlans, OfEvaluationKeepNothingForBackward) {
  const Problem p = problem(false, false, false);
  const GraphPair graphs = fixtures::pair_of(p.graph, 1);
  TrainOptions options = deep(kKinds[3], NormKind::layer);
  const auto kept = [&] {
    for (const auto& [name, bytes] : plan_memory(graphs, p.dataset, options).parts) {
      if (name == "kept for backward") return bytes;
    }
    return std::uint64_t{0};
  };
  options.model.recompute = true;
  const std::uint64_t shared = kept();
  options.model.recompute = false;
  options.sampled.emplace();
  options.sampled->fanouts = {3, 3, 3, 3};
  EXPECT_EQ(kept(), shared);
  const MemoryPlan plan = plan_memory(graphs, p.dataset, options);
  EXPECT_EQ(plan.recompute_saves, 0u);
  EXPECT_EQ(plan.alternatives[0].first, "--evaluation sampled");
}

class RecomputationCheckpoints : public fixtures::InFolder {};

/// A training that keeps everything goes on from one that recomputes, and the other way round.
TEST_F(RecomputationCheckpoints, GoOnEitherWay) {
  const Problem p = problem(true, false, false);
  for (const bool begins : {false, true}) {
    for (const int size : {1, 3}) {
      std::filesystem::remove_all(folder_);
      TrainOptions options = deep(kKinds[3], NormKind::batch);
      options.epochs = 6;
      const Trained whole = train_on(p, options, size);
      options.checkpoint = folder_;
      options.epochs = 4;
      options.model.recompute = begins;
      (void)train_on(p, options, size);
      options.epochs = 6;
      options.model.recompute = !begins;
      const Trained rest = train_on(p, options, size, false, true);
      EXPECT_EQ(rest.numbers, std::vector<double>(whole.numbers.begin() + 16, whole.numbers.end()));
      EXPECT_EQ(rest.parameters, whole.parameters);
    }
  }
}

TEST(Recomputation, IsNotOfBatches) {
  const Problem p = problem(false, false, false);
  TrainOptions options = deep(kKinds[0], NormKind::none);
  options.model.recompute = true;
  options.sampled.emplace();
  options.sampled->fanouts = {2, 2, 2, 2};
  EXPECT_THROW((void)train_on(p, options, 1), UsageError);
}

TEST(KeptMemory, IsTakenFromEachOther) {
  team::run_team(ranks(1), [](team::Team& team) {
    Context context(team, {}, NumberType::bfloat16);
    const auto memory = std::make_shared<KeptMemory>();
    const auto one = std::make_shared<Kept>(memory), other = std::make_shared<Kept>(memory),
               own = std::make_shared<Kept>();
    KeptRows first(one);
    KeptArray<float> second(one);
    KeptRows of_own(own);
    EXPECT_TRUE(one->is_intact());
    const Numbers rows = first.take(context, 100);
    EXPECT_EQ(rows.type(), NumberType::bfloat16);
    EXPECT_TRUE(rows == first.data());
    float* const floats = second.take(context, 10);
    EXPECT_EQ(floats, second.data());
    EXPECT_EQ(one->bytes(), 200u + 40u);
    (void)of_own.take(context, 100);
    EXPECT_TRUE(one->is_intact());
    {
      KeptRows other_first(other), other_second(other), other_third(other);
      // Another block, and then one that it has.
      (void)other_third.take(context, 5);
      EXPECT_TRUE(one->is_intact());
      EXPECT_TRUE(other_first.take(context, 100) == rows);
      EXPECT_FALSE(one->is_intact());
      EXPECT_TRUE(other->is_intact());
      (void)first.take(context, 100);
      EXPECT_TRUE(one->is_intact());
      EXPECT_FALSE(other->is_intact());
      (void)other_first.take(context, 100);
      EXPECT_FALSE(one->is_intact());
    }
    // What is gone keeps nothing, and others' contents are not back for it.
    EXPECT_TRUE(other->is_intact());
    EXPECT_FALSE(one->is_intact());
    EXPECT_TRUE(own->is_intact());
  });
}

}  // namespace
}  // namespace warren::learn
