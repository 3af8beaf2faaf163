// SPDX-License-Identifier: Apache-2.0
// Betweenness against all shortest paths, counted pair by pair, on every shape and team.
#include "warren/traverse/betweenness.hpp"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "warren/traverse/verify.hpp"

#include "reference/traverse.hpp"
#include "support/size.hpp"
#include "traverse/fixtures.hpp"

namespace warren {
namespace {

/// Numbers of shortest paths from a vertex, parallel edges being paths of their own.
std::vector<double> paths_from(const graph::Graph& graph, Vertex source,
                               const std::vector<Vertex>& depth) {
  std::vector<Vertex> order;
  for (Vertex v = 0; v < graph.vertices; ++v)
    if (depth[v] != kNoVertex) order.push_back(v);
  std::sort(order.begin(), order.end(), [&](Vertex a, Vertex b) { return depth[a] < depth[b]; });
  std::vector<double> paths(graph.vertices, 0.0);
  paths[source] = 1.0;
  for (const Vertex v : order)
    for (const Vertex w : graph.neighbours(v))
      if (depth[w] == depth[v] + 1) paths[w] += paths[v];
  return paths;
}

/// By the definition: v lies on sigma_sv sigma_vt of the paths from s to t, if at all.
std::vector<double> counted(const graph::Graph& graph, const std::vector<Vertex>& sources) {
  const std::size_t n = graph.vertices;
  std::vector<std::vector<Vertex>> depth(n);
  std::vector<std::vector<double>> paths(n);
  for (Vertex v = 0; v < n; ++v) {
    depth[v] = reference::bfs_depths(graph, v);
    paths[v] = paths_from(graph, v, depth[v]);
  }
  std::vector<double> scores(n, 0.0);
  for (const Vertex s : sources) {
    for (Vertex t = 0; t < n; ++t) {
      if (t == s || depth[s][t] == kNoVertex) continue;
      for (Vertex v = 0; v < n; ++v) {
        if (v == s || v == t || depth[s][v] == kNoVertex || depth[v][t] == kNoVertex) continue;
        if (depth[s][v] + depth[v][t] == depth[s][t])
          scores[v] += paths[s][v] * paths[v][t] / paths[s][t];
      }
    }
  }
  return scores;
}

std::vector<Vertex> all_of(std::uint64_t vertices) {
  std::vector<Vertex> all(vertices);
  std::iota(all.begin(), all.end(), Vertex{0});
  return all;
}

void expect_near(const std::vector<double>& found, const std::vector<double>& right) {
  ASSERT_EQ(found.size(), right.size());
  for (std::size_t v = 0; v < right.size(); ++v)
    EXPECT_NEAR(found[v], right[v], 1e-9 * std::max(1.0, right[v])) << "vertex " << v;
}

TEST(Betweenness, OfSmallGraphsIsTheDefinition) {
  for (const bool symmetrize : {false, true}) {
    for (std::uint64_t seed = 1; seed < 5; ++seed) {
      const graph::Graph graph = fixtures::random_graph(40, 30 * seed, seed, symmetrize);
      const std::vector<Vertex> sources =
          seed % 2 == 0 ? all_of(40) : std::vector<Vertex>{0, 7, 39};
      const std::vector<double> right = counted(graph, sources);
      for (const auto& options : fixtures::cpu_teams()) {
        const graph::ShardSource source = fixtures::shard_source(graph, options.ranks);
        team::run_team(options, [&](team::Team& team) {
          const graph::Shard shard = graph::make_shard(team, source);
          traverse::Betweenness betweenness(team, shard);
          for (int run = 0; run < 2; ++run) {
            betweenness.run(sources);
            expect_near(betweenness.all_scores(), right);
          }
        });
      }
    }
  }
}

void check(const team::TeamOptions& options, const fixtures::Named& named, std::uint64_t count,
           const graph::EdgesOptions& placement = {}) {
  SCOPED_TRACE(named.name + ", " + std::to_string(options.ranks) + " ranks");
  const std::vector<Vertex> sources = traverse::sample_sources(named.graph.vertices, count, 5);
  exec::ThreadPool pool(2);
  const graph::ShardSource source = fixtures::shard_source(named.graph, options.ranks);
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source, placement);
    traverse::Betweenness betweenness(team, shard);
    betweenness.run(sources);
    const std::vector<double> scores = betweenness.all_scores();
    betweenness.run(sources);
    EXPECT_EQ(betweenness.all_scores(), scores) << "a second run differs";
    if (team.rank() != 0) return;
    const auto verdict = traverse::verify_betweenness(named.graph, sources, scores, 1.0, pool);
    EXPECT_TRUE(verdict.correct) << verdict.message;
  });
}

/// Two batches on the CPU, of which the second is not full; fewer where each takes long.
std::uint64_t sources_on(const fixtures::Named& named) { return named.name == "path" ? 2 : 10; }

TEST(Betweenness, OnEveryShapeAndTeam) {
  for (const auto& named : fixtures::shapes()) {
    for (const auto& options : fixtures::cpu_teams()) check(options, named, sources_on(named));
  }
  for (const auto& named : fixtures::placed_shapes())
    check(fixtures::cpu_teams().back(), named, sources_on(named),
          {graph::EdgesPlacement::host, 4000});
}

TEST(Betweenness, SourcesGoTogetherButInDeepGraphs) {
  const auto steps_of = [](const graph::Graph& graph, const std::vector<Vertex>& sources) {
    std::uint64_t steps = 0;
    const graph::ShardSource source = fixtures::shard_source(graph, 2);
    team::TeamOptions options;
    options.ranks = 2;
    options.threads = 2;
    team::run_team(options, [&](team::Team& team) {
      const graph::Shard shard = graph::make_shard(team, source);
      traverse::Betweenness betweenness(team, shard);
      const std::uint64_t found = betweenness.run(sources).steps;
      expect_near(betweenness.all_scores(), counted(graph, sources));
      if (team.rank() == 0) steps = found;
    });
    return steps;
  };
  // Vertex 0 and its seven neighbours; those have level 2.
  const graph::Graph star = fixtures::star(8, true);
  const std::uint64_t alone = steps_of(star, {0});
  EXPECT_LE(steps_of(star, {0, 1, 2, 3, 4, 5, 6, 7}), alone + 4);
  EXPECT_EQ(steps_of(star, {1, 1, 1}), steps_of(star, {1})) << "repeats, each of which counts";
  EXPECT_EQ(steps_of(fixtures::star(8, false), {1, 2, 3}), 0u) << "none has an out-edge";
  // There and back from each source, of which together they would go back once.
  EXPECT_GT(steps_of(fixtures::path(300), {0, 1, 2}), 3u * 2 * 297);
}

TEST(Betweenness, NeedsNoInEdges) {
  const graph::Graph graph = fixtures::random_graph(60, 200, 3, false);
  const graph::ShardSource source{std::make_shared<const graph::Graph>(graph), nullptr, {0, 60}};
  team::run_team({}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::Betweenness betweenness(team, shard);
    betweenness.run(all_of(60));
    expect_near(betweenness.all_scores(), counted(graph, all_of(60)));
  });
}

TEST(Betweenness, SamplesAreDifferentVertices) {
  for (const std::uint64_t count : {0, 1, 50, 99, 100, 200}) {
    const auto sources = traverse::sample_sources(100, count, 7);
    EXPECT_EQ(sources.size(), std::min<std::uint64_t>(count, 100));
    EXPECT_EQ(std::adjacent_find(sources.begin(), sources.end(), std::greater_equal<>()),
              sources.end());
    EXPECT_TRUE(sources.empty() || sources.back() < 100);
  }
  EXPECT_NE(traverse::sample_sources(1000, 5, 1), traverse::sample_sources(1000, 5, 2));
  EXPECT_EQ(traverse::sample_sources(1000, 5, 1), traverse::sample_sources(1000, 5, 1));
}

TEST(Betweenness, WrongScoresAreFound) {
  exec::ThreadPool pool(2);
  const graph::Graph graph = fixtures::path(9);
  std::vector<double> scores = counted(graph, all_of(9));
  EXPECT_TRUE(traverse::verify_betweenness(graph, all_of(9), scores, 1.0, pool).correct);
  scores[4] *= 1.001;
  const auto verdict = traverse::verify_betweenness(graph, all_of(9), scores, 1.0, pool);
  EXPECT_FALSE(verdict.correct);
  EXPECT_NE(verdict.message.find("the score of vertex 4 is"), std::string::npos);
}

TEST(Betweenness, RefusesWhatIsNoSource) {
  const graph::ShardSource source = fixtures::shard_source(fixtures::path(4), 1);
  team::run_team({}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::Betweenness betweenness(team, shard);
    const std::vector<Vertex> wrong = {1, 4};
    EXPECT_THROW(betweenness.run(wrong), UsageError);
    EXPECT_EQ(betweenness.run({}).steps, 0u);
    EXPECT_EQ(betweenness.scores(), std::vector<double>(4, 0.0));
    const graph::Shard packed =
        graph::make_shard(team, source, {graph::EdgesPlacement::compressed_host, 0});
    EXPECT_THROW(traverse::Betweenness(team, packed), UsageError);
  });
}

TEST(BetweennessCuda, OnEveryShapeAndTeam) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const auto& named : fixtures::shapes()) {
    for (const auto& options : fixtures::cuda_teams_of_waiting_kernels()) check(options, named, 3);
  }
}

}  // namespace
}  // namespace warren
