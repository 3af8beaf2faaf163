// SPDX-License-Identifier: Apache-2.0
// Samples against the sequential reference: every vertex, edge and count, on graphs that hurt, for
// every team.
#pragma once

#include <gtest/gtest.h>

#include "warren/sample/sampler.hpp"

#include "sample/sampler_checks.hpp"

namespace warren::sample {

template <class Backend>
class SamplerTest : public testing_support::OnBackend<Backend> {};
TYPED_TEST_SUITE_P(SamplerTest);

TYPED_TEST_P(SamplerTest, UniformOnEveryGraphAndTeam) {
  for (const auto& named : sampling_graphs()) {
    for (const auto& options : sampling_teams<TypeParam>()) {
      check_samples(options, named, sample_case({3, 5}, 9));
      check_samples(options, named, sample_case({1, 2, 1}, 4));
      check_samples(options, named, sample_case({20, -1}, 5));
    }
  }
}

TYPED_TEST_P(SamplerTest, EveryWidthOfFanout) {
  const fixtures::Named star{"star", fixtures::star(3000, true)};
  const auto options = other_team<TypeParam>();
  for (const std::int64_t fanout : {1, 7, 8, 9, 16, 17, 31, 32, 33, 100, 1024, 1500, 2998})
    check_samples(options, star, sample_case({fanout}, 3));
}

TYPED_TEST_P(SamplerTest, ChoicesTooLargeForAWorkersOwnMemory) {
  const fixtures::Named star{"star", fixtures::star(30'000, false)};
  const auto options = other_team<TypeParam>();
  check_samples(options, star, sample_case({9000}, 3));
  SampleCase weighted = sample_case({9000}, 3);
  weighted.options.weighted = true;
  check_samples(options, {"weighted star", with_weights(star.graph, false)}, weighted);
}

TYPED_TEST_P(SamplerTest, ManyTargets) {
  // Several chunks of targets and of edges.
  const fixtures::Named named{"community", fixtures::generated("community:20000,12", true)};
  for (const auto table : {SamplerOptions::Table::hash, SamplerOptions::Table::direct}) {
    SampleCase tried = sample_case({15, 10}, many_seeds());
    tried.options.table = table;
    check_samples(other_team<TypeParam>(), named, tried);
  }
}

TYPED_TEST_P(SamplerTest, WithReplacement) {
  for (const auto& named : sampling_graphs()) {
    for (const auto& options : sampling_teams<TypeParam>()) {
      SampleCase tried = sample_case({4, 40}, 6);
      tried.options.replace = true;
      check_samples(options, named, tried);
    }
  }
}

TYPED_TEST_P(SamplerTest, Weighted) {
  for (const auto& named : sampling_graphs()) {
    if (named.graph.edges() < 100) continue;
    for (const bool as_floats : {false, true}) {
      if (testing_support::sees_few() && as_floats) continue;
      const fixtures::Named weighted{named.name, with_weights(named.graph, as_floats)};
      for (const auto& options : sampling_teams<TypeParam>()) {
        for (const bool replace : {false, true}) {
          SampleCase tried = sample_case({5, 3}, 8);
          tried.options.weighted = true;
          tried.options.replace = replace;
          check_samples(options, weighted, tried);
        }
        SampleCase wide = sample_case({50, -1}, 3);
        wide.options.weighted = true;
        check_samples(options, weighted, wide);
      }
    }
  }
}

/// Weights that no draw looks at may be negative.
TYPED_TEST_P(SamplerTest, WritesWeightsOfAnySign) {
  for (const auto& named : sampling_graphs()) {
    for (const bool as_floats : {false, true}) {
      fixtures::Named weighted{named.name, with_weights(named.graph, as_floats)};
      for (EdgeOffset e = 0; e < weighted.graph.edges(); e += 3) {
        if (as_floats) {
          weighted.graph.weights_float[e] = -0.75f;
        } else {
          weighted.graph.weights_int[e] = -5;
        }
      }
      for (const auto& options : sampling_teams<TypeParam>()) {
        const auto check = [&](auto&& change) {
          SampleCase tried = sample_case({3, 40, -1}, 4);
          change(tried);
          check_samples(options, weighted, tried);
        };
        check([](SampleCase& tried) { tried.replicated = true; });
        check([](SampleCase& tried) { tried.edges.placement = graph::EdgesPlacement::host; });
        check([](SampleCase& tried) { tried.options.replace = true; });
        check([](SampleCase& tried) { tried.options.labor = true; });
        check([](SampleCase& tried) { tried.options.temporal = tried.options.disjoint = true; });
      }
    }
  }
}

TYPED_TEST_P(SamplerTest, LaborOnEveryGraphAndTeam) {
  for (const auto& named : sampling_graphs()) {
    for (const auto& options : sampling_teams<TypeParam>()) {
      for (const bool dependent : {false, true}) {
        SampleCase tried = sample_case({3, 40, 2}, 9);
        tried.options.labor = true;
        tried.options.layer_dependency = dependent;
        check_samples(options, named, tried);
        tried.options.once = true;
        check_samples(options, named, tried);
      }
    }
  }
}

TYPED_TEST_P(SamplerTest, LaborByWeights) {
  for (const auto& named : sampling_graphs()) {
    if (named.graph.edges() < 100) continue;
    for (const bool as_floats : {false, true}) {
      if (testing_support::sees_few() && as_floats) continue;
      const fixtures::Named weighted{named.name, with_weights(named.graph, as_floats)};
      for (const auto& options : sampling_teams<TypeParam>()) {
        SampleCase tried = sample_case({5, 50, -1}, 4);
        tried.options.labor = tried.options.weighted = true;
        check_samples(options, weighted, tried);
      }
    }
  }
}

TYPED_TEST_P(SamplerTest, LaborOfEveryWidth) {
  const auto options = other_team<TypeParam>();
  const fixtures::Named star{"star", fixtures::star(3000, true)};
  for (const std::int64_t fanout : {1, 7, 8, 16, 31, 32, 33, 100, 1024, 2998}) {
    SampleCase tried = sample_case({fanout}, 3);
    tried.options.labor = true;
    check_samples(options, star, tried);
  }
  // Choices too large for a worker's own memory.
  SampleCase wide = sample_case({9000}, 3);
  wide.options.labor = true;
  check_samples(options, {"wide star", fixtures::star(30'000, false)}, wide);
  const Vertex leaves = testing_support::is_small() ? 100'000 : 300'000;
  SampleCase hub = sample_case({15}, 2);
  hub.options.labor = true;
  check_samples(options, {"hub", fixtures::star(leaves, false)}, hub);
  // Several chunks of targets.
  SampleCase many = sample_case({15, 10}, many_seeds());
  many.options.labor = true;
  check_samples(options, {"community", fixtures::generated("community:20000,12", true)}, many);
}

TYPED_TEST_P(SamplerTest, LaborInEveryMemory) {
  const fixtures::Named named{"kronecker",
                              with_weights(fixtures::generated("kron:9", true), false)};
  for (const auto& options : sampling_teams<TypeParam>()) {
    for (const bool weighted : {false, true}) {
      SampleCase tried = sample_case({5, 40}, 6);
      tried.options.labor = true;
      tried.options.weighted = weighted;
      tried.replicated = true;
      check_samples(options, named, tried);
      tried.replicated = false;
      tried.edges = {graph::EdgesPlacement::host, 2000};
      check_samples(options, named, tried);
    }
  }
}

TYPED_TEST_P(SamplerTest, LaborHasFewerVertices) {
  // Of a dense graph; with hops that depend on each other fewer still.
  const graph::Graph graph = fixtures::generated("community:4000,60", true);
  const auto one = sampling_teams<TypeParam>().front();
  const auto source = directed_source(graph, one.ranks);
  team::run_team(one, [&](team::Team& team) {
    const exec::Stream stream(team.device());
    const graph::Shard shard = graph::make_shard(team, source);
    const GraphStore store(team, shard);
    const auto seeds = testing_support::on_device(stream, some_seeds(graph.vertices, 800));
    const auto sampled = [&](bool labor, bool dependent) {
      NeighbourSampler sampler(team.device(), store,
                               {.fanouts = {10, 10},
                                .batch = 200,
                                .in_flight = 4,
                                .labor = labor,
                                .layer_dependency = dependent});
      sampler.run(stream, seeds.data(), 800, 3);
      std::pair<std::uint64_t, std::uint64_t> sums;  // Vertices, and edges of the first hop.
      for (const BatchCounts& counts : sampler.counts(stream)) {
        sums.first += counts.vertices[2];
        sums.second += counts.edges[0];
      }
      return sums;
    };
    const auto apart = sampled(false, false), shared = sampled(true, false);
    const auto dependent = sampled(true, true);
    EXPECT_EQ(shared.second, apart.second);
    EXPECT_LT(10 * shared.first, 9 * apart.first);
    EXPECT_LT(dependent.first, shared.first);
    team.barrier();
  });
}

TYPED_TEST_P(SamplerTest, DisjointTrees) {
  for (const auto& named : sampling_graphs()) {
    for (const auto& options : sampling_teams<TypeParam>()) {
      SampleCase tried = sample_case({3, 2}, 7);
      tried.options.disjoint = true;
      check_samples(options, named, tried);
    }
  }
}

TYPED_TEST_P(SamplerTest, DrawnOnce) {
  for (const auto& named : sampling_graphs()) {
    for (const auto& options : sampling_teams<TypeParam>()) {
      SampleCase tried = sample_case({2, 3, 2}, 6);
      tried.options.once = true;
      check_samples(options, named, tried);
      tried.options.replace = true;
      check_samples(options, named, tried);
      tried.options.disjoint = true;
      check_samples(options, named, tried);
    }
  }
  // Several chunks of targets, of which the first ones have no rows of their own.
  SampleCase many = sample_case({15, 4, 2}, many_seeds());
  many.options.once = true;
  check_samples(other_team<TypeParam>(),
                {"community", fixtures::generated("community:20000,12", true)}, many);
}

TYPED_TEST_P(SamplerTest, NotLaterThanTheSeed) {
  for (const auto& named : sampling_graphs()) {
    for (const auto& options : sampling_teams<TypeParam>()) {
      SampleCase tried = sample_case({6, 4}, 5);
      tried.options.disjoint = true;
      tried.options.temporal = true;
      check_samples(options, named, tried);
    }
  }
  const fixtures::Named weighted{"weighted",
                                 with_weights(fixtures::generated("kron:8", true), true)};
  for (const bool replace : {false, true}) {
    SampleCase tried = sample_case({6, 4}, 5);
    tried.options.disjoint = tried.options.temporal = tried.options.weighted = true;
    tried.options.replace = replace;
    check_samples(other_team<TypeParam>(), weighted, tried);
  }
}

TYPED_TEST_P(SamplerTest, LatestOfThoseNotLaterThanTheSeed) {
  for (const auto& named : sampling_graphs()) {
    for (const auto& options : sampling_teams<TypeParam>()) {
      for (const bool once : {false, true}) {
        SampleCase tried = sample_case({6, 4}, 5);
        tried.options.disjoint = tried.options.temporal = tried.options.temporal_last = true;
        tried.options.once = once;
        check_samples(options, named, tried);
      }
    }
  }
  SampleCase wide = sample_case({100, -1}, 3);
  wide.options.disjoint = wide.options.temporal = wide.options.temporal_last = true;
  check_samples(other_team<TypeParam>(), {"star", fixtures::star(3000, true)}, wide);
}

TYPED_TEST_P(SamplerTest, EdgesInHostMemory) {
  const fixtures::Named named{"kronecker",
                              with_weights(fixtures::generated("kron:9", true), false)};
  for (const auto& options : sampling_teams<TypeParam>()) {
    SampleCase tried = sample_case({5, 40}, 6);
    tried.edges = {graph::EdgesPlacement::host, 2000};
    check_samples(options, named, tried);
    tried.options.weighted = true;
    check_samples(options, named, tried);
  }
}

TYPED_TEST_P(SamplerTest, EdgesOnEveryDevice) {
  const fixtures::Named named{"kronecker",
                              with_weights(fixtures::generated("kron:9", true), false)};
  const fixtures::Named star{"star", fixtures::star(40, false)};  // One rank has all edges.
  for (const auto& options : sampling_teams<TypeParam>()) {
    SampleCase tried = sample_case({5, 40}, 6);
    tried.replicated = true;
    check_samples(options, star, tried);
    for (const bool weighted : {false, true}) {
      for (const bool replace : {false, true}) {
        tried.options.weighted = weighted;
        tried.options.replace = replace;
        check_samples(options, named, tried);
      }
    }
    tried.options.disjoint = tried.options.temporal = true;
    check_samples(options, named, tried);
    team::run_team(options, [&](team::Team& team) {
      const graph::Shard shard = graph::make_shard(team, directed_source(named.graph, team.size()));
      const GraphStore spread(team, shard);
      const GraphStore copied(team, shard, {.replicated = true});
      for (int q = 0; q < team.size(); ++q) {
        const bool is_own = q == team.rank();
        EXPECT_EQ(spread.view().offsets[q] == copied.view().offsets[q], is_own) << q;
        EXPECT_EQ(spread.view().targets[q] == copied.view().targets[q], is_own) << q;
      }
      team.barrier();
    });
  }
}

template <class Check>
void on_one_rank(const team::TeamOptions& options, const graph::Graph& graph, Check&& check) {
  const graph::ShardSource source = directed_source(graph, options.ranks);
  team::run_team(options, [&](team::Team& team) {
    const graph::Shard shard = graph::make_shard(team, source);
    check(team, shard);
  });
}

TYPED_TEST_P(SamplerTest, RefusesWhatMakesNoSense) {
  const auto one = sampling_teams<TypeParam>().front();
  on_one_rank(one, fixtures::path(10), [](team::Team& team, const graph::Shard& shard) {
    const exec::Stream stream(team.device());
    const GraphStore store(team, shard);
    const auto refuses = [&](const SamplerOptions& options) {
      EXPECT_THROW(NeighbourSampler(team.device(), store, options), UsageError);
    };
    refuses({.fanouts = {}});
    refuses({.fanouts = {0}});
    refuses({.fanouts = {5, -2}});
    refuses({.fanouts = std::vector<std::int64_t>(17, 1)});
    refuses({.fanouts = {2}, .batch = 0});
    refuses({.fanouts = {2}, .weighted = true});
    refuses({.fanouts = {2}, .edge_weights = true});
    refuses({.fanouts = {2}, .temporal = true});
    refuses({.fanouts = {2}, .temporal = true, .disjoint = true});
    refuses({.fanouts = {2}, .replace = true, .labor = true});
    refuses({.fanouts = {2}, .labor = true, .disjoint = true});
    refuses({.fanouts = {2}, .layer_dependency = true});
    refuses({.fanouts = {2}, .temporal_last = true});
    refuses({.fanouts = {2'000'000'000}, .batch = 1000, .replace = true});
    EXPECT_THROW(GraphStore(team, shard, {.weights = true}), UsageError);
    EXPECT_THROW(GraphStore(team, shard, {.edge_weights = true}), UsageError);
    const graph::Shard far = graph::make_shard(
        team, directed_source(fixtures::path(10), team.size()), {graph::EdgesPlacement::host, 0});
    EXPECT_THROW(GraphStore(team, far, {.replicated = true}), UsageError);
    const std::vector<std::int64_t> times(3);
    EXPECT_THROW(GraphStore(team, shard, {.times = times}), UsageError);

    NeighbourSampler sampler(team.device(), store, {.fanouts = {2}, .batch = 4, .in_flight = 2});
    const auto bad = testing_support::on_device(stream, std::vector<Vertex>{1, 2, 3, 4, 5, 10});
    sampler.run(stream, bad.data(), 6, 0);
    EXPECT_THROW((void)sampler.counts(stream), UsageError);
    EXPECT_THROW(sampler.run(stream, bad.data(), 9, 0), UsageError);
    EXPECT_THROW(sampler.run(stream, nullptr, 2, 0), UsageError);
    sampler.run(stream, nullptr, 0, 0);
    EXPECT_TRUE(sampler.counts(stream).empty());
  });
  on_one_rank(one, with_weights(fixtures::path(10), false),
              [](team::Team& team, const graph::Shard& shard) {
                const GraphStore store(team, shard, {.weights = true});
                EXPECT_THROW(NeighbourSampler(team.device(), store,
                                              {.fanouts = {2}, .replace = true, .weighted = true}),
                             UsageError);
              });
  for (const std::int32_t weight : {-1, 0}) {
    graph::Graph bad = with_weights(fixtures::path(10), false);
    for (EdgeOffset e = 0; e < bad.edges(); ++e) bad.weights_int[e] = weight;
    on_one_rank(one, bad, [](team::Team& team, const graph::Shard& shard) {
      EXPECT_THROW(GraphStore(team, shard, {.weights = true}), UsageError);
      EXPECT_TRUE(GraphStore(team, shard, {.edge_weights = true}).has_edge_weights());
    });
  }
}

TYPED_TEST_P(SamplerTest, SaysWhatDoesNotFit) {
  on_one_rank(sampling_teams<TypeParam>().front(), fixtures::star(1000, true),
              [](team::Team& team, const graph::Shard& shard) {
                const exec::Stream stream(team.device());
                const GraphStore store(team, shard);
                NeighbourSampler sampler(team.device(), store,
                                         {.fanouts = {-1}, .batch = 4, .max_edges = 500});
                const auto hub = testing_support::on_device(stream, std::vector<Vertex>{0, 1});
                sampler.run(stream, hub.data(), 2, 0);
                EXPECT_THROW((void)sampler.counts(stream), UsageError);
                const auto leaves = testing_support::on_device(stream, std::vector<Vertex>{7, 1});
                sampler.run(stream, leaves.data(), 2, 0);
                EXPECT_EQ(sampler.counts(stream)[0].edges[0], 2u);
              });
}

TYPED_TEST_P(SamplerTest, NamesTheTableThatDoesNotFit) {
  on_one_rank(
      sampling_teams<TypeParam>().front(), fixtures::star(1024, true),
      [](team::Team& team, const graph::Shard& shard) {
        using Table = SamplerOptions::Table;
        const GraphStore store(team, shard);
        const auto message = [&](Table table) {
          const std::uint64_t held = exec::memory_use(team.device()).current;
          exec::set_memory_limit(team.device(), held + 10'000'000);
          std::string what;
          try {
            const NeighbourSampler sampler(
                team.device(), store,
                {.fanouts = {-1}, .batch = 1, .in_flight = 4096, .table = table});
          } catch (const MemoryError& error) {
            what = error.what();
          }
          exec::set_memory_limit(team.device(), 0);
          return what;
        };
        // 1,024 vertices at most: 2^11 entries of 8 bytes for each batch.
        for (const char* part :
             {"the hash table of 2048 entries for each of 4096 batches", "67108864 bytes asked"})
          EXPECT_NE(message(Table::hash).find(part), std::string::npos) << message(Table::hash);
        for (const char* part :
             {"the table of all 1024 vertices for each of 4096 batches", "16777224 bytes asked"})
          EXPECT_NE(message(Table::direct).find(part), std::string::npos) << message(Table::direct);
      });
}

TYPED_TEST_P(SamplerTest, SaysSumsAbove32BitsThatDoNotFit) {
  on_one_rank(sampling_teams<TypeParam>().front(), fixtures::star(1000, true),
              [](team::Team& team, const graph::Shard& shard) {
                const exec::Stream stream(team.device());
                const GraphStore store(team, shard);
                // 2^32 in one chunk of targets; and in the chunks together, each of which has less.
                for (const std::uint64_t each : {std::uint64_t{1} << 30, std::uint64_t{1} << 21}) {
                  const std::uint64_t count = (std::uint64_t{1} << 32) / each;
                  NeighbourSampler sampler(team.device(), store,
                                           {.fanouts = {static_cast<std::int64_t>(each), 2},
                                            .batch = count,
                                            .replace = true,
                                            .max_edges = 1000});
                  const auto seeds =
                      testing_support::on_device(stream, std::vector<Vertex>(count, 7));
                  sampler.run(stream, seeds.data(), count, 0);
                  try {
                    (void)sampler.counts(stream);
                    FAIL() << "of fanout " << each;
                  } catch (const UsageError& error) {
                    EXPECT_NE(std::string(error.what()).find("4294967296"), std::string::npos)
                        << error.what();
                  }
                }
              });
}

REGISTER_TYPED_TEST_SUITE_P(SamplerTest, UniformOnEveryGraphAndTeam, EveryWidthOfFanout,
                            ChoicesTooLargeForAWorkersOwnMemory, ManyTargets, WithReplacement,
                            Weighted, WritesWeightsOfAnySign, LaborOnEveryGraphAndTeam,
                            LaborByWeights, LaborOfEveryWidth, LaborInEveryMemory,
                            LaborHasFewerVertices, DisjointTrees, DrawnOnce, NotLaterThanTheSeed,
                            LatestOfThoseNotLaterThanTheSeed, EdgesInHostMemory, EdgesOnEveryDevice,
                            RefusesWhatMakesNoSense, SaysWhatDoesNotFit,
                            SaysSumsAbove32BitsThatDoNotFit, NamesTheTableThatDoesNotFit);

}  // namespace warren::sample
