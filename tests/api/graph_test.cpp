// SPDX-License-Identifier: Apache-2.0
// Graphs: of arrays, of files and of generators; what they say of themselves; bad input.
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs.hpp"
#include "reference/graph_csr.hpp"
#include "support/folders.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace warren {
namespace {

using fixtures::graph_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::message_of;
using testing_support::TemporaryFolder;

const std::vector<EdgeOffset> kOffsets = {0, 2, 3, 3};
const std::vector<Vertex> kTargets = {1, 2, 0};

template <class T>
std::vector<T> vector(const memory::HostArray<T>& array) {
  return {array.begin(), array.end()};
}

TEST(ApiGraph, EdgesBecomeTheGraphThatTheBuilderMakes) {
  for (const auto& [name, list] : reference::awkward_lists()) {
    SCOPED_TRACE(name);
    for (const bool symmetrize : {false, true}) {
      for (const int weights : {0, 1, 2}) {
        const reference::EdgeList weighted =
            weights == 0 ? list : fixtures::with_small_weights(list, weights == 2);
        ArrayOptions options;
        options.symmetrize = symmetrize;
        graph::BuildOptions build;
        build.symmetrize = symmetrize;
        const Graph graph = graph_of(weighted, options);
        EXPECT_EQ(reference::entries(graph.csr()),
                  reference::entries(reference::build(weighted, build)));
        EXPECT_EQ(graph.is_weighted(), weights != 0 && !list.edges.empty());
      }
    }
  }
}

TEST(ApiGraph, SortedRowsAreKeptWithoutACopy) {
  auto targets = std::make_shared<std::vector<Vertex>>(kTargets);
  graph::Graph raw;
  raw.vertices = 3;
  raw.offsets = memory::HostArray<EdgeOffset>(4);
  std::copy(kOffsets.begin(), kOffsets.end(), raw.offsets.begin());
  raw.targets = memory::HostArray<Vertex>(targets->data(), 3, targets);
  const Vertex* data = targets->data();
  targets.reset();
  Graph graph = from_csr(std::move(raw));
  EXPECT_EQ(graph.csr().targets.data(), data);
  const Graph copy = graph;
  EXPECT_EQ(&copy.csr(), &graph.csr());
}

TEST(ApiGraph, RowsThatAreNotSortedAreSortedAndMerged) {
  const std::vector<EdgeOffset> offsets = {0, 4, 4, 5};
  const std::vector<Vertex> targets = {2, 1, 2, 0, 1};
  const std::vector<float> weights = {4, 1, 3, 5, 2};
  const Graph smallest = from_csr(offsets, targets, weights);
  EXPECT_THAT(vector(smallest.csr().targets), ElementsAre(0, 1, 2, 1));
  EXPECT_THAT(vector(smallest.csr().weights_float), ElementsAre(5, 1, 3, 2));
  ArrayOptions sum;
  sum.sum_duplicates = true;
  const Graph added = from_csr(offsets, targets, weights, sum);
  EXPECT_THAT(vector(added.csr().weights_float), ElementsAre(5, 1, 7, 2));
  ArrayOptions keep;
  keep.keep_duplicates = true;
  EXPECT_EQ(from_csr(offsets, targets, {}, keep).edges(), 5u);
  ArrayOptions drop;
  drop.drop_self_loops = true;
  EXPECT_EQ(from_csr(offsets, targets, {}, drop).edges(), 3u);
}

TEST(ApiGraph, SymmetryIsFoundOut) {
  EXPECT_TRUE(graph_of({2, {{0, 1}, {1, 0}}, {}, {}}).is_symmetric());
  EXPECT_FALSE(graph_of({2, {{0, 1}}, {}, {}}).is_symmetric());
  EXPECT_FALSE(graph_of({2, {{0, 1}, {1, 0}}, {3, 4}, {}}).is_symmetric());
  EXPECT_TRUE(graph_of({}).is_symmetric());
}

TEST(ApiGraph, BadArraysAreRefusedByName) {
  EXPECT_THAT(message_of([] { (void)from_csr({}, kTargets); }), HasSubstr("no offsets"));
  EXPECT_THAT(message_of([] {
                (void)from_csr(std::vector<EdgeOffset>{0, 2, 3, 2}, kTargets);
              }),
              HasSubstr("offsets[3]"));
  EXPECT_THAT(message_of([] {
                (void)from_csr(std::vector<EdgeOffset>{1, 2, 3, 3}, kTargets);
              }),
              HasSubstr("offsets[0]"));
  EXPECT_THAT(message_of([] {
                (void)from_csr(std::vector<EdgeOffset>{0, 2, 3, 9}, kTargets);
              }),
              HasSubstr("offsets[3]"));
  EXPECT_THAT(message_of([] {
                (void)from_csr(kOffsets, std::vector<Vertex>{1, 3, 0});
              }),
              HasSubstr("targets[1]"));
  EXPECT_THAT(message_of([] { (void)from_csr(kOffsets, kTargets, std::vector<float>{1}); }),
              HasSubstr("1 weights for 3 edges"));
  const std::vector<Vertex> two = {0, 1}, one = {1};
  EXPECT_THAT(message_of([&] { (void)from_edges(two, one); }),
              HasSubstr("1 targets for 2 sources"));
  EXPECT_THAT(message_of([&] { (void)from_edges(two, two, {}, 1); }), HasSubstr("sources[1] is 1"));
  EXPECT_THAT(message_of([&] { (void)from_edges(std::vector<Vertex>{kNoVertex}, one); }),
              HasSubstr("sources[0] is 4294967295"));
  ArrayOptions both;
  both.keep_duplicates = both.sum_duplicates = true;
  EXPECT_THAT(message_of([&] { (void)from_edges(two, two, {}, 0, both); }), HasSubstr("not both"));
}

TEST(ApiGraph, FilesAndGeneratorsAreReadByName) {
  const TemporaryFolder folder;
  const std::string path = folder.file("g.wel");
  std::ofstream(path) << "0 1 5\n1 2 7\n";
  const Graph graph = read(path);
  EXPECT_EQ(graph.vertices(), 3u);
  EXPECT_TRUE(graph.is_weighted());
  EXPECT_FALSE(read(path, {.weights = "none"}).is_weighted());
  EXPECT_EQ(read(path, {.symmetrize = true}).edges(), 4u);
  EXPECT_EQ(read("grid:3x2").vertices(), 6u);
  EXPECT_TRUE(read("kron:5", {.weights = "uniform:1:9"}).is_weighted());
  EXPECT_EQ(read("kron:6", {.seed = 1}).edges(), read("kron:6", {.seed = 1}).edges());
  const std::string saved = folder.file("h.wgr");
  EXPECT_GT(graph.save(saved), 0u);
  EXPECT_EQ(reference::entries(read(saved).csr()), reference::entries(graph.csr()));

  EXPECT_THROW((void)read(folder.file("none.mtx")), InputError);
  EXPECT_THAT(message_of([] { (void)read("kron:x"); }), HasSubstr("kron"));
  EXPECT_THAT(message_of([&] { (void)read(path, {.weights = "uniform:9"}); }),
              HasSubstr("weights \"uniform:9\""));
  EXPECT_THROW((void)read("grid:2x2", {.weights = "file"}), InputError);
  EXPECT_THROW((void)graph.save(folder.file("g.unknown")), Error);
  const SaveResult packed = graph.save(folder.file("p.wgr"), {.compress = true, .repeat = 2});
  EXPECT_GT(packed.bits_per_edge.value(), 0.0);
  EXPECT_EQ(packed.run_seconds.size(), 2u);
  EXPECT_THROW((void)graph.save(folder.file("h.el"), {.compress = true}), UsageError);
}

TEST(ApiGraph, OptionsOfEdgeListsAreRefusedForOthers) {
  const TemporaryFolder folder;
  const std::string matrix = folder.file("g.mtx"), list = folder.file("g.el");
  std::ofstream(matrix) << "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n";
  std::ofstream(list) << "1 2\n2 1\n";
  const std::pair<const char*, ReadOptions> options[] = {{"one_based", {.one_based = true}},
                                                         {"compact", {.compact = true}},
                                                         {"ids", {.are_words = true}},
                                                         {"headings", {.has_headings = false}}};
  for (const auto& [name, given] : options) {
    for (const std::string& wrong : {matrix, std::string("grid:2x2")})
      EXPECT_EQ(message_of([&, &given = given] { (void)read(wrong, given); }),
                name + (": it is for edge lists (.el, .wel, .txt, .tsv, .csv), and " + wrong) +
                    " is none: leave it out");
    EXPECT_EQ(read(list, given).edges(), 2u) << name;
  }
}

TEST(ApiGraph, WordsAreNames) {
  const TemporaryFolder folder;
  const std::string path = folder.file("g.el");
  std::ofstream(path) << "anna bert\nbert carl\n";
  const Graph graph = read(path);
  EXPECT_THAT(graph.names(), ElementsAre("anna", "bert", "carl"));
  EXPECT_EQ(graph.find("carl"), 2u);
  EXPECT_THROW((void)graph.find("dora"), VertexError);
  EXPECT_THROW((void)read("grid:2x2").find("anna"), VertexError);
  EXPECT_THROW(Graph(graph.csr(), {"too", "few"}), UsageError);
  const std::string names = (testing_support::source_folder() / "data" / "debian").string();
  const Graph debian = read(names);
  EXPECT_EQ(debian.names()[debian.find("git")], "git");
}

TEST(ApiGraph, ThreadsMayAskOneGraphAtOnce) {
  const Graph graph = graph_of(reference::random_list(2000, 9000, 3));
  std::vector<std::thread> threads;
  std::atomic<int> symmetric{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      const Graph copy = graph;
      symmetric += copy.is_symmetric() ? 1 : 0;
      copy.release();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(symmetric, 0);
}

}  // namespace
}  // namespace warren
