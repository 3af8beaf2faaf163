// SPDX-License-Identifier: Apache-2.0
// Edge lists as tables: separators, quotes, headings, ids that are words; what comes through pipes;
// and what becomes of parallel edges.
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/io_support.hpp"

namespace warren::graph {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Edges = std::map<std::pair<std::uint64_t, std::uint64_t>, double>;

// By the file's ids.
Edges edges_of(const Graph& graph) {
  Edges all;
  for (Vertex v = 0; v < graph.vertices; ++v) {
    for (EdgeOffset e = graph.offsets[v]; e < graph.offsets[std::uint64_t{v} + 1]; ++e) {
      double weight = 1.0;
      if (graph.weight_type == WeightType::int32) weight = graph.weights_int[e];
      if (graph.weight_type == WeightType::float32)
        weight = static_cast<double>(graph.weights_float[e]);
      all[{graph.original_id(v), graph.original_id(graph.targets[e])}] = weight;
    }
  }
  return all;
}

class Tables : public testing::Test {
 protected:
  Graph read(const std::string& name, const std::string& text, const ReadOptions& options = {}) {
    write_text(folder_.file(name), text);
    return read_graph(folder_.file(name), options, pool_);
  }
  std::string refused(const std::string& name, const std::string& text,
                      const ReadOptions& options = {}) {
    write_text(folder_.file(name), text);
    return refusal(folder_.file(name), options);
  }

  TemporaryFolder folder_;
  exec::ThreadPool pool_{2};
};

TEST_F(Tables, Separators) {
  const Edges expected{{{0, 1}, 1}, {{1, 12}, 1}};
  for (const std::string text : {"0,1\n1,12\n", "0, 1\n1 , 12\n", "0;1\n1;12\n", "0\t1\n1\t12\n",
                                 "\"0\",\"1\"\n\"1\",\"12\"\n", "\"0\" \"1\"\n1 12\n",
                                 "# 7,8\n\n0,1  \n% x\n1,12\t\n", "0,1\r\n1,12\r\n", "0,1\n1,12",
                                 "\xef\xbb\xbf"
                                 "0,1\n1,12\n",
                                 "0,1,\n1,12,\n"}) {
    for (const char* name : {"g.el", "g.txt", "g.tsv", "g.csv", "g.csv.gz", "g.el.zst"})
      EXPECT_EQ(edges_of(read(name, text)), expected) << name << ": " << text;
  }
  const Edges weighted{{{0, 1}, 2.5}, {{1, 12}, 3}};
  for (const std::string text :
       {"0,1,2.5\n1,12,3\n", "0;1;2.5\n1;12;3\n", "\"0\"\t\"1\"\t2.5\n1\t12\t3\n"}) {
    for (const char* name : {"g.wel", "g.txt", "g.csv"})
      EXPECT_EQ(edges_of(read(name, text)), weighted) << name << ": " << text;
  }
  EXPECT_EQ(read("g.txt", "# Nodes: 40\n0,1\n").vertices, 40u);
}

TEST_F(Tables, WhatIsRefusedAndWhere) {
  EXPECT_THAT(refused("g.el", "0,1\n0,,2\n"), HasSubstr("g.el:2: an empty cell where a vertex id"));
  EXPECT_THAT(refused("g.el", ",1\n"), HasSubstr("g.el:1: an empty cell"));
  EXPECT_THAT(refused("g.tsv", "1\t2\n\t2\n"), HasSubstr("g.tsv:2: the line ends early"));
  EXPECT_THAT(refused("g.wel", "0,1,2\n\n1,2\n"), HasSubstr("g.wel:3: the line has no weight"));
  EXPECT_THAT(refused("g.wel", "0,1,\n"), HasSubstr("g.wel:1: the line has no weight"));
  EXPECT_THAT(refused("g.wel", "0;1;2,5\n"), HasSubstr("'2,5' is not a weight"));
  EXPECT_THAT(refused("g.csv", "0,1\n0,1 2\n"), HasSubstr(":2: '1 2' is not a vertex id"));
  EXPECT_THAT(refused("g.csv", "0,1\n0,1,5\n"),
              HasSubstr(":2: '5' is more than the line may hold"));
  EXPECT_THAT(refused("g.csv", "0,1\n2\n"), HasSubstr(":2: "));
  EXPECT_THAT(refused("g.csv", "0,1\n\"2,3\n"), HasSubstr(":2: a quote is opened"));
  EXPECT_THAT(refused("g.csv", "0,1\n\"2\"x,3\n"), HasSubstr(":2: 'x,3' behind a closed quote"));
  EXPECT_THAT(refused("g.csv", "0,1\n\"#2\",3\n"), HasSubstr(":2: '#2' is not a vertex id"));
  EXPECT_THAT(refused("g.csv", "0,1\n-2,3\n"), HasSubstr(":2: vertex id '-2' is out of range"));
  EXPECT_THAT(refused("g.el", "0 4294967295\n"), HasSubstr("--compact"));
  EXPECT_THAT(refused("g.el", "0 1\nAlice Bob\n"), HasSubstr("--ids words"));
  // Several pieces: the line is that of the file.
  std::string text;
  for (int i = 0; i < 400000; ++i) text += "100,200\n";
  EXPECT_THAT(refused("g.csv", text + "1,x\n"), HasSubstr(":400001: 'x'"));
  EXPECT_THAT(refused("g.csv.gz", text + "1,x\n"), HasSubstr(":400001: 'x'"));
}

TEST_F(Tables, Headings) {
  const Edges plain{{{0, 1}, 1}, {{1, 2}, 1}};
  const Edges weighted{{{0, 1}, 5}, {{1, 2}, 6}};
  EXPECT_EQ(edges_of(read("g.csv", "source,target\n0,1\n1,2\n")), plain);
  EXPECT_EQ(edges_of(read("g.csv", "\n# c\nu,v\n0,1\n1,2\n")), plain);
  EXPECT_EQ(edges_of(read("g.csv.gz", "\"Source\";\"Target\"\n0;1\n1;2\n")), plain);
  EXPECT_EQ(edges_of(read("g.tsv", "FromNodeId\tToNodeId\n0\t1\n1\t2\n")), plain);
  EXPECT_EQ(edges_of(read("g.csv", "source,target,weight\n0,1,5\n1,2,6\n")), weighted);
  EXPECT_EQ(edges_of(read("g.csv", "u,v,w\n0,1,5\n1,2,6\n")), weighted);
  EXPECT_EQ(edges_of(read("g.csv", "weight,dst,src\n5,1,0\n6,2,1\n")), weighted);
  EXPECT_EQ(edges_of(read("g.csv", "source,target,capacity\n0,1,5\n1,2,6\n")), weighted);
  EXPECT_EQ(edges_of(read("g.csv", "Source,Target,Type,Id,Weight\n0,1,Directed,7,5\n1,2,x,8,6\n")),
            weighted);
  EXPECT_EQ(edges_of(read("g.el", "source,target,weight\n0,1,5\n1,2,6\n")), plain);
  // Numbers under another heading are no weights.
  EXPECT_EQ(edges_of(read("g.csv", "id,source,target\n7,0,1\n8,1,2\n")), plain);
  EXPECT_EQ(edges_of(read("g.csv", "src,dst,time\n0,1,70\n1,2,80\n")), plain);
  ReadOptions options;
  options.has_headings = true;
  EXPECT_EQ(edges_of(read("g.csv", "7,8\n0,1\n1,2\n", options)), plain);
  EXPECT_THAT(refused("g.csv", "source,target\n"), HasSubstr("no edges"));
}

TEST_F(Tables, IdsAreWordsInTheOrderOfTheirNaming) {
  std::vector<std::string> words;
  ReadOptions options;
  options.words = &words;
  for (const char* name : {"g.el", "g.txt", "g.csv", "g.csv.zst"}) {
    const Graph graph = read(name, "Bob Alice\nAlice Carol\nBob Carol\n", options);
    EXPECT_THAT(words, ElementsAre("Bob", "Alice", "Carol"));
    EXPECT_EQ(edges_of(graph), (Edges{{{0, 1}, 1}, {{1, 2}, 1}, {{0, 2}, 1}})) << name;
  }
  Graph graph =
      read("g.csv", "\"New York\",\"Smith, John\",2\n\"Smith, John\",\"a \"\"b\"\"\",3\n", options);
  EXPECT_THAT(words, ElementsAre("New York", "Smith, John", "a \"b\""));
  EXPECT_EQ(edges_of(graph), (Edges{{{0, 1}, 2}, {{1, 2}, 3}}));
  graph = read("g.tsv", "New York\tBoston\nBoston\t10\n", options);
  EXPECT_THAT(words, ElementsAre("New York", "Boston", "10"));
  graph = read("g.csv", "source,target\nz\xc3\xbcrich,bern\n", options);
  EXPECT_THAT(words, ElementsAre("z\xc3\xbcrich", "bern"));
  graph = read("g.wel", "a b 1.5\nb a 2\n", options);
  EXPECT_EQ(edges_of(graph), (Edges{{{0, 1}, 1.5}, {{1, 0}, 2}}));
  EXPECT_EQ(graph.weight_type, WeightType::float32);

  words.clear();
  options.are_words = true;
  graph = read("g.el", "7 x\n8 7\n", options);
  EXPECT_THAT(words, ElementsAre("7", "x", "8"));
  options.are_words = false;
  EXPECT_THAT(refused("g.el", "7 x\n8 7\n", options), HasSubstr("'x' is not a vertex id"));
  EXPECT_THAT(refused("g.el", "a b\nc\n", options), HasSubstr("g.el:2: "));
  EXPECT_THAT(refused("g.el", "a b\n\xff\xfe c\n", options), HasSubstr(":2: '\\xff\\xfe' is not"));
  EXPECT_THAT(refused("g.csv", "a,b\n,c\n", options), HasSubstr(":2: an empty cell"));
  EXPECT_THAT(refused("g.tsv", "a\tb\n\tb\n", options), HasSubstr(":2: an empty cell"));
  // Nobody takes them.
  EXPECT_THAT(refused("g.el", "Bob Alice\n"), HasSubstr("'Bob' is not a vertex id"));
}

TEST_F(Tables, CompactTablesOfLargeIds) {
  ReadOptions options;
  options.compact = true;
  const Graph graph =
      read("g.csv", "source,target\n18446744073709551614,5\n5,99999999999\n", options);
  EXPECT_EQ(graph.vertices, 3u);
  EXPECT_EQ(edges_of(graph), (Edges{{{18446744073709551614u, 5}, 1}, {{5, 99999999999}, 1}}));
}

TEST_F(Tables, NegativeWeightsAreRefusedByTheirLine) {
  ReadOptions options;
  options.no_negative_weights = true;
  EXPECT_THAT(refused("g.wel", "10 20 3\n20 30 -4\n", options),
              HasSubstr("g.wel:2: the edge from 20 to 30 has the weight '-4'"));
  EXPECT_THAT(refused("g.wel", "10 20 3.5\n20 30 -0.5\n", options), HasSubstr("g.wel:2: "));
  EXPECT_THAT(refused("g.gr", "p sp 2 1\na 2 1 -4\n", options),
              HasSubstr("g.gr:2: the edge from 2 to 1"));
  EXPECT_THAT(refused("g.graph", "2 1 1\n2 -4\n1 -4\n", options),
              HasSubstr("g.graph:2: the edge from 1 to 2"));
  std::vector<std::string> words;
  options.words = &words;
  EXPECT_THAT(refused("g.csv", "a,b,1\nb,c,-2\n", options),
              HasSubstr("g.csv:2: the edge from b to c has the weight '-2'"));
  options.words = nullptr;
  options.build.drop_self_loops = true;
  EXPECT_EQ(read("g.wel", "0 1 3\n2 2 -3\n", options).edges(), 1u);
  options.read_weights = false;
  EXPECT_EQ(read("g.wel", "0 1 -3\n", options).edges(), 1u);
}

TEST_F(Tables, ParallelEdgesAddUpWhereAsked) {
  ReadOptions options;
  options.build.sum_duplicates = true;
  EXPECT_EQ(edges_of(read("g.wel", "0 1 5\n0 1 -2\n1 0 7\n", options)),
            (Edges{{{0, 1}, 3}, {{1, 0}, 7}}));
  EXPECT_EQ(edges_of(read("g.wel", "0 1 5.5\n0 1 2\n0 1 2\n", options)), (Edges{{{0, 1}, 9.5}}));
  EXPECT_EQ(read("g.el", "0 1\n0 1\n", options).edges(), 1u);
  EXPECT_THAT(refused("g.wel", "0 1 2147483647\n0 1 1\n", options),
              testing::AllOf(HasSubstr("g.wel: "), HasSubstr("add up to more")));
  const Graph kept = [&] {
    ReadOptions keep;
    keep.build.keep_duplicates = true;
    return read("g.wel", "0 1 5\n0 1 3\n2 1 4\n", keep);
  }();
  for (const char* name : {"g.npz", "g.wgr", "g.wsg", "g.mtx"}) {
    (void)write_graph(kept, folder_.file(name), pool_);
    EXPECT_EQ(edges_of(read_graph(folder_.file(name), options, pool_)),
              (Edges{{{0, 1}, 8}, {{2, 1}, 4}}))
        << name;
    EXPECT_EQ(edges_of(read_graph(folder_.file(name), {}, pool_)),
              (Edges{{{0, 1}, 3}, {{2, 1}, 4}}))
        << name;
  }
}

TEST_F(Tables, CsvIsWrittenAndReadAgain) {
  const Graph graph = read("g.wel", "0 1 5\n1 0 7\n", {});
  (void)write_graph(graph, folder_.file("a.csv"), pool_);
  EXPECT_EQ(read_bytes(folder_.file("a.csv")), "source,target,weight\n0,1,5\n1,0,7\n");
  EXPECT_EQ(edges_of(read_graph(folder_.file("a.csv"), {}, pool_)), edges_of(graph));
}

TEST_F(Tables, PipesAreReadWhereTheFormatIsNamed) {
  const Graph graph = read("g.wel", "0 1 5\n1 0 7\n1 2 3\n", {});
  for (const std::string format :
       {"el", "wel", "txt", "tsv", "csv", "mtx", "gr", "wsg", "sg", "npz", "wgr"}) {
    (void)write_graph(graph, folder_.file("a." + format), pool_);
    const std::string bytes = read_bytes(folder_.file("a." + format));
    const std::string pipe = folder_.file("pipe_" + format);
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] { write_bytes(pipe, bytes); });
    ReadOptions options;
    options.format = format;
    const Graph back = read_graph(pipe, options, pool_);
    writer.join();
    EXPECT_EQ(back.edges(), 3u) << format;
    if (back.weight_type != WeightType::none) {
      EXPECT_EQ(edges_of(back), edges_of(graph)) << format;
    }
  }
}

TEST_F(Tables, LongStreamsAndCompressedOnes) {
  std::string text;
  for (int i = 0; i < 700000; ++i)
    text += std::to_string(i % 1000) + " " + std::to_string(i) + "\n";
  for (const char* name : {"a.el", "a.el.gz", "a.el.zst"}) {
    write_text(folder_.file(name), text);
    const std::string bytes = read_bytes(folder_.file(name));
    const std::string pipe = folder_.file("pipe");
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] { write_bytes(pipe, bytes); });
    ReadOptions options;
    options.format = "el";
    EXPECT_EQ(read_graph(pipe, options, pool_).edges(), 700000u) << name;
    writer.join();
    std::filesystem::remove(pipe);
  }
  ReadOptions options;
  options.format = "elephant";
  EXPECT_THROW((void)read_graph(folder_.file("a.el"), options, pool_), UsageError);
}

}  // namespace
}  // namespace warren::graph
