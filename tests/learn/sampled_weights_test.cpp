// SPDX-License-Identifier: Apache-2.0
// Weights of edges in training on sampled batches: one batch of all against the whole graph's
// training, weights of one and of zero, lists in every memory, checkpoints, and what is refused.
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/learn/memory_plan.hpp"
#include "warren/learn/trainer.hpp"

#include "learn/problems.hpp"
#include "sparse/graphs.hpp"
#include "support/size.hpp"

namespace warren::learn {
namespace {

using fixtures::Problem;
using fixtures::ranks;
using fixtures::train_on;
using fixtures::Trained;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// From 0 to 2.5, and now and then one that makes a vertex' weights add up to less than -1.
float some_weight(EdgeOffset e) {
  return e % 97 == 0 ? -12.0f : static_cast<float>(e * 7 % 11) * 0.25f;
}

Problem problem_of(bool is_directed, float (*weight)(EdgeOffset)) {
  Problem p = fixtures::problem(is_directed, false, false);
  p.graph = fixtures::with_weights(std::move(p.graph), weight);
  return p;
}
/// Integers, which are the same in both directions of an edge.
Problem integer_problem() {
  Problem p = fixtures::problem(false, false, false);
  p.graph = fixtures::weighted(std::move(p.graph), 3);
  return p;
}

struct Kind {
  ModelKind kind;
  SageAggregate aggregate;
};
constexpr Kind kWeighing[] = {{ModelKind::gcn, SageAggregate::mean},
                              {ModelKind::sage, SageAggregate::mean},
                              {ModelKind::sage, SageAggregate::sum},
                              {ModelKind::gat, SageAggregate::mean},
                              {ModelKind::gatv2, SageAggregate::mean}};
/// Those whose sums count weights: what attention makes of ones and zeros is learnt.
constexpr Kind kSumming[] = {kWeighing[0], kWeighing[1], kWeighing[2]};
std::string text_of(const Kind& kind) {
  return name_of(kind.kind) + (kind.aggregate == SageAggregate::sum ? " by sum" : "");
}

TrainOptions whole(const Kind& kind) {
  TrainOptions options = fixtures::quick(kind.kind);
  options.model.aggregate = kind.aggregate;
  options.model.edge_weights = true;
  options.epochs = 3;
  options.optimizer.kind = OptimizerKind::sgd;
  options.optimizer.rate = 0.002f;
  options.allow_tf32 = false;
  return options;
}
TrainOptions in_batches(const Kind& kind, std::int64_t fanout, std::uint64_t batch) {
  TrainOptions options = whole(kind);
  options.sampled.emplace();
  options.sampled->fanouts.assign(options.model.layers, fanout);
  options.sampled->batch = batch;
  return options;
}

void expect_near(const Trained& found, const Trained& expected, double tolerance = 1e-3) {
  ASSERT_EQ(found.numbers.size(), expected.numbers.size());
  for (std::size_t i = 0; i < expected.numbers.size(); ++i)
    ASSERT_NEAR(found.numbers[i], expected.numbers[i],
                tolerance * (1.0 + std::abs(expected.numbers[i])))
        << "number " << i;
}

/// One batch with all neighbours is the whole graph's epoch.
void check_whole(const std::vector<team::TeamOptions>& teams) {
  for (const Kind& kind : kWeighing) {
    for (const Problem& p : {problem_of(true, some_weight), integer_problem()}) {
      SCOPED_TRACE(text_of(kind));
      const Trained expected = train_on(p, whole(kind), 1);
      TrainOptions plain = whole(kind);
      plain.model.edge_weights = false;
      EXPECT_NE(train_on(p, plain, 1).numbers, expected.numbers);
      TrainOptions batches = in_batches(kind, -1, 600);
      for (const auto& team : teams) {
        SCOPED_TRACE(testing_support::name_of(team));
        SampledOptions& sampled = *batches.sampled;
        sampled.features =
            team.ranks == 4 ? memory::Placement::replicated : memory::Placement::device;
        sampled.replicate_edges = team.ranks == 4;
        sampled.edges =
            team.ranks == 2 ? graph::EdgesPlacement::host : graph::EdgesPlacement::device;
        sampled.exact_evaluation = team.ranks != 3;
        for (const bool pads : {false, true}) {
          sampled.pad = pads;
          expect_near(train_on(p, batches, team, team.ranks == 3), expected);
        }
      }
    }
  }
}

TEST(SampledEdgeWeights, OfOneBatchOfAllTrainAsOnTheWholeGraph) {
  check_whole({ranks(1), ranks(2), ranks(3), ranks(4)});
}
TEST(SampledEdgeWeightsCuda, OfOneBatchOfAllTrainAsOnTheWholeGraph) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_whole(gpus);
}

/// By the same kernels in the same order, times 1.
TEST(SampledEdgeWeights, OfOneChangeNoBit) {
  Problem p = fixtures::problem(true, false, false);
  const graph::Graph plain = p.graph;
  graph::Graph integers = p.graph;
  exec::ThreadPool pool(1);
  graph::set_uniform_weights(integers, 1, 1, 1, pool);
  for (const Kind& kind : kSumming) {
    for (const int count : {1, 2, 3, 4}) {
      SCOPED_TRACE(text_of(kind) + ", ranks " + std::to_string(count));
      TrainOptions options = in_batches(kind, 3, 7);
      options.sampled->pad = count % 2 == 0;
      options.model.edge_weights = false;
      p.graph = plain;
      const Trained without = train_on(p, options, count);
      options.model.edge_weights = true;
      for (const graph::Graph& graph :
           {integers, fixtures::with_weights(plain, [](EdgeOffset) { return 1.0f; })}) {
        p.graph = graph;
        const Trained with = train_on(p, options, count);
        EXPECT_EQ(with.numbers, without.numbers);
        EXPECT_EQ(with.parameters, without.parameters);
      }
    }
  }
}

void check_ones(const std::vector<team::TeamOptions>& teams) {
  Problem p = problem_of(true, [](EdgeOffset) { return 1.0f; });
  for (const Kind& kind : kSumming) {
    TrainOptions options = in_batches(kind, 3, 7);
    for (const auto& team : teams) {
      SCOPED_TRACE(text_of(kind) + ", " + testing_support::name_of(team));
      options.model.edge_weights = true;
      const Trained with = train_on(p, options, team);
      options.model.edge_weights = false;
      expect_near(with, train_on(p, options, team), 1e-5);
    }
  }
}
TEST(SampledEdgeWeightsCuda, OfOneChangeLittle) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_ones(gpus);
}

/// Neighbours whose edges weigh nothing do not matter, whichever are drawn.
void check_zeros(const team::TeamOptions& team) {
  const Problem p = problem_of(true, [](EdgeOffset) { return 0.0f; });
  for (const Kind& kind : kSumming) {
    SCOPED_TRACE(text_of(kind));
    const Trained expected = train_on(p, in_batches(kind, -1, 9), team);
    expect_near(train_on(p, in_batches(kind, 1, 9), team), expected, 1e-5);
    const Problem empty{fixtures::from_list(600, {}), p.dataset};
    TrainOptions alone = in_batches(kind, 1, 9);
    alone.model.edge_weights = false;
    expect_near(train_on(empty, alone, team), expected, 1e-5);
  }
}
TEST(SampledEdgeWeights, OfZeroLeaveVerticesAlone) {
  check_zeros(ranks(1));
  check_zeros(ranks(3));
}
TEST(SampledEdgeWeightsCuda, OfZeroLeaveVerticesAlone) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_zeros(gpus.back());
}

/// Lists in host memory, or on every device, are the same lists with the same weights.
void check_edges_anywhere(const std::vector<team::TeamOptions>& teams) {
  for (const Problem& p : {problem_of(true, some_weight), integer_problem()}) {
    for (const Kind& kind : kWeighing) {
      for (const auto& team : teams) {
        SCOPED_TRACE(text_of(kind) + ", " + testing_support::name_of(team));
        TrainOptions options = in_batches(kind, 4, 30);
        const Trained near = train_on(p, options, team);
        EXPECT_EQ(train_on(p, options, team).parameters, near.parameters) << "not repeated";
        options.sampled->replicate_edges = true;
        const Trained copied = train_on(p, options, team);
        EXPECT_EQ(copied.numbers, near.numbers);
        EXPECT_EQ(copied.parameters, near.parameters);
        options.sampled->replicate_edges = false;
        options.sampled->edges = graph::EdgesPlacement::host;
        const Trained far = train_on(p, options, team);
        EXPECT_EQ(far.numbers, near.numbers);
        EXPECT_EQ(far.parameters, near.parameters);
      }
    }
  }
}
TEST(SampledEdgeWeights, OfEdgesAnywhereAreTheSame) {
  check_edges_anywhere({ranks(1), ranks(2), ranks(4)});
}
TEST(SampledEdgeWeightsCuda, OfEdgesAnywhereAreTheSame) {
  const auto gpus = fixtures::cuda_teams();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_edges_anywhere(gpus);
}

/// Draws by the weights, too, which must not be negative then.
TEST(SampledEdgeWeights, CountWhereDrawsAreByThem) {
  const Problem p = problem_of(
      true, [](EdgeOffset e) { return e % 5 == 0 ? 0.0f : static_cast<float>(e % 3 + 1); });
  for (const Kind& kind : kWeighing) {
    for (const bool replaces : {false, true}) {
      SCOPED_TRACE(text_of(kind));
      TrainOptions options = in_batches(kind, 3, 20);
      options.sampled->weighted = true;
      options.sampled->replace = replaces;
      const Trained found = train_on(p, options, 2);
      options.model.edge_weights = false;
      EXPECT_NE(train_on(p, options, 2).numbers, found.numbers);
    }
  }
  TrainOptions options = in_batches(kWeighing[0], 3, 20);
  options.sampled->weighted = true;
  EXPECT_THAT([&] { (void)train_on(problem_of(true, some_weight), options, 2); },
              ThrowsMessage<UsageError>(HasSubstr("weighted sampling needs weights of 0 and")));
}

/// Four bytes an edge of the store and of each batch in flight, and of GCN's four a vertex.
TEST(SampledEdgeWeights, ArePlannedFor) {
  const Problem p = problem_of(true, some_weight);
  const GraphPair graphs = fixtures::pair_of(p.graph, 1);
  for (const Kind& kind : kWeighing) {
    TrainOptions options = in_batches(kind, 2, 10);
    options.sampled->exact_evaluation = false;
    const auto part = [&](const char* name) {
      for (const auto& [part_name, bytes] : plan_memory(graphs, p.dataset, options).parts) {
        if (part_name == std::string(name)) return bytes;
      }
      return std::uint64_t{0};
    };
    const std::uint64_t store = part("store"), samplers = part("samplers");
    options.model.edge_weights = false;
    const std::uint64_t degrees = kind.kind == ModelKind::gcn ? p.graph.vertices : 0;
    EXPECT_EQ(store - part("store"), (p.graph.edges() + degrees) * sizeof(float));
    // Hops of 10, 30 and 90 targets, of two samplers.
    EXPECT_EQ(samplers - part("samplers"), 2 * 2 * (10 + 30 + 90) * sizeof(float));
  }
}

TEST(SampledEdgeWeights, ThatAreNoNumbersAreRefused) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const Kind& kind : kWeighing) {
    for (const int count : {1, 3}) {
      for (const bool is_exact : {false, true}) {
        for (const float weight : {std::numeric_limits<float>::quiet_NaN(), -kInfinity}) {
          Problem p = problem_of(true, some_weight);
          const Vertex source = 400;
          const EdgeOffset e = p.graph.offsets[source];
          ASSERT_LT(e, p.graph.offsets[source + 1]);
          p.graph.weights_float[e] = weight;
          TrainOptions options = in_batches(kind, 3, 20);
          options.sampled->exact_evaluation = is_exact;
          EXPECT_THAT([&] { (void)train_on(p, options, count); },
                      ThrowsMessage<UsageError>(HasSubstr(
                          "the edge from 400 to " + std::to_string(p.graph.targets[e]) + " has")));
        }
      }
    }
  }
  Problem p = integer_problem();
  p.graph.weights_int[3] = (1 << 24) + 1;
  TrainOptions options = in_batches(kWeighing[1], 3, 20);
  options.sampled->exact_evaluation = false;
  EXPECT_THAT([&] { (void)train_on(p, options, 2); },
              ThrowsMessage<UsageError>(HasSubstr("within 2^24 of 0")));
  EXPECT_THAT([&] { (void)train_on(fixtures::problem(true, false, false), options, 2); },
              ThrowsMessage<UsageError>(HasSubstr("the graph has no weights")));
}

class SampledEdgeWeightsCheckpoints : public fixtures::InFolder {};

TEST_F(SampledEdgeWeightsCheckpoints, SayThatEdgesCountTheirWeights) {
  Problem p = problem_of(true, some_weight);
  TrainOptions options = in_batches(kWeighing[0], 3, 8);
  const Trained all = train_on(p, options, 2);
  options.checkpoint = folder_;
  options.epochs = 2;
  (void)train_on(p, options, 2);
  EXPECT_TRUE(read_model_options(folder_).edge_weights);
  EXPECT_EQ(read_checkpoint(folder_).settings.at("edge-weights"), "true");
  options.epochs = 3;
  EXPECT_EQ(train_on(p, options, 2, false, true).parameters, all.parameters);
  TrainOptions plain = options;
  plain.model.edge_weights = false;
  EXPECT_THAT([&] { (void)train_on(p, plain, 2, false, true); },
              ThrowsMessage<InputError>(
                  HasSubstr("its edges count their weights, but this model's count 1 each")));
  p.graph.weights_float[0] += 1.0f;
  EXPECT_THAT([&] { (void)train_on(p, options, 2, false, true); },
              ThrowsMessage<InputError>(HasSubstr("other weights")));
}

}  // namespace
}  // namespace warren::learn
