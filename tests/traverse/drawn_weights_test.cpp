// SPDX-License-Identifier: Apache-2.0
// Graphs whose ranks drew edges and weights: distances and weighted ranks are those of the graph
// that was built and weighted in host memory, wherever lists lie and however vertices are numbered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/graph/generate_shard.hpp"
#include "warren/graph/transform.hpp"
#include "warren/traverse/asynchronous.hpp"
#include "warren/traverse/pagerank.hpp"
#include "warren/traverse/sssp.hpp"
#include "warren/traverse/verify.hpp"

#include "reference/traverse.hpp"
#include "traverse/fixtures.hpp"

namespace warren {
namespace {

using graph::EdgesOptions;
using graph::EdgesPlacement;
using graph::UniformWeights;
using graph::VertexOrder;
using testing::HasSubstr;

/// A generated graph, weighted on the host.
struct Drawn {
  graph::GeneratorSpec spec;
  graph::BuildOptions build;
  UniformWeights weights;
  graph::Graph graph;
  Vertex source = 0;
  std::vector<std::uint64_t> distance;

  Drawn(const std::string& text, bool is_symmetric, const UniformWeights& with)
      : spec(*graph::parse_generator(text, 1)), weights(with) {
    build.symmetrize = is_symmetric;
    exec::ThreadPool pool(2);
    graph = graph::build(*graph::make_source(spec), graph::effective_options(spec, build), pool);
    graph::set_uniform_weights(graph, with.low, with.high, with.seed, pool);
    for (Vertex v = 0; v < graph.vertices; ++v) {
      if (graph.degree(v) > graph.degree(source)) source = v;
    }
    distance = reference::integer_distances(graph, source);
  }
};

std::vector<Drawn> graphs() {
  std::vector<Drawn> all;
  all.emplace_back("kron:9", true, UniformWeights{1, 64, 1});
  all.emplace_back("kron:8", false, UniformWeights{0, 255, 5});
  all.emplace_back("urand:8,4", false, UniformWeights{1, 1000, 1});
  all.emplace_back("grid:17x9", true, UniformWeights{7, 7, 1});
  all.emplace_back("community:600,6", true, UniformWeights{0, 3, 2});
  return all;
}

std::vector<EdgesOptions> placements() {
  std::vector<EdgesOptions> all = fixtures::host_edges();
  all.push_back({});
  return all;
}

/// The generator's vertices' values of those of the shards' vertices.
template <class T>
std::vector<T> in_order(const exec::Stream& stream, const graph::Shard& shard,
                        const std::vector<T>& values) {
  if (!shard.new_id) return values;
  std::vector<T> ordered;
  for (const Vertex id : shard.new_id->to_host(stream)) ordered.push_back(values[id]);
  return ordered;
}

void check(const team::TeamOptions& options, const Drawn& drawn, VertexOrder order,
           const EdgesOptions& edges) {
  SCOPED_TRACE(std::to_string(options.ranks) + " ranks, placement " +
               std::to_string(static_cast<int>(edges.placement)) + ", weights up to " +
               std::to_string(drawn.weights.high));
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard =
        graph::generate_shard(team, drawn.spec, drawn.build, true, order, edges, drawn.weights);
    const exec::Stream stream(team.device());
    Vertex source = drawn.source;
    if (shard.new_id) source = shard.new_id->to_host(stream)[source];
    for (const auto frontier : {traverse::SsspFrontier::queues, traverse::SsspFrontier::scan}) {
      traverse::Sssp sssp(team, shard, {0.0, frontier});
      (void)sssp.run(source);
      EXPECT_EQ(in_order(stream, shard, sssp.all_distances()), drawn.distance);
    }
    if (edges.placement == EdgesPlacement::compressed_host) return;
    traverse::AsyncSssp sssp(team, shard);
    (void)sssp.run(source);
    EXPECT_EQ(in_order(stream, shard, sssp.all_distances()), drawn.distance);
  });
}

void check_all(const std::vector<team::TeamOptions>& teams) {
  for (const Drawn& drawn : graphs()) {
    for (const auto& options : teams) {
      if (options.ranks > 4) continue;
      for (const auto& edges : placements()) {
        for (const VertexOrder order : {VertexOrder::natural, VertexOrder::degree})
          check(options, drawn, order, edges);
      }
    }
  }
}

TEST(DrawnWeights, DistancesAreThoseOfTheGraphOfTheHost) { check_all(fixtures::cpu_teams()); }

TEST(DrawnWeightsCuda, DistancesAreThoseOfTheGraphOfTheHost) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  check_all(fixtures::cuda_teams());
}

void check_ranks(const std::vector<team::TeamOptions>& teams) {
  traverse::PageRankOptions options;
  options.weighted = true;
  for (const Drawn& drawn : graphs()) {
    for (const auto& team_options : teams) {
      if (team_options.ranks > 4) continue;
      for (const EdgesOptions& edges : {EdgesOptions{}, EdgesOptions{EdgesPlacement::host, 0}}) {
        const graph::ShardSource source = fixtures::shard_source(drawn.graph, team_options.ranks);
        team::run_team(team_options, [&](team::Team& team) {
          const graph::Shard shard = graph::generate_shard(
              team, drawn.spec, drawn.build, true, VertexOrder::natural, edges, drawn.weights);
          const graph::Shard placed = graph::make_shard(team, source, edges);
          traverse::PageRank of_drawn(team, shard, options), of_placed(team, placed, options);
          (void)of_drawn.run();
          (void)of_placed.run();
          const auto found = of_drawn.all_ranks(), expected = of_placed.all_ranks();
          ASSERT_EQ(found.size(), expected.size());
          for (std::size_t v = 0; v < found.size(); ++v)
            ASSERT_NEAR(found[v], expected[v], 1e-9) << "vertex " << v;
        });
      }
    }
  }
}

TEST(DrawnWeights, CountInWeightedRanks) { check_ranks(fixtures::cpu_teams()); }

TEST(DrawnWeightsCuda, CountInWeightedRanks) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  check_ranks(fixtures::cuda_teams());
}

TEST(DrawnWeights, AreComputedWhereDistancesAreChecked) {
  exec::ThreadPool pool(2);
  for (const Drawn& drawn : graphs()) {
    graph::Graph lists = drawn.graph;
    graph::drop_weights(lists);
    const std::span<const Vertex> sources(&drawn.source, 1);
    EXPECT_TRUE(traverse::verify_sssp(lists, drawn.weights, sources, drawn.distance, pool).correct);
    std::vector<std::uint64_t> wrong = drawn.distance;
    for (Vertex v = 0; v < lists.vertices; ++v) {
      if (v != drawn.source && wrong[v] != traverse::kUnreachedDistance) {
        ++wrong[v];
        break;
      }
    }
    EXPECT_FALSE(traverse::verify_sssp(lists, drawn.weights, sources, wrong, pool).correct);
    if (drawn.weights.high == drawn.weights.low) continue;
    UniformWeights others = drawn.weights;
    ++others.seed;
    const auto verdict = traverse::verify_sssp(lists, others, sources, drawn.distance, pool);
    EXPECT_FALSE(verdict.correct);
    EXPECT_THAT(verdict.message, HasSubstr("distance"));
  }
  EXPECT_THROW((void)traverse::verify_sssp({}, UniformWeights{3, 2, 1}, {}, {}, pool), UsageError);
}

}  // namespace
}  // namespace warren
