// SPDX-License-Identifier: Apache-2.0
// DIMACS shortest-path files (9th challenge): comments "c ...", one line "p sp VERTICES ARCS", and
// arcs "a FROM TO WEIGHT" from 1.
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "warren/core/error.hpp"

#include "graph/io/coordinate_source.hpp"
#include "graph/io/format.hpp"

namespace warren::graph::io {
namespace {

struct DimacsHeader {
  std::uint64_t vertices = 0;
  std::uint64_t arcs = 0;
  std::uint64_t line = 0;  // 0 before it was met.
};

void parse_problem(const files::TextFile& file, const files::TextBlock& block, const char* p,
                   DimacsHeader& header) {
  header.line = file.line_of(block, p);
  const auto refuse = [&](const char* at) {
    file.fail(
        header.line,
        fmt::format("{} cannot be read; the first line after the comments is 'p sp VERTICES ARCS'",
                    files::quoted_token(at)));
  };
  if (*p != 'p' || !files::is_blank(p[1])) refuse(p);
  p = files::skip_blanks(p + 1);
  if (!std::string_view(p, static_cast<std::size_t>(files::skip_token(p) - p)).starts_with("sp"))
    refuse(p);
  p = files::skip_token(p);
  for (std::uint64_t* size : {&header.vertices, &header.arcs}) {
    p = files::skip_blanks(p);
    const char* end = files::parse_unsigned(p, *size);
    if (end == p || !files::is_token_end(*end)) refuse(p);
    p = end;
  }
  p = files::skip_blanks(p);
  if (detail::pass_line_end(p, block.end) == nullptr) refuse(p);
}

DimacsHeader read_header(files::TextFile& file) {
  DimacsHeader header;
  file.read_head([&](const files::TextBlock& block) {
    const char* p = block.begin;
    while (p < block.end) {
      const char* q = files::skip_blanks(p);
      const char* next = detail::pass_line(q, block.end);
      if (*q != 'c' && detail::pass_line_end(q, block.end) == nullptr) {
        parse_problem(file, block, q, header);
        return next;
      }
      p = next;
    }
    return block.end;
  });
  if (header.line == 0)
    throw InputError(file.path() + ": the file ends before the line 'p sp VERTICES ARCS'");
  return header;
}

}  // namespace

Graph read_dimacs(const ReadRequest& request) {
  files::TextFile file(request.path, request.kind.compression);
  const DimacsHeader header = read_header(file);
  note_weights(request);
  check_announced(file, header.line, header.vertices, request.max_vertices);
  check_entries_fit(file, header.line, header.arcs, 8);

  CoordinateFormat format;
  format.vertices = header.vertices;
  format.max_vertices = request.max_vertices;
  format.column = request.options.read_weights ? WeightColumn::int32 : WeightColumn::ignored;
  format.integers_only = true;
  format.syntax.integers_because =
      "a .gr file holds integers; a .wel file holds lines of two ids and any number";
  format.syntax.no_negative_weights = request.options.no_negative_weights;
  format.syntax.drops_self_loops = request.options.build.drop_self_loops;
  format.syntax.arcs = true;
  format.syntax.base = 1;
  format.syntax.largest = header.vertices;
  format.syntax.largest_because =
      fmt::format("line {} announces {} vertices", header.line, header.vertices);
  format.syntax.columns = "'a', two vertex ids and an integer weight";
  std::uint64_t arcs = 0;
  Graph graph = build_coordinates(file, format, nullptr, request.options.build, request.pool, arcs);
  if (arcs != header.arcs) {
    file.fail(header.line,
              fmt::format("the header announces {} arcs, but {} follow; was the file cut off?",
                          header.arcs, arcs));
  }
  return graph;
}

}  // namespace warren::graph::io
