// SPDX-License-Identifier: Apache-2.0
// What a training holds is what its plan said before.
#include "warren/learn/memory_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "learn/problems.hpp"
#include "support/message_of.hpp"
#include "support/size.hpp"

namespace warren::learn {
namespace {

using fixtures::Kind;
using fixtures::Problem;
using fixtures::ranks;

constexpr Kind kPlanned[] = {{"gcn", ModelKind::gcn},
                             {"sage, mean", ModelKind::sage},
                             {"sage, sum", ModelKind::sage, SageAggregate::sum},
                             {"sage, max", ModelKind::sage, SageAggregate::max},
                             {"gat", ModelKind::gat},
                             {"gatv2", ModelKind::gatv2},
                             {"gin", ModelKind::gin}};

/// One that looks the same from every twelfth of its vertices, so that up to four ranks hold as
/// much: each vertex has eight neighbours, each twelfth one with 600 more, whose row is in pieces.
graph::Graph regular_graph(bool is_symmetric) {
  constexpr Vertex kTwelfth = 200, kVertices = 12 * kTwelfth;
  std::vector<graph::Edge> list;
  for (Vertex v = 0; v < kVertices; ++v) {
    for (const Vertex step : {1u, 7u, 31u, 190u, 401u, 799u, 1003u, 1199u})
      list.push_back({v, (v + step) % kVertices});
    for (Vertex i = 0; i < 600 && v % kTwelfth == 0; ++i)
      list.push_back({v, (v + 2 + 3 * i) % kVertices});
  }
  graph::BuildOptions options;
  options.symmetrize = is_symmetric;
  return fixtures::from_list(kVertices, std::move(list), options);
}

Problem planned_problem(bool is_symmetric, bool has_weights, bool is_sparse) {
  Problem p;
  p.graph = regular_graph(is_symmetric);
  exec::ThreadPool pool(1);
  if (has_weights) graph::set_uniform_weights(p.graph, 1, 9, 1, pool);
  p.dataset = generate_dataset(p.graph.vertices, 24, 7, 1, pool);
  // Sums of three layers over long rows stay within float16.
  for (float& x : p.dataset.dense) x *= 0x1p-10f;
  if (!is_sparse) return p;
  // As many of each vertex, so that ranks have as many.
  for (std::size_t i = 0; i < p.dataset.dense.size(); ++i)
    p.dataset.dense[i] = i % 3 == 0 ? 1.0f : 0.0f;
  p.dataset.sparse = fixtures::sparse_rows(p.dataset.dense, p.graph.vertices, p.dataset.width);
  p.dataset.dense.clear();
  return p;
}

void expect_planned(const Problem& p, const GraphPair& graphs, const TrainOptions& options,
                    const team::TeamOptions& team) {
  const bool on_gpu = team.kind == exec::DeviceKind::cuda;
  const exec::Device device = on_gpu ? exec::Device::cuda(0) : exec::Device::cpu(1);
  const MemoryPlan plan = plan_memory(graphs, p.dataset, options, device);
  std::uint64_t total = plan.total();
  // Lists that a CPU samples are the input's.
  for (const auto& [name, bytes] : plan.parts) total -= !on_gpu && name == "store" ? bytes : 0;
  const double planned = static_cast<double>(total) * (on_gpu ? 1 : team.ranks);
  const auto held = static_cast<double>(fixtures::most_held(p, graphs, options, team, 2));
  EXPECT_NEAR(held, planned, 0.01 * planned) << plan.text();
}

void expect_planned(const Problem& p, const TrainOptions& options, const team::TeamOptions& team) {
  expect_planned(p, fixtures::pair_of(p.graph, team.ranks), options, team);
}

TrainOptions planned_options(const Kind& kind) {
  TrainOptions options;
  options.model.kind = kind.kind;
  options.model.aggregate = kind.aggregate;
  options.model.layers = 3;
  options.model.hidden = 24;
  options.model.heads = 4;
  options.optimizer.rate = 1e-5f;
  return options;
}

std::string text_of(const TrainOptions& options, const team::TeamOptions& team) {
  const ModelOptions& model = options.model;
  return std::to_string(team.ranks) + " ranks, " + name_of(options.type) + ", " +
         name_of(model.norm) + (model.skip ? ", skip" : "") + (model.residual ? ", residual" : "") +
         (model.recompute ? ", recompute" : "") + (model.edge_weights ? ", weights" : "");
}

/// Each rank with a GPU of its own.
std::vector<team::TeamOptions> teams_of_own_gpus() {
  std::vector<team::TeamOptions> teams = fixtures::cuda_teams();
  std::erase_if(
      teams, [](const team::TeamOptions& team) { return team.ranks > exec::cuda_device_count(); });
  return teams;
}

/// All models, types, and ways to add a layer's input, with and without recomputation: each with
/// the next norm, on graphs that are symmetric or not in turn.
void check_plans(const std::vector<team::TeamOptions>& teams) {
  const Problem problems[] = {planned_problem(true, false, false),
                              planned_problem(false, false, false)};
  std::size_t turn = 0;
  for (const Kind& kind : kPlanned) {
    for (const auto& team : teams) {
      for (const NumberType type :
           {NumberType::float32, NumberType::bfloat16, NumberType::float16}) {
        for (const int added : {0, 1, 2}) {
          ++turn;
          const std::size_t other = turn + turn / 3;  // Another order than that of ways.
          // On several ranks each type goes with one of the ways, and with another one on the next
          // team.
          if (team.ranks > 1 && (other + static_cast<std::size_t>(team.ranks)) % 3 != 0) continue;
          TrainOptions options = planned_options(kind);
          options.type = type;
          options.model.skip = added == 1;
          options.model.residual = added == 2;
          options.model.norm = static_cast<NormKind>((other + turn / 9) % 3);
          options.model.recompute = turn % 2 == 0;
          if (testing_support::is_small() && turn % 4 != 0) continue;
          SCOPED_TRACE(std::string(kind.name) + ", " + text_of(options, team));
          expect_planned(problems[turn / 2 % 2], options, team);
        }
      }
    }
  }
}

TEST(MemoryPlans, AreWhatIsHeld) { check_plans({ranks(1), ranks(2), ranks(3), ranks(4)}); }
TEST(MemoryPlansCuda, AreWhatIsHeld) {
  const auto gpus = teams_of_own_gpus();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_plans(gpus);
}

TEST(MemoryPlans, FeaturesThatCannotFitAreRefusedBefore) {
  exec::ThreadPool pool(1);
  EXPECT_THAT(testing_support::message_of([&] {
                (void)generate_dataset(std::uint64_t{1} << 31, std::uint64_t{1} << 20, 3, 1, pool);
              }),
              testing::HasSubstr("1048576 features of 2147483648 vertices"));
}

/// Some ranks have no rows, or no edges, and are planned for all the same.
TEST(MemoryPlans, OfRanksWithoutRows) {
  exec::ThreadPool pool(1);
  for (const Vertex vertices : {1000u, 2001u}) {
    Problem p;
    p.graph = fixtures::from_list(vertices, {}, {});
    p.dataset = generate_dataset(vertices, 3, 2, 1, pool);
    for (const Kind& kind : kPlanned) {
      for (const int count : {1, 2, 17}) {
        for (const bool is_sampled : {false, true}) {
          TrainOptions options = planned_options(kind);
          if (is_sampled) {
            options.sampled.emplace();
            options.sampled->fanouts = {3, 3, 3};
            options.sampled->batch = 4;
          }
          SCOPED_TRACE(std::string(kind.name) + ", " + text_of(options, ranks(count)));
          const MemoryPlan plan =
              plan_memory(fixtures::pair_of(p.graph, count), p.dataset, options);
          EXPECT_GT(plan.total(), 0u);
        }
      }
    }
  }
}

void check_plans_of_weights(const std::vector<team::TeamOptions>& teams) {
  const Problem problems[] = {planned_problem(true, true, false),
                              planned_problem(false, true, false)};
  for (const Kind& kind : kPlanned) {
    if (!can_weigh_edges(kind.kind, kind.aggregate)) continue;
    for (const auto& team : teams) {
      for (const bool recomputes : {false, true}) {
        TrainOptions options = planned_options(kind);
        options.model.edge_weights = true;
        options.model.recompute = recomputes;
        options.type = recomputes ? NumberType::bfloat16 : NumberType::float32;
        SCOPED_TRACE(std::string(kind.name) + ", " + text_of(options, team));
        expect_planned(problems[(team.ranks + (recomputes ? 1 : 0)) % 2], options, team);
      }
    }
  }
}

TEST(MemoryPlans, WithWeightsOfEdgesAreWhatIsHeld) {
  check_plans_of_weights({ranks(1), ranks(2), ranks(4)});
}
TEST(MemoryPlansCuda, WithWeightsOfEdgesAreWhatIsHeld) {
  const auto gpus = teams_of_own_gpus();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_plans_of_weights(gpus);
}

TEST(MemoryPlans, OfSparseFeaturesAreWhatIsHeld) {
  const Problem p = planned_problem(true, false, true);
  for (const Kind& kind : kPlanned) {
    if (kind.aggregate == SageAggregate::max) continue;
    for (const int size : {1, 3}) {
      TrainOptions options = planned_options(kind);
      options.optimizer.clip = 1.0f;
      SCOPED_TRACE(std::string(kind.name) + ", " + text_of(options, ranks(size)));
      expect_planned(p, options, ranks(size));
    }
  }
}

/// All vertices have forty neighbours.
Problem even_problem() {
  constexpr Vertex kVertices = 2400;
  std::vector<graph::Edge> list;
  for (Vertex v = 0; v < kVertices; ++v) {
    for (Vertex i = 0; i < 20; ++i) list.push_back({v, (v + 3 + 59 * i) % kVertices});
  }
  graph::BuildOptions both_ways;
  both_ways.symmetrize = true;
  Problem p;
  p.graph = fixtures::from_list(kVertices, std::move(list), both_ways);
  exec::ThreadPool pool(1);
  p.dataset = generate_dataset(kVertices, 24, 7, 1, pool);
  return p;
}

/// Of batches, two an epoch, whose neighbours are nearly all vertices: what a plan has room for is
/// then what there is.
void check_plans_of_batches(const std::vector<team::TeamOptions>& teams) {
  Problem p = even_problem();
  const Vertex vertices = p.graph.vertices;
  for (Vertex v = 0; v < vertices; ++v)
    p.dataset.splits[v] = v % 12 == 0 ? kValidation : v % 12 == 6 ? kTest : kTrain;
  p.dataset.counts = {vertices / 12 * 10, vertices / 12, vertices / 12};
  for (const Kind& kind : kPlanned) {
    for (const auto& team : teams) {
      for (const NumberType type : {NumberType::float32, NumberType::bfloat16}) {
        for (const bool is_exact : {false, true}) {
          TrainOptions options = planned_options(kind);
          options.type = type;
          options.model.layers = 2;
          options.model.skip = is_exact;
          options.sampled.emplace();
          options.sampled->fanouts = {-1, 8};
          options.sampled->batch =
              p.dataset.counts[0] / (2 * static_cast<std::uint64_t>(team.ranks));
          options.sampled->exact_evaluation = is_exact;
          options.sampled->pad = type == NumberType::bfloat16;
          SCOPED_TRACE(std::string(kind.name) + ", " + text_of(options, team) +
                       (is_exact ? ", exact evaluation" : ""));
          expect_planned(p, options, team);
        }
      }
    }
  }
}

/// Link prediction, whose batches reach nearly all vertices, too.
void check_plans_of_links(const std::vector<team::TeamOptions>& teams) {
  Problem p = even_problem();
  exec::ThreadPool pool(1);
  drop_labels(p.dataset, 16);
  for (const auto& team : teams) {
    GraphPair graphs = fixtures::pair_of(p.graph, team.ranks);
    const auto split =
        std::make_shared<const LinkSplit>(hold_out_links(graphs, 1, "the test's graph", pool));
    for (const NumberType type : {NumberType::float32, NumberType::bfloat16}) {
      const bool is_exact = (type == NumberType::float32) == (team.ranks == 1);
      TrainOptions options = planned_options({"sage, mean", ModelKind::sage});
      options.type = type;
      options.model.layers = 2;
      options.links.emplace();
      options.links->negatives = 2;
      options.links->split = split;
      options.sampled.emplace();
      options.sampled->fanouts = {-1, 8};
      options.sampled->batch = 4000;
      options.sampled->exact_evaluation = is_exact;
      SCOPED_TRACE(text_of(options, team) + (is_exact ? ", exact evaluation" : ""));
      expect_planned(p, graphs, options, team);
    }
  }
}

TEST(MemoryPlans, OfLinksAreWhatIsHeld) { check_plans_of_links({ranks(1), ranks(2)}); }
TEST(MemoryPlansCuda, OfLinksAreWhatIsHeld) {
  const auto gpus = teams_of_own_gpus();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_plans_of_links(gpus);
}

/// What a model says of all vertices takes no memory for a backward pass, and none is planned.
void check_plans_of_predictions(const std::vector<team::TeamOptions>& teams) {
  const Problem problems[] = {planned_problem(true, false, false),
                              planned_problem(false, false, false)};
  std::size_t turn = 0;
  for (const Kind& kind : kPlanned) {
    for (const auto& team : teams) {
      for (const NumberType type : {NumberType::float32, NumberType::bfloat16}) {
        const Problem& p = problems[turn++ / 2 % 2];
        TrainOptions options = planned_options(kind);
        options.type = type;
        options.model.skip = turn % 3 == 0;
        options.model.recompute = true;
        SCOPED_TRACE(std::string(kind.name) + ", " + text_of(options, team));
        const GraphPair graphs = fixtures::pair_of(p.graph, team.ranks);
        const bool on_gpu = team.kind == exec::DeviceKind::cuda;
        const exec::Device device = on_gpu ? exec::Device::cuda(0) : exec::Device::cpu(1);
        const MemoryPlan plan = plan_prediction(graphs, p.dataset, options, device);
        EXPECT_LT(plan.total(), plan_memory(graphs, p.dataset, options, device).total());
        const double planned = static_cast<double>(plan.total()) * (on_gpu ? 1 : team.ranks);
        const auto held = static_cast<double>(
            fixtures::most_held_by(p, graphs, options, team, [](Trainer& trainer) {
              (void)trainer.evaluate();
              (void)trainer.predict();
              (void)trainer.embed();
            }));
        EXPECT_NEAR(held, planned, 0.01 * planned) << plan.text();
      }
    }
  }
}

TEST(MemoryPlans, OfPredictionsAreWhatIsHeld) {
  check_plans_of_predictions({ranks(1), ranks(2), ranks(4)});
}
TEST(MemoryPlansCuda, OfPredictionsAreWhatIsHeld) {
  const auto gpus = teams_of_own_gpus();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_plans_of_predictions(gpus);
}

TEST(MemoryPlans, OfBatchesAreWhatIsHeld) { check_plans_of_batches({ranks(1), ranks(2)}); }
TEST(MemoryPlansCuda, OfBatchesAreWhatIsHeld) {
  const auto gpus = teams_of_own_gpus();
  if (gpus.empty()) GTEST_SKIP() << "no GPU";
  check_plans_of_batches(gpus);
}

}  // namespace
}  // namespace warren::learn
