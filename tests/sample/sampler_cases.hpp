// SPDX-License-Identifier: Apache-2.0
// Samples against the sequential reference: every vertex, edge and count, on graphs that hurt, for
// every team.
#pragma once

#include <gtest/gtest.h>

#include "warren/sample/sampler.hpp"

#include "reference/sample.hpp"
#include "support/backends.hpp"
#include "support/on_device.hpp"
#include "support/size.hpp"
#include "traverse/fixtures.hpp"

namespace warren::sample {

inline std::uint64_t many_seeds() { return testing_support::is_small() ? 200 : 700; }

template <class Backend>
std::vector<team::TeamOptions> sampling_teams() {
  std::vector<team::TeamOptions> teams;
  for (const auto& options : testing_support::teams<Backend>()) {
    if (options.ranks <= 4) teams.push_back(options);
  }
  return teams;
}

/// Another than the first, where there is one.
template <class Backend>
team::TeamOptions other_team() {
  const auto teams = sampling_teams<Backend>();
  return teams[teams.size() > 1 ? 1 : 0];
}

inline std::vector<fixtures::Named> sampling_graphs() {
  std::vector<fixtures::Named> all;
  all.push_back({"one vertex", fixtures::from_list(1, {})});
  all.push_back({"one vertex with a loop", fixtures::from_list(1, {{0, 0}})});
  all.push_back({"no edges", fixtures::from_list(70, {})});
  all.push_back({"loops", fixtures::from_list(5, {{0, 0}, {0, 1}, {1, 2}, {2, 2}, {4, 3}})});
  graph::BuildOptions keep;
  keep.keep_duplicates = true;
  all.push_back({"duplicates",
                 fixtures::from_list(4, {{0, 1}, {0, 1}, {0, 1}, {0, 2}, {1, 0}, {1, 0}}, keep)});
  all.push_back({"star", fixtures::star(3000, true)});
  all.push_back({"out-star", fixtures::star(500, false)});
  all.push_back({"path", fixtures::path(300)});
  all.push_back({"kronecker", fixtures::generated("kron:9", true)});
  all.push_back({"community", fixtures::generated("community:2000,12", true)});
  all.push_back({"random", fixtures::random_graph(300, 2000, 3, false)});
  return all;
}

/// Weights of 0 to 9, some rows all 0.
inline graph::Graph with_weights(graph::Graph graph, bool as_floats) {
  const auto weight = [&](Vertex source, EdgeOffset e) {
    return source % 11 == 3 ? 0 : static_cast<std::int32_t>((e * 7 + source) % 10);
  };
  if (as_floats) {
    graph.weight_type = graph::WeightType::float32;
    graph.weights_float = memory::HostArray<float>(graph.edges());
  } else {
    graph.weight_type = graph::WeightType::int32;
    graph.weights_int = memory::HostArray<std::int32_t>(graph.edges());
  }
  for (Vertex v = 0; v < graph.vertices; ++v) {
    for (EdgeOffset e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
      if (as_floats) {
        graph.weights_float[e] = static_cast<float>(weight(v, e)) * 0.25f;
      } else {
        graph.weights_int[e] = weight(v, e);
      }
    }
  }
  return graph;
}

inline std::vector<std::int64_t> times_of(const graph::Graph& graph) {
  std::vector<std::int64_t> times;
  for (EdgeOffset e = 0; e < graph.edges(); ++e)
    times.push_back(static_cast<std::int64_t>(e * 2654435761u % 50) - 10);
  return times;
}

inline graph::ShardSource directed_source(const graph::Graph& graph, int ranks) {
  return {std::make_shared<graph::Graph>(graph), nullptr,
          graph::partition_ranges(graph, ranks).cuts};
}

inline std::span<const std::int64_t> own_times(const graph::Graph& graph, const graph::Shard& shard,
                                               const std::vector<std::int64_t>& times) {
  const EdgeOffset begin = graph.offsets[shard.out.first];
  const EdgeOffset end = graph.offsets[std::uint64_t{shard.out.first} + shard.out.count];
  return std::span(times).subspan(begin, end - begin);
}

template <class T>
std::vector<T> fetched(const exec::Stream& stream, const T* data, std::uint64_t count) {
  std::vector<T> values(count);
  exec::copy(stream, values.data(), data, count * sizeof(T));
  stream.synchronize();
  return values;
}

/// Everything about one batch.
inline void expect_sample(const exec::Stream& stream, const NeighbourSampler& sampler,
                          std::uint32_t b, const BatchCounts& counts, bool disjoint,
                          const graph::Graph& graph, const reference::Sample& expected) {
  const SampledBatch batch = sampler.batch(b);
  const std::uint32_t hops = sampler.hops();
  ASSERT_EQ(counts.vertices[hops], expected.vertices.size());
  EXPECT_EQ(fetched(stream, batch.vertices, counts.vertices[hops]), expected.vertices);
  if (disjoint) {
    EXPECT_EQ(fetched(stream, batch.trees, counts.vertices[hops]), expected.trees);
  }
  for (std::uint32_t h = 0; h < hops; ++h) {
    SCOPED_TRACE("hop " + std::to_string(h));
    const auto& want = expected.hops[h];
    const SampledHop& hop = batch.hops[h];
    ASSERT_EQ(counts.vertices[h] + 1, want.offsets.size());
    ASSERT_EQ(counts.edges[h], want.columns.size());
    EXPECT_EQ(fetched(stream, hop.row_offsets, want.offsets.size()), want.offsets);
    EXPECT_EQ(fetched(stream, hop.columns, want.columns.size()), want.columns);
    EXPECT_EQ(fetched(stream, hop.edge_ids, want.edges.size()), want.edges);
    EXPECT_EQ(fetched(stream, hop.duplicates, want.duplicates.size()), want.duplicates);
    if (graph.weight_type == graph::WeightType::none) continue;
    std::vector<float> weights;
    for (const EdgeOffset e : want.edges)
      weights.push_back(graph.weight_type == graph::WeightType::int32
                            ? static_cast<float>(graph.weights_int[e])
                            : graph.weights_float[e]);
    EXPECT_EQ(fetched(stream, hop.weights, want.edges.size()), weights);
  }
}

/// Seeds of every batch: some vertices repeatedly, the last batch a short one.
inline std::vector<Vertex> some_seeds(Vertex vertices, std::size_t count) {
  std::vector<Vertex> seeds;
  for (std::size_t i = 0; i < count; ++i)
    seeds.push_back(static_cast<Vertex>((i * i * 31 + i * 7) % vertices));
  return seeds;
}

/// What check_samples() is to try.
struct SampleCase {
  SamplerOptions options;
  graph::EdgesOptions edges = {};
  bool replicated = false;
};

inline void check_samples(const team::TeamOptions& team_options, const fixtures::Named& named,
                          SampleCase tried) {
  constexpr std::uint64_t kBatches = 3;
  SamplerOptions& options = tried.options;
  options.edge_ids = true;
  options.edge_weights = named.graph.weight_type != graph::WeightType::none;
  options.in_flight = kBatches;
  const graph::Graph& graph = named.graph;
  SCOPED_TRACE(named.name + ", " + testing_support::name_of(team_options));
  const auto times = times_of(graph);
  const graph::ShardSource source = directed_source(graph, team_options.ranks);
  team::run_team(team_options, [&](team::Team& team) {
    const exec::Stream stream(team.device());
    const graph::Shard shard = graph::make_shard(team, source, tried.edges);
    StoreOptions store_options;
    store_options.weights = options.weighted;
    store_options.edge_weights = options.edge_weights;
    store_options.cumulative = options.weighted && options.replace;
    store_options.replicated = tried.replicated;
    if (options.temporal) store_options.times = own_times(graph, shard, times);
    const GraphStore store(team, shard, store_options);
    NeighbourSampler sampler(team.device(), store, options);
    const auto seeds = some_seeds(graph.vertices, options.batch * kBatches - options.batch / 2);
    std::vector<std::int64_t> seed_times;
    for (std::size_t i = 0; i < seeds.size(); ++i)
      seed_times.push_back(static_cast<std::int64_t>(i % 60) - 15);
    const auto where = testing_support::on_device(stream, seeds);
    const auto when = testing_support::on_device(stream, seed_times);
    const std::uint64_t first = 10 + static_cast<std::uint64_t>(team.rank()) * 100;
    for (int repeat = 0; repeat < 2; ++repeat) {  // The second time on used buffers.
      sampler.run(stream, where.data(), seeds.size(), first, when.data());
      const auto counts = sampler.counts(stream);
      ASSERT_EQ(counts.size(), kBatches);
      for (std::uint32_t b = 0; b < kBatches; ++b) {
        SCOPED_TRACE("batch " + std::to_string(b));
        const auto begin = static_cast<std::ptrdiff_t>(b * options.batch);
        const auto end =
            std::min<std::ptrdiff_t>(begin + static_cast<std::ptrdiff_t>(options.batch),
                                     static_cast<std::ptrdiff_t>(seeds.size()));
        reference::SampleOptions asked;
        asked.fanouts = options.fanouts;
        asked.replace = options.replace;
        asked.weighted = options.weighted;
        asked.labor = options.labor;
        asked.layer_dependency = options.layer_dependency;
        asked.temporal_last = options.temporal_last;
        asked.disjoint = options.disjoint;
        asked.once = options.once;
        asked.seed = options.seed;
        asked.batch = first + b;
        if (options.temporal) {
          asked.edge_times = times;
          asked.seed_times.assign(seed_times.begin() + begin, seed_times.begin() + end);
        }
        expect_sample(stream, sampler, b, counts[b], options.disjoint, graph,
                      reference::Sampler(graph, asked)
                          .run(std::vector<Vertex>(seeds.begin() + begin, seeds.begin() + end)));
      }
    }
    team.barrier();
  });
}

inline SampleCase sample_case(std::vector<std::int64_t> fanouts, std::uint64_t batch) {
  SampleCase made;
  made.options.fanouts = std::move(fanouts);
  made.options.batch = batch;
  return made;
}

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
