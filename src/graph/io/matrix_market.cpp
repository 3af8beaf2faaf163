// SPDX-License-Identifier: Apache-2.0
// Matrix Market coordinate files: a banner, comments, a line of sizes, and one entry a line,
// numbered from 1. A symmetric, hermitian or skew-symmetric file holds one triangle, which stands
// for both, in a skew-symmetric one with opposite values. Complex values are no weights: of such
// files only the entries can be read.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include <fmt/format.h>

#include "warren/core/error.hpp"

#include "graph/io/coordinate_source.hpp"
#include "graph/io/csr.hpp"
#include "graph/io/format.hpp"

namespace warren::graph::io {
namespace {

struct MarketHeader {
  std::string field;
  bool symmetric = false;  // One triangle stands for both: also of skew-symmetric and hermitian.
  bool skew = false;
  std::uint64_t vertices = 0;
  std::uint64_t entries = 0;
  std::uint64_t line = 0;  // Of the sizes; 0 before they were met.
};

std::string lower(const char* begin, const char* end) {
  std::string text(begin, end);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

void parse_banner(const files::TextFile& file, const files::TextBlock& block, const char* at_banner,
                  bool read_weights, MarketHeader& header) {
  std::array<std::string, 5> words;
  std::array<const char*, 5> at{};
  const char* p = at_banner;
  for (std::size_t i = 0; i < words.size(); ++i) {
    p = files::skip_blanks(p);
    at[i] = p;
    const char* end = std::min(files::skip_token(p), p + 64);
    words[i] = lower(p, end);
    p = end;
  }
  if (words[0] != "%%matrixmarket" && words[0] != "%matrixmarket") {
    file.fail(block, at_banner,
              "the first line must be '%%MatrixMarket matrix coordinate FIELD SYMMETRY'");
  }
  const auto refuse = [&](std::size_t word, const char* right) {
    file.fail(block, at_banner,
              fmt::format("{} in the first line cannot be read; {}", files::quoted_token(at[word]),
                          right));
  };
  if (words[1] != "matrix") refuse(1, "a graph is a 'matrix'");
  if (words[2] != "coordinate") refuse(2, "a sparse matrix is in 'coordinate' format");
  header.field = words[3];
  if (header.field == "double") header.field = "real";
  if (header.field == "unsigned-integer") header.field = "integer";
  if (header.field != "pattern" && header.field != "real" && header.field != "integer" &&
      header.field != "complex") {
    refuse(3, "the field is 'pattern', 'real', 'integer' or 'complex'");
  }
  if (header.field == "complex" && read_weights) {
    refuse(3,
           "its values have two parts, and a weight is one number: write the real parts or the "
           "moduli as 'real' or the entries alone as 'pattern' (searches that need no weights read "
           "the file as it is)");
  }
  header.skew = words[4] == "skew-symmetric";
  header.symmetric = header.skew || words[4] == "symmetric" || words[4] == "hermitian";
  if (!header.symmetric && words[4] != "general")
    refuse(4, "the symmetry is 'general', 'symmetric', 'skew-symmetric' or 'hermitian'");
  if (detail::pass_line_end(files::skip_blanks(p), block.end) == nullptr)
    file.fail(block, p, "the first line holds five words");
}

void parse_sizes(const files::TextFile& file, const files::TextBlock& block, const char* p,
                 MarketHeader& header) {
  header.line = file.line_of(block, p);
  std::array<std::uint64_t, 3> sizes{};
  for (std::uint64_t& size : sizes) {
    p = files::skip_blanks(p);
    const char* end = files::parse_unsigned(p, size);
    if (end == p || !files::is_token_end(*end)) {
      file.fail(header.line, fmt::format("{} cannot be read; the first line after the comments "
                                         "holds rows, columns and entries",
                                         files::quoted_token(p)));
    }
    p = end;
  }
  if (detail::pass_line_end(files::skip_blanks(p), block.end) == nullptr) {
    file.fail(header.line, "the line of sizes holds three numbers: rows, columns and entries");
  }
  if (sizes[0] != sizes[1]) {
    file.fail(header.line,
              fmt::format("the matrix has {} rows and {} columns; the matrix of a graph is square",
                          sizes[0], sizes[1]));
  }
  header.vertices = sizes[0];
  header.entries = sizes[2];
}

MarketHeader read_header(files::TextFile& file, bool read_weights) {
  MarketHeader header;
  bool first = true;
  file.read_head([&](const files::TextBlock& block) {
    const char* p = block.begin;
    while (p < block.end) {
      const char* q = files::skip_blanks(p);
      const char* next = detail::pass_line(q, block.end);
      if (first && detail::pass_line_end(q, block.end) == nullptr) {
        parse_banner(file, block, q, read_weights, header);
        first = false;
      } else if (*q != '%' && detail::pass_line_end(q, block.end) == nullptr) {
        parse_sizes(file, block, q, header);
        return next;
      }
      p = next;
    }
    return block.end;
  });
  if (header.line == 0)
    throw InputError(file.path() +
                     ": the file ends before the line of sizes (rows, columns and entries)");
  return header;
}

std::uint64_t self_loops(const Graph& graph) {
  std::uint64_t loops = 0;
  for (Vertex v = 0; v < graph.vertices; ++v)
    loops += std::binary_search(graph.targets.data() + graph.offsets[v],
                                graph.targets.data() + graph.offsets[v + 1], v);
  return loops;
}

}  // namespace

Graph read_matrix_market(const ReadRequest& request) {
  files::TextFile file(request.path, request.kind.compression);
  const MarketHeader header = read_header(file, request.options.read_weights);
  check_announced(file, header.line, header.vertices, request.max_vertices);
  check_entries_fit(file, header.line, header.entries, 4);

  CoordinateFormat format;
  format.vertices = header.vertices;
  format.max_vertices = request.max_vertices;
  format.syntax.base = 1;
  format.syntax.no_negative_weights = request.options.no_negative_weights;
  format.syntax.drops_self_loops = request.options.build.drop_self_loops;
  format.syntax.largest = header.vertices;
  format.syntax.largest_because =
      fmt::format("line {} announces {} rows", header.line, header.vertices);
  if (header.field == "pattern") {
    format.syntax.columns = "a row and a column, since the field is 'pattern'";
  } else if (header.field == "complex") {
    format.syntax.columns =
        "a row, a column and a value of two parts, since the field is 'complex'";
    format.column = WeightColumn::complex_ignored;
  } else {
    note_weights(request);
    format.weights = request.options.weights;
    format.syntax.columns =
        fmt::format("a row, a column and a value, since the field is '{}'", header.field);
    format.column = request.options.read_weights ? WeightColumn::int32 : WeightColumn::ignored;
    format.integers_only = header.field == "integer";
    if (format.integers_only) {
      format.syntax.integers_because =
          "the field in the first line is 'integer'; write 'real' there for other numbers";
    }
    format.syntax.large = LineSyntax::Large::read_as_float;
  }
  // Without values, a skew-symmetric matrix is a symmetric one.
  format.mirror_negated = header.skew && format.column == WeightColumn::int32;
  format.syntax.mirrors_are_negated = format.mirror_negated;
  BuildOptions build_options = request.options.build;
  build_options.symmetrize =
      build_options.symmetrize || (header.symmetric && !format.mirror_negated);
  check_memory(file, header.line,
               {.vertices = header.vertices,
                .entries = header.entries,
                .are_mirrored = header.symmetric,
                .has_weights = format.column == WeightColumn::int32},
               build_options);
  std::uint64_t entries = 0;
  Graph graph = build_coordinates(file, format, nullptr, build_options, request.pool, entries);
  if (entries != header.entries) {
    file.fail(header.line,
              fmt::format("the header announces {} entries, but {} follow; was the file cut off?",
                          header.entries, entries));
  }
  const bool is_as_it_stands = !build_options.keep_duplicates && !build_options.sum_duplicates &&
                               !build_options.drop_self_loops && !format.mirror_negated &&
                               graph.weight_type != WeightType::none;
  // Of a symmetric matrix each entry off the diagonal is two edges, unless both are in the file.
  const std::uint64_t whole = header.symmetric ? 2 * entries - self_loops(graph) : entries;
  if (is_as_it_stands && (header.symmetric || !build_options.symmetrize) && graph.edges() < whole)
    warn_of_merged(request.path);
  return graph;
}

}  // namespace warren::graph::io
