// SPDX-License-Identifier: Apache-2.0
// What products over teams refuse, and values that are no numbers.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/sparse/distributed.hpp"

#include "sparse/dense.hpp"
#include "sparse/graphs.hpp"
#include "sparse/product.hpp"

namespace warren::sparse {
namespace {

using testing_support::random_dense;
using testing_support::strided;
using Kind = Normalization::Kind;

team::TeamOptions cpu_team(int ranks) {
  team::TeamOptions options;
  options.ranks = ranks;
  options.threads = ranks;
  return options;
}

TEST(DistributedSpmm, RefusesWhatMakesNoSense) {
  const graph::Graph graph = fixtures::path(12);
  const graph::ShardSource source = fixtures::shard_source(graph, 4);
  team::TeamOptions options;
  options.ranks = 4;
  options.threads = 4;
  const auto run = [&](std::uint64_t k, DistributedOptions product, std::uint64_t b_width) {
    team::run_team(options, [&](team::Team& team) {
      const graph::Shard shard = graph::make_shard(team, source);
      const Rows rows = make_rows(team, shard);
      DistributedSpmm<float> spmm(team, rows, k, product);
      memory::GlobalArray<float> b(team, shard.cuts, b_width, memory::Placement::device);
      memory::Buffer<float> c(team.device(), shard.out.count * k);
      spmm.run(b, c.data());
    });
  };
  EXPECT_NO_THROW(run(4, {}, 4));
  EXPECT_THROW(run(0, {}, 4), UsageError);
  EXPECT_THROW(run(4, {}, 5), UsageError);
  EXPECT_THROW(run(4, {Strategy::fused, 3}, 4), UsageError);
  EXPECT_THROW(run(4, {Strategy::fused, 8}, 4), UsageError);
  DistributedOptions slow;
  slow.slow_between = 0;
  EXPECT_THROW(run(4, slow, 4), UsageError);
  DistributedOptions pull;
  pull.strategy = Strategy::pull;
  pull.piece_entries = 0;
  EXPECT_THROW(run(4, pull, 4), UsageError);
  EXPECT_THROW((void)parse_strategy("push"), UsageError);
  for (const Strategy strategy : all_strategies())
    EXPECT_EQ(parse_strategy(name_of(strategy)), strategy);
}

/// Every turn has every owner once, and nobody reads its own rows.
TEST(DistributedSpmm, RanksReadDifferentOwnersAtATime) {
  for (const int ranks : {1, 2, 3, 4, 8, 32}) {
    for (int turn = 0; turn + 1 < ranks; ++turn) {
      std::vector<int> readers(static_cast<std::size_t>(ranks), 0);
      for (int rank = 0; rank < ranks; ++rank) {
        const std::vector<int> owners = owners_in_turn(rank, ranks);
        ASSERT_EQ(owners.size(), static_cast<std::size_t>(ranks - 1));
        EXPECT_NE(owners[static_cast<std::size_t>(turn)], rank);
        ++readers[static_cast<std::size_t>(owners[static_cast<std::size_t>(turn)])];
      }
      EXPECT_EQ(readers, std::vector<int>(static_cast<std::size_t>(ranks), 1));
    }
  }
  EXPECT_EQ(owners_in_turn(2, 4), (std::vector<int>{3, 0, 1}));
}

TEST(DistributedSpmm, MggsParametersAreThePapers) {
  const DistributedOptions options = mgg_options();
  EXPECT_EQ(options.strategy, Strategy::pull);
  EXPECT_EQ(options.piece_entries, 16u);
  EXPECT_EQ(options.interleave, 1u);
  EXPECT_EQ(options.warps_per_block, 2u);
}

/// Runs work(team, shard) on four ranks with a path's shards.
template <class Work>
void on_path(Work&& work) {
  const graph::Graph graph = fixtures::path(12);
  const graph::ShardSource source = fixtures::shard_source(graph, 4);
  team::run_team(cpu_team(4),
                 [&](team::Team& team) { work(team, graph::make_shard(team, source)); });
}

TEST(DistributedSpmm, RefusesDenseMatricesThatDoNotFit) {
  const auto run = [](const std::vector<std::uint64_t>& cuts, memory::Placement placement) {
    on_path([&](team::Team& team, const graph::Shard& shard) {
      const Rows rows = make_rows(team, shard);
      DistributedSpmm<float> spmm(team, rows, 4);
      const memory::GlobalArray<float> b(team, cuts.empty() ? shard.cuts : cuts, 4, placement);
      memory::Buffer<float> c(team.device(), shard.out.count * 4);
      spmm.run(b, c.data());
    });
  };
  EXPECT_NO_THROW(run({}, memory::Placement::device));
  EXPECT_THROW(run({}, memory::Placement::replicated), UsageError);
  EXPECT_THROW(run({}, memory::Placement::host), UsageError);
  EXPECT_THROW(run({0, 1, 2, 3, 12}, memory::Placement::device), UsageError);
  EXPECT_THROW(run({0, 3, 6, 9, 11}, memory::Placement::device), UsageError);
  EXPECT_THROW(run({0, 0, 0, 0, 13}, memory::Placement::device), UsageError);
}

TEST(DistributedSddmm, RefusesWhatMakesNoSense) {
  const auto run = [](std::uint64_t k, std::uint64_t width,
                      const std::vector<std::uint64_t>& cuts = {}) {
    on_path([&](team::Team& team, const graph::Shard& shard) {
      const Rows rows = make_rows(team, shard);
      DistributedSddmm<float> sddmm(team, rows, k);
      const memory::GlobalArray<float> y(team, cuts.empty() ? shard.cuts : cuts, width,
                                         memory::Placement::device);
      const memory::Buffer<float> x(team.device(), shard.out.count * k);
      sddmm.run(x.data(), y);
    });
  };
  EXPECT_NO_THROW(run(4, 4));
  EXPECT_THROW(run(0, 4), UsageError);
  EXPECT_THROW(run(4, 5), UsageError);
  EXPECT_THROW(run(4, 4, {0, 1, 2, 3, 12}), UsageError);
  EXPECT_THROW(run(4, 4, {0, 3, 6, 9, 11}), UsageError);
}

/// A graph that nobody has looked at, cut by hand.
Rows rows_of(team::Team& team, const graph::Graph& graph, const Normalization& normalization = {}) {
  const auto out = std::make_shared<graph::Graph>(graph);
  std::vector<std::uint64_t> cuts;
  const auto ranks = static_cast<std::uint64_t>(team.size());
  for (std::uint64_t q = 0; q <= ranks; ++q) cuts.push_back(graph.vertices * q / ranks);
  return make_rows(team, graph::make_shard(team, {out, nullptr, cuts}), normalization);
}

TEST(DistributedSpmm, RefusesMatricesThatAreNone) {
  const auto refusal = [](const graph::Graph& graph, const Normalization& normalization = {}) {
    try {
      team::run_team(cpu_team(3),
                     [&](team::Team& team) { (void)rows_of(team, graph, normalization); });
    } catch (const Error& error) {
      return std::string(dynamic_cast<const InputError*>(&error) != nullptr ? "input: "
                                                                            : "usage: ") +
             error.what();
    }
    return std::string();
  };
  const graph::Graph good = fixtures::path(9);
  EXPECT_EQ(refusal(good), "");
  for (const Vertex column : {Vertex{9}, Vertex{4000000000u}, kNoVertex}) {
    for (const std::uint64_t entry : {0u, 4u, 7u}) {
      graph::Graph bad = good;
      bad.targets = memory::HostArray<Vertex>(good.edges());
      std::copy(good.targets.begin(), good.targets.end(), bad.targets.begin());
      bad.targets[entry] = column;
      const std::string said = refusal(bad, {Kind::symmetric, false});
      EXPECT_EQ(said.find("input: row " + std::to_string(entry) + " "), 0u) << said;
      EXPECT_NE(said.find("column " + std::to_string(column)), std::string::npos) << said;
      EXPECT_NE(said.find("below 9"), std::string::npos) << said;
    }
  }
  graph::Graph falling = good;
  falling.offsets = memory::HostArray<EdgeOffset>(10);
  std::copy(good.offsets.begin(), good.offsets.end(), falling.offsets.begin());
  falling.offsets[4] = 1;
  EXPECT_EQ(refusal(falling).find("input: "), 0u);
  graph::Graph negative = fixtures::float_weighted(good);
  EXPECT_EQ(refusal(negative, {Kind::symmetric, false}).find("usage: "), 0u);
  EXPECT_EQ(refusal(negative, {Kind::row_mean, false}), "");
}

/// Every sum is what IEEE 754 says of its entries' numbers, in C's place whatever was there.
template <class T>
void check_non_finite(const team::TeamOptions& options) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const graph::Graph graph = fixtures::generated("kron:7,4", true);
  const std::uint64_t n = graph.vertices;
  const graph::ShardSource source = fixtures::shard_source(graph, options.ranks);
  for (const std::uint64_t k : {3u, 8u, 40u}) {
    std::vector<double> values = random_dense(n * k, 3);
    for (std::uint64_t i = 0; i < 6; ++i)
      values[i * 997 % n * k + i * 31 % k] =
          static_cast<double>(i % 3 == 0 ? -kInfinity : kInfinity);
    values[n / 2 * k + 1] = std::nan("");
    const std::vector<T> all = strided<T>(values, k, k);
    team::run_team(options, [&](team::Team& team) {
      const graph::Shard shard = graph::make_shard(team, source);
      const exec::Stream stream(team.device());
      const std::uint64_t first = shard.out.first * k;
      const std::uint64_t count = shard.out.count * k;
      memory::GlobalArray<T> b(team, shard.cuts, k, memory::Placement::device);
      b.buffer().upload(stream, std::span<const T>(all).subspan(first, count));
      const Rows rows = make_rows(team, shard);
      for (const Strategy strategy : all_strategies()) {
        SCOPED_TRACE(name_of(strategy) + ", k " + std::to_string(k) + ", " +
                     std::to_string(team.size()) + " ranks");
        DistributedOptions way;
        way.strategy = strategy;
        way.workgroup = team.size() == 4 ? 2 : 0;
        DistributedSpmm<T> product(team, rows, k, way);
        memory::Buffer<T> c(team.device(), count);
        c.upload(stream, std::vector<T>(count, from_float<T>(std::nanf(""))));
        stream.synchronize();
        product.run(b, c.data());
        const std::vector<T> result = c.to_host(stream);
        for (std::uint64_t i = 0; i < count; ++i) {
          const std::uint64_t row = (first + i) / k;
          float sum = 0.0f;
          for (EdgeOffset e = graph.offsets[row]; e < graph.offsets[row + 1]; ++e)
            sum += to_float(all[std::uint64_t{graph.targets[e]} * k + i % k]);
          const float found = to_float(result[i]);
          if (std::isfinite(sum)) {
            ASSERT_TRUE(std::isfinite(found)) << "row " << row << ", column " << i % k;
          } else if (std::isnan(sum)) {
            ASSERT_TRUE(std::isnan(found)) << "row " << row << ", column " << i % k;
          } else {
            ASSERT_EQ(found, sum) << "row " << row << ", column " << i % k;
          }
        }
      }
    });
  }
}

TEST(DistributedSpmm, NonFiniteValuesStayInTheirSums) {
  for (const int ranks : {1, 3, 4}) {
    check_non_finite<float>(cpu_team(ranks));
    check_non_finite<Half>(cpu_team(ranks));
    check_non_finite<BFloat16>(cpu_team(ranks));
  }
}

TEST(DistributedSpmmCuda, NonFiniteValuesStayInTheirSums) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const auto& options : fixtures::cuda_teams()) {
    check_non_finite<float>(options);
    check_non_finite<Half>(options);
  }
}

}  // namespace
}  // namespace warren::sparse
