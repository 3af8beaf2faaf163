// SPDX-License-Identifier: Apache-2.0
// Every format gives back the graph that was written to it.
#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "warren/graph/transform.hpp"

#include "graph/io_support.hpp"
#include "reference/graph_csr.hpp"
#include "reference/graph_source.hpp"
#include "support/file_size_limit.hpp"

namespace warren::graph {
namespace {

enum class Shape { single_vertex, sparse, self_loops, isolated_tail, hub };

struct Case {
  Shape shape;
  WeightType weights;
  bool undirected;
};

std::string name_of(const testing::TestParamInfo<Case>& info) {
  static constexpr const char* kShapes[] = {"single", "sparse", "loops", "isolated", "hub"};
  static constexpr const char* kWeights[] = {"plain", "int", "float"};
  return std::string(kShapes[static_cast<int>(info.param.shape)]) + "_" +
         kWeights[static_cast<int>(info.param.weights)] +
         (info.param.undirected ? "_undirected" : "_directed");
}

Graph make_graph(const Case& c, exec::ThreadPool& pool) {
  std::mt19937 random(7);
  reference::EdgeList list;
  const std::uint32_t vertices = c.shape == Shape::single_vertex ? 1 : 3000;
  const std::uint32_t used = c.shape == Shape::isolated_tail ? 100 : vertices;
  list.vertices = vertices;
  const auto add = [&](Vertex u, Vertex v) {
    if (u == v && c.shape != Shape::self_loops) return;
    list.edges.push_back({u, v});
    if (c.weights == WeightType::int32)
      list.weights_int.push_back(static_cast<std::int32_t>(random() % 2001) - 1000);
    if (c.weights == WeightType::float32)
      list.weights_float.push_back(
          std::ldexp(static_cast<float>(random() % 99991), -20 + static_cast<int>(random() % 30)));
  };
  if (c.shape != Shape::single_vertex) {
    for (int i = 0; i < 9000; ++i)
      add(static_cast<Vertex>(random() % used), static_cast<Vertex>(random() % used));
  }
  if (c.shape == Shape::self_loops) {
    for (Vertex v = 0; v < vertices; v += 3) add(v, v);
  }
  if (c.shape == Shape::hub) {
    for (Vertex v = 1; v < vertices; ++v) add(0, v);
  }
  reference::ListSource source(list);
  BuildOptions options;
  options.symmetrize = c.undirected;
  return build(source, options, pool);
}

void expect_equal(const Graph& expected, const Graph& actual, bool with_weights) {
  ASSERT_EQ(actual.vertices, expected.vertices);
  ASSERT_TRUE(std::ranges::equal(actual.offsets.span(), expected.offsets.span()));
  ASSERT_TRUE(std::ranges::equal(actual.targets.span(), expected.targets.span()));
  if (!with_weights) {
    EXPECT_EQ(actual.weight_type, WeightType::none);
    return;
  }
  EXPECT_EQ(actual.weight_type, expected.weight_type);
  EXPECT_TRUE(std::ranges::equal(actual.weights_int.span(), expected.weights_int.span()));
  EXPECT_TRUE(std::ranges::equal(actual.weights_float.span(), expected.weights_float.span()));
}

class RoundTrip : public testing::TestWithParam<Case> {
 protected:
  /// Writes and reads; checks that the bytes returned are those of the file, and that nothing else
  /// was left.
  Graph through(const Graph& graph, const std::string& name, const ReadOptions& options = {}) {
    const std::string path = folder_.file(name);
    const std::uint64_t bytes = write_graph(graph, path, pool_);
    EXPECT_EQ(bytes, std::filesystem::file_size(path));
    EXPECT_EQ(folder_.files(), 1);
    Graph result = read_graph(path, options, pool_);
    std::filesystem::remove(path);
    return result;
  }

  exec::ThreadPool pool_{3};
  TemporaryFolder folder_;
};

TEST_P(RoundTrip, EdgeListsWithAColumnOfWeights) {
  const Graph graph = make_graph(GetParam(), pool_);
  for (const char* name : {"g.txt", "g.tsv", "g.txt.gz", "g.tsv.zst"}) {
    // Without edges there is no column to see.
    expect_equal(graph, through(graph, name), graph.edges() != 0);
  }
  if (graph.weight_type != WeightType::none && graph.edges() != 0)
    expect_equal(graph, through(graph, "g.wel"), true);
}

TEST_P(RoundTrip, PlainEdgeListsLeaveWeightsOut) {
  const Graph graph = make_graph(GetParam(), pool_);
  for (const char* name : {"g.el", "g.el.gz", "g.el.zst"})
    expect_equal(graph, through(graph, name), false);
}

TEST_P(RoundTrip, MatrixMarket) {
  const Graph graph = make_graph(GetParam(), pool_);
  for (const char* name : {"g.mtx", "g.mtx.gz", "g.mtx.zst"}) {
    const Graph back = through(graph, name);
    if (graph.edges() != 0) expect_equal(graph, back, true);
    EXPECT_EQ(back.symmetry == Symmetry::symmetric, GetParam().undirected);
  }
}

TEST_P(RoundTrip, Dimacs) {
  const Graph graph = make_graph(GetParam(), pool_);
  if (graph.weight_type == WeightType::float32 && graph.edges() != 0) {
    EXPECT_THROW((void)write_graph(graph, folder_.file("g.gr"), pool_), InputError);
    EXPECT_EQ(folder_.files(), 0);
    return;
  }
  ReadOptions options;
  options.read_weights = graph.weight_type == WeightType::int32;
  for (const char* name : {"g.gr", "g.gr.gz", "g.gr.zst"}) {
    expect_equal(graph, through(graph, name, options), options.read_weights);
  }
}

TEST_P(RoundTrip, Metis) {
  const Graph graph = make_graph(GetParam(), pool_);
  const bool fits = GetParam().shape == Shape::single_vertex ||
                    (GetParam().undirected && GetParam().shape != Shape::self_loops &&
                     graph.weight_type != WeightType::float32);
  if (!fits) {
    EXPECT_THROW((void)write_graph(graph, folder_.file("g.graph"), pool_), InputError);
    EXPECT_EQ(folder_.files(), 0);
    return;
  }
  for (const char* name : {"g.graph", "g.graph.gz", "g.graph.zst"}) {
    const Graph back = through(graph, name);
    if (graph.edges() != 0) expect_equal(graph, back, true);
    EXPECT_EQ(back.vertices, graph.vertices);
    EXPECT_EQ(back.symmetry, Symmetry::symmetric);
  }
}

TEST_P(RoundTrip, Gap) {
  const Graph graph = make_graph(GetParam(), pool_);
  expect_equal(graph, through(graph, "g.sg"), false);
  if (graph.weight_type == WeightType::int32) {
    const Graph back = through(graph, "g.wsg");
    expect_equal(graph, back, true);
    EXPECT_EQ(back.symmetry == Symmetry::symmetric, GetParam().undirected || graph.edges() == 0);
  }
}

TEST_P(RoundTrip, Scipy) {
  const Graph graph = make_graph(GetParam(), pool_);
  expect_equal(graph, through(graph, "g.npz"), true);
}

TEST_P(RoundTrip, Warren) {
  const Graph graph = make_graph(GetParam(), pool_);
  const Graph back = through(graph, "g.wgr");
  expect_equal(graph, back, true);
  EXPECT_EQ(back.symmetry, graph.symmetry);
}

TEST_P(RoundTrip, OptionsApplyToFormatsThatHoldCsr) {
  const Graph graph = make_graph(GetParam(), pool_);
  ReadOptions options;
  options.build.symmetrize = true;
  options.build.drop_self_loops = true;
  reference::EdgeMap expected = reference::edge_map(symmetrize(graph, false, pool_));
  std::erase_if(expected, [](const auto& edge) { return edge.first.first == edge.first.second; });
  for (const char* name : {"g.wgr", "g.npz"}) {
    const Graph back = through(graph, name, options);
    EXPECT_EQ(reference::edge_map(back), expected) << name;
    EXPECT_EQ(back.symmetry, Symmetry::symmetric) << name;
  }
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Shape shape :
       {Shape::single_vertex, Shape::sparse, Shape::self_loops, Shape::isolated_tail, Shape::hub}) {
    for (const WeightType weights : {WeightType::none, WeightType::int32, WeightType::float32}) {
      for (const bool undirected : {false, true}) cases.push_back({shape, weights, undirected});
    }
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Graphs, RoundTrip, testing::ValuesIn(all_cases()), name_of);

TEST(RoundTripIds, OriginalIdsSurvive) {
  const TemporaryFolder folder;
  exec::ThreadPool pool(2);
  write_text(folder.file("a.el"), "7 18446744073709551613\n900 7\n5000000000 900\n");
  ReadOptions options;
  options.compact = true;
  const Graph graph = read_graph(folder.file("a.el"), options, pool);
  ASSERT_EQ(graph.vertices, 4u);
  EXPECT_THAT(graph.original_ids.span(),
              testing::ElementsAre(7u, 900u, 5000000000u, 18446744073709551613u));
  for (const char* name : {"b.el", "b.txt.gz", "b.wgr"}) {
    (void)write_graph(graph, folder.file(name), pool);
    const Graph back = read_graph(folder.file(name), options, pool);
    expect_equal(graph, back, true);
    EXPECT_TRUE(std::ranges::equal(back.original_ids.span(), graph.original_ids.span())) << name;
  }
}

TEST(RoundTripIds, OneBasedIdsAreTheFilesOwn) {
  const TemporaryFolder folder;
  exec::ThreadPool pool(2);
  write_text(folder.file("a.el"), "1 2\n2 4\n");
  ReadOptions options;
  options.one_based = true;
  const Graph graph = read_graph(folder.file("a.el"), options, pool);
  ASSERT_EQ(graph.vertices, 4u);
  EXPECT_EQ(graph.original_id(0), 1u);
  EXPECT_THAT(graph.neighbours(1), testing::ElementsAre(3u));
  (void)write_graph(graph, folder.file("b.el"), pool);
  EXPECT_EQ(read_bytes(folder.file("b.el")), "1 2\n2 4\n");
}

TEST(RoundTripIds, IsolatedVerticesAtTheEndOfOneBasedListsSurvive) {
  const TemporaryFolder folder;
  exec::ThreadPool pool(2);
  write_text(folder.file("a.el"), "# Nodes: 6\n1 2\n2 4\n");
  ReadOptions options;
  options.one_based = true;
  const Graph graph = read_graph(folder.file("a.el"), options, pool);
  ASSERT_EQ(graph.vertices, 6u);
  for (const char* name : {"b.el", "b.wel", "b.txt", "b.tsv.gz"}) {
    (void)write_graph(graph, folder.file(name), pool);
    EXPECT_EQ(read_graph(folder.file(name), options, pool).vertices, 6u) << name;
  }
}

TEST(Write, WhatCannotBeWrittenLeavesNothing) {
  const TemporaryFolder folder;
  exec::ThreadPool pool(1);
  const Graph graph = make_graph({Shape::sparse, WeightType::none, false}, pool);
  EXPECT_THROW((void)write_graph(graph, folder.file("none/g.wgr"), pool), InputError);
  EXPECT_THROW((void)write_graph(graph, folder.file("g.unknown"), pool), InputError);
  std::filesystem::create_directory(folder.file("folder.wgr"));
  EXPECT_THROW((void)write_graph(graph, folder.file("folder.wgr"), pool), InputError);
  EXPECT_THROW((void)write_graph(graph, folder.file("g.graph"), pool), InputError);
  EXPECT_EQ(folder.files(), 1);
}

TEST(Write, AFullDiskIsSaidAndTheOldFileStays) {
  const TemporaryFolder folder;
  exec::ThreadPool pool(1);
  const Graph graph = make_graph({Shape::sparse, WeightType::int32, false}, pool);
  const std::string path = folder.file("g.txt");
  write_bytes(path, "0\t1\n");
  std::string message;
  try {
    const testing_support::FileSizeLimit limit(4096);
    (void)write_graph(graph, path, pool);
  } catch (const InputError& error) {
    message = error.what();
  }
  EXPECT_THAT(message, testing::AllOf(testing::StartsWith(path + ": cannot write: "),
                                      testing::HasSubstr("too large")));
  EXPECT_EQ(read_bytes(path), "0\t1\n");
  EXPECT_EQ(folder.files(), 1);
}

}  // namespace
}  // namespace warren::graph
