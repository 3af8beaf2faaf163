// SPDX-License-Identifier: Apache-2.0
// Losses, updates, masks, and whole trainings: equal on teams of all sizes.
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/learn/trainer.hpp"

#include "learn/problems.hpp"
#include "learn/rows/exponential.hpp"
#include "learn/train/class_weights.hpp"
#include "support/size.hpp"

namespace warren::learn {
namespace {

using fixtures::Problem;
using fixtures::problem;
using fixtures::quick;
using fixtures::ranks;
using fixtures::train_on;
using fixtures::Trained;
using reference::Values;

/// Mean loss over the training vertices, in double; of cross-entropy weighted by classes.
double loss_of(LossKind kind, const Values& x, std::uint64_t k, const Dataset& data,
               const std::vector<double>& weights = {}) {
  double sum = 0.0;
  double of_all = 0.0;
  for (std::uint64_t v = 0; v < data.vertices; ++v) {
    if (data.splits[v] != kTrain) continue;
    const double weight = weights.empty() ? 1.0 : weights[static_cast<std::size_t>(data.labels[v])];
    of_all += weight;
    double total = 0.0;
    for (std::uint64_t c = 0; c < k; ++c) {
      const double s = x[v * k + c];
      const double y = data.targets.empty() ? 0.0 : static_cast<double>(data.targets[v * k + c]);
      if (kind == LossKind::cross_entropy) total += std::exp(s);
      if (kind == LossKind::binary)
        sum += -y * std::log(1.0 / (1.0 + std::exp(-s))) -
               (1.0 - y) * std::log(1.0 - 1.0 / (1.0 + std::exp(-s)));
      if (kind == LossKind::squared) sum += (s - y) * (s - y) / static_cast<double>(k);
    }
    if (kind == LossKind::cross_entropy)
      sum += weight * (std::log(total) - x[v * k + static_cast<std::uint64_t>(data.labels[v])]);
  }
  return sum / of_all;
}

Dataset labelled(std::uint64_t n, std::uint64_t k) {
  Dataset data;
  data.vertices = n;
  data.classes = k;
  for (std::uint64_t v = 0; v < n; ++v) {
    data.labels.push_back(static_cast<std::int32_t>(v * 7 % k));
    data.splits.push_back(static_cast<std::uint8_t>(v % 5 == 4 ? 0 : v % 4));
    if (v < 3) data.splits[v] = static_cast<std::uint8_t>(v + 1);
    for (std::uint64_t c = 0; c < k; ++c) data.targets.push_back((v + c) % 3 == 0 ? 1.0f : 0.0f);
  }
  finish_dataset(data, "the test's dataset");
  return data;
}

/// As learn::TrainOptions says of class weights.
std::vector<double> weights_of(const std::vector<float>& given, std::uint64_t k,
                               const Dataset& data) {
  std::vector<double> weights(given.begin(), given.end());
  if (!weights.empty()) return weights;
  weights.resize(k);
  for (std::uint64_t v = 0; v < data.vertices; ++v)
    if (data.splits[v] == kTrain) weights[static_cast<std::size_t>(data.labels[v])] += 1.0;
  for (double& weight : weights) weight = weight == 0.0 ? 0.0 : 1.0 / weight;
  return weights;
}

void check_loss(LossKind kind, std::uint64_t n, std::uint64_t k, int team_size,
                const std::optional<std::vector<float>>& by_class = std::nullopt) {
  SCOPED_TRACE(std::to_string(static_cast<int>(kind)) + ", " + std::to_string(k) + " classes on " +
               std::to_string(team_size));
  const Dataset data = labelled(n, k);
  Values x = fixtures::random_values(n * k, 5);
  for (double& value : x) value *= 4.0;
  std::vector<double> gradient;
  Scores scores;
  team::run_team(ranks(team_size), [&](team::Team& team) {
    Context context(team);
    const auto part = [&](int q) {
      return n * static_cast<std::uint64_t>(q) / static_cast<std::uint64_t>(team_size);
    };
    const std::uint64_t first = part(team.rank());
    const std::uint64_t rows = part(team.rank() + 1) - first;
    context.set_rows(rows, nullptr);
    const auto of = [&](const auto& all, std::uint64_t width) {
      return testing_support::on_device(
          context.stream(),
          std::vector(all.begin() + static_cast<std::ptrdiff_t>(first * width),
                      all.begin() + static_cast<std::ptrdiff_t>((first + rows) * width)));
    };
    Targets targets;
    targets.classes = of(data.labels, 1);
    targets.values = of(data.targets, k);
    targets.splits = of(data.splits, 1);
    targets.counts = data.counts;
    const auto there = of(std::vector<float>(x.begin(), x.end()), k);
    const memory::Buffer<float> dx(team.device(), rows * k);
    Loss loss(kind);
    TrainOptions options;
    options.class_weights = by_class;
    if (by_class) loss.weigh(context.stream(), class_factors(data, options));
    loss.run(context, targets, there.data(), k, dx.data());
    const Scores found = loss.result(context, targets);
    const auto mine = dx.to_host(context.stream());
    const auto all = team.all_gather_v(std::span<const float>(mine));
    if (team.rank() != 0) return;
    scores = found;
    for (const auto& piece : all) gradient.insert(gradient.end(), piece.begin(), piece.end());
  });
  const std::vector<double> weights =
      by_class ? weights_of(*by_class, k, data) : std::vector<double>{};
  EXPECT_NEAR(scores[0].loss, loss_of(kind, x, k, data, weights), 1e-5);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double slope =
        reference::derivative([&] { return loss_of(kind, x, k, data, weights); }, x[i]);
    ASSERT_NEAR(gradient[i], slope, 2e-6) << i;
  }
  for (std::size_t s = 0; s < kSplits; ++s) {
    double right = 0.0;
    double wrong = 0.0;
    for (std::uint64_t v = 0; v < n; ++v) {
      if (data.splits[v] != s + 1) continue;
      const double* row = x.data() + v * k;
      if (kind == LossKind::cross_entropy) {
        const bool is_right = std::max_element(row, row + k) - row == data.labels[v];
        (is_right ? right : wrong) += 1.0;
      }
      for (std::uint64_t c = 0; kind == LossKind::binary && c < k; ++c) {
        const bool found = row[c] > 0.0;
        const bool there = data.targets[v * k + c] > 0.5f;
        if (found && there) right += 2.0;
        if (found != there) wrong += 1.0;
      }
    }
    const double expected = right + wrong == 0.0 ? 0.0 : right / (right + wrong);
    EXPECT_NEAR(scores[s].accuracy, expected, 1e-12) << "split " << s;
  }
}

TEST(Losses, EqualDifferences) {
  for (const LossKind kind : {LossKind::cross_entropy, LossKind::binary, LossKind::squared}) {
    for (const int size : {1, 2, 3, 4}) {
      check_loss(kind, 30, 2, size);
      check_loss(kind, 23, 11, size);
    }
  }
}

TEST(Losses, OfClassesWithWeights) {
  for (const int size : {1, 2, 3, 4}) {
    check_loss(LossKind::cross_entropy, 30, 2, size, std::vector<float>{});
    check_loss(LossKind::cross_entropy, 30, 2, size, std::vector<float>{3.0f, 0.25f});
    check_loss(LossKind::cross_entropy, 30, 2, size, std::vector<float>{0.0f, 7.0f});
    check_loss(LossKind::cross_entropy, 23, 11, size, std::vector<float>{});
  }
  const Dataset data = labelled(30, 2);
  TrainOptions options;
  EXPECT_TRUE(class_factors(data, options).empty());
  for (const std::vector<float>& wrong : {std::vector<float>{1.0f},
                                          {1.0f, -1.0f},
                                          {0.0f, 0.0f},
                                          {1.0f, std::numeric_limits<float>::quiet_NaN()},
                                          {1.0f, std::numeric_limits<float>::infinity()}}) {
    options.class_weights = wrong;
    EXPECT_THROW((void)class_factors(data, options), UsageError);
  }
}

TEST(Losses, OfLargeScoresAreFinite) {
  for (const float size : {100.0f, 1e6f}) {
    const float x[] = {size, -size, 0.0f};
    team::run_team(ranks(1), [&](team::Team& team) {
      Context context(team);
      context.set_rows(1, nullptr);
      Targets targets;
      targets.classes = testing_support::on_device(context.stream(), std::vector<std::int32_t>{0});
      targets.splits = testing_support::on_device(context.stream(), std::vector<std::uint8_t>{1});
      targets.counts = {1, 0, 0};
      Loss loss(LossKind::cross_entropy);
      float gradient[3] = {};
      loss.run(context, targets, x, 3, gradient);
      EXPECT_NEAR(loss.result(context, targets)[0].loss, 0.0, 1e-6);
      for (const float g : gradient) EXPECT_NEAR(static_cast<double>(g), 0.0, 1e-6);
    });
  }
}

TEST(Exponential, EqualsTheLibrarys) {
  for (float x = -86.0f; x < 87.9f; x += 0.0137f) {
    const double expected = std::exp(static_cast<double>(x));
    ASSERT_NEAR(static_cast<double>(detail::exponential(x)) / expected, 1.0, 3e-7) << x;
  }
  EXPECT_TRUE(std::isnan(detail::exponential(std::nanf(""))));
  EXPECT_NEAR(static_cast<double>(detail::exponential(-1e30f)), 0.0, 1e-37);
}

TEST(Epilogues, AreTheirFormulasAndGradients) {
  const exec::Stream stream(exec::Device::cpu(2));
  const std::uint64_t n = 7, k = 13;
  const auto x = fixtures::random_values(n * k, 1);
  const auto residual = fixtures::random_values(n * k, 2);
  const auto bias = fixtures::random_values(k, 3);
  const auto narrow = [](const Values& v) { return std::vector<float>(v.begin(), v.end()); };
  const auto f_bias = narrow(bias);
  const auto f_residual = narrow(residual);
  for (const Activation kind :
       {Activation::none, Activation::relu, Activation::elu, Activation::leaky_relu}) {
    for (const float p : {0.0f, 0.4f}) {
      Epilogue epilogue;
      epilogue.bias = f_bias.data();
      epilogue.residual = f_residual.data();
      epilogue.activation = kind;
      epilogue.slope = 0.1f;
      epilogue.dropout = {random_key(1, 2, 3), p, nullptr};
      auto y = narrow(x);
      std::vector<float> dy(n * k, 1.0f);
      apply(stream, epilogue, n, k, y.data());
      apply_backward(stream, epilogue, n, k, y.data(), dy.data());
      for (std::uint64_t i = 0; i < n * k; ++i) {
        const double before = x[i] + bias[i % k] + residual[i];
        const float factor =
            p == 0.0f ? 1.0f : epilogue.dropout.factor(epilogue.dropout.row_key(i / k), i % k);
        const auto f = [&](double s) {
          if (s <= 0.0 && kind == Activation::relu) s = 0.0;
          if (s <= 0.0 && kind == Activation::elu) s = std::exp(s) - 1.0;
          if (s <= 0.0 && kind == Activation::leaky_relu) s *= 0.1;
          return s * static_cast<double>(factor);
        };
        ASSERT_NEAR(static_cast<double>(y[i]), f(before), 1e-6);
        const double slope = (f(before + 1e-6) - f(before - 1e-6)) / 2e-6;
        ASSERT_NEAR(static_cast<double>(dy[i]), slope, 1e-5);
      }
    }
  }
}

TEST(Dropout, KeepsItsShareAndDependsOnTheInputsIds) {
  const std::uint64_t n = 400, k = 100;
  for (const float p : {0.1f, 0.5f, 0.9f}) {
    const Dropout dropout{random_key(1, 1, 1), p, nullptr};
    double kept = 0.0;
    double repeated = 0.0;
    for (std::uint64_t r = 0; r < n; ++r) {
      for (std::uint64_t c = 0; c < k; ++c) {
        const bool here = dropout.factor(dropout.row_key(r), c) > 0.0f;
        kept += here ? 1.0 : 0.0;
        repeated += here == (dropout.factor(dropout.row_key(r + 1), c) > 0.0f) ? 1.0 : 0.0;
      }
    }
    const double share = 1.0 - static_cast<double>(p);
    EXPECT_NEAR(kept / static_cast<double>(n * k), share, 0.01);
    EXPECT_NEAR(repeated / static_cast<double>(n * k), share * share + (1 - share) * (1 - share),
                0.01);
  }
  const Vertex ids[] = {5, 3};
  const Dropout plain{7, 0.5f, nullptr};
  const Dropout mapped{7, 0.5f, ids};
  EXPECT_EQ(plain.row_key(5), mapped.row_key(0));
  EXPECT_NE(plain.row_key(0), mapped.row_key(0));
}

TEST(Optimizers, FollowTheirPapers) {
  const exec::Stream stream(exec::Device::cpu(1));
  for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw}) {
    for (const float clip : {0.0f, 0.5f}) {
      Parameters parameters;
      parameters.add({.name = "w", .rows = 3, .columns = 2, .initial = Initial::glorot});
      parameters.add(
          {.name = "b", .rows = 1, .columns = 2, .initial = Initial::ones, .decay = 0.0f});
      parameters.add(
          {.name = "a", .rows = 2, .columns = 2, .initial = Initial::ones, .decay = 2.5f});
      parameters.allocate(stream, 3);
      OptimizerOptions options;
      options.kind = kind;
      options.weight_decay = 0.1f;
      options.clip = clip;
      Optimizer optimizer(stream, options, parameters);
      float* w = parameters.values().data();
      float* g = parameters.gradients().data();
      const std::uint64_t size = parameters.size();
      Values value(w, w + size), first(size, 0.0), second(size, 0.0);
      for (std::uint64_t step = 1; step <= 4; ++step) {
        double squares = 0.0;
        for (std::uint64_t i = 0; i < size; ++i) {
          g[i] = i < 6 || (i >= 8 && i < 10) || i >= 12
                     ? static_cast<float>(std::sin(static_cast<double>(3 * i + step)))
                     : 0.0f;
          squares += static_cast<double>(g[i] * g[i]);
        }
        const double rate = 0.02;
        for (std::uint64_t i = 0; i < size; ++i) {
          double slope = static_cast<double>(g[i]);
          if (clip > 0.0f && std::sqrt(squares) > static_cast<double>(clip))
            slope *= static_cast<double>(clip) / std::sqrt(squares);
          const double decay = i < 6 ? 0.1 : (i >= 12 ? 0.25 : 0.0);
          if (kind == OptimizerKind::adamw) {
            value[i] *= 1.0 - rate * decay;
          } else {
            slope += decay * value[i];
          }
          if (kind == OptimizerKind::sgd) {
            first[i] = 0.9 * first[i] + slope;
            value[i] -= rate * first[i];
            continue;
          }
          first[i] = 0.9 * first[i] + 0.1 * slope;
          second[i] = 0.999 * second[i] + 0.001 * slope * slope;
          value[i] -=
              rate * (first[i] / (1.0 - std::pow(0.9, static_cast<double>(step)))) /
              (std::sqrt(second[i] / (1.0 - std::pow(0.999, static_cast<double>(step)))) + 1e-8);
        }
        optimizer.update(stream, step, 0.02f);
        for (std::uint64_t i = 0; i < size; ++i)
          ASSERT_NEAR(static_cast<double>(w[i]), value[i], 2e-5) << "step " << step;
      }
    }
  }
}

TEST(Optimizers, RatesFollowTheSchedule) {
  OptimizerOptions options;
  options.rate = 1.0f;
  EXPECT_FLOAT_EQ(rate_at(options, 70, 100), 1.0f);
  options.warmup = 4;
  EXPECT_FLOAT_EQ(rate_at(options, 0, 100), 0.25f);
  EXPECT_FLOAT_EQ(rate_at(options, 4, 100), 1.0f);
  options.schedule = Schedule::cosine;
  EXPECT_NEAR(static_cast<double>(rate_at(options, 50, 100)), 0.5, 1e-6);
  options.schedule = Schedule::step;
  EXPECT_NEAR(static_cast<double>(rate_at(options, 50, 100)), 0.1, 1e-6);
}

bool is_max(const TrainOptions& options) {
  return options.model.kind == ModelKind::sage && options.model.aggregate == SageAggregate::max;
}

TEST(Training, IsTheSameOnTeamsOfAllSizes) {
  for (const ModelKind kind : fixtures::kAllKinds) {
    for (const bool is_directed : {false, true}) {
      SCOPED_TRACE(name_of(kind) + (is_directed ? ", directed" : ""));
      const Problem p = problem(is_directed, is_directed, kind == ModelKind::sage && is_directed);
      TrainOptions options = quick(kind);
      if (kind == ModelKind::sage && !is_directed) options.model.aggregate = SageAggregate::max;
      // Adam makes whole steps of gradients that are nothing but rounding, of which a batch norm
      // makes some.
      if (kind == ModelKind::gin) options.optimizer.kind = OptimizerKind::sgd;
      if (testing_support::is_small()) options.epochs = 3;
      const Trained alone = train_on(p, options, 1);
      ASSERT_EQ(alone.numbers.size(), options.epochs * 4);
      EXPECT_EQ(alone.numbers, train_on(p, options, 1).numbers) << "a run does not repeat";
      for (const int size : {2, 3, 4}) {
        // Three ranks have vertices dealt out to them at random, the others ranges.
        const Trained team = train_on(p, options, size, size == 3);
        ASSERT_EQ(team.numbers.size(), alone.numbers.size());
        for (std::size_t i = 0; i < alone.numbers.size(); ++i)
          ASSERT_NEAR(team.numbers[i], alone.numbers[i], 1e-4 * (1.0 + alone.numbers[i]))
              << size << " ranks, number " << i;
      }
    }
  }
}

/// Every model of the CPU's numbers, on teams of GPUs, products in full float32.
TEST(TrainingCuda, IsTheSameAsOnTheCpu) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  const auto check = [&](TrainOptions options, bool is_directed) {
    const Problem p = problem(is_directed, is_directed && !is_max(options), false);
    options.allow_tf32 = false;
    // As above.
    if (options.model.kind == ModelKind::gin) options.optimizer.kind = OptimizerKind::sgd;
    if (testing_support::is_small()) options.epochs = 3;
    const Trained cpu = train_on(p, options, 1);
    for (const auto& team : gpus) {
      SCOPED_TRACE(name_of(options.model.kind) + (is_directed ? ", directed, " : ", ") +
                   testing_support::name_of(team));
      const Trained gpu = train_on(p, options, team, team.ranks == 3);
      ASSERT_EQ(gpu.numbers.size(), cpu.numbers.size());
      for (std::size_t i = 0; i < cpu.numbers.size(); ++i)
        ASSERT_NEAR(gpu.numbers[i], cpu.numbers[i], 2e-4 * (1.0 + cpu.numbers[i])) << i;
    }
  };
  for (const bool is_directed : {false, true}) {
    for (const ModelKind kind : fixtures::kAllKinds) check(quick(kind), is_directed);
    TrainOptions largest = quick(ModelKind::sage);
    largest.model.aggregate = SageAggregate::max;
    check(largest, is_directed);
  }
}

TEST(Training, IsTheSameOfSparseAndDenseFeatures) {
  const Problem sparse = problem(true, true, false);
  Problem dense = sparse;
  make_dense(dense.dataset, 0.0);
  ASSERT_TRUE(sparse.dataset.is_sparse());
  ASSERT_FALSE(dense.dataset.is_sparse());
  for (const ModelKind kind : {ModelKind::gcn, ModelKind::sage, ModelKind::gat, ModelKind::gatv2}) {
    const Trained one = train_on(sparse, quick(kind), 1);
    const Trained other = train_on(dense, quick(kind), 2);
    ASSERT_EQ(one.numbers.size(), other.numbers.size());
    for (std::size_t i = 0; i < one.numbers.size(); ++i)
      ASSERT_NEAR(one.numbers[i], other.numbers[i], 1e-4 * (1.0 + one.numbers[i]))
          << name_of(kind) << ", number " << i;
  }
}

TEST(Training, LearnsWhatCanBeLearnt) {
  const Problem p = problem(false, false, false);
  for (const ModelKind kind : fixtures::kAllKinds) {
    TrainOptions options = quick(kind);
    options.model.layers = 2;
    options.model.dropout = 0.1f;
    options.epochs = 60;
    EXPECT_GT(train_on(p, options, 2).result.test_accuracy, 0.7) << name_of(kind);
  }
}

TEST(Training, StopsWhereItGetsNoBetter) {
  const Problem p = problem(false, false, false);
  TrainOptions options = quick(ModelKind::gcn);
  options.optimizer.rate = 0.0f;
  options.epochs = 50;
  options.patience = 3;
  const Trained found = train_on(p, options, 2);
  EXPECT_TRUE(found.result.has_stopped_early);
  EXPECT_EQ(found.result.best_epoch, 1u);
  EXPECT_EQ(found.result.epochs, 4u);
}

}  // namespace
}  // namespace warren::learn
