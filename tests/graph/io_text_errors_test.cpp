// SPDX-License-Identifier: Apache-2.0
// Text that cannot be a graph is refused with one line that names the place and what would be
// right.
#include <string>
#include <vector>

#include <sys/stat.h>

#include "graph/io_support.hpp"

namespace warren::graph {
namespace {

using namespace std::string_literals;  // NOLINT(google-build-using-namespace): "..."s keeps NUL
                                       // bytes.

struct Bad {
  std::string label;
  std::string name;
  std::string bytes;
  std::string place;  ///< What follows the file's name in the message.
  std::string part;   ///< What the message says.
  bool compact = false;
  bool one_based = false;
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.label; }

class BadText : public testing::TestWithParam<Bad> {};

TEST_P(BadText, IsRefused) {
  const Bad& bad = GetParam();
  const TemporaryFolder folder;
  ReadOptions options;
  options.compact = bad.compact;
  options.one_based = bad.one_based;
  // The same from a plain and from compressed files.
  std::vector<std::string> names{bad.name};
  if (!bad.bytes.empty() && bad.place.starts_with(":"))
    names.insert(names.end(), {bad.name + ".gz", bad.name + ".zst"});
  for (const std::string& name : names) {
    write_text(folder.file(name), bad.bytes);
    const std::string message = refusal(folder.file(name), options);
    EXPECT_THAT(message, testing::StartsWith(folder.file(name) + bad.place));
    EXPECT_THAT(message, testing::HasSubstr(bad.part));
    EXPECT_THAT(message, testing::Not(testing::HasSubstr("\n")));
  }
}

std::string name_of(const testing::TestParamInfo<Bad>& info) { return info.param.label; }

INSTANTIATE_TEST_SUITE_P(
    EdgeLists, BadText,
    testing::Values(
        Bad{"empty", "g.el", "", ": ", "empty"},
        Bad{"only_comments", "g.el", "# nothing\n", ": ", "no edges and no '# Nodes: N' comment"},
        Bad{"only_comments_compact", "g.el", "# nothing\n", ": ", "no edges", true},
        Bad{"negative", "g.el", "0 1\n-5 2\n",
            ":2: ", "'-5' is out of range; ids go from 0 to 4294967294"},
        Bad{"too_large", "g.el", "0 1\n\n1 4294967295\n", ":3: ", "'4294967295' is out of range"},
        Bad{"far_too_large", "g.el", "99999999999999999999999999 2\n", ":1: ", "out of range"},
        Bad{"compact_too_large", "g.el", "18446744073709551615 2\n", ":1: ", "out of range", true},
        Bad{"zero_in_one_based", "g.el", "1 2\n0 3\n", ":2: ", "ids go from 1", false, true},
        Bad{"one_column", "g.el", "0 1\n2\n", ":2: ", "two vertex ids"},
        Bad{"one_column_crlf", "g.el", "0 1\r\n2 \r\n", ":2: ", "ends early"},
        Bad{"third_column_in_el", "g.el", "0 1 5\n", ":1: ", ".wel"},
        Bad{"no_weight_in_wel", "g.wel", "0 1 5\n1 2\n", ":2: ", "no weight"},
        Bad{"weight_is_a_word", "g.wel", "0 1 5\n1 2 heavy\n", ":2: ", "'heavy' is not a weight"},
        Bad{"weight_nan", "g.wel", "0 1 nan\n", ":1: ", "not a weight"},
        Bad{"weight_infinite", "g.wel", "0 1 0.5\n2 3 1e39\n", ":2: ", "range of float32"},
        Bad{"weight_beyond_int32", "g.wel", "0 1 2147483648\n", ":1: ", "integer of 32 bits"},
        Bad{"weight_missing_later", "g.txt", "0 1 5\n1 2\n", ":2: ", "as the first line does"},
        Bad{"weight_later", "g.tsv", "0 1\n1 2 5\n", ":2: ", "as the first line does"},
        Bad{"four_columns", "g.txt", "0 1 5 6\n", ":1: ", "'6' is more"},
        Bad{"garbled", "g.el",
            "0 1\nab\xff"
            "cd 2\n",
            ":2: ", "'ab\\xffcd' is not a vertex id"},
        Bad{"float_id", "g.el", "0 1\n0.5 2\n", ":2: ", "'0.5' is not a vertex id"},
        Bad{"commas_later", "g.el", "0 1\n0,1\n", ":2: ", "blanks or tabs between"},
        Bad{"nul", "g.el", "0 1\n0 \0 1\n"s, ":2: ", "NUL byte"},
        Bad{"nul_at_line_end", "g.el", "0 1\0\n"s, ":1: ", "NUL byte"},
        Bad{"carriage_return_within", "g.el", "0 1\r2 3\n", ":1: ", "carriage return"},
        Bad{"long_token", "g.el", "0 " + std::string(100000, 'x') + "\n", ":1: ", "xxx...'"},
        Bad{"nodes_comment", "g.el", "# Nodes: 4294967296\n0 1\n", ":1: ", "4294967295 at most"},
        Bad{"unknown_name", "g.xyz.el", "0 x\n", ":1: ", "'x'"}),
    name_of);

const std::string kBanner = "%%MatrixMarket matrix coordinate ";

INSTANTIATE_TEST_SUITE_P(
    MatrixMarket, BadText,
    testing::Values(
        Bad{"no_banner", "g.mtx", "2 2 1\n1 2\n", ":1: ", "%%MatrixMarket matrix coordinate"},
        Bad{"array", "g.mtx", "%%MatrixMarket matrix array real general\n", ":1: ", "'array'"},
        Bad{"vector", "g.mtx", "%%MatrixMarket vector coordinate real general\n",
            ":1: ", "'vector'"},
        Bad{"complex", "g.mtx", kBanner + "complex general\n", ":1: ", "'complex'"},
        Bad{"skew_without_sizes", "g.mtx", kBanner + "real skew-symmetric\n", ": ",
            "rows, columns and entries"},
        Bad{"other_symmetry", "g.mtx", kBanner + "real persymmetric\n", ":1: ", "'persymmetric'"},
        Bad{"no_symmetry", "g.mtx", kBanner + "real\n", ":1: ", "symmetric"},
        Bad{"six_words", "g.mtx", kBanner + "real general very\n", ":1: ", "five words"},
        Bad{"no_sizes", "g.mtx", kBanner + "pattern general\n% only\n", ": ",
            "rows, columns and entries"},
        Bad{"rectangular", "g.mtx", kBanner + "pattern general\n%\n2 3 1\n1 2\n",
            ":3: ", "2 rows and 3 columns"},
        Bad{"garbled_sizes", "g.mtx", kBanner + "pattern general\n2 x 1\n1 2\n",
            ":2: ", "'x' cannot be read"},
        Bad{"four_sizes", "g.mtx", kBanner + "pattern general\n2 2 1 1\n1 2\n",
            ":2: ", "three numbers"},
        Bad{"no_vertices", "g.mtx", kBanner + "pattern general\n0 0 0\n", ":2: ", "no vertices"},
        Bad{"too_many", "g.mtx", kBanner + "pattern general\n4294967296 4294967296 1\n1 2\n",
            ":2: ", "4294967295 at most"},
        Bad{"id_zero", "g.mtx", kBanner + "pattern general\n2 2 1\n0 1\n",
            ":3: ", "ids go from 1 to 2, since line 2 announces 2 rows"},
        Bad{"id_too_large", "g.mtx", kBanner + "pattern general\n2 2 1\n1 3\n",
            ":3: ", "'3' is out of range"},
        Bad{"too_few_entries", "g.mtx", kBanner + "pattern general\n2 2 2\n1 2\n",
            ":2: ", "announces 2 entries, but 1 follow"},
        Bad{"too_many_entries", "g.mtx", kBanner + "pattern general\n2 2 1\n1 2\n2 1\n",
            ":2: ", "announces 1 entries, but 2 follow"},
        Bad{"value_missing", "g.mtx", kBanner + "real general\n2 2 1\n1 2\n", ":3: ", "no weight"},
        Bad{"value_in_pattern", "g.mtx", kBanner + "pattern general\n2 2 1\n1 2 5\n",
            ":3: ", "'5' is more"},
        Bad{"float_in_integer", "g.mtx", kBanner + "integer general\n2 2 1\n1 2 5.5\n",
            ":3: ", "'5.5' is not a weight"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Dimacs, BadText,
    testing::Values(
        Bad{"no_problem_line", "g.gr", "c only\n", ": ", "p sp VERTICES ARCS"},
        Bad{"arc_first", "g.gr", "a 1 2 3\n", ":1: ", "p sp VERTICES ARCS"},
        Bad{"other_problem", "g.gr", "p max 2 1\na 1 2 3\n", ":1: ", "'max'"},
        Bad{"problem_twice", "g.gr", "p sp 2 1\na 1 2 3\np sp 2 1\n",
            ":3: ", "lines begin with 'a'"},
        Bad{"count_missing", "g.gr", "p sp 2\n", ":1: ", "p sp VERTICES ARCS"},
        Bad{"id_zero", "g.gr", "p sp 2 1\na 0 2 3\n",
            ":2: ", "ids go from 1 to 2, since line 1 announces 2 vertices"},
        Bad{"id_too_large", "g.gr", "c\np sp 2 1\na 1 3 3\n", ":3: ", "'3' is out of range"},
        Bad{"no_weight", "g.gr", "p sp 2 1\na 1 2\n", ":2: ", "no weight"},
        Bad{"float_weight", "g.gr", "p sp 2 1\na 1 2 0.5\n", ":2: ", "'0.5' is not a weight"},
        Bad{"too_few_arcs", "g.gr", "p sp 2 2\na 1 2 3\n",
            ":1: ", "announces 2 arcs, but 1 follow"},
        Bad{"too_many_arcs", "g.gr", "p sp 2 0\na 1 2 3\n",
            ":1: ", "announces 0 arcs, but 1 follow"},
        Bad{"no_vertices", "g.gr", "p sp 0 0\n", ":1: ", "no vertices"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Metis, BadText,
    testing::Values(
        Bad{"no_header", "g.graph", "% only\n", ": ", "header"},
        Bad{"one_number", "g.graph", "2\n2\n1\n", ":1: ", "vertices and edges"},
        Bad{"garbled_header", "g.graph", "2 one\n2\n1\n", ":1: ", "'one' is not a number"},
        Bad{"five_numbers", "g.graph", "2 1 0 0 0\n2\n1\n", ":1: ", "four numbers at most"},
        Bad{"unknown_format", "g.graph", "2 1 7\n2\n1\n", ":1: ", "format 7"},
        Bad{"neighbour_zero", "g.graph", "2 1\n0\n1\n", ":2: ", "neighbours go from 1 to 2"},
        Bad{"neighbour_too_large", "g.graph", "%\n2 1\n3\n1\n", ":3: ", "'3' is not a neighbour"},
        Bad{"neighbour_garbled", "g.graph", "2 1\n2\nx\n", ":3: ", "'x' is not a neighbour"},
        Bad{"too_few_lines", "g.graph", "4 1\n2\n1\n",
            ":1: ", "announces 4 vertices, but lines for 2 follow"},
        Bad{"too_many_lines", "g.graph", "2 1\n2\n1\n1\n", ":4: ", "line for vertex 3"},
        Bad{"too_few_edges", "g.graph", "2 2\n2\n1\n", ":1: ", "announces 2 edges"},
        Bad{"one_direction", "g.graph", "3 1\n2 3\n\n\n", ": ", "edge (1, 2) has no edge (2, 1)"},
        Bad{"weights_differ", "g.graph", "2 1 001\n2 5\n1 6\n", ": ", "of equal weight"},
        Bad{"no_weight", "g.graph", "2 1 1\n2\n1 1\n", ":2: ", "is not a weight"},
        Bad{"no_vertex_weight", "g.graph", "2 1 10\n\n1 1\n", ":2: ", "vertex size or weight"},
        Bad{"no_vertices", "g.graph", "0 0\n", ":1: ", "no vertices"}),
    name_of);

TEST(BadFile, IsNoFile) {
  const TemporaryFolder folder;
  EXPECT_THAT(refusal(folder.file("none.el")), testing::HasSubstr("none.el: cannot open"));
  EXPECT_THAT(refusal(folder.file("g.pdf")),
              testing::HasSubstr("the name does not say which format"));
  EXPECT_THAT(refusal(folder.file("g.wgr.gz")),
              testing::HasSubstr("the name does not say which format"));
  std::filesystem::create_directory(folder.file("folder.el"));
  EXPECT_THAT(refusal(folder.file("folder.el")), testing::HasSubstr("is a directory"));
  ASSERT_EQ(mkfifo(folder.file("pipe.el").c_str(), 0600), 0);
  EXPECT_THAT(refusal(folder.file("pipe.el")), testing::HasSubstr("not a regular file"));
}

TEST(BadFile, CompressedStreamsAreChecked) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 100000; ++i)
    text += std::to_string(i * 7919 % 100003) + " " + std::to_string(i) + "\n";
  for (const std::string name : {"g.el.gz", "g.el.zst"}) {
    const std::string path = folder.file(name);
    write_text(path, text);
    const std::string bytes = read_bytes(path);
    write_bytes(path, bytes.substr(0, bytes.size() / 2));
    EXPECT_THAT(refusal(path),
                testing::AllOf(testing::HasSubstr(": byte "), testing::HasSubstr("ends early")))
        << name;
    std::string damaged = bytes;
    for (std::size_t i = 0; i < 64; ++i) damaged[bytes.size() / 2 + i] = static_cast<char>(i * 37);
    write_bytes(path, damaged);
    EXPECT_THAT(refusal(path), testing::StartsWith(path)) << name;
    write_bytes(path, "0 1\n");
    EXPECT_THAT(refusal(path), testing::HasSubstr("damaged")) << name;
    write_bytes(path, bytes + "garbage behind");
    EXPECT_THAT(refusal(path), testing::HasSubstr("damaged")) << name;
    write_bytes(folder.file("g.el"), bytes);
    EXPECT_THAT(refusal(folder.file("g.el")), testing::HasSubstr("let its name end in")) << name;
  }
}

TEST(BadFile, OfSeveralErrorsTheFirstIsReported) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 600000; ++i) text += i % 100000 == 70000 ? "bad\n" : "1 2\n";
  write_bytes(folder.file("g.el"), text);
  for (int run = 0; run < 5; ++run)
    EXPECT_THAT(refusal(folder.file("g.el")), testing::HasSubstr(":70001: 'bad'"));
}

TEST(BadFile, ALineOfAbsurdLengthIsRefused) {
  const TemporaryFolder folder;
  const std::string text = "0 1\n1 " + std::string(5'000'000, '2') + "\n";
  for (const char* name : {"g.el", "g.el.gz", "g.el.zst"}) {
    write_text(folder.file(name), text);
    EXPECT_THAT(refusal(folder.file(name)), testing::StartsWith(folder.file(name) + ":2: "))
        << name;
  }
}

}  // namespace
}  // namespace warren::graph
