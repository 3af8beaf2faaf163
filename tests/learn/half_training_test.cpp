// SPDX-License-Identifier: Apache-2.0
// Trainings with rows of 16 bits: as good as those of float32, the same on teams of all sizes, gone
// on with from checkpoints; and the scale of the loss.
#include <cmath>
#include <filesystem>
#include <limits>

#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/learn/memory_plan.hpp"

#include "learn/problems.hpp"
#include "support/size.hpp"

namespace warren::learn {
namespace {

using fixtures::Problem;
using fixtures::problem;
using fixtures::quick;
using fixtures::ranks;
using fixtures::rounding_of;
using fixtures::train_on;
using fixtures::Trained;

constexpr NumberType kHalves[] = {NumberType::float16, NumberType::bfloat16};
TrainOptions learnable(ModelKind kind, NumberType type) {
  TrainOptions options = quick(kind);
  options.model.layers = 2;
  options.model.dropout = 0.1f;
  options.epochs = 60;
  options.type = type;
  if (testing_support::is_small()) options.epochs = 20;
  return options;
}

void check_accuracy(const team::TeamOptions& team) {
  const Problem p = problem(false, false, false);
  for (const ModelKind kind : fixtures::kAllKinds) {
    const double expected =
        train_on(p, learnable(kind, NumberType::float32), team).result.test_accuracy;
    for (const NumberType type : kHalves) {
      const Trained found = train_on(p, learnable(kind, type), team);
      // Of some 540 test vertices.
      EXPECT_GT(found.result.test_accuracy, expected - 0.02) << name_of(kind) << name_of(type);
    }
  }
}

TEST(HalfTraining, IsAsGoodAsThatOfFloat32) { check_accuracy(ranks(1)); }
TEST(HalfTrainingCuda, IsAsGoodAsThatOfFloat32) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_accuracy(gpus.front());
}

TEST(HalfTraining, IsTheSameOnTeamsOfAllSizes) {
  for (const ModelKind kind : fixtures::kAllKinds) {
    for (const NumberType type : kHalves) {
      SCOPED_TRACE(name_of(kind) + ", " + name_of(type));
      const bool is_directed = type == NumberType::float16;
      const Problem p = problem(is_directed, is_directed, kind == ModelKind::sage && is_directed);
      TrainOptions options = quick(kind);
      options.type = type;
      options.epochs = 4;
      // Adam makes whole steps of gradients that are nothing but rounding.
      options.optimizer.kind = OptimizerKind::sgd;
      options.optimizer.rate = 0.005f;
      if (kind == ModelKind::sage && !is_directed) options.model.aggregate = SageAggregate::max;
      const Trained alone = train_on(p, options, 1);
      const Trained again = train_on(p, options, 1);
      EXPECT_EQ(alone.numbers, again.numbers) << "a run does not repeat";
      EXPECT_EQ(alone.parameters, again.parameters);
      for (const int size : {2, 3, 4}) {
        const Trained team = train_on(p, options, size, size == 3);
        ASSERT_EQ(team.numbers.size(), alone.numbers.size());
        for (std::size_t i = 0; i < alone.numbers.size(); ++i)
          ASSERT_NEAR(team.numbers[i], alone.numbers[i],
                      6.0 * rounding_of(type) * (1.0 + alone.numbers[i]))
              << size << " ranks, number " << i;
      }
    }
  }
}

void check_batches(const std::vector<team::TeamOptions>& teams) {
  const Problem p = problem(false, false, false);
  for (const ModelKind kind : fixtures::kAllKinds) {
    for (const NumberType type : kHalves) {
      TrainOptions whole = quick(kind);
      whole.type = type;
      whole.epochs = 3;
      whole.model.norm = NormKind::none;
      whole.optimizer.kind = OptimizerKind::sgd;
      whole.optimizer.rate = 0.002f;
      TrainOptions batches = whole;
      batches.sampled.emplace();
      batches.sampled->fanouts.assign(whole.model.layers, -1);
      batches.sampled->batch = 600;
      const Trained expected = train_on(p, whole, 1);
      for (const auto& team : teams) {
        const int size = team.ranks;
        batches.sampled->features = size == 2 ? memory::Placement::host : memory::Placement::device;
        batches.sampled->cached = size == 2 ? 0.3 : 0.0;
        batches.sampled->exact_evaluation = size != 3;
        const Trained found = train_on(p, batches, team, size == 3);
        ASSERT_EQ(found.numbers.size(), expected.numbers.size());
        for (std::size_t i = 0; i < expected.numbers.size(); ++i)
          ASSERT_NEAR(found.numbers[i], expected.numbers[i],
                      6.0 * rounding_of(type) * (1.0 + expected.numbers[i]))
              << name_of(kind) << ", " << name_of(type) << ", " << size << " ranks, number " << i;
      }
    }
  }
}

TEST(HalfTraining, OfOneBatchOfAllIsThatOfTheWholeGraph) {
  check_batches({ranks(1), ranks(2), ranks(3)});
}
TEST(HalfTrainingCuda, OfOneBatchOfAllIsThatOfTheWholeGraph) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_batches(gpus);
}

LossScaleState after(LossScale& scale, const exec::Stream& stream,
                     const memory::Buffer<float>& gradients, int steps) {
  for (int i = 0; i < steps; ++i) {
    scale.check(stream, gradients.data(), gradients.size());
    scale.advance(stream);
  }
  return scale.state(stream);
}

void check_scale(const exec::Device& device) {
  const exec::Stream stream(device);
  std::vector<float> gradients(1000, 1.0f);
  LossScale scale(stream, {.initial = 8.0f, .interval = 3});
  const auto good = testing_support::on_device(stream, gradients);
  EXPECT_EQ(after(scale, stream, good, 2).factor, 8.0f);
  EXPECT_EQ(after(scale, stream, good, 1).factor, 16.0f);
  EXPECT_EQ(after(scale, stream, good, 2).good, 2u);
  const float bad[] = {std::numeric_limits<float>::infinity(),
                       -std::numeric_limits<float>::infinity(),
                       std::numeric_limits<float>::quiet_NaN()};
  float expected = 16.0f;
  std::uint32_t skipped = 0;
  for (const std::size_t at : {0ul, 31ul, 500ul, 999ul}) {
    gradients.assign(1000, 1.0f);
    gradients[at] = bad[at % 3];
    const auto state = after(scale, stream, testing_support::on_device(stream, gradients), 1);
    EXPECT_EQ(state.factor, expected *= 0.5f) << at;
    EXPECT_EQ(state.good, 0u);
    EXPECT_EQ(state.skipped, ++skipped);
  }
  // The factor ends at 2^24.
  scale.set(stream, {.factor = 0x1p24f});
  EXPECT_EQ(after(scale, stream, good, 6).factor, 0x1p24f);
}

TEST(LossScales, HalveAndDouble) {
  check_scale(exec::Device::cpu(2));
  const exec::Stream stream(exec::Device::cpu(1));
  EXPECT_THROW(LossScale(stream, {.initial = 0.0f}), UsageError);
  EXPECT_THROW(LossScale(stream, {.initial = std::numeric_limits<float>::infinity()}), UsageError);
  EXPECT_THROW(LossScale(stream, {.interval = 0}), UsageError);
}
TEST(LossScalesCuda, HalveAndDouble) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  check_scale(exec::Device::cuda(0));
}

/// Updates by scaled gradients are those by gradients, and steps left out do not count.
TEST(LossScales, ArePartOfUpdates) {
  const exec::Stream stream(exec::Device::cpu(1));
  for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw}) {
    std::vector<float> found[2];
    for (const bool is_scaled : {false, true}) {
      Parameters parameters;
      parameters.add({.name = "w", .rows = 3, .columns = 4, .initial = Initial::glorot});
      parameters.allocate(stream, 3);
      OptimizerOptions options;
      options.kind = kind;
      options.clip = 1.5f;
      Optimizer optimizer(stream, options, parameters);
      LossScale scale(stream, {.initial = 1024.0f});
      float* g = parameters.gradients().data();
      std::uint64_t step = 0;
      if (is_scaled) {
        const auto before = parameters.values().to_host(stream);
        for (std::uint64_t i = 0; i < 12; ++i) g[i] = 1.0f;
        g[5] = std::numeric_limits<float>::infinity();
        optimizer.update(stream, ++step, 0.02f, &scale);
        EXPECT_EQ(parameters.values().to_host(stream), before);
        EXPECT_EQ(scale.state(stream).factor, 512.0f);
      }
      for (int i = 0; i < 5; ++i) {
        for (std::uint64_t j = 0; j < 12; ++j)
          g[j] = (is_scaled ? 512.0f : 1.0f) * std::sin(static_cast<float>(3 * j) + float(i));
        optimizer.update(stream, ++step, 0.02f, is_scaled ? &scale : nullptr);
      }
      found[is_scaled ? 1 : 0] = parameters.values().to_host(stream);
    }
    for (std::size_t i = 0; i < found[0].size(); ++i)
      EXPECT_NEAR(found[0][i], found[1][i], 1e-5f) << i;
  }
}

class HalfCheckpoints : public fixtures::InFolder {};

/// Gradients overflow at first, and the factor doubles again later: all of that goes on, too.
TEST_F(HalfCheckpoints, GoOnBitForBitWithTheLossScale) {
  const Problem p = problem(false, false, false);
  for (const int size : {1, 3}) {
    std::filesystem::remove_all(folder_);
    TrainOptions options = quick(ModelKind::gcn);
    options.type = NumberType::float16;
    options.loss_scale = {.initial = 0x1p24f, .interval = 3};
    options.epochs = 12;
    std::vector<EpochRecord> records;
    const GraphPair graphs = fixtures::pair_of(p.graph, size);
    team::run_team(ranks(size), [&](team::Team& team) {
      Trainer trainer(team, graphs, p.dataset, options);
      const auto start = trainer.model().parameters().values().to_host(trainer.context().stream());
      (void)trainer.run([&](const EpochRecord& record) {
        if (record.epoch == 1) {
          EXPECT_EQ(trainer.model().parameters().values().to_host(trainer.context().stream()),
                    start);
        }
        if (team.rank() == 0) records.push_back(record);
      });
    });
    EXPECT_EQ(records[0].skipped_steps, 1u);
    EXPECT_EQ(records[0].loss_scale, 0x1p23f);
    EXPECT_GE(records.back().skipped_steps, 2u);
    EXPECT_LT(records.back().skipped_steps, 12u);
    const Trained whole = train_on(p, options, size);
    options.checkpoint = folder_;
    options.epochs = 7;
    (void)train_on(p, options, size);
    options.epochs = 12;
    const Trained rest = train_on(p, options, size, false, true);
    EXPECT_EQ(rest.numbers, std::vector<double>(whole.numbers.begin() + 28, whole.numbers.end()));
    EXPECT_EQ(rest.parameters, whole.parameters);
  }
}

TEST_F(HalfCheckpoints, OfOtherTypesAreTakenUp) {
  const Problem p = problem(false, false, false);
  TrainOptions options = quick(ModelKind::sage);
  options.checkpoint = folder_;
  options.epochs = 4;
  const Trained first = train_on(p, options, 2);
  // None of what they say is lost: parameters are float32 in all.
  for (const NumberType type :
       {NumberType::bfloat16, NumberType::float16, NumberType::float32, NumberType::float16}) {
    options.type = type;
    const Trained same = train_on(p, options, 1, false, true);
    EXPECT_EQ(same.result.epochs, options.epochs);
    EXPECT_TRUE(same.numbers.empty());
    options.epochs += 2;
    const Trained next = train_on(p, options, 2, false, true);
    ASSERT_EQ(next.numbers.size(), 8u);
    EXPECT_LT(next.numbers[0], 1.2 * first.numbers[12]);
  }
  EXPECT_EQ(read_tensors(folder_ + "/state.safetensors").text("type", folder_), "float16");
}

TEST(HalfPlans, AreAboutHalfOfThoseOfFloat32) {
  const Problem p = problem(false, false, false);
  const GraphPair graphs = fixtures::pair_of(p.graph, 1);
  for (const ModelKind kind : fixtures::kAllKinds) {
    TrainOptions options = quick(kind);
    options.model.features = p.dataset.width;
    options.model.classes = p.dataset.classes;
    const auto part = [&](NumberType type, const std::string& name) {
      options.type = type;
      const MemoryPlan plan = plan_memory(graphs, p.dataset, options);
      for (const auto& [what, bytes] : plan.parts) {
        if (what == name) return bytes;
      }
      return std::uint64_t{0};
    };
    for (const char* name : {"features", "outputs of layers", "gradients"})
      EXPECT_EQ(2 * part(NumberType::bfloat16, name), part(NumberType::float32, name)) << name;
    EXPECT_LT(part(NumberType::float16, "scratch"), part(NumberType::float32, "scratch"));
    EXPECT_EQ(part(NumberType::bfloat16, "parameters"), part(NumberType::float32, "parameters"));
    EXPECT_EQ(part(NumberType::float16, "parameters"),
              part(NumberType::float32, "parameters") + sizeof(LossScaleState));
  }
}

}  // namespace
}  // namespace warren::learn
