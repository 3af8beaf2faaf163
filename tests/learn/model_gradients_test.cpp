// SPDX-License-Identifier: Apache-2.0
// Whole models, backward: gradients of the parameters are what differences of the scores say, of
// every kind of layer with what is around it: norms, residuals, skips, dropout, shared memory.
#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/learn/model.hpp"

#include "learn/fixtures.hpp"
#include "support/size.hpp"

namespace warren::learn {
namespace {

using fixtures::Kind;
using fixtures::kKinds;
using reference::Values;

constexpr std::uint64_t kVertices = 90;
constexpr std::uint64_t kFeatures = 7;

/// One rank's model, and sum(scores x weights) over all ranks as a function of its parameters.
class Objective {
 public:
  Objective(team::Team& team, const GraphPair& graphs, const ModelOptions& options, bool is_sparse)
      : context_(team, {.allow_tf32 = false}),
        model_(context_, graphs, options, is_sparse),
        features_(make_features(context_, graphs, is_sparse)),
        values_(model_.parameters().values().to_host(context_.stream())) {
    const auto rank = static_cast<std::size_t>(team.rank());
    const Values all = fixtures::random_values(kVertices * options.classes, 2);
    const auto at = [&](std::size_t q) {
      return all.begin() + static_cast<std::ptrdiff_t>(graphs.cuts[q] * options.classes);
    };
    weights_.assign(at(rank), at(rank + 1));
    // Zeros would hide mistakes, and so would gains of one.
    for (const Parameter& p : model_.parameters().list()) {
      for (std::uint64_t i = 0; i < p.size(); ++i) {
        float& value = values_[p.offset + i];
        if (p.initial == Initial::zeros) value = 0.2f * fixtures::gain(i);
        if (p.initial == Initial::ones) value = fixtures::gain(i);
      }
    }
  }
  [[nodiscard]] const Parameters& parameters() const { return model_.parameters(); }

  /// With the parameters moved by step x direction. Collective.
  double at(double step, const Values& direction) {
    std::vector<float> moved = values_;
    for (std::size_t i = 0; i < moved.size(); ++i)
      moved[i] += static_cast<float>(step * direction[i]);
    const exec::Stream& stream = context_.stream();
    model_.parameters().values().upload(stream, moved);
    context_.begin(3, 1, true);
    const ConstNumbers scores = model_.forward(context_, features_);
    std::vector<float> there(weights_.size());
    exec::copy(stream, there.data(), scores.raw(), there.size() * sizeof(float));
    stream.synchronize();
    const double mine = std::inner_product(there.begin(), there.end(), weights_.begin(), 0.0);
    return context_.team().all_reduce(mine, std::plus<>());
  }
  /// Collective.
  Values gradient() {
    (void)at(0.0, Values(values_.size(), 0.0));
    const exec::Stream& stream = context_.stream();
    const std::vector<float> narrow(weights_.begin(), weights_.end());
    exec::copy(stream, model_.scores_gradient().raw(), narrow.data(),
               narrow.size() * sizeof(float));
    model_.parameters().clear_gradients(stream);
    model_.backward(context_, model_.scores_gradient());
    model_.parameters().reduce_gradients(context_);
    const auto found = model_.parameters().gradients().to_host(stream);
    return {found.begin(), found.end()};
  }

 private:
  static Features make_features(Context& context, const GraphPair& graphs, bool is_sparse) {
    const auto rank = static_cast<std::size_t>(context.team().rank());
    const Values all = fixtures::random_values(kVertices * kFeatures, 1);
    std::vector<float> mine;
    for (std::uint64_t i = graphs.cuts[rank] * kFeatures; i < graphs.cuts[rank + 1] * kFeatures;
         ++i)
      mine.push_back(is_sparse && i % 3 == 0 ? 0.0f : static_cast<float>(all[i]));
    if (!is_sparse) return {context.stream(), mine, kFeatures};
    return {context.stream(), fixtures::sparse_rows(mine, mine.size() / kFeatures, kFeatures)};
  }

  Context context_;
  Model model_;
  Features features_;
  std::vector<float> values_;
  Values weights_;
};

double length_of(const Values& v) {
  return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

/// Of every matrix by itself, along its gradient and along a direction that has nothing to do with
/// it, so that neither a wrong length nor a missing part passes.
void check_model(const ModelOptions& options, const team::TeamOptions& team_options,
                 bool is_sparse) {
  graph::Graph graph = fixtures::random_graph(kVertices, 500, 5, options.norm == NormKind::batch);
  if (options.edge_weights)
    graph = fixtures::with_weights(std::move(graph),
                                   [](EdgeOffset e) { return static_cast<float>(e % 7) * 0.5f; });
  const GraphPair graphs = fixtures::pair_of(std::move(graph), team_options.ranks);
  team::run_team(team_options, [&](team::Team& team) {
    Objective objective(team, graphs, options, is_sparse);
    const Values gradient = objective.gradient();
    // What a pass leaves in the memory that layers share must not matter to the next.
    EXPECT_EQ(objective.gradient(), gradient);
    const double all = length_of(gradient);
    std::uint64_t seed = 10;
    for (const Parameter& p : objective.parameters().list()) {
      const auto from = static_cast<std::ptrdiff_t>(p.offset);
      const auto size = static_cast<std::ptrdiff_t>(p.size());
      for (const bool is_along : {true, false}) {
        Values direction(gradient.size(), 0.0);
        const Values drawn = fixtures::random_values(p.size(), ++seed);
        const auto source = is_along ? gradient.begin() + from : drawn.begin();
        std::copy_n(source, size, direction.begin() + from);
        const double length = length_of(direction);
        if (length < 1e-6 * all) continue;
        for (double& d : direction) d /= length;
        const double expected =
            std::inner_product(direction.begin(), direction.end(), gradient.begin(), 0.0);
        // Rectifiers may bend within a step, and short steps end in rounding: one of them is right.
        const double tolerance = 0.01 * std::abs(expected) + 2e-3 * all;
        double slope = std::numeric_limits<double>::infinity();
        for (const double step : {1e-3, 2.5e-4, 6e-5, 4e-3}) {
          if (std::abs(slope - expected) <= tolerance) break;
          slope = (objective.at(step, direction) - objective.at(-step, direction)) / (2.0 * step);
        }
        EXPECT_NEAR(slope, expected, tolerance)
            << p.name << (is_along ? ", along its gradient" : ", along another direction");
      }
    }
  });
}

void check_models(const std::vector<team::TeamOptions>& teams) {
  enum class Added { nothing, residual, skip };
  for (const Kind& kind : kKinds) {
    for (const NormKind norm : {NormKind::none, NormKind::batch, NormKind::layer}) {
      for (const Added added : {Added::nothing, Added::residual, Added::skip}) {
        for (const bool recomputes : {false, true}) {
          if (recomputes && testing_support::is_small()) continue;
          ModelOptions options;
          options.kind = kind.kind;
          options.aggregate = kind.aggregate;
          options.norm = norm;
          options.residual = added == Added::residual;
          options.skip = added == Added::skip;
          options.recompute = recomputes;
          options.layers = 4;
          options.hidden = 8;
          options.heads = 2;
          options.features = kFeatures;
          // More and fewer than the hidden layers have: gradients then lie elsewhere.
          options.classes = norm == NormKind::batch ? 11 : 3;
          options.dropout = 0.3f;
          const bool is_sparse = norm == NormKind::layer && kind.aggregate != SageAggregate::max;
          const std::size_t first = testing_support::is_small() ? teams.size() - 1 : 0;
          for (std::size_t t = first; t < teams.size(); ++t) {
            SCOPED_TRACE(
                std::string(kind.name) + ", norm " + std::to_string(static_cast<int>(norm)) +
                ", added " + std::to_string(static_cast<int>(added)) +
                (recomputes ? ", recomputed, " : ", ") + testing_support::name_of(teams[t]));
            check_model(options, teams[t], is_sparse);
          }
        }
      }
    }
  }
}

TEST(Models, FollowDifferences) {
  check_models({{exec::DeviceKind::cpu, 1, 2}, {exec::DeviceKind::cpu, 3, 3}});
}

/// Of weights that differ in the two directions of an edge.
void check_weighted_models(const std::vector<team::TeamOptions>& teams) {
  for (const Kind& kind : kKinds) {
    if (!can_weigh_edges(kind.kind, kind.aggregate)) continue;
    for (const NormKind norm : {NormKind::none, NormKind::batch}) {
      ModelOptions options;
      options.kind = kind.kind;
      options.aggregate = kind.aggregate;
      options.edge_weights = true;
      options.norm = norm;
      options.recompute = norm == NormKind::batch;
      options.layers = 3;
      options.hidden = 8;
      options.heads = 2;
      options.features = kFeatures;
      options.classes = 3;
      options.dropout = 0.3f;
      for (const team::TeamOptions& team : teams) {
        SCOPED_TRACE(std::string(kind.name) + ", weights, norm " +
                     std::to_string(static_cast<int>(norm)) + ", " +
                     testing_support::name_of(team));
        check_model(options, team, false);
      }
    }
  }
}

TEST(Models, FollowDifferencesWithEdgeWeights) {
  check_weighted_models({{exec::DeviceKind::cpu, 1, 2}, {exec::DeviceKind::cpu, 3, 3}});
}

TEST(ModelsCuda, FollowDifferencesWithEdgeWeights) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_weighted_models({gpus.front()});
}

TEST(ModelsCuda, FollowDifferences) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_models({gpus.front()});
}

TEST(Models, SumGradientsBesideBatchesAlone) {
  ModelOptions options;
  options.features = kFeatures;
  options.classes = 2;
  const GraphPair graphs = fixtures::pair_of(fixtures::random_graph(kVertices, 500, 5, false), 1);
  team::run_team({exec::DeviceKind::cpu, 1, 1}, [&](team::Team& team) {
    Context context(team);
    Model model(context, graphs, options, false);
    EXPECT_THROW(model.backward(context, model.scores_gradient(), GradientSums::of_team),
                 UsageError);
  });
}

TEST(Models, AddTheirInputsOneWay) {
  ModelOptions options;
  options.features = 3;
  options.classes = 2;
  options.residual = options.skip = true;
  EXPECT_ANY_THROW(check(options));
}

}  // namespace
}  // namespace warren::learn
