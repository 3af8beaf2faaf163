// SPDX-License-Identifier: Apache-2.0
// Convolutions, forward and backward, on graphs of all shapes and teams of several ranks, against
// double precision and differences.
#include <numeric>

#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/learn/convolution.hpp"

#include "learn/convolution_cases.hpp"
#include "support/size.hpp"

namespace warren::learn {
namespace {

using fixtures::Named;
using reference::Values;

using fixtures::Case;
using fixtures::cases;
using fixtures::Found;
using fixtures::gat;
using fixtures::gat_first;
using fixtures::gatv2;
using fixtures::run;
using fixtures::sage_max;

void check_case(const Case& test, const Named& named, const team::TeamOptions& options) {
  // Of sums over n terms, which a GPU makes of its approximate exponential. Of large graphs some
  // elements are looked at; of small ones all.
  fixtures::check_case(test, named, options,
                       {.parameters = options.kind == exec::DeviceKind::cuda ? 2e-6 : 1e-6,
                        .step = testing_support::is_small() ? std::size_t{5} : std::size_t{1}});
}

// Small tests have one rank on every second graph, several on the others.
const std::size_t kGraphStep = testing_support::is_small() ? 2 : 1;

TEST(Convolutions, EqualDifferencesOnOneRank) {
  for (const Case& test : cases()) {
    const auto graphs = fixtures::small_graphs();
    for (std::size_t i = 0; i < graphs.size(); i += kGraphStep)
      check_case(test, graphs[i], {exec::DeviceKind::cpu, 1, 2});
  }
}

TEST(Convolutions, EqualDifferencesOnSeveralRanks) {
  const auto graphs = fixtures::small_graphs();
  for (const Case& test : cases()) {
    for (std::size_t i = kGraphStep - 1; i < graphs.size(); i += kGraphStep) {
      const int ranks = 2 + static_cast<int>(i % 3);
      check_case(test, graphs[i], {exec::DeviceKind::cpu, ranks, ranks});
    }
  }
}

TEST(Convolutions, EqualDifferencesOnLongRows) {
  const Named named{"long star", fixtures::star(2600, true)};
  for (const Case& test :
       {gat(2, 2, 2, false), gat(1, 1, 8, false), gat_first(8, 2, 4), sage_max(2, 2),
        gatv2(2, 2, 2, false), gatv2(1, 1, 8, false), gatv2(1, 1, 68, false)})
    check_case(test, named, {exec::DeviceKind::cpu, 2, 2});
}

/// With edges dropped, which no reference draws: gradients are what differences of the outputs
/// say, in the directions of the gradients themselves.
void check_dropped(const Case& test, const team::TeamOptions& options) {
  SCOPED_TRACE(std::string(test.name) + ", " + testing_support::name_of(options));
  const Named named{"random", fixtures::random_graph(40, 300, 5, false)};
  const GraphPair graphs = fixtures::pair_of(named.graph, options.ranks);
  Values x = fixtures::random_values(named.graph.vertices * test.in, 1);
  const Values dy = fixtures::random_values(named.graph.vertices * test.out, 2);
  std::vector<Parameter> list;
  std::vector<Values> values;
  run(test, graphs, options, x, dy, list, values);
  // GAT's attention starts so small that a step along its gradient would cross the kink of its
  // slope.
  for (std::size_t p = 0; p < list.size(); ++p) {
    if (list[p].name != "c.left" && list[p].name != "c.right") continue;
    if (std::string(test.name) == "gat")
      for (double& value : values[p]) value *= 10.0;
  }
  const Found found = run(test, graphs, options, x, dy, list, values);
  EXPECT_EQ(run(test, graphs, options, x, dy, list, values).y, found.y) << "it does not repeat";
  const auto check = [&](Values& place, const Values& gradient, const std::string& what) {
    constexpr double kStep = 4e-3;
    const double length =
        std::sqrt(std::inner_product(gradient.begin(), gradient.end(), gradient.begin(), 0.0));
    const Values before = place;
    const auto at = [&](double step) {
      for (std::size_t i = 0; i < place.size(); ++i)
        place[i] = before[i] + step * gradient[i] / length;
      const Values y = run(test, graphs, options, x, dy, list, values).y;
      return std::inner_product(y.begin(), y.end(), dy.begin(), 0.0);
    };
    const double slope = (at(kStep) - at(-kStep)) / (2.0 * kStep);
    place = before;
    EXPECT_NEAR(slope, length, 0.02 * length + 1e-3) << what;
  };
  check(x, found.dx, "dx");
  for (std::size_t p = 0; p < list.size(); ++p) {
    const auto from = found.gradients.begin() + static_cast<std::ptrdiff_t>(list[p].offset);
    check(values[p], Values(from, from + static_cast<std::ptrdiff_t>(list[p].size())),
          list[p].name);
  }
}

TEST(Convolutions, FollowDifferencesWithDroppedEdges) {
  for (const Case& test : {gat(4, 2, 4, false, 0.4f), gatv2(4, 2, 4, false, 0.4f),
                           gatv2(3, 1, 68, false, 0.4f), gatv2(3, 3, 5, false, 0.7f)}) {
    for (const int ranks : {1, 3}) check_dropped(test, {exec::DeviceKind::cpu, ranks, ranks});
  }
}

/// Logits far above where powers are infinite, and a neighbour that has nearly all the weight.
void check_large_logits(const team::TeamOptions& options) {
  const Case test = gatv2(3, 2, 8, false);
  const Named named{"random", fixtures::random_graph(50, 600, 9, false)};
  const GraphPair graphs = fixtures::pair_of(named.graph, options.ranks);
  Values x = fixtures::random_values(50 * test.in, 1);
  for (double& value : x) value *= 512.0;
  std::vector<Parameter> list;
  std::vector<Values> values;
  const Found found = run(test, graphs, options, x, Values(50 * test.out, 1.0), list, values);
  const Values expected =
      test.reference(fixtures::edges_of(named.graph), x, values, test.in, test.out);
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(found.y[i], expected[i], 0.02 + 1e-3 * std::abs(expected[i])) << "y " << i;
  for (const double value : found.dx) ASSERT_TRUE(std::isfinite(value));
}

TEST(Convolutions, OfGatV2HoldLargeLogits) {
  for (const int ranks : {1, 2, 4}) check_large_logits({exec::DeviceKind::cpu, ranks, ranks});
}

/// GraphSAGE's sums of features that never change.
TEST(Convolutions, AddUpConstantRowsOnce) {
  constexpr std::uint64_t kIn = 3, kOut = 8;
  const graph::Graph graph = fixtures::random_graph(40, 300, 5, true);
  const std::uint64_t n = graph.vertices;
  const GraphPair graphs = fixtures::pair_of(graph, 1);
  const Case test = fixtures::sage(kIn, kOut, false, Weighting::mean);
  team::run_team({}, [&](team::Team& team) {
    Context context(team);
    context.set_rows(n, nullptr);
    Parameters parameters;
    const auto convolution =
        test.make(context, parameters,
                  {.name = "c", .in = kIn, .out = kOut, .needs_input_gradient = false}, graphs);
    parameters.allocate(context.stream(), 7);
    const NumberBuffer y(team.device(), NumberType::float32, n * kOut);
    const auto forward = [&](std::uint64_t seed, std::uint64_t constant) {
      const Values values = fixtures::random_values(n * kIn, seed);
      const auto x = fixtures::stored(
          context.stream(), std::vector<float>(values.begin(), values.end()), NumberType::float32);
      Operand operand = Operand::of(n, x.data(), kIn);
      operand.constant = constant;
      convolution->forward(context, operand, y.data());
      return fixtures::fetched(context.stream(), y);
    };
    const auto one = forward(1, 0), other = forward(2, 0);
    EXPECT_EQ(forward(1, 7), one);
    EXPECT_EQ(forward(1, 7), one);
    // Others have another number, or none.
    EXPECT_EQ(forward(2, 8), other);
    EXPECT_EQ(forward(1, 7), one);
    EXPECT_EQ(forward(2, 0), other);
    EXPECT_EQ(forward(1, 7), one);
    // Whoever gives other rows the same number gets sums of those before.
    EXPECT_NE(forward(2, 7), other);
  });
}

TEST(Convolutions, RefuseWhatDoesNotFit) {
  team::run_team({exec::DeviceKind::cpu, 1, 1}, [](team::Team& team) {
    Context context(team);
    const GraphPair graphs = fixtures::pair_of(fixtures::star(4, true), 1);
    const Neighbourhood neighbourhood(team, context.stream(), graphs);
    Parameters parameters;
    EXPECT_THROW((void)make_gat(parameters, {.name = "c", .in = 3, .out = 7}, neighbourhood,
                                {.heads = 2, .width = 3}, 0.0f),
                 UsageError);
    EXPECT_THROW((void)make_gatv2(parameters, {.name = "v", .in = 3, .out = 7}, neighbourhood,
                                  {.heads = 2, .width = 3}, 0.0f),
                 UsageError);
    EXPECT_THROW(
        (void)make_sage_max(parameters, {.name = "c", .in = 3, .out = 7, .is_sparse = true},
                            neighbourhood),
        UsageError);
  });
}

TEST(ConvolutionsCuda, EqualDifferences) {
  const int devices = exec::cuda_device_count();
  if (devices == 0) GTEST_SKIP() << "there is no GPU here";
  for (const Case& test : cases()) {
    const auto graphs = fixtures::small_graphs();
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      check_case(test, graphs[i], {exec::DeviceKind::cuda, 1, 1});
      // Teams of several GPUs take a second to meet.
      if (devices < 2 || i + 1 == graphs.size())
        check_case(test, graphs[i], fixtures::cuda_team(2));
    }
  }
}

TEST(ConvolutionsCuda, FollowDifferencesWithDroppedEdges) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  for (const Case& test : {gat(4, 2, 4, false, 0.4f), gatv2(4, 2, 4, false, 0.4f),
                           gatv2(3, 1, 68, false, 0.4f), gatv2(3, 3, 5, false, 0.7f)})
    check_dropped(test, {exec::DeviceKind::cuda, 1, 1});
}

TEST(ConvolutionsCuda, OfGatV2HoldLargeLogits) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  check_large_logits({exec::DeviceKind::cuda, 1, 1});
}

TEST(ConvolutionsCuda, EqualDifferencesOnLongRows) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "there is no GPU here";
  const Named named{"long star", fixtures::star(2600, true)};
  for (const Case& test : {gat(2, 2, 2, false), gat(1, 1, 8, false), gat(1, 1, 68, false),
                           gat_first(8, 2, 4), gat_first(4, 1, 8), gatv2(2, 2, 2, false),
                           gatv2(1, 1, 8, false), gatv2(1, 1, 68, false), gatv2(1, 1, 276, false)})
    check_case(test, named, {exec::DeviceKind::cuda, 1, 1});
}

}  // namespace
}  // namespace warren::learn
