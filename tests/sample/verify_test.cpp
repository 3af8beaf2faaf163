// SPDX-License-Identifier: Apache-2.0
// The verifier finds what is wrong with a batch, and says nothing where nothing is.
#include "warren/sample/verify.hpp"

#include <functional>

#include <gtest/gtest.h>

#include "traverse/fixtures.hpp"

namespace warren::sample {
namespace {

constexpr std::uint64_t kSeeds = 6;

HostBatch sampled(const graph::Graph& graph, const SamplerOptions& options) {
  HostBatch batch;
  const graph::ShardSource source{std::make_shared<graph::Graph>(graph), nullptr,
                                  graph::partition_ranges(graph, 1).cuts};
  team::run_team({}, [&](team::Team& team) {
    const exec::Stream stream(team.device());
    const graph::Shard shard = graph::make_shard(team, source);
    const GraphStore store(team, shard);
    NeighbourSampler sampler(team.device(), store, options);
    const std::vector<Vertex> seeds = {0, 1, 2, 5, 9, 5};
    sampler.run(stream, seeds.data(), kSeeds, 0);
    batch = fetch(stream, sampler, 0, sampler.counts(stream)[0]);
  });
  return batch;
}

SamplerOptions some_options(bool disjoint = false) {
  SamplerOptions options;
  options.fanouts = {4, 3};
  options.batch = kSeeds;
  options.disjoint = disjoint;
  options.edge_ids = true;
  return options;
}

TEST(VerifySample, AcceptsSamples) {
  const graph::Graph graph = fixtures::generated("kron:7", true);
  for (const bool disjoint : {false, true}) {
    const SamplerOptions options = some_options(disjoint);
    const HostBatch batch = sampled(graph, options);
    EXPECT_EQ(verify(graph, batch, kSeeds, options), "");
    EXPECT_EQ(digest(batch), digest(sampled(graph, options)));
  }
  for (const bool disjoint : {false, true}) {
    SamplerOptions options = some_options(disjoint);
    options.once = true;
    const HostBatch batch = sampled(graph, options);
    EXPECT_EQ(verify(graph, batch, kSeeds, options), "");
    options.once = false;  // Rows that drew in the first hop have nothing in the second.
    EXPECT_NE(verify(graph, batch, kSeeds, options).find("0 edges, where"), std::string::npos);
  }
}

TEST(VerifySample, FindsDrawsThatAreNotTheSmallest) {
  const graph::Graph graph = fixtures::generated("kron:7", true);
  SamplerOptions options = some_options();
  options.labor = true;
  const HostBatch batch = sampled(graph, options);
  EXPECT_EQ(verify(graph, batch, kSeeds, options), "");
  const std::string says = "not those with the smallest numbers";
  EXPECT_NE(verify(graph, batch, kSeeds, options, {}, {.batch = 1, .store_ids = {}}).find(says),
            std::string::npos);
  options.layer_dependency = true;
  EXPECT_NE(verify(graph, batch, kSeeds, options).find(says), std::string::npos);
  EXPECT_EQ(verify(graph, sampled(graph, options), kSeeds, options), "");
  // Numbers of a store that has the vertices in another order.
  std::vector<Vertex> ids;
  for (Vertex v = 0; v < graph.vertices; ++v) ids.push_back(graph.vertices - 1 - v);
  EXPECT_NE(verify(graph, sampled(graph, options), kSeeds, options, {}, {0, ids}).find(says),
            std::string::npos);
}

TEST(VerifySample, FindsEdgesThatAreNotTheLatest) {
  // 0 has edges to 1, 2, 3, 4 of times 5, 7, 7, 9.
  const graph::Graph graph = fixtures::from_list(5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}});
  const std::vector<std::int64_t> edges{5, 7, 7, 9}, seeds{8};
  SamplerOptions options;
  options.fanouts = {1};
  options.disjoint = options.temporal = options.temporal_last = true;
  const auto says = [&](Vertex end, std::int64_t when) {
    const HostBatch batch{{0, end}, {0, 0}, {{{0, 1}, {1}, {}, {0, 1}}}};
    const std::vector<std::int64_t> now{when};
    return verify(graph, batch, 1, options, {edges, now});
  };
  EXPECT_EQ(says(2, 8), "");
  EXPECT_EQ(says(3, 8), "");
  EXPECT_EQ(says(4, 9), "");
  EXPECT_NE(says(1, 8).find("not the latest"), std::string::npos);
  EXPECT_NE(says(3, 9).find("not the latest"), std::string::npos);
  EXPECT_NE(says(4, 8).find("a neighbour by then"), std::string::npos);
}

TEST(VerifySample, FindsWhatIsWrong) {
  const graph::Graph graph = fixtures::generated("kron:7", true);
  const SamplerOptions options = some_options();
  const HostBatch good = sampled(graph, options);
  const auto finds = [&](const std::function<void(HostBatch&)>& spoil, const std::string& says) {
    HostBatch bad = good;
    spoil(bad);
    EXPECT_NE(verify(graph, bad, kSeeds, options).find(says), std::string::npos)
        << says << ": " << verify(graph, bad, kSeeds, options);
  };
  finds([](HostBatch& b) { b.vertices[kSeeds] = 1000; }, "not in the graph");
  finds([](HostBatch& b) { b.vertices.push_back(3); }, "are named by edges");
  finds([](HostBatch& b) { std::swap(b.vertices[kSeeds], b.vertices[kSeeds + 1]); }, "neighbour");
  finds([](HostBatch& b) { b.hops[0].columns.pop_back(); }, "row offsets");
  finds([](HostBatch& b) { b.hops[1].row_offsets[1] -= 1; }, "edges, where");
  finds([](HostBatch& b) { b.hops[0].columns[1] = b.hops[0].columns[0]; }, "drawn 2 times");
  finds([](HostBatch& b) { b.hops[0].columns[0] = 100'000; }, "not there");
  finds([](HostBatch& b) { b.hops[0].edge_ids[1] = b.hops[0].edge_ids[0]; }, "twice");
  finds([](HostBatch& b) { ++b.hops[1].duplicates[2]; }, "duplicates");
  EXPECT_NE(verify(graph, good, good.vertices.size() + 1, options), "");
  HostBatch other = good;
  std::swap(other.vertices[0], other.vertices[1]);
  EXPECT_NE(digest(other), digest(good));
}

}  // namespace
}  // namespace warren::sample
