// SPDX-License-Identifier: Apache-2.0
// Rows of features: gathered by messages, chosen for a cache, stepped by sparse optimisers.
#pragma once

#include <random>

#include <gtest/gtest.h>

#include "warren/sample/embedding.hpp"
#include "warren/sample/exchange_gather.hpp"
#include "warren/sample/hot_rows.hpp"

#include "memory/tables.hpp"
#include "reference/gather.hpp"
#include "reference/optimizer.hpp"
#include "support/backends.hpp"
#include "traverse/fixtures.hpp"

namespace warren::sample {

template <class Backend>
std::vector<team::TeamOptions> feature_teams() {
  std::vector<team::TeamOptions> teams;
  for (const auto& options : testing_support::teams<Backend>()) {
    if (options.ranks <= 4) teams.push_back(options);
  }
  return teams;
}

template <class T>
void check_exchange(team::Team& team, const exec::Stream& stream, ExchangeGather& gather,
                    std::uint64_t rows, std::uint64_t width, std::uint64_t count) {
  SCOPED_TRACE(std::to_string(count) + " of " + std::to_string(rows) + " x " +
               std::to_string(width));
  const auto table = memory::make_table<T>(team, stream, rows, width, memory::Placement::device);
  std::mt19937_64 random(static_cast<unsigned>(team.rank()) + 3);
  std::vector<std::uint64_t> indices(count);
  for (auto& index : indices) index = random() % (rows + 2);
  const auto where = memory::on_device(stream, indices);
  memory::Buffer<T> out(team.device(), count * width);
  gather.gather(team, stream, table.view(), where.data(), count, out.data());
  EXPECT_EQ(out.to_host(stream),
            reference::gather(memory::whole_table<T>(rows, width), width, indices));
  team.barrier();
}

/// Three steps with random lists of rows on every rank, some rows in several.
inline void check_optimizer(team::Team& team, SparseOptimizer::Kind kind, reference::Rule rule,
                            memory::Placement placement) {
  constexpr std::uint64_t kRows = 40;
  constexpr std::uint64_t kWidth = 7;
  const exec::Stream stream(team.device());
  SparseOptimizer optimizer;
  optimizer.kind = kind;
  optimizer.learning_rate = 0.1f;
  const auto cuts = memory::uneven_cuts(team.size(), kRows);
  Embedding embedding(team, cuts, kWidth, optimizer, placement);
  reference::RowOptimizer expected{
      rule, 0.1f, 0.9f, 0.999f, 1e-8f, kWidth, std::vector<double>(kRows * kWidth)};
  for (std::uint32_t step = 0; step < 3; ++step) {
    std::map<std::uint64_t, std::vector<double>> sums;
    for (int rank = 0; rank < team.size(); ++rank) {
      std::mt19937 random(static_cast<unsigned>(rank) * 10 + step);
      std::vector<Vertex> rows(rank == 1 && step == 1 ? 0 : 15);
      std::vector<float> gradients;
      for (Vertex& row : rows) {
        row = static_cast<Vertex>(random() % (kRows + 1));  // One does not exist.
        for (std::uint64_t c = 0; c < kWidth; ++c) {
          gradients.push_back(static_cast<float>(random() % 64) / 16.0f - 2.0f);
          if (row >= kRows) continue;
          auto& sum = sums[row];
          sum.resize(kWidth);
          sum[c] += static_cast<double>(gradients.back());
        }
      }
      if (rank != team.rank()) continue;
      const auto where = memory::on_device(stream, rows);
      const auto what = memory::on_device(stream, gradients);
      embedding.add_gradients(stream, where.data(), rows.size(), what.data());
      stream.synchronize();
    }
    embedding.step(team, stream);
    expected.step(sums);
    const std::vector<float> got = embedding.table().to_host(team, stream);
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(static_cast<double>(got[i]), expected.table[i], 1e-5) << "step " << step;
  }
  EXPECT_EQ(embedding.steps(), 3u);
  team.barrier();
}

template <class Backend>
class FeaturesTest : public testing_support::OnBackend<Backend> {};
TYPED_TEST_SUITE_P(FeaturesTest);

TYPED_TEST_P(FeaturesTest, GatherByMessages) {
  for (const auto& options : feature_teams<TypeParam>()) {
    SCOPED_TRACE(testing_support::name_of(options));
    team::run_team(options, [](team::Team& team) {
      const exec::Stream stream(team.device());
      ExchangeGather gather;
      const auto rank = static_cast<std::uint64_t>(team.rank());
      check_exchange<float>(team, stream, gather, 500, 12, 3000 + rank * 17);
      check_exchange<std::uint16_t>(team, stream, gather, 77, 5, 100);
      check_exchange<std::int32_t>(team, stream, gather, 10, 1, rank == 0 ? 0 : 9);
      check_exchange<float>(team, stream, gather, 500, 64, 5000);
      EXPECT_GE(gather.times().gather, 0.0);
    });
  }
}

TYPED_TEST_P(FeaturesTest, OptimisersStepTheTouchedRows) {
  using Kind = SparseOptimizer::Kind;
  using reference::Rule;
  for (const auto& options : feature_teams<TypeParam>()) {
    SCOPED_TRACE(testing_support::name_of(options));
    team::run_team(options, [](team::Team& team) {
      for (const auto placement : {memory::Placement::device, memory::Placement::host}) {
        check_optimizer(team, Kind::sgd, Rule::sgd, placement);
        check_optimizer(team, Kind::adagrad, Rule::adagrad, placement);
        check_optimizer(team, Kind::adam, Rule::adam, placement);
      }
      const auto cuts = memory::uneven_cuts(team.size(), 10);
      EXPECT_THROW(Embedding(team, cuts, 2, {}, memory::Placement::replicated), UsageError);
      EXPECT_THROW(Embedding(team, cuts, 2, {.learning_rate = 0.0f}), UsageError);
      EXPECT_THROW(Embedding(team, cuts, 2, {.beta1 = 1.0f}), UsageError);
    });
  }
}

TYPED_TEST_P(FeaturesTest, HotRows) {
  const graph::Graph graph = fixtures::generated("kron:8", true);
  for (const auto& options : feature_teams<TypeParam>()) {
    SCOPED_TRACE(testing_support::name_of(options));
    const graph::ShardSource source = fixtures::shard_source(graph, options.ranks);
    team::run_team(options, [&](team::Team& team) {
      const exec::Stream stream(team.device());
      const graph::Shard shard = graph::make_shard(team, source);
      const auto by_degree = hot_rows_by_degree(team, shard, 20);
      ASSERT_EQ(by_degree.size(), 20u);
      for (std::size_t i = 0; i + 1 < by_degree.size(); ++i) {
        const auto degree = [&](std::size_t k) {
          return graph.degree(static_cast<Vertex>(by_degree[k]));
        };
        EXPECT_TRUE(degree(i) > degree(i + 1) ||
                    (degree(i) == degree(i + 1) && by_degree[i] < by_degree[i + 1]));
      }
      EXPECT_EQ(hot_rows_by_degree(team, shard, 1000).size(), graph.vertices);

      // Every rank samples all neighbours of two vertices.
      const GraphStore store(team, shard);
      NeighbourSampler sampler(team.device(), store, {.fanouts = {-1}, .batch = 2});
      const auto hub = static_cast<Vertex>(by_degree[0]);
      const auto seeds = memory::on_device(stream, std::vector<Vertex>{hub, hub});
      sampler.run(stream, seeds.data(), 2, 0);
      UseCounter counter(team.device(), graph.vertices);
      counter.add(stream, sampler);
      const auto used = counter.hot_rows(team, stream, 5);
      ASSERT_EQ(used.size(), 5u);
      EXPECT_EQ(used[0], hub);  // Twice; its neighbours once.
      for (std::size_t i = 1; i < used.size(); ++i) {
        const auto neighbours = graph.neighbours(hub);
        EXPECT_TRUE(std::binary_search(neighbours.begin(), neighbours.end(), used[i]));
      }
      team.barrier();
    });
  }
}

REGISTER_TYPED_TEST_SUITE_P(FeaturesTest, GatherByMessages, OptimisersStepTheTouchedRows, HotRows);

}  // namespace warren::sample
