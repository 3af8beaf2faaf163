// SPDX-License-Identifier: Apache-2.0
// Calls in processes that are a rank each: every process gets the whole result.
#include "support/processes.hpp"

#include <algorithm>
#include <random>
#include <span>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "warren/api/ranks.hpp"

#include "graphs.hpp"
#include "reference/traverse.hpp"
#include "support/temporary_folder.hpp"

namespace warren {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using testing_support::in_processes;

constexpr Vertex kVertices = 500;

Graph some_graph() {
  std::mt19937 random(3);
  std::vector<Vertex> sources, targets;
  std::vector<std::int32_t> weights;
  for (int e = 0; e < 2000; ++e) {
    sources.push_back(static_cast<Vertex>(random() % kVertices));
    targets.push_back(static_cast<Vertex>(random() % kVertices));
    weights.push_back(static_cast<std::int32_t>(random() % 9 + 1));
  }
  return from_edges(sources, targets, Weights(weights), kVertices);
}

template <class T>
std::vector<T> values(const Array<T>& array) {
  return {array.host().begin(), array.host().end()};
}

TEST(CallsInProcesses, GiveEachTheWholeResult) {
  // References do without threads, which would not survive the forks.
  for (const int ranks : {2, 3}) {
    in_processes(ranks, [&] {
      const Graph graph = some_graph();
      BfsOptions search;
      search.source = 7;
      search.levels = true;
      search.run.verify = true;
      const BfsResult found = bfs(graph, search);
      EXPECT_EQ(found.info.devices, ranks);
      EXPECT_THAT(found.info.devices_reason, HasSubstr("a rank for each process"));
      EXPECT_EQ(values(found.depth), reference::bfs_depths(graph.csr(), 7));
      EXPECT_EQ(static_cast<std::uint64_t>(std::ranges::count_if(
                    found.depth.host(), [](Vertex depth) { return depth != kNoVertex; })),
                found.reached);
      EXPECT_EQ(found.levels.size(), found.max_depth + 1);
      EXPECT_TRUE(found.info.verdict->correct) << found.info.verdict->message;
      EXPECT_EQ(found.info.run_seconds.size(), 1u);

      ComponentsOptions in_parts;
      in_parts.placement.method = "random";
      EXPECT_EQ(values(connected_components(graph, in_parts).label),
                reference::component_labels(graph.csr()));

      PageRankOptions ranking;
      ranking.top = 5;
      const PageRankResult ranked = pagerank(graph, ranking);
      ASSERT_EQ(ranked.top.size(), 5u);
      EXPECT_EQ(ranked.top[0].rank, *std::ranges::max_element(ranked.rank.host()));
      EXPECT_TRUE(ranked.converged);

      SsspOptions paths;
      paths.source = 7;
      paths.mode = Mode::asynchronous;
      const SsspResult all = sssp(graph, paths);
      const auto distance = reference::integer_distances(graph.csr(), 7);
      const auto told = values(all.distance);
      EXPECT_EQ(std::vector<std::uint64_t>(told.begin(), told.end()), distance);
      ASSERT_TRUE(all.info.report);
      EXPECT_EQ(all.info.report->rank_tasks.size(), static_cast<std::size_t>(ranks));
    });
  }
}

TEST(CallsInProcesses, ReadTheirOwnRangesOfAFile) {
  const testing_support::TemporaryFolder folder;
  const std::string path = folder.file("g.wgr");
  // Written by a process of its own, whose threads the others must not have.
  in_processes(1, [&] { (void)some_graph().save(path); });
  for (const int ranks : {1, 3}) {
    in_processes(ranks, [&] {
      ReadOptions by_ranges;
      by_ranges.lists = Lists::ranges;
      const Graph graph = read(path, by_ranges), whole = some_graph();
      EXPECT_EQ(graph.is_read_by_ranges(), ranks > 1);
      EXPECT_EQ(graph.vertices(), whole.vertices());
      EXPECT_EQ(graph.edges(), whole.edges());
      EXPECT_TRUE(graph.is_weighted());
      BfsOptions search;
      search.source = 7;
      search.figures = search.deterministic = true;
      const BfsResult found = bfs(graph, search), expected = bfs(whole, search);
      EXPECT_EQ(values(found.depth), values(expected.depth));
      EXPECT_EQ(values(found.parent), values(expected.parent));
      EXPECT_EQ(found.figures.traversed_edges, expected.figures.traversed_edges);
      SsspOptions paths;
      paths.source = 7;
      paths.run.verify = true;
      const SsspResult all = sssp(graph, paths);
      EXPECT_EQ(values(all.distance), values(sssp(whole, paths).distance));
      EXPECT_TRUE(all.info.verdict->correct);
      // What needs the whole graph reads it.
      ComponentsOptions in_parts;
      in_parts.placement.method = "random";
      EXPECT_EQ(values(connected_components(graph, in_parts).label),
                reference::component_labels(whole.csr()));
      EXPECT_EQ(busiest_vertex(graph), busiest_vertex(whole));
    });
  }
}

std::vector<float> some_numbers(std::uint64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = static_cast<float>(random() % 17) - 8.0f;
  return numbers;
}

/// Products and samples, and a search that is looked at by one rank, which alone has the whole
/// graph then.
TEST(CallsInProcesses, DrawAndMultiplyTheirOwnRanges) {
  constexpr std::uint64_t kColumns = 3;
  for (const int ranks : {2, 3, 5}) {
    in_processes(ranks, [&] {
      ReadOptions drawn;
      drawn.weights = "uniform:1:9";
      const Graph whole = read("kron:8", drawn);
      drawn.lists = Lists::ranges;
      const Graph graph = read("kron:8", drawn);
      EXPECT_TRUE(graph.is_read_by_ranges());
      const std::vector<float> x = some_numbers(graph.vertices() * kColumns, 1);
      SpmmOptions multiply;
      multiply.strategy = "staged";
      EXPECT_EQ(values(spmm(graph, x, kColumns, multiply).values),
                values(spmm(whole, x, kColumns, multiply).values));
      EXPECT_EQ(graph.edges(), whole.edges());
      EXPECT_EQ(values(sddmm(graph, x, x, kColumns).values),
                values(sddmm(whole, x, x, kColumns).values));
      SampleOptions sampling;
      sampling.seeds = {1, 5, 77};
      sampling.fanouts = {4, 4};
      sampling.weighted = true;
      EXPECT_EQ(sample_neighbours(graph, sampling).vertices,
                sample_neighbours(whole, sampling).vertices);
      EXPECT_EQ(graph.original_id(7), 7u);
      WhereOptions where;
      EXPECT_EQ(busiest_vertex(graph, where), busiest_vertex(whole));
      BfsOptions search;
      search.run.verify = true;
      EXPECT_TRUE(bfs(graph, search).info.verdict->correct);
      EXPECT_EQ(busiest_vertex(graph, where), busiest_vertex(whole));
      EXPECT_EQ(random_sources(graph, 4, 3, where, "count"), random_sources(whole, 4, 3));
      PageRankOptions rank;
      EXPECT_EQ(values(pagerank(graph, rank).rank), values(pagerank(whole, rank).rank));
    });
  }
}

TEST(CallsInProcesses, MultiplyMatrices) {
  constexpr std::uint64_t kColumns = 5;
  const std::vector<float> x = some_numbers(kVertices * kColumns, 1);
  const std::vector<float> y = some_numbers(kVertices * kColumns, 2);
  for (const int ranks : {2, 3}) {
    in_processes(ranks, [&] {
      const Graph graph = some_graph();
      const graph::Graph& csr = graph.csr();
      std::vector<float> product(x.size()), dots(csr.edges());
      for (Vertex v = 0; v < kVertices; ++v) {
        for (EdgeOffset e = csr.offsets[v]; e < csr.offsets[v + 1]; ++e) {
          for (std::uint64_t c = 0; c < kColumns; ++c) {
            product[v * kColumns + c] += x[csr.targets[e] * kColumns + c];
            dots[e] += x[v * kColumns + c] * y[csr.targets[e] * kColumns + c];
          }
        }
      }
      for (const char* strategy : {"auto", "broadcast", "staged", "fused", "pull", "cover"}) {
        SpmmOptions options;
        options.strategy = strategy;
        options.weighted = false;
        const SpmmResult found = spmm(graph, x, kColumns, options);
        EXPECT_EQ(values(found.values), product) << strategy;
      }
      SddmmOptions options;
      options.weighted = false;
      EXPECT_EQ(values(sddmm(graph, x, y, kColumns, options).values), dots);
    });
  }
}

TEST(CallsInProcesses, GatherAndSumRowsOfATable) {
  constexpr std::uint64_t kWidth = 3;
  const std::vector<float> rows = some_numbers(kVertices * kWidth, 3);
  const std::vector<std::uint32_t> ids{4, 499, 0, 4, 77, 250, 251};
  const std::vector<EdgeOffset> offsets{0, 2, 2, 7};
  for (const TablePlacement placement :
       {TablePlacement::device, TablePlacement::host, TablePlacement::cached}) {
    in_processes(3, [&] {
      TableOptions options;
      options.placement = placement;
      const Table<float> table(std::span<const float>(rows), kWidth, options);
      std::vector<float> expected;
      for (const std::uint32_t id : ids)
        expected.insert(expected.end(), rows.begin() + id * kWidth,
                        rows.begin() + (id + 1) * kWidth);
      EXPECT_EQ(values(gather(table, ids).values), expected);
      std::vector<float> sums(3 * kWidth);
      for (std::size_t bag = 0; bag + 1 < offsets.size(); ++bag)
        for (EdgeOffset i = offsets[bag]; i < offsets[bag + 1]; ++i)
          for (std::uint64_t c = 0; c < kWidth; ++c)
            sums[bag * kWidth + c] += rows[ids[i] * kWidth + c];
      LookupOptions bags;
      bags.mode = BagMode::sum;
      for (const char* strategy : {"auto", "pull", "owner-sum"}) {
        if (placement != TablePlacement::device) break;
        bags.strategy = strategy;
        EXPECT_EQ(values(lookup(table, ids, offsets, bags).values), sums) << strategy;
      }
      EXPECT_THROW((void)gather(table, std::vector<std::uint32_t>{500}), Error);
    });
  }
}

TEST(CallsInProcesses, SampleTheSameInEach) {
  in_processes(3, [] {
    const Graph graph = some_graph();
    SampleBatchesOptions many;
    for (Vertex v = 0; v < 40; ++v) many.seeds.push_back(v * 11 % kVertices);
    many.batch_size = 8;
    many.fanouts = {3, 2};
    many.seed = 5;
    many.labor = true;
    const SampleBatchesResult all = sample_batches(graph, many);
    ASSERT_EQ(all.vertex_begins.size(), 6u);
    for (std::uint64_t b = 0; b < 5; ++b) {
      SampleOptions one;
      one.seeds.assign(many.seeds.begin() + static_cast<std::ptrdiff_t>(b * 8),
                       many.seeds.begin() + static_cast<std::ptrdiff_t>(b * 8 + 8));
      one.fanouts = many.fanouts;
      one.seed = many.seed;
      one.labor = true;
      one.batch = b;
      const SampleResult alone = sample_neighbours(graph, one);
      const auto there = all.vertices.host().subspan(
          all.vertex_begins[b], all.vertex_begins[b + 1] - all.vertex_begins[b]);
      EXPECT_EQ(std::vector<Vertex>(there.begin(), there.end()), alone.vertices) << "batch " << b;
      const SampledLayers& layers = all.layers[1];
      const auto targets = layers.targets.host().subspan(
          layers.edge_begins[b], layers.edge_begins[b + 1] - layers.edge_begins[b]);
      EXPECT_EQ(std::vector<Vertex>(targets.begin(), targets.end()), alone.layers[1].targets);
    }
  });
}

TEST(CallsInProcesses, SampleByTimeTheSameInEach) {
  in_processes(3, [] {
    const Graph graph = some_graph();
    SampleOptions options;
    options.seeds = {1, 5, 9, 13};
    options.fanouts = {3, 2};
    std::vector<std::int64_t> times;
    for (std::uint64_t e = 0; e < graph.edges(); ++e)
      times.push_back(static_cast<std::int64_t>(e * 7 % 30));
    options.edge_times = std::make_shared<const std::vector<std::int64_t>>(times);
    options.seed_times = {5, 10, 20, 40};
    for (const bool last : {false, true}) {
      options.temporal_last = last;
      const SampleResult found = sample_neighbours(graph, options);
      for (std::size_t row = 0; row < 4; ++row) {
        const SampledLayer& layer = found.layers[0];
        for (EdgeOffset e = layer.offsets[row]; e < layer.offsets[row + 1]; ++e)
          EXPECT_LE(times[layer.edge_ids[e]], options.seed_times[row]);
      }
      EXPECT_FALSE(found.layers[0].targets.empty());
      SampleBatchesOptions many;
      many.seeds = options.seeds;
      many.fanouts = options.fanouts;
      many.edge_times = options.edge_times;
      many.seed_times = options.seed_times;
      many.temporal_last = last;
      const SampleBatchesResult all = sample_batches(graph, many);
      EXPECT_TRUE(std::ranges::equal(all.vertices.host(), found.vertices));
    }
  });
}

TEST(CallsInProcesses, RefuseAnotherNumberOfRanks) {
  in_processes(2, [] {
    const Graph graph = some_graph();
    BfsOptions other;
    other.devices = 3;
    EXPECT_THAT([&] { (void)bfs(graph, other); },
                ThrowsMessage<UsageError>(HasSubstr("devices: got 3, but each of 2 processes")));
  });
}

}  // namespace
}  // namespace warren
