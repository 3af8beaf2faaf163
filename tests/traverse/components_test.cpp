// SPDX-License-Identifier: Apache-2.0
// Connected components against the sequential reference, on every shape, with every team, with and
// without in-edges.
#include "warren/traverse/components.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/traverse.hpp"
#include "traverse/fixtures.hpp"

namespace warren {
namespace {

void check(const team::TeamOptions& options, const std::string& name,
           const graph::ShardSource& source, const std::vector<Vertex>& expected,
           const graph::EdgesOptions& edges = {}) {
  std::map<Vertex, std::uint64_t> members;
  for (const Vertex label : expected) ++members[label];
  std::uint64_t largest = 0;
  for (const auto& [label, count] : members) largest = std::max(largest, count);
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source, edges);
    using Sampling = traverse::ComponentsSampling;
    for (const traverse::ComponentsOptions& choice : {traverse::ComponentsOptions{},
                                                      {0, Sampling::link},
                                                      {1, Sampling::link},
                                                      {2, Sampling::link},
                                                      {5, Sampling::link},
                                                      {0, Sampling::hook},
                                                      {1, Sampling::hook},
                                                      {3, Sampling::hook}}) {
      SCOPED_TRACE(name + ", " + std::to_string(options.ranks) + " ranks, " +
                   (choice.sampled_edges ? std::to_string(*choice.sampled_edges) : "some") +
                   (choice.sampling == Sampling::hook ? " hooked" : " linked") + " edges" +
                   (source.in ? "" : ", no in-edges"));
      traverse::Components components(team, shard, choice);
      for (int repeat = 0; repeat < 2; ++repeat) {
        const traverse::ComponentsResult result = components.run();
        ASSERT_EQ(components.all_labels(), expected);
        EXPECT_EQ(result.components, members.size());
        EXPECT_EQ(result.largest, largest);
      }
    }
  });
}

/// Two halves that each rank's own edges leave apart, joined by edges into the one of them only.
graph::Graph bridged_halves() {
  std::vector<graph::Edge> edges;
  constexpr Vertex kHalf = 400;
  for (Vertex v = 0; v + 1 < kHalf; ++v) {
    edges.push_back({v, v + 1});
    edges.push_back({kHalf + v, kHalf + v + 1});
    edges.push_back({v, (v + 7) % kHalf});
    edges.push_back({kHalf + v, kHalf + (v + 7) % kHalf});
  }
  edges.push_back({kHalf - 1, 2 * kHalf - 1});
  return fixtures::from_list(2 * kHalf + 5, std::move(edges));
}

/// Chains whose ids run against the edges, and stars that hang under their largest vertex.
graph::Graph backwards() {
  std::vector<graph::Edge> edges;
  for (Vertex v = 1; v < 1000; ++v) edges.push_back({v, v - 1});
  for (Vertex v = 1000; v < 1999; ++v) edges.push_back({1999, v});
  for (Vertex v = 2000; v < 2999; ++v) edges.push_back({v, 2999});
  return fixtures::from_list(3000, std::move(edges));
}

std::vector<fixtures::Named> graphs() {
  auto all = fixtures::shapes();
  all.push_back({"bridged halves", bridged_halves()});
  all.push_back({"backwards", backwards()});
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    all.push_back({"about to connect " + std::to_string(seed),
                   fixtures::random_graph(3000, 1100 + 250 * seed, 50 + seed, seed % 2 == 0)});
  }
  return all;
}

void check_all(const std::vector<team::TeamOptions>& teams) {
  for (const auto& named : graphs()) {
    const std::vector<Vertex> expected = reference::component_labels(named.graph);
    for (const auto& options : teams) {
      graph::ShardSource source = fixtures::shard_source(named.graph, options.ranks);
      check(options, named.name, source, expected);
      const graph::ShardSource both = source;
      source.in = nullptr;
      check(options, named.name, source, expected);
      if (options.ranks % 2 != 0) continue;
      check(options, named.name, both, expected, fixtures::host_edges()[0]);
      check(options, named.name, source, expected, fixtures::host_edges()[1]);
      check(options, named.name, both, expected, fixtures::host_edges()[3]);
      check(options, named.name, source, expected, fixtures::host_edges()[3]);
    }
  }
}

TEST(Components, MatchReferenceOnEveryShapeAndTeam) { check_all(fixtures::cpu_teams()); }

TEST(Components, OfRanksApart) { check_all(fixtures::cpu_teams_apart()); }

/// Two random graphs beside each other, of `first` and `second` vertices: as many edges as
/// `degree` for each vertex.
std::vector<graph::Edge> two_parts(Vertex first, Vertex second, std::uint32_t degree,
                                   std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<graph::Edge> edges;
  const auto draw = [&](Vertex from, Vertex count) {
    for (std::uint64_t i = 0; i < std::uint64_t{count} * degree; ++i)
      edges.push_back({from + static_cast<Vertex>(random() % count),
                       from + static_cast<Vertex>(random() % count)});
  };
  if (first > 0) draw(0, first);
  if (second > 0) draw(first, second);
  return edges;
}

void add_star(std::vector<graph::Edge>& edges, Vertex centre, Vertex from, Vertex to) {
  for (Vertex v = from; v < to; ++v)
    if (v != centre) edges.push_back({centre, v});
}

/// Numbers drawn anew, so that neighbours are of different ranks and no order helps.
std::vector<graph::Edge> shuffled(Vertex vertices, std::vector<graph::Edge> edges,
                                  std::uint64_t seed) {
  std::vector<Vertex> id(vertices);
  std::iota(id.begin(), id.end(), Vertex{0});
  std::shuffle(id.begin(), id.end(), std::mt19937_64(seed));
  for (graph::Edge& edge : edges) edge = {id[edge.source], id[edge.target]};
  return edges;
}

graph::Graph symmetric(Vertex vertices, std::vector<graph::Edge> edges) {
  graph::BuildOptions options;
  options.symmetrize = true;
  return fixtures::from_list(vertices, std::move(edges), options);
}

/// What searches from a hub leave over, in many ways: symmetric graphs.
std::vector<fixtures::Named> search_graphs() {
  constexpr Vertex kHalf = 600, kAll = 2000;
  std::vector<fixtures::Named> all;
  const auto add = [&](const std::string& name, Vertex vertices, std::vector<graph::Edge> edges) {
    all.push_back({name + ", shuffled", symmetric(vertices, shuffled(vertices, edges, 5))});
    all.push_back({name, symmetric(vertices, std::move(edges))});
  };
  for (auto& named : fixtures::shapes()) all.push_back(std::move(named));
  add("two giants", 2 * kHalf + 9, two_parts(kHalf, kHalf, 3, 1));
  auto edges = two_parts(kHalf, 0, 3, 2);
  add_star(edges, kHalf + 3, kHalf, kAll);
  add("hub beside a random graph", kAll, edges);
  edges = two_parts(0, kAll - 150, 3, 3);
  add_star(edges, kAll - 1, kAll - 150, kAll);
  add("hub in a small component", kAll, edges);
  edges = {};
  add_star(edges, kHalf, 0, kAll);
  for (Vertex v = kAll; v + 1 < kAll + 700; ++v) edges.push_back({v - 1, v});
  add("star with a path", kAll + 800, edges);
  edges = {};
  for (Vertex v = 1; v < 800; ++v) edges.push_back({v - 1, v});
  add_star(edges, kAll, 790, kAll);
  add("path that ends in a star", kAll + 1, edges);
  edges = two_parts(kHalf, 0, 12, 4);
  add_star(edges, 40, 0, kHalf);
  for (Vertex v = kHalf; v + 3 < kAll; v += 4) {
    edges.push_back({v, v + 1});
    edges.push_back({v + 2, v + 1});
    if (v % 8 == 0) edges.push_back({v + 3, v + 3});
  }
  add("small components beside a giant", kAll, edges);
  edges.push_back({kHalf + 1, 7});
  edges.push_back({kAll - 2, 7});
  add("small components, some joined", kAll, edges);
  edges = {};
  add_star(edges, 1500, 1000, 2000);
  add_star(edges, 700, 2, 1000);
  edges.push_back({0, 1});
  add("stars, and the smallest vertices apart", kAll, edges);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    all.push_back({"random with loops " + std::to_string(seed),
                   fixtures::random_graph(900, 300 + 200 * seed, 70 + seed, true)});
  }
  testing_support::keep_for_threads(all);
  return all;
}

void check_forms(const team::TeamOptions& options, const fixtures::Named& named) {
  const std::vector<Vertex> expected = reference::component_labels(named.graph);
  const graph::ShardSource source = fixtures::shard_source(named.graph, options.ranks);
  using Form = traverse::ComponentsForm;
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    for (const Form form : {Form::automatic, Form::forest, Form::search}) {
      if (form == Form::search && !shard.is_symmetric) continue;
      SCOPED_TRACE(named.name + ", " + std::to_string(options.ranks) + " ranks, form " +
                   std::to_string(static_cast<int>(form)));
      traverse::Components components(team, shard, {.form = form});
      std::vector<Form> ran;
      for (int repeat = 0; repeat < 3; ++repeat) {
        const traverse::ComponentsResult result = components.run();
        ASSERT_EQ(components.all_labels(), expected);
        ran.push_back(result.form);
        if (form != Form::automatic) {
          EXPECT_EQ(result.form, form);
        }
        if (form == Form::forest) {
          EXPECT_EQ(result.search_levels, 0u);
        }
      }
      EXPECT_EQ(ran, std::vector<Form>(3, ran.front()));
    }
  });
}

TEST(Components, FormsAgree) {
  for (const fixtures::Named& named : search_graphs())
    for (const auto& options : fixtures::cpu_teams()) check_forms(options, named);
}

/// The form that automatic takes.
traverse::ComponentsResult automatic(const graph::Graph& graph, int ranks,
                                     const graph::EdgesOptions& edges = {},
                                     const traverse::ComponentsOptions& choice = {}) {
  team::TeamOptions options;
  options.ranks = ranks;
  options.threads = ranks;
  const graph::ShardSource source = fixtures::shard_source(graph, ranks);
  traverse::ComponentsResult result;
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source, edges);
    const auto found = traverse::Components(team, shard, choice).run();
    if (team.rank() == 0) result = found;
  });
  return result;
}

TEST(Components, AutomaticSearchesFromAHub) {
  using Form = traverse::ComponentsForm;
  const graph::Graph hubs = fixtures::generated("kron:13", true);
  EXPECT_EQ(automatic(hubs, 3).form, Form::search);
  EXPECT_GT(automatic(hubs, 3).search_levels, 0u);
  EXPECT_EQ(automatic(hubs, 1).form, Form::forest);
  const graph::Graph large = fixtures::generated("kron:16", true);
  EXPECT_EQ(automatic(large, 1).form, Form::search);
  EXPECT_EQ(automatic(fixtures::generated("grid:300x300", true), 1).form, Form::forest);
  EXPECT_EQ(automatic(hubs, 1, {}, {.form = Form::search}).form, Form::search);
  EXPECT_EQ(automatic(hubs, 2, fixtures::host_edges()[0]).form, Form::forest);
  EXPECT_EQ(automatic(hubs, 2, {}, {.sampled_edges = 2}).form, Form::forest);
  EXPECT_EQ(automatic(fixtures::generated("kron:12", false), 2).form, Form::forest);
  const traverse::ComponentsResult grid = automatic(fixtures::generated("grid:90x80", true), 2);
  EXPECT_EQ(grid.form, Form::forest);
  EXPECT_EQ(grid.search_levels, 0u);
}

TEST(Components, AForestTakesOverWhereASearchLeavesMuch) {
  using Form = traverse::ComponentsForm;
  std::vector<graph::Edge> edges = two_parts(0, 1800, 3, 3);
  add_star(edges, 1999, 1800, 2000);
  const graph::Graph graph = symmetric(2000, edges);
  const traverse::ComponentsResult found = automatic(graph, 2);
  EXPECT_EQ(found.form, Form::forest);
  EXPECT_GT(found.search_levels, 0u);
}

TEST(Components, RefuseASearchThatCannotRun) {
  using Form = traverse::ComponentsForm;
  const auto message = [](const graph::Graph& graph, const graph::EdgesOptions& edges,
                          const traverse::ComponentsOptions& choice) -> std::string {
    try {
      (void)automatic(graph, 2, edges, choice);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  using testing::HasSubstr;
  const graph::Graph directed = fixtures::generated("kron:8", false);
  const graph::Graph both_ways = fixtures::generated("kron:8", true);
  EXPECT_THAT(message(directed, {}, {.form = Form::search}), HasSubstr("both ways"));
  for (const graph::EdgesOptions& edges : {fixtures::host_edges()[0], fixtures::host_edges()[3]})
    EXPECT_THAT(message(both_ways, edges, {.form = Form::search}), HasSubstr("on the device"));
  EXPECT_THAT(message(both_ways, {}, {.sampled_edges = 1, .form = Form::search}),
              HasSubstr("sampled_edges"));
  EXPECT_THAT(message(both_ways, {},
                      {.sampling = traverse::ComponentsSampling::link, .form = Form::search}),
              HasSubstr("sampling"));
  EXPECT_EQ(message(both_ways, {}, {.form = Form::search}), "");
  team::TeamOptions apart;
  apart.ranks = 2;
  apart.are_apart = true;
  const graph::ShardSource source = fixtures::shard_source(both_ways, 2);
  EXPECT_THROW(team::run_team(apart,
                              [&](team::Team& team) {
                                const graph::Shard shard = graph::make_shard(team, source);
                                traverse::Components(team, shard, {.form = Form::search});
                              }),
               UsageError);
}

TEST(Components, ReadASectorOfEachFarListAndLittleMore) {
  const graph::Graph graph = fixtures::generated("kron:14", true);
  const graph::ShardSource source = fixtures::shard_source(graph, 1);
  std::uint64_t lists = 0;
  for (Vertex v = 0; v < graph.vertices; ++v) lists += graph.degree(v) > 0 ? 1 : 0;
  team::run_team({}, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source, fixtures::host_edges()[0]);
    traverse::Components components(team, shard);
    const std::uint64_t bytes = components.run().far_bytes;
    EXPECT_GE(bytes, 32 * lists);
    EXPECT_LT(bytes, 40 * lists);
    const graph::Shard packed = graph::make_shard(team, source, fixtures::host_edges()[3]);
    const std::uint64_t packed_bytes = traverse::Components(team, packed).run().far_bytes;
    EXPECT_GE(packed_bytes, 32 * lists);
    EXPECT_LT(packed_bytes, 40 * lists);
  });
}

TEST(Components, OfNoVertices) {
  const graph::ShardSource source = fixtures::shard_source(fixtures::from_list(0, {}), 2);
  team::TeamOptions options;
  options.ranks = 2;
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    traverse::Components components(team, shard);
    EXPECT_EQ(components.run().components, 0u);
    EXPECT_EQ(components.run().largest, 0u);
  });
}

TEST(ComponentsCuda, MatchReferenceOnEveryShapeAndTeam) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  check_all(fixtures::cuda_teams_of_waiting_kernels());
}

TEST(ComponentsCuda, FormsAgree) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  for (const fixtures::Named& named : search_graphs())
    for (const auto& options : fixtures::cuda_teams_of_waiting_kernels())
      check_forms(options, named);
}

TEST(ComponentsCuda, OfRanksApart) {
  if (exec::cuda_device_count() == 0) GTEST_SKIP() << "no GPU";
  check_all(fixtures::cuda_teams_apart());
}

}  // namespace
}  // namespace warren
