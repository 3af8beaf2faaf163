// SPDX-License-Identifier: Apache-2.0
// Weights of edges in the sums of GCN and GraphSAGE and in the attention of GAT and GATv2: layers,
// forward and backward, against double precision and differences; whole trainings over teams and
// strategies; what is refused.
#include <filesystem>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/learn/memory_plan.hpp"
#include "warren/learn/trainer.hpp"

#include "learn/convolution_cases.hpp"
#include "learn/problems.hpp"
#include "sparse/graphs.hpp"
#include "support/size.hpp"

namespace warren::learn {
namespace {

using fixtures::Case;
using fixtures::Found;
using fixtures::Named;
using fixtures::Problem;
using fixtures::Trained;
using reference::Values;
using testing::HasSubstr;
using testing::ThrowsMessage;

Case weighted_gcn(std::uint64_t in, std::uint64_t out, bool is_sparse) {
  Case test = fixtures::gcn(in, out, is_sparse);
  test.is_weighted = true;
  test.reference = [](const auto& e, const Values& x, const auto& p, auto in_, auto out_) {
    return reference::weighted_gcn(e, x, p[0], in_, out_);
  };
  return test;
}

Case weighted_sage(std::uint64_t in, std::uint64_t out, bool is_sparse, Weighting weighting) {
  Case test = fixtures::sage(in, out, is_sparse, weighting);
  test.is_weighted = true;
  test.reference = [weighting](const auto& e, const Values& x, const auto& p, auto in_, auto out_) {
    const Values gathered = reference::weighted_neighbours(e, x, in_, weighting == Weighting::mean);
    return reference::sum_of(reference::product(x, p[0], e.n, in_, out_),
                             reference::product(gathered, p[1], e.n, in_, out_));
  };
  return test;
}

/// Layers that sum before their product and behind it, of padded rows and of sparse ones.
std::vector<Case> summing_cases() {
  return {weighted_gcn(2, 5, false),
          weighted_gcn(5, 2, false),
          weighted_gcn(8, 8, false),
          weighted_gcn(4, 3, true),
          weighted_sage(2, 5, false, Weighting::mean),
          weighted_sage(9, 4, false, Weighting::mean),
          weighted_sage(5, 2, false, Weighting::sum),
          weighted_sage(4, 3, true, Weighting::mean)};
}

/// Of attention by odd columns, by rows of 16 bytes of which some lanes of a warp have a head, all
/// of them, and more than one tile; rows of nothing; and a first layer that would attend before its
/// product.
std::vector<Case> attending_cases() {
  using fixtures::weighted_gat;
  using fixtures::weighted_gatv2;
  Case first = weighted_gat(4, 2, 2, false);
  first.is_first = true;
  return {weighted_gat(3, 2, 3, false),
          weighted_gat(4, 1, 9, true),
          weighted_gat(5, 2, 4, false),
          weighted_gat(1, 4, 16, false),
          weighted_gat(1, 2, 68, false),
          first,
          weighted_gatv2(3, 2, 3, false),
          weighted_gatv2(4, 1, 9, true),
          weighted_gatv2(2, 2, 4, false),
          weighted_gatv2(1, 4, 16, false),
          weighted_gatv2(2, 1, 66, false),
          weighted_gatv2(1, 1, 276, false),
          weighted_gatv2(2, 2, 4, false, fixtures::Loops::none)};
}

/// From -1 to 2, so that some vertices' weights add up to 0 or less, and neither direction's are
/// the other's.
float some_weight(EdgeOffset e) { return static_cast<float>(e * 5 % 13) / 4.0f - 1.0f; }

/// Shapes that hurt, with integers, which are the same both ways, and with floats, which are not.
std::vector<Named> weighted_graphs() {
  std::vector<Named> all;
  for (const Named& named : fixtures::small_graphs()) {
    all.push_back({named.name + ", integers", fixtures::weighted(named.graph, 3)});
    all.push_back({named.name + ", floats", fixtures::with_weights(named.graph, some_weight)});
  }
  all.push_back({"long star", fixtures::with_weights(fixtures::star(1500, true), some_weight)});
  graph::BuildOptions keep;
  keep.keep_duplicates = true;
  all.push_back(
      {"loops and duplicates",
       fixtures::with_weights(
           fixtures::from_list(5, {{0, 0}, {0, 1}, {0, 1}, {1, 2}, {2, 2}, {2, 2}, {4, 3}}, keep),
           some_weight)});
  return all;
}

void check_case(const Case& test, const Named& named, const team::TeamOptions& options) {
  // Sums over rows as long as a star's have many terms of either sign.
  // The reference of wide attention takes long: some of the derivatives are enough.
  const std::size_t step = test.weighting ? 1 : 1 + test.out / 6;
  fixtures::check_case(test, named, options, {.rows = 1e-6, .parameters = 2e-6, .step = step});
}

template <class Backend>
void check_layers() {
  const auto graphs = weighted_graphs();
  const auto teams = testing_support::teams<Backend>();
  for (const Case& test : summing_cases()) {
    for (const auto& options : teams) {
      const std::size_t step = testing_support::is_small() ? 3 : 1;
      for (std::size_t i = static_cast<std::size_t>(options.ranks) % step; i < graphs.size();
           i += step)
        check_case(test, graphs[i], options);
    }
  }
  // References of attention take longer: each case meets each graph once, and every team.
  std::size_t turn = 0;
  for (const Case& test : attending_cases()) {
    const std::size_t step = testing_support::is_small() ? 3 : 1;
    for (std::size_t i = turn++ % step; i < graphs.size(); i += step)
      check_case(test, graphs[i], teams[(i + turn) % teams.size()]);
  }
}

TEST(EdgeWeights, EnterLayersAndTheirGradients) { check_layers<exec::Cpu>(); }

TEST(EdgeWeightsCuda, EnterLayersAndTheirGradients) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  check_layers<exec::Cuda>();
}

/// By the same kernels in the same order, times 1.
TEST(EdgeWeights, OfOneChangeNoBit) {
  for (Case test : summing_cases()) {
    for (const int ranks : {1, 2, 3, 4}) {
      const graph::Graph plain = fixtures::random_graph(120, 900, 5, ranks % 2 == 0);
      graph::Graph ones = plain;
      exec::ThreadPool pool(1);
      graph::set_uniform_weights(ones, 1, 1, 1, pool);
      const auto run = [&](const graph::Graph& graph, bool is_weighted) {
        std::vector<Parameter> list;
        std::vector<Values> values;
        test.is_weighted = is_weighted;
        Values x = fixtures::random_values(graph.vertices * test.in, 1);
        const Values dy = fixtures::random_values(graph.vertices * test.out, 2);
        return fixtures::run(test, fixtures::pair_of(graph, ranks), fixtures::ranks(ranks), x, dy,
                             list, values);
      };
      SCOPED_TRACE(std::string(test.name) + ", ranks " + std::to_string(ranks));
      const Found without = run(plain, false);
      for (const graph::Graph& graph :
           {ones, fixtures::with_weights(plain, [](EdgeOffset) { return 1.0f; })}) {
        const Found with = run(graph, true);
        EXPECT_EQ(with.y, without.y);
        if (test.has_input_gradient()) {
          EXPECT_EQ(with.dx, without.dx);
        }
        EXPECT_EQ(with.gradients, without.gradients);
      }
      // Weights that nobody asks for do not enter.
      EXPECT_EQ(run(fixtures::with_weights(plain, some_weight), false).y, without.y);
    }
  }
}

/// Weights of nothing, or times nothing: attention is that of edges without weights, and what
/// weights are multiplied by has no gradient from the former.
void check_nothing(const team::TeamOptions& options) {
  const graph::Graph graph =
      fixtures::with_weights(fixtures::random_graph(120, 900, 5, false), some_weight);
  const graph::Graph zeros = fixtures::with_weights(graph, [](EdgeOffset) { return 0.0f; });
  for (const auto& [weighted, plain] :
       {std::pair{fixtures::weighted_gat(5, 2, 8, false), fixtures::gat(5, 2, 8, false)},
        std::pair{fixtures::weighted_gatv2(5, 2, 8, false), fixtures::gatv2(5, 2, 8, false)}}) {
    SCOPED_TRACE(std::string(plain.name) + ", " + testing_support::name_of(options));
    const Values x = fixtures::random_values(120 * 5, 1);
    const Values dy = fixtures::random_values(120 * 16, 2);
    std::vector<Parameter> list;
    std::vector<Values> values;
    const GraphPair graphs = fixtures::pair_of(graph, options.ranks);
    const Found expected = fixtures::run(plain, graphs, options, x, dy, list, values);
    const std::size_t known = values.size();
    const auto check = [&](const Found& found) {
      for (std::size_t i = 0; i < expected.y.size(); ++i)
        ASSERT_NEAR(found.y[i], expected.y[i], 1e-6) << "y " << i;
      for (std::size_t i = 0; i < expected.dx.size(); ++i)
        ASSERT_NEAR(found.dx[i], expected.dx[i], 1e-5) << "dx " << i;
      const Parameter& last = list[known - 1];
      for (std::size_t i = 0; i < last.offset + last.size(); ++i)
        ASSERT_NEAR(found.gradients[i], expected.gradients[i], 1e-4) << "gradient " << i;
    };
    Values line(16, 0.5), nothing(16, 0.0);
    std::vector<Values> with = values;
    with.push_back(line);
    if (std::string(plain.name) == "gat") with.push_back(line);
    const Found of_zeros = fixtures::run(weighted, fixtures::pair_of(zeros, options.ranks), options,
                                         x, dy, list, with);
    check(of_zeros);
    for (std::size_t p = known; p < list.size(); ++p) {
      for (std::size_t i = 0; i < list[p].size(); ++i)
        EXPECT_EQ(of_zeros.gradients[list[p].offset + i], 0.0f);
    }
    with[known] = nothing;
    check(fixtures::run(weighted, graphs, options, x, dy, list, with));
  }
}

TEST(EdgeWeights, OfNothingLeaveAttentionAsItIs) {
  for (const int ranks : {1, 2, 3, 4}) check_nothing(fixtures::ranks(ranks));
}
TEST(EdgeWeightsCuda, OfNothingLeaveAttentionAsItIs) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  for (const auto& team : gpus) check_nothing(team);
}

/// Rows of 16 bits, whose sums are float32 all the same.
void check_half(const team::TeamOptions& options) {
  const graph::Graph graph =
      fixtures::with_weights(fixtures::random_graph(120, 900, 5, false), some_weight);
  const GraphPair graphs = fixtures::pair_of(graph, options.ranks);
  for (const Case& test :
       {fixtures::weighted_gat(8, 2, 16, false), fixtures::weighted_gat(3, 2, 3, false),
        fixtures::weighted_gatv2(8, 2, 16, false), fixtures::weighted_gatv2(3, 2, 3, false)}) {
    const Values x = fixtures::random_values(120 * test.in, 1);
    const Values dy = fixtures::random_values(120 * test.out, 2);
    std::vector<Parameter> list;
    std::vector<Values> values;
    const Found expected = fixtures::run(test, graphs, options, x, dy, list, values);
    for (const NumberType type : {NumberType::float16, NumberType::bfloat16}) {
      SCOPED_TRACE(std::string(test.name) + ", " + name_of(type) + ", " +
                   testing_support::name_of(options));
      const Found found = fixtures::run(test, graphs, options, x, dy, list, values, type);
      const double part = type == NumberType::float16 ? 0.01 : 0.06;
      for (std::size_t i = 0; i < expected.y.size(); ++i)
        ASSERT_NEAR(found.y[i], expected.y[i], part) << "y " << i;
      double length = 0.0, apart = 0.0;
      for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
        const auto a = static_cast<double>(expected.gradients[i]);
        const auto b = static_cast<double>(found.gradients[i]);
        length += a * a;
        apart += (a - b) * (a - b);
      }
      EXPECT_LT(apart, part * part * length);
    }
  }
}

/// Sums by weights pass what float16 holds, and gradients of them are numbers all the same.
void check_large_in_half(const team::TeamOptions& options) {
  const graph::Graph graph =
      fixtures::with_weights(fixtures::random_graph(120, 900, 5, false),
                             [](EdgeOffset e) { return 100000.0f + 1000.0f * some_weight(e); });
  const GraphPair graphs = fixtures::pair_of(graph, options.ranks);
  const Case test = fixtures::weighted_gat(8, 2, 16, false);
  const Values x = fixtures::random_values(120 * test.in, 1);
  Values dy = fixtures::random_values(120 * test.out, 2);
  for (auto& value : dy) value *= 16;
  std::vector<Parameter> list;
  std::vector<Values> values;
  const Found found =
      fixtures::run(test, graphs, options, x, dy, list, values, NumberType::float16);
  for (std::size_t i = 0; i < found.gradients.size(); ++i)
    ASSERT_TRUE(std::isfinite(found.gradients[i])) << "gradient " << i;
}

TEST(EdgeWeights, EnterAttentionOverRowsOf16Bits) {
  for (const int ranks : {1, 3}) check_half(fixtures::ranks(ranks));
  check_large_in_half(fixtures::ranks(2));
}
TEST(EdgeWeightsCuda, EnterAttentionOverRowsOf16Bits) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  for (const auto& team : gpus) check_half(team);
  check_large_in_half(gpus.front());
}

Problem weighted_problem() {
  Problem p = fixtures::problem(true, false, false);
  p.graph = fixtures::with_weights(std::move(p.graph), [](EdgeOffset e) {
    return 0.25f + static_cast<float>(e * 7 % 11) * 0.25f;
  });
  return p;
}

TrainOptions weighing(ModelKind kind, SageAggregate aggregate = SageAggregate::mean) {
  TrainOptions options = fixtures::quick(kind);
  options.model.aggregate = aggregate;
  options.model.edge_weights = true;
  options.epochs = 4;
  return options;
}

void expect_near(const std::vector<double>& one, const std::vector<double>& other) {
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t i = 0; i < one.size(); ++i)
    EXPECT_NEAR(one[i], other[i], 2e-3 * (1.0 + std::abs(other[i]))) << i;
}

TEST(EdgeWeights, TrainTheSameOnEveryTeamByEveryStrategy) {
  const Problem p = weighted_problem();
  for (const TrainOptions& given : {weighing(ModelKind::gcn), weighing(ModelKind::sage),
                                    weighing(ModelKind::sage, SageAggregate::sum),
                                    weighing(ModelKind::gat), weighing(ModelKind::gatv2)}) {
    SCOPED_TRACE(name_of(given.model.kind));
    TrainOptions options = given;
    const Trained one = fixtures::train_on(p, options, 1);
    TrainOptions plain = options;
    plain.model.edge_weights = false;
    EXPECT_NE(fixtures::train_on(p, plain, 1).numbers, one.numbers);
    for (const int ranks : {2, 4})
      expect_near(fixtures::train_on(p, options, ranks, true).numbers, one.numbers);
    // Parts of a second forward pass, and the same numbers.
    options.model.recompute = true;
    EXPECT_EQ(fixtures::train_on(p, options, 1).numbers, one.numbers);
    options.model.recompute = false;
    // Attention has neighbours' rows brought, by whichever strategy.
    if (testing_support::is_small() || is_attention(options.model.kind)) continue;
    for (const sparse::Strategy strategy : sparse::all_strategies()) {
      SCOPED_TRACE(sparse::name_of(strategy));
      options.exchange.product = sparse::DistributedOptions{.strategy = strategy};
      expect_near(fixtures::train_on(p, options, 3).numbers, one.numbers);
    }
  }
}

TEST(EdgeWeightsCuda, TrainAsOnTheCpu) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  const Problem p = weighted_problem();
  for (const TrainOptions& options : {weighing(ModelKind::gcn), weighing(ModelKind::sage),
                                      weighing(ModelKind::gat), weighing(ModelKind::gatv2)}) {
    TrainOptions exact = options;
    exact.allow_tf32 = false;
    const Trained cpu = fixtures::train_on(p, exact, 1);
    for (const auto& team : testing_support::teams<exec::Cuda>())
      expect_near(fixtures::train_on(p, exact, team).numbers, cpu.numbers);
  }
}

/// Four bytes an entry of each of the matrices, and of the one that another strategy keeps.
TEST(EdgeWeights, ArePlannedFor) {
  const Problem p = weighted_problem();
  const GraphPair graphs = fixtures::pair_of(p.graph, 2);
  TrainOptions options = weighing(ModelKind::gcn);
  options.exchange.product = sparse::DistributedOptions{.strategy = sparse::Strategy::pull};
  const auto part = [&](const char* name) {
    for (const auto& [part_name, bytes] : plan_memory(graphs, p.dataset, options).parts) {
      if (part_name == std::string(name)) return bytes;
    }
    return std::uint64_t{0};
  };
  const std::uint64_t graph = part("graph"), strategy = part("strategy");
  options.model.edge_weights = false;
  // Of the rank with the most, of both directions together.
  std::uint64_t entries = 0;
  for (std::size_t q = 0; q < 2; ++q) {
    std::uint64_t of_rank = 0;
    for (const auto& one : {graphs.out, graphs.in})
      of_rank += one->offsets[graphs.cuts[q + 1]] - one->offsets[graphs.cuts[q]];
    entries = std::max(entries, of_rank);
  }
  EXPECT_EQ(graph - part("graph"), entries * sizeof(float));
  EXPECT_EQ(strategy - part("strategy"), entries * sizeof(float));
}

/// Makes a rank's matrices of a path 0 - 1 - 2 - ... of ten vertices with one other weight, from 6
/// to 7.
void make_with(float weight, int ranks) {
  const graph::Graph path = fixtures::path(10);
  const GraphPair graphs = fixtures::pair_of(fixtures::with_weights(path,
                                                                    [&](EdgeOffset e) {
                                                                      const bool is_it =
                                                                          e == path.offsets[7] - 1;
                                                                      return is_it ? weight : 1.0f;
                                                                    }),
                                             ranks);
  team::run_team(fixtures::ranks(ranks), [&](team::Team& team) {
    const exec::Stream stream(team.device());
    const Neighbourhood both(team, stream, graphs, sparse::HaloBy::automatic,
                             EdgeWeights::of_graph);
  });
}

TEST(EdgeWeights, ThatAreNoNumbersAreRefused) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const int ranks : {1, 3}) {
    make_with(-5.0f, ranks);
    for (const float weight : {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity}) {
      EXPECT_THAT([&] { make_with(weight, ranks); },
                  ThrowsMessage<UsageError>(HasSubstr("the edge from 6 to 7 has the weight")));
    }
  }
}

TEST(EdgeWeights, ThatFloatsDoNotHoldAreRefused) {
  graph::Graph graph = fixtures::weighted(fixtures::path(10), 1);
  graph.weights_int[3] = (1 << 24) + 1;
  const GraphPair graphs = fixtures::pair_of(std::move(graph), 1);
  team::run_team(fixtures::ranks(1), [&](team::Team& team) {
    const exec::Stream stream(team.device());
    EXPECT_THAT(
        [&] {
          const Neighbourhood both(team, stream, graphs, sparse::HaloBy::automatic,
                                   EdgeWeights::of_graph);
        },
        ThrowsMessage<UsageError>(HasSubstr("within 2^24 of 0")));
  });
}

TEST(EdgeWeights, AreRefusedWhereNoSumHasThem) {
  ModelOptions model;
  model.features = model.classes = 3;
  model.edge_weights = true;
  check(model);
  model.kind = ModelKind::gin;
  EXPECT_THAT([&] { check(model); }, ThrowsMessage<UsageError>(HasSubstr("alone")));
  model.kind = ModelKind::sage;
  model.aggregate = SageAggregate::max;
  EXPECT_THAT([&] { check(model); }, ThrowsMessage<UsageError>(HasSubstr("alone")));
  Problem p = weighted_problem();
  TrainOptions options = weighing(ModelKind::sage);
  options.sampled = SampledOptions{};
  options.sampled->fanouts = {3, 3, 3};
  options.links.emplace();
  EXPECT_THAT([&] { (void)fixtures::train_on(p, options, 1); },
              ThrowsMessage<UsageError>(HasSubstr("not in link prediction")));
  p.graph = fixtures::problem(true, false, false).graph;
  EXPECT_THAT([&] { (void)fixtures::train_on(p, weighing(ModelKind::sage), 2); },
              ThrowsMessage<UsageError>(HasSubstr("the graph has no weights")));
}

class EdgeWeightsCheckpoints : public fixtures::InFolder {};

TEST_F(EdgeWeightsCheckpoints, SayThatEdgesCountTheirWeights) {
  Problem p = weighted_problem();
  TrainOptions options = weighing(ModelKind::gcn);
  const Trained whole = fixtures::train_on(p, options, 2);
  options.checkpoint = folder_;
  options.epochs = 2;
  (void)fixtures::train_on(p, options, 2);
  EXPECT_TRUE(read_model_options(folder_).edge_weights);
  EXPECT_EQ(read_checkpoint(folder_).settings.at("edge-weights"), "true");
  options.epochs = 4;
  EXPECT_EQ(fixtures::train_on(p, options, 2, false, true).parameters, whole.parameters);
  TrainOptions plain = options;
  plain.model.edge_weights = false;
  EXPECT_THAT([&] { (void)fixtures::train_on(p, plain, 2, false, true); },
              ThrowsMessage<InputError>(
                  HasSubstr("its edges count their weights, but this model's count 1 each")));
  p.graph.weights_float[0] += 1.0f;
  EXPECT_THAT([&] { (void)fixtures::train_on(p, options, 2, false, true); },
              ThrowsMessage<InputError>(HasSubstr("other weights")));
}

/// A checkpoint of the model without them does not have what they are multiplied by.
TEST_F(EdgeWeightsCheckpoints, OfAttentionHaveWhatTheyAreMultipliedBy) {
  const Problem p = weighted_problem();
  for (const ModelKind kind : {ModelKind::gat, ModelKind::gatv2}) {
    SCOPED_TRACE(name_of(kind));
    TrainOptions options = weighing(kind);
    const Trained whole = fixtures::train_on(p, options, 2);
    options.checkpoint = folder_ + name_of(kind);
    options.epochs = 2;
    (void)fixtures::train_on(p, options, 2);
    options.epochs = 4;
    EXPECT_EQ(fixtures::train_on(p, options, 2, false, true).parameters, whole.parameters);
    std::filesystem::remove_all(options.checkpoint);
    TrainOptions plain = options;
    plain.model.edge_weights = false;
    (void)fixtures::train_on(p, plain, 2);
    EXPECT_THAT([&] { (void)fixtures::train_on(p, options, 2, false, true); },
                ThrowsMessage<InputError>(
                    HasSubstr("its edges count 1 each, but this model's count their weights")));
    std::filesystem::remove_all(options.checkpoint);
  }
}

TEST_F(EdgeWeightsCheckpoints, KnowTheWeightsThatTheyWereTrainedOn) {
  Problem p = weighted_problem();
  TrainOptions options = weighing(ModelKind::sage);
  options.checkpoint = folder_;
  options.epochs = 1;
  (void)fixtures::train_on(p, options, 1);
  const auto is_trained_on = [&] {
    std::optional<bool> found;
    team::run_team(fixtures::ranks(1), [&](team::Team& team) {
      Trainer trainer(team, fixtures::pair_of(p.graph, 1), p.dataset, options);
      found = trainer.load_model();
    });
    return found;
  };
  EXPECT_EQ(is_trained_on(), true);
  p.graph.weights_float[0] += 1.0f;
  EXPECT_EQ(is_trained_on(), false);
}

}  // namespace
}  // namespace warren::learn
