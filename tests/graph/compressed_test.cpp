// SPDX-License-Identifier: Apache-2.0
// Compressed lists on the CPU: whole graphs there and back, a bit-by-bit reader, threads and blocks
// of threads that read together, damage, and the sizes of real graphs.
#include "reference/compressed.hpp"

#include <filesystem>

#include <gmock/gmock.h>

#include "warren/core/error.hpp"
#include "warren/exec/cpu_block.hpp"
#include "warren/graph/compressed_decode.hpp"
#include "warren/graph/generate.hpp"
#include "warren/graph/io.hpp"
#include "warren/graph/partition.hpp"
#include "warren/graph/transform.hpp"

#include "graph/compressed_cases.hpp"
#include "graph/equal_graphs.hpp"
#include "support/folders.hpp"

namespace warren::graph {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

bool targets_are_vertices(const Graph& graph) {
  return std::ranges::all_of(graph.targets.span(), [&](Vertex v) { return v < graph.vertices; });
}

TEST(Compressed, GraphsComeBackEqual) {
  exec::ThreadPool pool(3), one(1);
  for (const auto& [name, graph] : compression_graphs(pool)) {
    SCOPED_TRACE(name);
    const CompressedGraph packed = compress(graph, pool);
    EXPECT_EQ(packed.edges(), graph.edges());
    expect_equal(decompress(packed, pool), graph);
    if (targets_are_vertices(graph)) {
      EXPECT_NO_THROW(validate(packed, "g", pool));
    }
    const CompressedGraph again = compress(graph, one);
    EXPECT_TRUE(std::ranges::equal(packed.stream.span(), again.stream.span()));
    EXPECT_TRUE(std::ranges::equal(packed.fields.span(), again.fields.span()));
    EXPECT_EQ(packed.widths, again.widths);
  }
}

TEST(Compressed, AnIndependentReaderFindsTheLists) {
  exec::ThreadPool pool(2);
  for (const auto& [name, graph] : compression_graphs(pool)) {
    SCOPED_TRACE(name);
    const auto lists = reference::lists_of(compress(graph, pool));
    ASSERT_EQ(lists.size(), graph.vertices);
    for (Vertex v = 0; v < graph.vertices; ++v)
      ASSERT_TRUE(std::ranges::equal(lists[v], graph.neighbours(v))) << v;
  }
}

TEST(Compressed, WeightsSymmetryAndIdsGoAlong) {
  exec::ThreadPool pool(2);
  for (const bool ints : {false, true}) {
    const auto plain = reference::random_list(300, 2000, 3);
    reference::ListSource source(ints ? reference::with_int_weights(plain, 1)
                                      : reference::with_float_weights(plain, 1));
    BuildOptions options;
    options.symmetrize = ints;
    Graph graph = build(source, options, pool);
    graph.original_ids = memory::HostArray<std::uint64_t>(graph.vertices);
    for (Vertex v = 0; v < graph.vertices; ++v) graph.original_ids[v] = 10 * std::uint64_t{v};
    expect_equal(decompress(compress(graph, pool), pool), graph);
  }
}

TEST(Compressed, OneThreadReads) {
  exec::ThreadPool pool(2);
  const exec::Device device = exec::Device::cpu(3);
  const exec::Stream stream(device);
  for (const auto& [name, graph] : compression_graphs(pool)) {
    SCOPED_TRACE(name);
    check_reading(graph, compress(graph, pool), device, 1,
                  [&](std::uint64_t tasks, const auto& kernel) {
                    exec::launch<exec::Cpu, exec::Warp>(stream, tasks, kernel);
                  });
  }
}

class CompressedBlocks : public testing::TestWithParam<int> {};

TEST_P(CompressedBlocks, OfThreadsReadTogether) {
  exec::ThreadPool pool(2), lanes(GetParam());
  const exec::Device device = exec::Device::cpu(1);
  constexpr EdgeOffset kMostEdges = 2000;  // Every edge takes a dozen barriers.
  for (const auto& [name, graph] : compression_graphs(pool)) {
    if (GetParam() > 1 && graph.edges() > kMostEdges) continue;
    SCOPED_TRACE(name);
    check_reading(graph, compress(graph, pool), device, static_cast<std::uint32_t>(GetParam()),
                  [&](std::uint64_t tasks, const auto& kernel) {
                    exec::launch_cpu_block(lanes, tasks, kernel);
                  });
  }
}
INSTANTIATE_TEST_SUITE_P(Lanes, CompressedBlocks, testing::Values(1, 2, 3, 5));

// As many lanes as a warp has: long blocks are staged. Few lists: threads by far outnumber cores.
TEST(Compressed, AWarpOfThreadsReads) {
  exec::ThreadPool pool(2), lanes(32);
  std::mt19937_64 random(5);
  std::vector<Vertex> targets;
  std::vector<EdgeOffset> offsets{0};
  for (const auto& [degree, bits] : std::vector<std::pair<std::size_t, int>>{
           {256, 31}, {3, 20}, {300, 6}, {95, 31}, {96, 31}, {0, 0}, {129, 12}, {1, 9}}) {
    std::vector<Vertex> list(degree);
    for (Vertex& target : list)
      target = static_cast<Vertex>(random() & ((std::uint64_t{1} << bits) - 1));
    std::sort(list.begin(), list.end());
    targets.insert(targets.end(), list.begin(), list.end());
    offsets.push_back(targets.size());
  }
  Graph graph;
  graph.vertices = static_cast<Vertex>(offsets.size() - 1);
  graph.offsets = memory::HostArray<EdgeOffset>(offsets.size());
  graph.targets = memory::HostArray<Vertex>(targets.size());
  std::ranges::copy(offsets, graph.offsets.begin());
  std::ranges::copy(targets, graph.targets.begin());
  check_reading(graph, compress(graph, pool), exec::Device::cpu(1), 32,
                [&](std::uint64_t tasks, const auto& kernel) {
                  exec::launch_cpu_block(lanes, tasks, kernel);
                });
}

// Numbers wider than need be, which compress() makes where a class of degrees has others: 32 of
// them span 33 words.
TEST(Compressed, AWarpOfThreadsReadsTheWidestNumbers) {
  exec::ThreadPool pool(1), lanes(32);
  constexpr std::uint32_t kDegree = 108;
  Graph graph;
  graph.vertices = 1;
  graph.offsets = memory::HostArray<EdgeOffset>(2, 0);
  graph.offsets[1] = kDegree;
  graph.targets = memory::HostArray<Vertex>(kDegree, 0);
  CompressedGraph packed = compress(graph, pool);
  packed.edge_count = kDegree;
  packed.smallest_gap = 0;
  packed.widths.fill(0x20202020);
  constexpr std::uint32_t kBits = 2 * kDegree + 32 * kDegree;
  packed.groups[0] = CompressedGroup::make(0, 0, 0, 7, 12);
  packed.fields = memory::HostArray<std::uint32_t>(19 + 2, 0);
  packed.fields[0] = kDegree | kBits << 7;
  packed.stream = memory::HostArray<std::uint32_t>((kBits + 31) / 32 + 2, 0);
  for (std::uint32_t i = 0; i < kDegree; ++i) {
    const std::uint32_t number = i == 0 ? 0 : 1000003 + 9973 * i, place = 2 * kDegree + 32 * i;
    graph.targets[i] = i == 0 ? 0 : graph.targets[i - 1] + number;
    packed.stream[place / 32] |= number << place % 32;
    packed.stream[place / 32 + 1] |= number >> (32 - place % 32);
  }
  expect_equal(decompress(packed, pool), graph);
  check_reading(graph, packed, exec::Device::cpu(1), 32,
                [&](std::uint64_t tasks, const auto& kernel) {
                  exec::launch_cpu_block(lanes, tasks, kernel);
                });
}

TEST(Compressed, AWindowOfRowsNeedsNoCopy) {
  exec::ThreadPool pool(2);
  reference::ListSource source(reference::random_list(500, 4000, 2));
  const Graph graph = build(source, {}, pool);
  const CompressedGraph packed = compress(graph, pool);
  CompressedView view = packed.view();
  view.first = 77;
  view.count = 100;
  for (Vertex row = 0; row < view.count; ++row) {
    EXPECT_EQ(view.degree(row), graph.degree(77 + row));
    const CompressedRow found = view.row(row);
    EXPECT_EQ(found.edge, graph.offsets[77 + row]);
    std::vector<Vertex> list;
    for_each_neighbour(exec::Serial(), view, found, 0, found.degree,
                       [&](bool, EdgeOffset, Vertex target) { list.push_back(target); });
    EXPECT_TRUE(std::ranges::equal(list, graph.neighbours(77 + row)));
  }
}

TEST(Compressed, RecordsOfTheIndexHoldTheLargestValues) {
  const CompressedGroup group =
      CompressedGroup::make(CompressedGroup::kMostEdges, CompressedGroup::kMostBytes - 1,
                            CompressedGroup::kMostWords - 2, 40, 43);
  EXPECT_EQ(group.edges(), CompressedGroup::kMostEdges);
  EXPECT_EQ(group.bytes(), CompressedGroup::kMostBytes - 1);
  EXPECT_EQ(group.word(), CompressedGroup::kMostWords - 2);
  EXPECT_EQ(group.edge_width(), 40u);
  EXPECT_EQ(group.bit_width(), 43u);
}

TEST(Compressed, ListsThatDoNotAscendAreRefused) {
  exec::ThreadPool pool(2);
  reference::ListSource source(reference::random_list(3000, 90000, 2));
  Graph graph = build(source, {}, pool);
  for (const Vertex v : {2900u, 1234u}) {
    std::swap(graph.targets[graph.offsets[v]], graph.targets[graph.offsets[v] + 1]);
    EXPECT_THAT([&] { (void)compress(graph, pool); },
                ThrowsMessage<UsageError>(HasSubstr("vertex " + std::to_string(v) + " ")));
  }
}

// Any bit of the arrays changed: refused, or still a graph that reads the same in every way.
TEST(Compressed, DamageIsRefusedOrHarmless) {
  exec::ThreadPool pool(1);
  auto list = reference::random_list(70, 500, 4);
  for (Vertex v = 0; v < 70; ++v) {
    for (int twice = 0; twice < 5; ++twice) list.edges.push_back({3, v});
  }
  reference::ListSource source(list);
  BuildOptions options;
  options.keep_duplicates = true;
  const CompressedGraph good = compress(build(source, options, pool), pool);
  std::uint64_t refused = 0, harmless = 0;
  const auto try_damage = [&](auto member, std::uint64_t bit) {
    CompressedGraph bad = good;
    auto& array = bad.*member;
    std::remove_reference_t<decltype(array)> copy(array.size());
    std::copy(array.begin(), array.end(), copy.begin());
    reinterpret_cast<unsigned char*>(copy.data())[bit / 8] ^=
        static_cast<unsigned char>(1u << bit % 8);
    array = copy;
    try {
      validate(bad, "g", pool);
    } catch (const InputError&) {
      ++refused;
      return;
    }
    ++harmless;
    const Graph graph = decompress(bad, pool);
    EXPECT_NO_THROW(graph::validate(graph, "g", pool));
    for (Vertex v = 0; v < graph.vertices; ++v)
      EXPECT_TRUE(std::ranges::is_sorted(graph.neighbours(v)));
  };
  for (std::uint64_t bit = 0; bit < good.groups.size() * 128; ++bit)
    try_damage(&CompressedGraph::groups, bit);
  for (std::uint64_t bit = 0; bit < good.fields.size() * 32; ++bit)
    try_damage(&CompressedGraph::fields, bit);
  for (std::uint64_t bit = 0; bit < good.stream.size() * 32; ++bit)
    try_damage(&CompressedGraph::stream, bit);
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(harmless, 100u);
}

TEST(Compressed, SizesThatDoNotFitAreRefused) {
  exec::ThreadPool pool(1);
  reference::ListSource source(reference::random_list(70, 500, 4));
  const CompressedGraph good = compress(build(source, {}, pool), pool);
  const auto refused = [&](auto&& change, const std::string& says) {
    CompressedGraph bad = good;
    change(bad);
    EXPECT_THAT(
        [&] { validate(bad, "name", pool); },
        ThrowsMessage<InputError>(testing::AllOf(testing::StartsWith("name: "), HasSubstr(says))));
  };
  refused([](auto& g) { g.vertices = 200; }, "3 records in the index");
  refused([](auto& g) { g.vertices = 69; }, "vertex");
  refused([](auto& g) { g.edge_count += 1; }, "edges");
  refused([](auto& g) { g.smallest_gap = 2; }, "smallest gap");
  refused([](auto& g) { g.widths[4] |= 63; }, "width of 63 bits");
  refused([](auto& g) { g.stream = memory::HostArray<std::uint32_t>(1); }, "two words");
  refused([](auto& g) { g.fields.shrink(g.fields.size() - 1); }, "");
  refused([](auto& g) { g.weight_type = WeightType::int32; }, "weights");
}

TEST(CompressedGolden, RealGraphsAreAsSmallAsTheyWere) {
  const auto folder = testing_support::data_folder() / "graphs";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no golden data in " << folder;
  exec::ThreadPool pool(2);
  const std::vector<std::pair<std::string, double>> most{
      {"cnr-2000.txt.zst", 8.0},       {"web-NotreDame.txt.zst", 11.5},
      {"soc-Epinions1.txt.zst", 15.5}, {"Email-Enron.txt.zst", 12.5},
      {"road-FLA.mtx.zst", 18.0},
  };
  for (const auto& [name, bits] : most) {
    SCOPED_TRACE(name);
    const Graph graph = read_graph((folder / name).string(), {}, pool);
    const CompressedGraph packed = compress(graph, pool);
    EXPECT_LE(packed.bits_per_edge(), bits);
    EXPECT_NO_THROW(validate(packed, name, pool));
    expect_equal(decompress(packed, pool), graph);
  }
}

TEST(Compressed, AKroneckerGraphTakesHalfOfItsIds) {
  exec::ThreadPool pool(2);
  const GeneratorSpec spec = *parse_generator("kron:16", 1);
  BuildOptions options;
  options.symmetrize = true;
  const Graph graph = build(*make_source(spec), options, pool);
  EXPECT_LE(compress(graph, pool).bits_per_edge(), 12.5);
  const Partition order = partition_degree(graph, 1);
  EXPECT_LE(compress(relabel(graph, order.new_id.span(), pool), pool).bits_per_edge(), 9.5);
}

}  // namespace
}  // namespace warren::graph
