// SPDX-License-Identifier: Apache-2.0
// Products over teams: every strategy, one test body. Results against the reference, rows counted
// as they move against the volumes computed from the graph, and those against plain counting.
#include "warren/sparse/distributed.hpp"

#include <cstring>

#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/graph/vertex_cover.hpp"

#include "reference/volumes.hpp"
#include "sparse/dense.hpp"
#include "sparse/graphs.hpp"
#include "support/size.hpp"

namespace warren::sparse {
namespace {

using testing_support::near;
using testing_support::random_dense;
using testing_support::strided;
using Kind = Normalization::Kind;

struct Scenario {
  std::uint64_t k = 8;
  DistributedOptions options;
  Normalization normalization;
  reference::Norm norm = reference::Norm::none;
  float alpha = 1.0f, beta = 0.0f;
};

std::uint64_t expected_rows(const graph::MovedRows& moved, Strategy strategy) {
  switch (strategy) {
    case Strategy::broadcast:
    case Strategy::broadcast_pipelined:
      return moved.broadcast;
    case Strategy::pull:
      return moved.per_edge;
    case Strategy::once:
    case Strategy::staged:
      return moved.once;
    case Strategy::fused:
      return moved.fused;
    case Strategy::cover:
      return moved.cover;
  }
  return 0;
}

template <class T>
void check_rank(team::Team& team, const graph::Graph& graph, const graph::Shard& shard,
                const Scenario& s, const graph::PartitionQuality& quality) {
  SCOPED_TRACE(name_of(s.options.strategy) + ", k " + std::to_string(s.k) + ", workgroups of " +
               std::to_string(s.options.workgroup) + ", slow " +
               std::to_string(s.options.slow_between) + ", rank " + std::to_string(team.rank()) +
               " of " + std::to_string(team.size()));
  const std::uint64_t n = graph.vertices;
  const exec::Stream stream(team.device());
  const auto b = random_dense(n * s.k, 5);
  const auto old = random_dense(n * s.k, 6);
  auto expected = reference::multiply(
      reference::entries_of(graph, s.norm, s.normalization.self_loops), n, s.k, b);
  const std::uint64_t first = shard.out.first * s.k;
  const std::uint64_t count = shard.out.count * s.k;
  reference::Product mine;
  for (std::uint64_t i = first; i < first + count; ++i) {
    mine.sum.push_back(static_cast<double>(s.alpha) * expected.sum[i] +
                       static_cast<double>(s.beta) * old[i]);
    mine.size.push_back(std::abs(static_cast<double>(s.alpha)) * expected.size[i] +
                        std::abs(static_cast<double>(s.beta) * old[i]));
  }
  memory::GlobalArray<T> b_array(team, shard.cuts, s.k, memory::Placement::device,
                                 memory::Reach::moved);
  const auto all = strided<T>(b, s.k, s.k);
  b_array.buffer().upload(stream, std::span<const T>(all).subspan(first, count));
  const auto before = strided<T>(old, s.k, s.k);
  memory::Buffer<T> c(team.device(), count);
  stream.synchronize();

  const Rows rows = make_rows(team, shard, s.normalization);
  DistributedSpmm<T> product(team, rows, s.k, s.options);
  EXPECT_EQ(product.rows_moved(), 0u);
  std::vector<T> first_result;
  const int runs = testing_support::is_tiny() ? 2 : 3;
  for (int repeat = 0; repeat < runs; ++repeat) {
    c.upload(stream, std::span<const T>(before).subspan(first, count));
    stream.synchronize();
    // The first run counts, by kernels of its own where they read remote rows; the others may not.
    if (repeat == 0) {
      product.run_counted(b_array, c.data(), s.alpha, s.beta);
    } else {
      product.run(b_array, c.data(), s.alpha, s.beta);
    }
    const std::vector<T> result = c.to_host(stream);
    // Passes over parts of the columns round to T each.
    EXPECT_TRUE(near(result, s.k, mine, s.k, sizeof(T) == 4 ? 1.0 : team.size() + 1.0));
    EXPECT_EQ(product.rows_moved(), expected_rows(quality.moved, s.options.strategy));
    EXPECT_EQ(product.rows_between(), expected_rows(quality.between, s.options.strategy));
    if (repeat == 0) first_result = result;
    const bool repeats = s.options.strategy != Strategy::once || s.options.deterministic;
    if (repeats && !result.empty()) {
      EXPECT_EQ(std::memcmp(first_result.data(), result.data(), result.size() * sizeof(T)), 0);
    }
  }
}

std::vector<team::TeamOptions> cpu_teams() {
  std::vector<team::TeamOptions> teams;
  for (const int ranks : {1, 2, 3, 4, 6}) {
    team::TeamOptions options;
    options.ranks = ranks;
    options.threads = ranks == 2 ? 4 : ranks;
    teams.push_back(options);
  }
  return teams;
}

/// Every strategy with the parameters that change its ways.
std::vector<DistributedOptions> strategies(int ranks) {
  std::vector<DistributedOptions> all;
  for (const Strategy strategy : all_strategies()) {
    DistributedOptions options;
    options.strategy = strategy;
    all.push_back(options);
  }
  DistributedOptions options;
  options.strategy = Strategy::once;
  options.deterministic = true;
  all.push_back(options);
  for (const Strategy strategy : {Strategy::staged, Strategy::once}) {
    options = {};
    options.strategy = strategy;
    options.chunks = 3;
    all.push_back(options);
  }
  options = {};
  options.strategy = Strategy::pull;
  options.piece_entries = 3;  // Pieces in turn.
  options.interleave = 2;
  options.warps_per_block = 2;
  all.push_back(options);
  options = {};
  options.strategy = Strategy::fused;
  for (const int workgroup : {1, 2, 3}) {
    options.workgroup = workgroup;
    if (workgroup < ranks && ranks % workgroup == 0) all.push_back(options);
  }
  return all;
}

/// check(team, shard, s, quality) with a scenario of each strategy, on ranks that have the graph in
/// ranges.
template <class Check>
void for_each_strategy(const team::TeamOptions& team_options, const graph::Graph& graph,
                       Check&& check) {
  const graph::ShardSource source = fixtures::shard_source(graph, team_options.ranks);
  graph::Partition partition;
  partition.cuts = source.cuts;
  team::run_team(team_options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    for (const DistributedOptions& options : strategies(team.size())) {
      if (team.needs_windows() && (options.strategy != Strategy::staged || options.chunks > 0))
        continue;
      exec::ThreadPool own(1);
      const auto quality =
          graph::partition_quality(graph, partition, own, {options.workgroup, true});
      Scenario s;
      s.options = options;
      check(team, shard, s, quality);
    }
  });
}

void check_team(const team::TeamOptions& team_options, const std::string& name,
                const graph::Graph& graph) {
  SCOPED_TRACE(name);
  for_each_strategy(team_options, graph, [&](auto& team, auto& shard, Scenario s, auto& quality) {
    s.k = 5;
    check_rank<float>(team, graph, shard, s, quality);
    s.k = 16;
    s.alpha = 2.0f;
    s.beta = 0.5f;
    check_rank<float>(team, graph, shard, s, quality);
  });
}

void check_types_and_scales(const team::TeamOptions& team_options) {
  for (const auto& graph : {fixtures::generated("community:300,7", true),
                            fixtures::weighted(fixtures::random_graph(200, 1500, 3, false), 4)}) {
    for_each_strategy(team_options, graph, [&](auto& team, auto& shard, Scenario s, auto& quality) {
      s.k = 24;
      check_rank<Half>(team, graph, shard, s, quality);
      check_rank<BFloat16>(team, graph, shard, s, quality);
      s.normalization = {Kind::row_mean, false};
      s.norm = reference::Norm::row_mean;
      check_rank<float>(team, graph, shard, s, quality);
      s.normalization = {Kind::symmetric, true};
      s.norm = reference::Norm::symmetric;
      check_rank<float>(team, graph, shard, s, quality);
    });
  }
}

/// Every strategy, on rows wider than tiles of columns.
void check_widths(const team::TeamOptions& team_options) {
  const graph::Graph graph = fixtures::weighted(fixtures::generated("kron:6,4", true), 2);
  for_each_strategy(team_options, graph, [&](auto& team, auto& shard, Scenario s, auto& quality) {
    for (const std::uint64_t k : {129, 300, 1030}) {
      if (testing_support::sees_few() && k != 129) continue;
      if (testing_support::is_small() && k == 300) continue;
      s.k = k;
      check_rank<float>(team, graph, shard, s, quality);
      check_rank<Half>(team, graph, shard, s, quality);
    }
  });
}

/// Every strategy over slow links between workgroups: results and counts are those of fast ones.
void check_slow_links(const team::TeamOptions& team_options, int workgroup) {
  for (const auto& graph : {fixtures::generated("kron:8", true),
                            fixtures::star(testing_support::is_small() ? 700 : 3000, true),
                            fixtures::weighted(fixtures::random_graph(200, 1500, 3, false), 4)}) {
    const graph::ShardSource source = fixtures::shard_source(graph, team_options.ranks);
    graph::Partition partition;
    partition.cuts = source.cuts;
    team::run_team(team_options, [&](team::Team& team) {
      const graph::Shard shard = graph::make_shard(team, source);
      exec::ThreadPool own(1);
      const auto quality = graph::partition_quality(graph, partition, own, {workgroup, true});
      for (const Strategy strategy : all_strategies()) {
        Scenario s;
        s.options.strategy = strategy;
        s.options.workgroup = workgroup;
        s.options.chunks = 3;
        for (const std::uint32_t times : {1u, 2u, 10u}) {
          if (testing_support::is_small() && times != 2) continue;
          s.options.slow_between = times;
          s.k = 9;
          check_rank<float>(team, graph, shard, s, quality);
          check_rank<Half>(team, graph, shard, s, quality);
        }
      }
    });
  }
}

void check_sddmm(const team::TeamOptions& team_options) {
  for (const auto& named : fixtures::matrices()) {
    SCOPED_TRACE(named.name);
    const graph::ShardSource source = fixtures::shard_source(named.graph, team_options.ranks);
    team::run_team(team_options, [&](team::Team& team) {
      const graph::Shard shard = graph::make_shard(team, source);
      const exec::Stream stream(team.device());
      const std::uint64_t k = 12;
      const auto x = random_dense(named.graph.vertices * k, 1);
      const auto y = random_dense(named.graph.vertices * k, 2);
      const auto x_all = strided<float>(x, k, k);
      const auto y_all = strided<float>(y, k, k);
      const std::uint64_t first = shard.out.first * k;
      const std::uint64_t count = shard.out.count * k;
      memory::GlobalArray<float> y_array(team, shard.cuts, k, memory::Placement::device,
                                         memory::Reach::moved);
      memory::Buffer<float> x_buffer(team.device(), count);
      y_array.buffer().upload(stream, std::span<const float>(y_all).subspan(first, count));
      x_buffer.upload(stream, std::span<const float>(x_all).subspan(first, count));
      stream.synchronize();
      const Rows rows = make_rows(team, shard);
      DistributedSddmm<float> product(team, rows, k);
      product.run(x_buffer.data(), y_array);
      const std::vector<float> found = product.result();
      const EdgeOffset begin = named.graph.offsets[shard.out.first];
      const auto entries = reference::entries_of(named.graph);
      ASSERT_EQ(found.size(), rows.entries());
      for (EdgeOffset e = 0; e < found.size(); ++e) {
        const auto& entry = entries[begin + e];
        double sum = 0.0;
        for (std::uint64_t c = 0; c < k; ++c)
          sum += entry.value * x[entry.row * k + c] * y[entry.column * k + c];
        ASSERT_NEAR(static_cast<double>(found[e]), sum, 1e-3);
      }
      const Exchange exchange(team, rows);
      const auto moved = exchange.volumes(team, rows, team.size(), false);
      EXPECT_EQ(product.rows_moved(), moved.moved.once);
    });
  }
}

TEST(Volumes, AreWhatCountingGives) {
  exec::ThreadPool pool(2);
  for (const auto& named : fixtures::matrices()) {
    if (named.name.find("star") != std::string::npos) continue;  // Deep recursion to count.
    for (const int ranks : {1, 2, 4, 6, 12}) {
      graph::Partition partition = graph::partition_ranges(named.graph, ranks);
      for (const int group : {1, 2, 3, ranks}) {
        if (group > ranks || ranks % group != 0) continue;
        SCOPED_TRACE(named.name + ", " + std::to_string(ranks) + " ranks in groups of " +
                     std::to_string(group));
        const auto quality = graph::partition_quality(named.graph, partition, pool, {group, true});
        const auto [all, between] =
            reference::volumes(named.graph, partition.cuts, static_cast<std::size_t>(group));
        for (const auto& [found, expected] :
             {std::pair{quality.moved, all}, std::pair{quality.between, between}}) {
          EXPECT_EQ(found.broadcast, expected.broadcast);
          EXPECT_EQ(found.per_edge, expected.per_edge);
          EXPECT_EQ(found.once, expected.once);
          EXPECT_EQ(found.fused, expected.fused);
          EXPECT_EQ(found.cover, expected.cover);
        }
      }
    }
  }
}

TEST(Volumes, OfATeamAreThoseOfTheGraph) {
  const graph::Graph graph = fixtures::generated("kron:9", true);
  for (const auto& options : cpu_teams()) {
    const graph::ShardSource source = fixtures::shard_source(graph, options.ranks);
    graph::Partition partition;
    partition.cuts = source.cuts;
    exec::ThreadPool pool(2);
    for (const int group : {1, 2, 3}) {
      if (options.ranks % group != 0) continue;
      const auto quality = graph::partition_quality(graph, partition, pool, {group, true});
      team::run_team(options, [&](team::Team& team) {
        const graph::Shard shard = graph::make_shard(team, source);
        const Rows rows = make_rows(team, shard);
        const Volumes volumes = Exchange(team, rows).volumes(team, rows, group, true);
        // Found once: the product and further volumes take the same.
        const std::vector<graph::VertexCover>* const covers = &rows.kept_covers;
        EXPECT_EQ(covers->size(), static_cast<std::size_t>(team.size()));
        const std::uint8_t* const chosen = covers->front().row_chosen.data();
        const DistributedSpmm<float> product(team, rows, 3, {Strategy::cover});
        EXPECT_EQ(rows.covers(team.device().pool()).front().row_chosen.data(), chosen);
        for (const auto& [found, expected] : {std::pair{volumes.moved, quality.moved},
                                              std::pair{volumes.between, quality.between}}) {
          EXPECT_EQ(found.broadcast, expected.broadcast);
          EXPECT_EQ(found.per_edge, expected.per_edge);
          EXPECT_EQ(found.once, expected.once);
          EXPECT_EQ(found.fused, expected.fused);
          EXPECT_EQ(found.cover, expected.cover);
        }
      });
    }
  }
}

TEST(VertexCover, TouchesEveryEntryWithTheFewest) {
  // A path of 200,000 rows and columns: one augmenting path through all of them.
  graph::SparseBlock path;
  constexpr Vertex kRows = 200000;
  path.column_count = kRows;
  for (Vertex r = 0; r < kRows; ++r) {
    if (r + 1 < kRows) path.columns.push_back(r + 1);
    path.columns.push_back(r);
    path.offsets.push_back(path.columns.size());
  }
  const auto cover = graph::smallest_vertex_cover(path);
  EXPECT_EQ(cover.size, kRows);
  for (Vertex r = 0; r < kRows; ++r) {
    for (EdgeOffset e = path.offsets[r]; e < path.offsets[r + 1ull]; ++e)
      ASSERT_TRUE(cover.row_chosen[r] != 0 || cover.column_chosen[path.columns[e]] != 0);
  }
  EXPECT_EQ(graph::smallest_vertex_cover({}).size, 0u);
}

TEST(DistributedSpmm, MatchesReferenceWithEveryStrategyAndTeam) {
  for (const auto& named : fixtures::matrices()) {
    for (const auto& options : cpu_teams()) check_team(options, named.name, named.graph);
  }
}

/// What ranks that do not reach each other's memory have: the strategy staged.
void check_apart(const team::TeamOptions& options) {
  for (const auto& named : fixtures::matrices()) check_team(options, named.name, named.graph);
  check_types_and_scales(options);
  check_sddmm(options);
}

TEST(DistributedSpmm, OfRanksApart) {
  for (const auto& options : fixtures::apart(cpu_teams())) check_apart(options);
}

TEST(DistributedSpmm, OfRanksApartRefusesWhatReadsRowsWhereTheyLie) {
  const graph::ShardSource source = fixtures::shard_source(fixtures::path(40), 2);
  const auto refusal = [&](const DistributedOptions& options) -> std::string {
    try {
      team::run_team(fixtures::apart(cpu_teams()).front(), [&](team::Team& team) {
        const graph::Shard shard = graph::make_shard(team, source);
        const Rows rows = make_rows(team, shard);
        DistributedSpmm<float>(team, rows, 4, options);
      });
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  for (const Strategy strategy : all_strategies()) {
    const std::string says = refusal({strategy});
    if (strategy == Strategy::staged) {
      EXPECT_EQ(says, "");
      continue;
    }
    EXPECT_NE(says.find("strategy " + name_of(strategy)), std::string::npos) << says;
    EXPECT_NE(says.find("take plain staged"), std::string::npos) << says;
  }
  DistributedOptions chunks{Strategy::staged};
  chunks.chunks = 3;
  EXPECT_NE(refusal(chunks).find("in one chunk"), std::string::npos);
}

TEST(DistributedSpmm, LongColumns) {
  team::TeamOptions options;
  options.ranks = 3;
  options.threads = 3;
  check_team(options, "star", fixtures::star(testing_support::is_tiny() ? 1000 : 6000, true));
}

TEST(DistributedSpmm, WideRows) {
  for (const auto& options : cpu_teams()) check_widths(options);
}

TEST(DistributedSpmm, TypesAndNormalizations) {
  for (const auto& options : cpu_teams()) {
    if (!testing_support::sees_few() || options.ranks == 3) check_types_and_scales(options);
  }
}

TEST(DistributedSpmm, SlowLinksChangeNeitherResultsNorCounts) {
  for (const auto& options : cpu_teams()) {
    for (const int workgroup : {1, 2, 3}) {
      if (testing_support::sees_few() && workgroup == 1 && options.ranks != 3) continue;
      if (options.ranks % workgroup == 0) check_slow_links(options, workgroup);
    }
  }
}

TEST(DistributedSddmm, MatchesReference) {
  for (const auto& options : cpu_teams()) check_sddmm(options);
}

TEST(DistributedSpmmCuda, OfRanksApart) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const auto& options : fixtures::cuda_teams_apart()) check_apart(options);
}

TEST(DistributedSpmmCuda, MatchesReferenceWithEveryStrategyAndTeam) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const auto& options : fixtures::cuda_teams()) {
    for (const auto& named : fixtures::matrices()) check_team(options, named.name, named.graph);
    check_types_and_scales(options);
    check_widths(options);
    check_slow_links(options, 1);
    check_sddmm(options);
  }
}

/// Teams of which there are workgroups, on as many GPUs or on fewer that they share.
TEST(DistributedSpmmCuda, Workgroups) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const int ranks : {4, 6}) {
    if (testing_support::is_tiny() && ranks > exec::cuda_device_count()) continue;
    const team::TeamOptions options = fixtures::cuda_team(ranks);
    check_team(options, "kronecker", fixtures::generated("kron:8", true));
    check_types_and_scales(options);
    check_widths(options);
    check_slow_links(options, 2);
    if (ranks == 6) check_slow_links(options, 3);
    check_sddmm(options);
  }
}

}  // namespace
}  // namespace warren::sparse
