// SPDX-License-Identifier: Apache-2.0
// Checkpoints: trainings that go on from them, what they keep of trainings that diverge or are cut
// off, and those that are refused.
#include <bit>
#include <filesystem>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/learn/trainer.hpp"

#include "learn/problems.hpp"
#include "support/message_of.hpp"
#include "support/size.hpp"

namespace warren::learn {
namespace {

using fixtures::Problem;
using fixtures::problem;
using fixtures::quick;
using fixtures::train_on;
using fixtures::Trained;
using testing_support::message_of;

class Checkpoints : public fixtures::InFolder {};

TEST_F(Checkpoints, GoOnBitForBit) {
  const Problem p = problem(true, false, false);
  for (const int size : {1, 3}) {
    std::filesystem::remove_all(folder_);
    TrainOptions options = quick(ModelKind::gat);
    const Trained whole = train_on(p, options, size);
    options.checkpoint = folder_;
    options.epochs = 5;
    (void)train_on(p, options, size);
    options.epochs = 8;
    const Trained rest = train_on(p, options, size, false, true);
    EXPECT_EQ(rest.numbers, std::vector<double>(whole.numbers.begin() + 20, whole.numbers.end()));
    EXPECT_EQ(rest.parameters, whole.parameters);
    EXPECT_EQ(rest.result.best_epoch, whole.result.best_epoch);
    EXPECT_EQ(rest.result.test_accuracy, whole.result.test_accuracy);
  }
}

TEST_F(Checkpoints, OfOtherModelsAreRefused) {
  const Problem p = problem(false, false, false);
  TrainOptions options = quick(ModelKind::gcn);
  options.checkpoint = folder_;
  options.epochs = 1;
  (void)train_on(p, options, 1);
  EXPECT_EQ(read_model_options(folder_).hidden, 16u);
  options.model.hidden = 32;
  try {
    (void)train_on(p, options, 1, false, true);
    FAIL() << "another width was taken";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("hidden"), std::string::npos) << error.what();
  }
  // Cut off anywhere, it is refused and not read.
  const std::string path = folder_ + "/model.safetensors";
  const auto size = std::filesystem::file_size(path);
  for (const std::uintmax_t kept : {std::uintmax_t{0}, std::uintmax_t{7}, size / 3, size - 1}) {
    std::filesystem::resize_file(path, kept);
    EXPECT_THROW((void)read_tensors(path), InputError) << kept;
  }
}

TEST_F(Checkpoints, GoOnInValueOnOtherTeams) {
  const Problem p = problem(true, false, false);
  for (const ModelKind kind : fixtures::kAllKinds) {
    std::filesystem::remove_all(folder_);
    TrainOptions options = quick(kind);
    // Adam makes whole steps of gradients that are nothing but rounding, of which a batch norm
    // makes some.
    if (kind == ModelKind::gin) options.optimizer.kind = OptimizerKind::sgd;
    const Trained whole = train_on(p, options, 2);
    options.checkpoint = folder_;
    options.epochs = 3;
    (void)train_on(p, options, 2);
    options.epochs = 8;
    for (const int size : {1, 3, 4}) {
      const std::string copy = folder_ + "/of_" + std::to_string(size);
      std::filesystem::create_directories(copy);
      std::filesystem::copy_file(folder_ + "/state.safetensors", copy + "/state.safetensors");
      TrainOptions other = options;
      other.checkpoint = copy;
      const Trained rest = train_on(p, other, size, size == 3, true);
      ASSERT_EQ(rest.numbers.size() + 12, whole.numbers.size());
      for (std::size_t i = 0; i < rest.numbers.size(); ++i)
        ASSERT_NEAR(rest.numbers[i], whole.numbers[12 + i], 1e-4 * (1.0 + whole.numbers[12 + i]))
            << name_of(kind) << " on " << size << " ranks, number " << i;
    }
  }
}

TEST_F(Checkpoints, AreGoodOnesWhereTrainingsDiverge) {
  const Problem p = problem(false, false, false);
  for (const ModelKind kind : {ModelKind::gin, ModelKind::sage}) {
    std::filesystem::remove_all(folder_);
    TrainOptions options = quick(kind);
    options.checkpoint = folder_;
    options.checkpoint_every = 1;
    options.epochs = 2;
    (void)train_on(p, options, 2);
    const float sane = options.optimizer.rate;
    options.optimizer.rate = 1e30f;
    // Its update is the one that goes wrong, and there is no epoch after it.
    options.epochs = 3;
    const std::string message =
        message_of<UsageError>([&] { (void)train_on(p, options, 2, false, true); });
    EXPECT_THAT(message, ::testing::HasSubstr("in epoch 3"));
    EXPECT_THAT(message, ::testing::HasSubstr("the checkpoint is the last good one"));
    const std::string path = folder_ + "/state.safetensors";
    const TensorFile state = read_tensors(path);
    EXPECT_EQ(state.number("epoch", path), 2u);
    for (const NamedTensor& tensor : state.tensors) {
      for (const float value : tensor.values) ASSERT_TRUE(std::isfinite(value)) << tensor.name;
    }
    options.optimizer.rate = sane;
    options.epochs = 4;
    EXPECT_EQ(train_on(p, options, 2, false, true).result.epochs, 4u);
  }
}

TEST_F(Checkpoints, AreNotWrittenOfNumbersThatAreNotFinite) {
  const Problem p = problem(false, false, false);
  TrainOptions options = quick(ModelKind::gcn);
  options.checkpoint = folder_;
  const GraphPair graphs = fixtures::pair_of(p.graph, 1);
  team::run_team(fixtures::ranks(1), [&](team::Team& team) {
    Trainer trainer(team, graphs, p.dataset, options);
    // A loss need not show it: rectifiers make zeros of it.
    trainer.model().parameters().value(0)[1] = -std::numeric_limits<float>::infinity();
    const std::string message = message_of<UsageError>([&] { trainer.save(); });
    EXPECT_THAT(message, ::testing::HasSubstr("layers.0"));
    EXPECT_THAT(message, ::testing::Not(::testing::HasSubstr("the checkpoint")));
    EXPECT_FALSE(std::filesystem::exists(folder_));
  });
}

TEST_F(Checkpoints, WithinTheFirstEpochHaveItsParameters) {
  const Problem p = problem(false, false, false);
  TrainOptions options = quick(ModelKind::sage);
  options.model.layers = 2;
  options.epochs = 1;
  options.sampled.emplace();
  options.sampled->fanouts = {3, 3};
  options.sampled->batch = 20;
  options.checkpoint = folder_;
  options.checkpoint_batches = 1;
  const GraphPair graphs = fixtures::pair_of(p.graph, 2);
  team::run_team(fixtures::ranks(2), [&](team::Team& team) {
    Trainer trainer(team, graphs, p.dataset, options);
    (void)trainer.run([&](const EpochRecord&) {
      // The last checkpoint so far is one within the epoch. Rank 0 will write the next.
      if (team.rank() != 0) return;
      const std::string path = folder_ + "/model.safetensors";
      const TensorFile model = read_tensors(path);
      const TensorFile state = read_tensors(folder_ + "/state.safetensors");
      EXPECT_TRUE(state.metadata.contains("batches"));
      EXPECT_EQ(model.number("epoch", path), 0u);
      const auto is_weight = [](const NamedTensor& t) { return t.name == "layers.0.self.weight"; };
      EXPECT_TRUE(std::any_of(model.tensors.begin(), model.tensors.end(), is_weight));
      for (const NamedTensor& tensor : model.tensors) {
        EXPECT_EQ(tensor.values, state.tensor("current." + tensor.name, path).values);
        const auto is_zero = [](float value) { return value == 0.0f; };
        EXPECT_FALSE(std::all_of(tensor.values.begin(), tensor.values.end(), is_zero))
            << tensor.name;
      }
    });
  });
}

TEST_F(Checkpoints, KnowSkips) {
  const Problem p = problem(true, false, false);
  TrainOptions options = quick(ModelKind::sage);
  options.model.residual = false;
  options.model.skip = true;
  const Trained whole = train_on(p, options, 2);
  options.checkpoint = folder_;
  options.epochs = 5;
  (void)train_on(p, options, 2);
  EXPECT_TRUE(read_model_options(folder_).skip);
  TrainOptions other = options;
  other.model.skip = false;
  EXPECT_THAT(message_of<InputError>([&] { (void)train_on(p, other, 2, false, true); }),
              ::testing::HasSubstr("skip"));
  options.epochs = 8;
  const Trained rest = train_on(p, options, 2, false, true);
  EXPECT_EQ(rest.numbers, std::vector<double>(whole.numbers.begin() + 20, whole.numbers.end()));
  EXPECT_EQ(rest.parameters, whole.parameters);
}

TEST_F(Checkpoints, OfOtherOptimizersAreRefused) {
  const Problem p = problem(false, false, false);
  const auto resumed = [&](OptimizerKind kind) {
    TrainOptions options = quick(ModelKind::gcn);
    options.checkpoint = folder_;
    options.epochs = 2;
    options.optimizer.kind = kind;
    return message_of<InputError>([&] { (void)train_on(p, options, 2, false, true); });
  };
  constexpr OptimizerKind kKinds[] = {OptimizerKind::sgd, OptimizerKind::adam,
                                      OptimizerKind::adamw};
  const std::string path = folder_ + "/state.safetensors";
  for (const OptimizerKind first : kKinds) {
    std::filesystem::remove_all(folder_);
    TrainOptions options = quick(ModelKind::gcn);
    options.checkpoint = folder_;
    options.epochs = 1;
    options.optimizer.kind = first;
    (void)train_on(p, options, 2);
    TensorFile state = read_tensors(path);
    for (const OptimizerKind second : kKinds) {
      if (second == first) continue;
      EXPECT_THAT(resumed(second),
                  ::testing::HasSubstr("of the optimizer " + name_of(first) +
                                       ", but this training's is " + name_of(second)));
    }
    // One that does not say it is taken for what it may be.
    state.metadata.erase("optimizer");
    write_tensors(path, state);
    const OptimizerKind other =
        first == OptimizerKind::sgd ? OptimizerKind::adam : OptimizerKind::sgd;
    EXPECT_THAT(resumed(other), ::testing::HasSubstr("--optimizer"));
    EXPECT_EQ(resumed(first), "nothing was thrown");
  }
}

TEST_F(Checkpoints, HaveAllEpochs) {
  const Problem p = problem(false, false, false);
  TrainOptions options = quick(ModelKind::gcn);
  options.checkpoint = folder_;
  const GraphPair graphs = fixtures::pair_of(p.graph, 2);
  std::vector<double> losses;
  for (const std::uint64_t epochs : {3, 8}) {
    options.epochs = epochs;
    team::run_team(fixtures::ranks(2), [&](team::Team& team) {
      Trainer trainer(team, graphs, p.dataset, options);
      if (has_state(folder_)) trainer.resume();
      (void)trainer.run([&](const EpochRecord& record) {
        if (team.rank() == 0) losses.push_back(record.loss);
      });
      const std::vector<EpochRecord>& history = trainer.history();
      ASSERT_EQ(history.size(), epochs);
      for (std::size_t i = 0; i < history.size(); ++i) {
        EXPECT_EQ(history[i].epoch, i + 1);
        EXPECT_EQ(history[i].loss, losses[i]);
        EXPECT_GT(history[i].scores[1].loss, 0.0);
        EXPECT_GT(history[i].seconds, 0.0);
      }
    });
  }
  EXPECT_EQ(losses.size(), 8u);
}

TEST_F(Checkpoints, OfOtherDatasetsAreRefused) {
  Problem p = problem(true, false, false);
  TrainOptions options = quick(ModelKind::sage);
  options.checkpoint = folder_;
  options.epochs = 1;
  (void)train_on(p, options, 2);
  const auto resumed = [&](const Problem& other) {
    return message_of<InputError>([&] { (void)train_on(other, options, 1, true, true); });
  };
  EXPECT_EQ(resumed(p), "nothing was thrown");
  Problem other = p;
  other.dataset.dense[17] += 1.0f;
  EXPECT_THAT(resumed(other), ::testing::HasSubstr("other features"));
  other = p;
  std::swap(other.dataset.labels[3], other.dataset.labels[other.dataset.labels.size() - 1]);
  other.dataset.labels[0] = (other.dataset.labels[0] + 1) % 3;
  EXPECT_THAT(resumed(other), ::testing::HasSubstr("other labels"));
  other = problem(false, false, false);
  other.dataset = p.dataset;
  EXPECT_THAT(resumed(other), ::testing::HasSubstr("edges"));
}

TEST(DatasetMark, IsOfTheDatasetAlone) {
  const Problem p = problem(true, false, false);
  const DatasetMark mark = mark_of(fixtures::pair_of(p.graph, 1), p.dataset);
  EXPECT_EQ(mark_of(fixtures::in_random_order(p.graph, 3), p.dataset), mark);
  Dataset sparse = p.dataset;
  sparse.sparse = fixtures::sparse_rows(p.dataset.dense, p.dataset.vertices, p.dataset.width);
  sparse.dense.clear();
  EXPECT_EQ(mark_of(fixtures::pair_of(p.graph, 2), sparse), mark);
  EXPECT_EQ(difference(mark, mark), "");
  Dataset unlabelled = p.dataset;
  drop_labels(unlabelled, unlabelled.classes);
  const DatasetMark other = mark_of(fixtures::pair_of(p.graph, 1), unlabelled);
  EXPECT_TRUE(has_same_inputs(mark, other));
  EXPECT_THAT(difference(mark, other), ::testing::HasSubstr("labels"));
}

TEST(TensorFile, RealNumbersReadBackAsTheyWere) {
  TensorFile file;
  for (const double value : {0.0, 1.0, 0.1, 1.0 / 3.0, 5e-324, 1.7976931348623157e308, -2.5e-17}) {
    file.set_real("x", value);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(file.real("x", "f")),
              std::bit_cast<std::uint64_t>(value));
  }
  file.set_real("x", 0.25);
  EXPECT_EQ(file.text("x", "f"), "0.25");
  file.metadata["x"] = "0.25x";
  EXPECT_THROW((void)file.real("x", "f"), InputError);
  // As files had it that do not say their format.
  TensorFile old;
  old.metadata["x"] = std::to_string(std::bit_cast<std::uint64_t>(0.75));
  EXPECT_EQ(old.real("x", "f"), 0.75);
}

TEST(Settings, ThatContradictAreNamed) {
  TrainOptions options = quick(ModelKind::sage);
  options.inputs = {{"normalize", "none"}, {"symmetrize", "true"}};
  const Settings stored = settings_of(options);
  EXPECT_EQ(stored.at("lr"), "0.02");
  const auto refused = [&](Purpose purpose, bool allows) {
    return message_of<UsageError>(
        [&] { check_settings("kept", purpose, stored, settings_of(options), allows); });
  };
  EXPECT_EQ(refused(Purpose::resume, false), "nothing was thrown");
  options.epochs = 99;
  options.patience = 3;
  EXPECT_EQ(refused(Purpose::resume, false), "nothing was thrown");
  options.optimizer.rate = 0.5f;
  EXPECT_THAT(refused(Purpose::resume, false),
              ::testing::AllOf(::testing::HasSubstr("kept"), ::testing::HasSubstr("--lr 0.02"),
                               ::testing::HasSubstr("--lr 0.5")));
  EXPECT_EQ(refused(Purpose::resume, true), "nothing was thrown");
  EXPECT_EQ(refused(Purpose::predict, false), "nothing was thrown");
  EXPECT_THAT(changed_settings(stored, settings_of(options)),
              ::testing::ElementsAre("lr: 0.02, now 0.5"));
  options.inputs["symmetrize"] = "false";
  EXPECT_THAT(refused(Purpose::predict, false), ::testing::HasSubstr("no --symmetrize is given"));
  EXPECT_THAT(refused(Purpose::resume, true), ::testing::HasSubstr("no --symmetrize is given"));
  EXPECT_EQ(refused(Purpose::predict, true), "nothing was thrown");
}

TEST(Settings, ThatAreNoNumbersMakeNoTraining) {
  const auto refused = [](auto&& change) {
    TrainOptions options = quick(ModelKind::gcn);
    change(options);
    return message_of<UsageError>([&] { check(options); });
  };
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(refused([](TrainOptions&) {}), "nothing was thrown");
  for (const float bad : {kNan, kInfinity, -1.0f}) {
    EXPECT_THAT(refused([&](TrainOptions& o) { o.optimizer.rate = bad; }),
                ::testing::HasSubstr("--lr"));
    EXPECT_THAT(refused([&](TrainOptions& o) { o.optimizer.weight_decay = bad; }),
                ::testing::HasSubstr("--weight-decay"));
    EXPECT_THAT(refused([&](TrainOptions& o) { o.optimizer.clip = bad; }),
                ::testing::HasSubstr("--clip"));
  }
}

}  // namespace
}  // namespace warren::learn
