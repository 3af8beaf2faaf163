// SPDX-License-Identifier: Apache-2.0
// Text files as other programs leave them: marks, padding, fields and symmetries of Matrix Market,
// weights of mixed kinds.
#include <map>
#include <string>
#include <vector>

#include <zlib.h>

#include "graph/io_support.hpp"
#include "reference/graph_csr.hpp"

namespace warren::graph {
namespace {

using Weights = std::map<std::pair<Vertex, Vertex>, double>;

class TextVariants : public testing::Test {
 protected:
  Graph read(const std::string& name, const std::string& bytes, const ReadOptions& options = {}) {
    write_text(folder_.file(name), bytes);
    return read_graph(folder_.file(name), options, pool_);
  }
  std::string refused(const std::string& name, const std::string& bytes) {
    write_text(folder_.file(name), bytes);
    return refusal(folder_.file(name));
  }
  static Weights weights(const Graph& graph) {
    Weights all;
    for (Vertex v = 0; v < graph.vertices; ++v) {
      for (EdgeOffset e = graph.offsets[v]; e < graph.offsets[std::uint64_t{v} + 1]; ++e) {
        double weight = 1.0;
        if (graph.weight_type == WeightType::int32) weight = graph.weights_int[e];
        if (graph.weight_type == WeightType::float32)
          weight = static_cast<double>(graph.weights_float[e]);
        all[{v, graph.targets[e]}] = weight;
      }
    }
    return all;
  }

  TemporaryFolder folder_;
  exec::ThreadPool pool_{2};
};

const std::string kBanner = "%%MatrixMarket matrix coordinate ";

TEST_F(TextVariants, WhatAHeaderAnnouncesIsRefusedWhereTheHostHasLess) {
  const exec::Device host = exec::Device::cpu(1);
  std::string entries, lines;
  for (int v = 1; v < 1000; ++v) {
    entries += std::to_string(v + 1) + " " + std::to_string(v) + " 3\n";
    lines += (v == 1 ? "" : std::to_string(v - 1) + " 3 ") + std::to_string(v + 1) + " 3\n";
  }
  lines += "999 3\n";
  struct Case {
    std::string name, text;
    std::uint64_t edges;
  };
  // Of a symmetric matrix entries may be self-loops.
  const Case cases[] = {{"g.mtx", kBanner + "integer general\n1000 1000 999\n" + entries, 999},
                        {"g.mtx", kBanner + "integer symmetric\n1000 1000 999\n" + entries, 999},
                        {"g.graph", "1000 999 1\n" + lines, 1998},
                        {"g.mtx.gz", kBanner + "integer general\n1000 1000 999\n" + entries, 999}};
  for (const Case& one : cases) {
    for (const bool with_weights : {false, true}) {
      const std::uint64_t bytes = 1001 * 8 + one.edges * (with_weights ? 8 : 4);
      ReadOptions options;
      options.read_weights = with_weights;
      exec::set_memory_limit(host, bytes - 1);
      EXPECT_THAT([&] { (void)read(one.name, one.text, options); },
                  testing::ThrowsMessage<MemoryError>(testing::AllOf(
                      testing::HasSubstr(std::to_string(bytes) + " bytes asked"),
                      testing::HasSubstr("announces 1000 vertices and 999 entries in line "),
                      testing::HasSubstr("take at least that: use a host with more memory"))))
          << one.name;
      exec::set_memory_limit(host, 0);
      EXPECT_EQ(read(one.name, one.text, options).vertices, 1000u);
    }
  }
  // Before the first line of an entry is looked at; a file that is too short is told as such.
  exec::set_memory_limit(host, 4096);
  EXPECT_THROW((void)read("g.mtx", kBanner + "pattern general\n1000 1000 3\nx\ny y y y y\n"),
               MemoryError);
  EXPECT_THROW(
      (void)read("g.mtx.gz", kBanner + "pattern symmetric\n2 2 1152921504606846976\n1 1\n"),
      MemoryError);
  EXPECT_THAT([&] { (void)read("g.graph", "2 18446744073709551615\n2\n1\n"); },
              testing::ThrowsMessage<InputError>(testing::HasSubstr("the file is too short")));
  exec::set_memory_limit(host, 0);
}

TEST_F(TextVariants, RealValuesPastInt32InEitherOrder) {
  const Weights expected{{{0, 1}, 3e9}, {{1, 0}, 1.5}};
  for (const char* lines : {"1 2 3000000000\n2 1 1.5\n", "2 1 1.5\n1 2 3000000000\n"}) {
    for (const char* name : {"g.mtx", "g.mtx.gz"})
      EXPECT_EQ(weights(read(name, kBanner + "real general\n2 2 2\n" + lines)), expected) << lines;
  }
  EXPECT_EQ(weights(read("g.wel", "0 1 3000000000\n1 0 1.5\n")), expected);
  EXPECT_EQ(weights(read("g.wel", "1 0 1.5\n0 1 3000000000\n")), expected);
  EXPECT_EQ(weights(read("g.mtx", kBanner + "real general\n2 2 1\n1 2 3000000000\n")),
            (Weights{{{0, 1}, 3e9}}));
  // All are integers: one is too large.
  EXPECT_THAT(refused("g.wel", "0 1 1\n0 1 3000000000\n1 0 2\n"),
              testing::HasSubstr(":2: '3000000000' is not a weight"));
}

TEST_F(TextVariants, IntegerFormatsDoNotAskForWhatWasGiven) {
  const std::string mtx = refused("g.mtx", kBanner + "integer general\n2 2 1\n1 2 5.5\n");
  EXPECT_THAT(mtx, testing::AllOf(testing::HasSubstr("g.mtx:3: '5.5' is not a weight"),
                                  testing::HasSubstr("write 'real'"),
                                  testing::Not(testing::HasSubstr("decimal point"))));
  const std::string gr = refused("g.gr", "p sp 2 1\na 1 2 5.5\n");
  EXPECT_THAT(gr, testing::AllOf(testing::HasSubstr("g.gr:2: '5.5' is not a weight"),
                                 testing::HasSubstr(".wel"),
                                 testing::Not(testing::HasSubstr("decimal point"))));
}

TEST_F(TextVariants, SkewSymmetricMatricesAreMirroredWithOppositeValues) {
  const Graph ints = read("g.mtx", kBanner + "integer skew-symmetric\n3 3 2\n2 1 5\n3 1 -7\n");
  EXPECT_EQ(ints.weight_type, WeightType::int32);
  EXPECT_EQ(weights(ints), (Weights{{{1, 0}, 5}, {{0, 1}, -5}, {{2, 0}, -7}, {{0, 2}, 7}}));
  const Graph reals = read("g.mtx", kBanner + "real skew-symmetric\n3 3 2\n2 1 5\n3 1 0.5\n");
  EXPECT_EQ(weights(reals), (Weights{{{1, 0}, 5}, {{0, 1}, -5}, {{2, 0}, 0.5}, {{0, 2}, -0.5}}));
  // -2^31 has no opposite of 32 bits.
  EXPECT_EQ(weights(read("g.mtx", kBanner + "real skew-symmetric\n2 2 1\n2 1 -2147483648\n")),
            (Weights{{{1, 0}, -2147483648.0}, {{0, 1}, 2147483648.0}}));
  EXPECT_THAT(refused("g.mtx", kBanner + "integer skew-symmetric\n2 2 1\n2 1 -2147483648\n"),
              testing::HasSubstr(":3: -2147483648 has no opposite"));
  EXPECT_THAT(refused("g.mtx", kBanner + "real skew-symmetric\n2 2 2\n2 1 1\n2 2 3\n"),
              testing::HasSubstr(":4: a value on the diagonal"));
  EXPECT_EQ(read("g.mtx", kBanner + "real skew-symmetric\n2 2 2\n2 1 1\n2 2 0\n").edges(), 3u);
  EXPECT_THAT(refused("g.mtx", kBanner + "real skew-symmetric\n2 2 2\n2 1 1\n"),
              testing::HasSubstr("announces 2 entries, but 1 follow"));
  ReadOptions structure;
  structure.read_weights = false;
  const Graph plain =
      read("g.mtx", kBanner + "real skew-symmetric\n3 3 2\n2 1 5\n3 1 -7\n", structure);
  EXPECT_EQ(plain.edges(), 4u);
  EXPECT_EQ(plain.symmetry, Symmetry::symmetric);
}

TEST_F(TextVariants, OfComplexMatricesTheEntriesCanBeRead) {
  const std::string general = kBanner + "complex general\n2 2 1\n1 2 0.5 -3\n";
  const std::string hermitian = kBanner + "complex hermitian\n2 2 2\n1 1 1 0\n2 1 0.5 -3\n";
  for (const std::string& text : {general, hermitian}) {
    EXPECT_THAT(refused("g.mtx", text),
                testing::AllOf(testing::HasSubstr(":1: 'complex'"), testing::HasSubstr("'real'")));
  }
  ReadOptions structure;
  structure.read_weights = false;
  EXPECT_EQ(weights(read("g.mtx", general, structure)), (Weights{{{0, 1}, 1}}));
  EXPECT_EQ(weights(read("g.mtx", hermitian, structure)),
            (Weights{{{0, 0}, 1}, {{0, 1}, 1}, {{1, 0}, 1}}));
  write_text(folder_.file("g.mtx"), kBanner + "complex general\n2 2 1\n1 2 0.5\n");
  try {
    (void)read_graph(folder_.file("g.mtx"), structure, pool_);
    ADD_FAILURE() << "one part of two was enough";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(":3: the line has no weight"));
  }
}

TEST_F(TextVariants, BannersAsTheyAreWritten) {
  const Weights expected{{{0, 1}, 5}};
  const std::string body = "2 2 1\n1 2 5\n";
  for (const std::string& text : std::vector<std::string>{
           "%%MATRIXMARKET MATRIX COORDINATE INTEGER GENERAL\n" + body,
           "%MatrixMarket matrix coordinate integer general\n" + body,
           "\n  \n%%MatrixMarket matrix coordinate integer general\n\n" + body,
           "%%MatrixMarket matrix coordinate integer general\n% a comment\n\n2 2 1\n\n1 2 5\n\n",
           "\xef\xbb\xbf%%MatrixMarket\tmatrix  coordinate integer general \r\n2 2 1\r\n1 2 "
           "5\r\n"}) {
    for (const char* name : {"g.mtx", "g.mtx.gz", "g.mtx.zst"})
      EXPECT_EQ(weights(read(name, text)), expected) << text;
  }
  EXPECT_EQ(weights(read("g.mtx", kBanner + "real hermitian\n2 2 1\n2 1 5\n")),
            (Weights{{{0, 1}, 5}, {{1, 0}, 5}}));
}

TEST_F(TextVariants, AByteOrderMarkIsNoText) {
  const std::string mark = "\xef\xbb\xbf";
  for (const char* suffix : {"", ".gz", ".zst"}) {
    const std::string end = suffix;
    EXPECT_EQ(weights(read("g.wel" + end, mark + "0 1 5\n")), (Weights{{{0, 1}, 5}})) << suffix;
    EXPECT_EQ(read("g.txt" + end, mark + "# Nodes: 9\n0 1\n").vertices, 9u) << suffix;
    EXPECT_EQ(weights(read("g.gr" + end, mark + "c\np sp 2 1\na 1 2 5\n")), (Weights{{{0, 1}, 5}}));
    EXPECT_EQ(read("g.graph" + end, mark + "2 1\n2\n1\n").edges(), 2u) << suffix;
    EXPECT_THAT(refused("g.el" + end, mark + "0 1\nx 2\n"), testing::HasSubstr(":2: 'x'"));
  }
  EXPECT_THAT(refused("g.el", std::string("\xff\xfe"
                                          "0\0 \0"
                                          "1\0\n\0",
                                          10)),
              testing::HasSubstr("UTF-16"));
}

TEST_F(TextVariants, NulBytesBehindGzipArePadding) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::to_string(i) + " " + std::to_string(i + 1) + "\n";
  const std::string path = folder_.file("g.el.gz");
  write_text(path, text);
  const std::string member = read_bytes(path);
  const std::string padding(5000, '\0');
  write_bytes(path, member + padding);
  EXPECT_EQ(read_graph(path, {}, pool_).edges(), 1000u);
  write_text(path, "5 0\n");
  write_bytes(path, member + padding + read_bytes(path) + padding);
  EXPECT_EQ(read_graph(path, {}, pool_).edges(), 1001u);
  write_bytes(path, member + padding + "garbage");
  EXPECT_THAT(refusal(path), testing::HasSubstr("damaged"));
}

TEST_F(TextVariants, ASelfLoopOfMetisIsNamed) {
  EXPECT_THAT(refused("g.graph", "3 2\n2\n1 2\n\n"),
              testing::AllOf(testing::HasSubstr(":3: a self-loop: vertex 2"),
                             testing::Not(testing::HasSubstr("cut off"))));
}

// Ids far past what a file of this size is likely to have cost another reading, and are right.
TEST_F(TextVariants, LargeIdsInSmallFiles) {
  const Graph graph = read("g.el", "0 1\n3000000 2\n7 2500000\n");
  EXPECT_EQ(graph.vertices, 3'000'001u);
  EXPECT_EQ(weights(graph), (Weights{{{0, 1}, 1}, {{3000000, 2}, 1}, {{7, 2500000}, 1}}));
  EXPECT_EQ(read("g.txt", "# Nodes: 5000000\n3000000 2\n").vertices, 5'000'000u);
  EXPECT_EQ(read("g.txt", "# Nodes: 5000000\n3 2\n").offsets[5'000'000], 1u);
}

}  // namespace
}  // namespace warren::graph
