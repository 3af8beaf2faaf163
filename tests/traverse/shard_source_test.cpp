// SPDX-License-Identifier: Apache-2.0
// Whether a graph is its own reverse is known of the graph, or looked for: a directed graph is
// never searched as if its edges led both ways.
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/core/error.hpp"
#include "warren/traverse/bfs.hpp"
#include "warren/traverse/components.hpp"
#include "warren/traverse/pagerank.hpp"

#include "reference/traverse.hpp"
#include "traverse/fixtures.hpp"

namespace warren {
namespace {

using graph::Symmetry;
using testing::HasSubstr;

team::TeamOptions team_of(int ranks) { return {exec::DeviceKind::cpu, ranks, ranks}; }

/// A directed graph in which searches pull, leaves are skipped and components are joined by edges
/// of one direction.
graph::Graph directed() { return fixtures::random_graph(2000, 6000, 11, false); }

void expect_answers(const graph::Graph& graph, const graph::ShardSource& source, int ranks) {
  const auto depth = reference::bfs_depths(graph, 0);
  const auto label = reference::component_labels(graph);
  const auto rank = reference::pagerank(graph, 0.85, 1e-12, 1000);
  team::run_team(team_of(ranks), [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::Bfs bfs(team, shard);
    (void)bfs.run(0);
    EXPECT_EQ(bfs.all_depths(), depth);
    traverse::Components components(team, shard);
    (void)components.run();
    EXPECT_EQ(components.all_labels(), label);
    traverse::PageRank pagerank(team, shard);
    (void)pagerank.run();
    const auto found = pagerank.all_ranks();
    EXPECT_NEAR(std::accumulate(found.begin(), found.end(), 0.0), 1.0, 1e-5);
    EXPECT_LE(reference::l1_distance(found, rank), 1e-4);
  });
}

/// What make_shard() throws on a team of two; empty for nothing.
template <class Source>
std::string refusal(Source&& source_of) {
  try {
    team::run_team(team_of(2), [&](team::Team& team) {
      (void)graph::make_shard(team, source_of(team.rank()));
    });
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

TEST(ShardSource, OfADirectedGraphHasItsTranspose) {
  exec::ThreadPool pool(2);
  for (const int ranks : {1, 2, 3}) {
    const graph::ShardSource source = graph::shard_source(directed(), ranks, pool);
    EXPECT_NE(source.in, source.out);
    EXPECT_EQ(source.out->symmetry, Symmetry::directed);
    expect_answers(directed(), source, ranks);
  }
}

TEST(ShardSource, OfASymmetricGraphIsItsOwnReverse) {
  exec::ThreadPool pool(2);
  graph::Graph graph = fixtures::random_graph(500, 900, 5, true);
  for (const Symmetry known : {Symmetry::symmetric, Symmetry::unknown}) {
    graph.symmetry = known;
    const graph::ShardSource source = graph::shard_source(graph, 2, pool);
    EXPECT_EQ(source.in, source.out);
    EXPECT_EQ(source.out->symmetry, Symmetry::symmetric);
    expect_answers(graph, source, 2);
  }
}

TEST(ShardSource, WeightsThatDifferByDirectionMakeAGraphDirected) {
  exec::ThreadPool pool(2);
  graph::Graph graph = fixtures::from_list(2, {{0, 1}, {1, 0}});
  graph.weight_type = graph::WeightType::int32;
  graph.weights_int = memory::HostArray<std::int32_t>(2, 3);
  EXPECT_EQ(graph::shard_source(graph, 1, pool).in->symmetry, Symmetry::symmetric);
  graph.weights_int = memory::HostArray<std::int32_t>(2, 3);
  graph.weights_int[1] = 4;
  const graph::ShardSource source = graph::shard_source(graph, 1, pool);
  ASSERT_NE(source.in, source.out);
  EXPECT_EQ(source.in->weights_int[0], 4);
}

TEST(MakeShard, LooksWhereNobodyKnowsWhetherAGraphIsItsOwnReverse) {
  auto graph = std::make_shared<graph::Graph>(fixtures::random_graph(500, 900, 5, true));
  graph->symmetry = Symmetry::unknown;
  for (const int ranks : {1, 3}) {
    const graph::ShardSource source{graph, graph, graph::partition_ranges(*graph, ranks).cuts};
    team::run_team(team_of(ranks), [&](team::Team& team) {
      EXPECT_TRUE(graph::make_shard(team, source).is_symmetric);
    });
    expect_answers(*graph, source, ranks);
  }
}

TEST(MakeShard, RefusesADirectedGraphAsItsOwnReverse) {
  for (const Symmetry known : {Symmetry::unknown, Symmetry::directed}) {
    auto graph = std::make_shared<graph::Graph>(directed());
    graph->symmetry = known;
    const graph::ShardSource source{graph, graph, graph::partition_ranges(*graph, 2).cuts};
    EXPECT_THAT(refusal([&](int) { return source; }),
                HasSubstr("a directed graph was given as its own reverse"));
  }
}

TEST(MakeShard, TakesASymmetricGraphOnceWhateverItsReverseIs) {
  exec::ThreadPool pool(2);
  const graph::Graph graph = fixtures::random_graph(500, 900, 5, true);
  const graph::ShardSource source{std::make_shared<graph::Graph>(graph),
                                  std::make_shared<graph::Graph>(graph::transpose(graph, pool)),
                                  graph::partition_ranges(graph, 2).cuts};
  team::run_team(team_of(2), [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    EXPECT_TRUE(shard.is_symmetric);
    EXPECT_EQ(shard.in.offsets, shard.out.offsets);
  });
  expect_answers(graph, source, 2);
}

TEST(MakeShard, RefusesWhatIsNotOneGraphAndItsReverse) {
  exec::ThreadPool pool(2);
  const graph::ShardSource small = graph::shard_source(fixtures::path(10), 2, pool);
  graph::ShardSource mixed = small;
  mixed.in = graph::shard_source(fixtures::path(9), 2, pool).in;
  EXPECT_THAT(refusal([&](int) { return mixed; }),
              HasSubstr("another number of vertices or edges"));

  const graph::ShardSource other =
      graph::shard_source(fixtures::from_list(10, {{0, 1}, {1, 2}}), 2, pool);
  EXPECT_THAT(refusal([&](int rank) { return rank == 0 ? small : other; }),
              HasSubstr("of one graph"));
  graph::ShardSource one_way = small;
  one_way.in = nullptr;
  EXPECT_THAT(refusal([&](int rank) { return rank == 0 ? small : one_way; }),
              HasSubstr("some have in-edges and some have none"));
}

TEST(MakeShard, EveryRankKnowsWhatTheWholeGraphHas) {
  exec::ThreadPool pool(2);
  graph::Graph graph = fixtures::star(20, false);
  for (const auto type : {graph::WeightType::none, graph::WeightType::int32}) {
    if (type == graph::WeightType::int32) graph::set_uniform_weights(graph, 1, 9, 1, pool);
    const graph::ShardSource source = graph::shard_source(graph, 4, pool);
    team::run_team(team_of(4), [&](team::Team& team) {
      EXPECT_EQ(graph::make_shard(team, source).weight_type, type);
    });
  }
}

}  // namespace
}  // namespace warren
