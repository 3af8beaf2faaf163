// SPDX-License-Identifier: Apache-2.0
// Edge lists against a reader of the standard library, and what the command line promises of them.
#include <random>
#include <string>
#include <vector>

#include "graph/io_support.hpp"
#include "reference/edge_list_reader.hpp"
#include "reference/graph_csr.hpp"
#include "support/size.hpp"

namespace warren::graph {
namespace {

void expect_as_reference(const std::string& path, const ReadOptions& options, int threads) {
  exec::ThreadPool pool(threads);
  const Graph graph = read_graph(path, options, pool);
  const reference::ReadEdgeList expected =
      reference::read_edge_list(path, options.one_based ? 1 : 0, options.compact);
  ASSERT_EQ(graph.vertices, expected.list.vertices);
  EXPECT_EQ(graph.weight_type, expected.list.weight_type());
  EXPECT_EQ(reference::entries(graph),
            reference::entries(reference::build(expected.list, options.build)));
  for (Vertex v = 0; v < graph.vertices; ++v) ASSERT_EQ(graph.original_id(v), expected.ids[v]);
}

// Random lines in all the ways that lines are written, several pieces long.
std::string random_text(std::uint64_t seed, int columns, bool floats, std::uint64_t largest,
                        std::uint64_t base) {
  std::mt19937_64 random(seed);
  static constexpr const char* kBetween[] = {" ", "\t", "  ", " \t "};
  static constexpr const char* kEnds[] = {"\n", "\r\n", " \n", "\t\r\n"};
  std::string text = "# a comment\n% another\n\n";
  while (text.size() < 1'200'000) {
    if (random() % 1000 == 0) text += random() % 2 == 0 ? "# 1 2 3 in between\n" : "\n \n";
    // Numbers of few and of many digits.
    const auto id = [&] {
      return std::to_string(base + random() % largest % (random() % 3 == 0 ? 100 : largest));
    };
    if (random() % 50 == 0) text += "  ";
    text += id();
    text += kBetween[random() % 4];
    text += id();
    if (columns == 3) {
      text += kBetween[random() % 4];
      text += std::to_string(static_cast<std::int64_t>(random() % 2000) - 1000);
      if (floats && random() % 2 == 0) text += ".25";
    }
    text += kEnds[random() % 4];
  }
  text += "1 2";  // The last line may lack its end.
  if (columns == 3) text += " 3";
  return text;
}

TEST(EdgeList, MatchesTheReference) {
  const TemporaryFolder folder;
  std::uint64_t seed = 1;
  for (const std::string suffix : {".el", ".wel", ".txt", ".tsv"}) {
    for (const bool one_based : {false, true}) {
      for (const bool compact : {false, true}) {
        // In small tests two of the four ways, the other two for the next suffix.
        const bool is_odd = suffix == ".el" || suffix == ".txt";
        if (testing_support::is_small() && (one_based == compact) == is_odd) continue;
        if (testing_support::sees_few() && is_odd) continue;
        const int columns = suffix == ".el" || (suffix == ".txt" && compact) ? 2 : 3;
        const std::string path = folder.file("g" + suffix);
        write_bytes(path, random_text(++seed, columns, one_based, compact ? 30'000'000 : 300'000,
                                      one_based ? 1 : 0));
        ReadOptions options;
        options.one_based = one_based;
        options.compact = compact;
        options.build.symmetrize = compact;
        options.build.keep_duplicates = one_based;
        SCOPED_TRACE(path + (one_based ? " one_based" : "") + (compact ? " compact" : ""));
        expect_as_reference(path, options, 3);
      }
    }
  }
}

TEST(EdgeList, CompressedTextIsTheSameGraph) {
  const TemporaryFolder folder;
  exec::ThreadPool pool(2);
  const std::string text = random_text(99, 3, false, 100'000, 0);
  write_text(folder.file("g.txt"), text);
  const Graph plain = read_graph(folder.file("g.txt"), {}, pool);
  for (const char* name : {"g.txt.gz", "g.txt.zst"}) {
    write_text(folder.file(name), text);
    const Graph graph = read_graph(folder.file(name), {}, pool);
    EXPECT_EQ(reference::entries(graph), reference::entries(plain)) << name;
  }
}

TEST(EdgeList, SeveralGzipMembersAndZstdFramesAreOneText) {
  const TemporaryFolder folder;
  exec::ThreadPool pool(2);
  for (const char* name : {"g.el.gz", "g.el.zst"}) {
    const std::string path = folder.file(name);
    write_text(path, "0 1\n2");
    std::string bytes = read_bytes(path);
    write_text(path, " 3\n");
    bytes += read_bytes(path);
    write_bytes(path, bytes);
    const Graph graph = read_graph(path, {}, pool);
    EXPECT_EQ(graph.vertices, 4u) << name;
    EXPECT_EQ(graph.edges(), 2u) << name;
  }
}

struct Counted {
  const char* text;
  std::uint64_t vertices;
  std::uint64_t edges;
};

TEST(EdgeList, VerticesAndEdges) {
  const TemporaryFolder folder;
  exec::ThreadPool pool(2);
  for (const Counted& c : std::vector<Counted>{{"0 1\n", 2, 1},
                                               {"5 0", 6, 1},
                                               {"# Nodes: 10 Edges: 1\n0 1\n", 10, 1},
                                               {"#Nodes: 10\n0 1\n", 10, 1},
                                               {"# Nodes: 2\n7 1\n", 8, 1},
                                               {"0 1\n# Nodes: 12\n", 12, 1},
                                               {"# Nodes: 1 Edges: 0\n", 1, 0},
                                               {"0 1\n0 1\n1 0\n1 1\n", 2, 3},
                                               {"00000000000000000001 2\n", 3, 1},
                                               {"\r\n0 1\r\n", 2, 1}}) {
    write_bytes(folder.file("g.txt"), c.text);
    const Graph graph = read_graph(folder.file("g.txt"), {}, pool);
    EXPECT_EQ(graph.vertices, c.vertices) << c.text;
    EXPECT_EQ(graph.edges(), c.edges) << c.text;
  }
}

TEST(EdgeList, WeightsAreIntegersIfEveryTokenIsOne) {
  const TemporaryFolder folder;
  exec::ThreadPool pool(2);
  const std::string path = folder.file("g.wel");
  write_bytes(path, "0 1 5\n1 2 -2147483648\n2 0 +7\n");
  Graph graph = read_graph(path, {}, pool);
  ASSERT_EQ(graph.weight_type, WeightType::int32);
  EXPECT_THAT(graph.weights_int.span(), testing::ElementsAre(5, -2147483647 - 1, 7));
  write_bytes(path, "0 1 5\n1 2 2.5e-1\n2 0 1e-300\n2 1 .5\n");
  graph = read_graph(path, {}, pool);
  ASSERT_EQ(graph.weight_type, WeightType::float32);
  EXPECT_THAT(graph.weights_float.span(), testing::ElementsAre(5.0f, 0.25f, 0.0f, 0.5f));
  ReadOptions options;
  options.read_weights = false;
  EXPECT_EQ(read_graph(path, options, pool).weight_type, WeightType::none);
}

TEST(EdgeList, CompactNumbersWithoutGapsLeaveNoIds) {
  const TemporaryFolder folder;
  exec::ThreadPool pool(2);
  write_bytes(folder.file("g.el"), "0 1\n2 0\n");
  ReadOptions options;
  options.compact = true;
  EXPECT_TRUE(read_graph(folder.file("g.el"), options, pool).original_ids.empty());
}

}  // namespace
}  // namespace warren::graph
