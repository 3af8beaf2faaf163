// SPDX-License-Identifier: Apache-2.0
// The graphs, seeds and checks of the sampler's cases: a batch against the sequential reference.
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

}  // namespace warren::sample
