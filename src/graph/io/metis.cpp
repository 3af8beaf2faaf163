// SPDX-License-Identifier: Apache-2.0
// METIS graph files: "VERTICES EDGES [FORMAT [WEIGHTS]]", then one line per vertex with its
// neighbours from 1, '%' beginning comments. Every edge stands on the lines of both its ends.
// FORMAT's three digits say whether there are vertex sizes, vertex weights (both are read past) and
// edge weights.
#include <algorithm>
#include <array>
#include <atomic>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "warren/core/error.hpp"

#include "graph/io/coordinate_source.hpp"
#include "graph/io/csr.hpp"
#include "graph/io/format.hpp"

namespace warren::graph::io {
namespace {

struct MetisHeader {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::uint64_t vertex_numbers = 0;  // Numbers in front of the neighbours: size and weights.
  bool edge_weights = false;
  std::uint64_t line = 0;  // 0 before it was met.
};

constexpr std::uint64_t kMostVertexWeights = 1000;

void parse_header(const files::TextFile& file, const files::TextBlock& block, const char* p,
                  MetisHeader& header) {
  header.line = file.line_of(block, p);
  std::array<std::uint64_t, 4> numbers{0, 0, 0, 0};
  std::size_t count = 0;
  while (detail::pass_line_end(p = files::skip_blanks(p), block.end) == nullptr) {
    if (count == numbers.size())
      file.fail(header.line,
                "the header holds four numbers at most: vertices, edges, format, vertex weights");
    const char* end = files::parse_unsigned(p, numbers[count]);
    if (end == p || !files::is_token_end(*end)) {
      file.fail(header.line,
                fmt::format("{} is not a number; the first line holds vertices and edges",
                            files::quoted_token(p)));
    }
    p = end;
    ++count;
  }
  if (count < 2) file.fail(header.line, "the header must hold the numbers of vertices and edges");
  const std::uint64_t digits = numbers[2];
  const std::array<std::uint64_t, 3> digit{digits / 100, digits / 10 % 10, digits % 10};
  if (std::any_of(digit.begin(), digit.end(), [](std::uint64_t d) { return d > 1; })) {
    file.fail(header.line, fmt::format("format {} is unknown; its digits, each 0 or 1, tell of "
                                       "vertex sizes, vertex weights and edge weights",
                                       digits));
  }
  const std::uint64_t weights = count == 4 ? numbers[3] : digit[1];
  if (weights > kMostVertexWeights)
    file.fail(header.line, fmt::format("{} weights per vertex; there can be {} at most", weights,
                                       kMostVertexWeights));
  header.vertices = numbers[0];
  header.edges = numbers[1];
  header.vertex_numbers = digit[0] + (digit[1] == 1 ? weights : 0);
  header.edge_weights = digit[2] == 1;
}

MetisHeader read_metis_header(files::TextFile& file) {
  MetisHeader header;
  file.read_head([&](const files::TextBlock& block) {
    const char* p = block.begin;
    while (p < block.end) {
      const char* q = files::skip_blanks(p);
      const char* next = detail::pass_line(q, block.end);
      if (*q != '%' && detail::pass_line_end(q, block.end) == nullptr) {
        parse_header(file, block, q, header);
        return next;
      }
      p = next;
    }
    return block.end;
  });
  if (header.line == 0)
    throw InputError(file.path() + ": the file ends before its header (vertices and edges)");
  return header;
}

class MetisSource final : public EdgeSource {
 public:
  MetisSource(const files::TextFile& file, const MetisHeader& header, const ReadOptions& options,
              exec::ThreadPool& pool)
      : file_(file),
        header_(header),
        weights_(header.edge_weights && options.read_weights),
        no_negative_(weights_ && options.no_negative_weights),
        first_vertex_(file.pieces()),
        entries_(file.pieces()) {
    if (file.pieces() > 1) number_pieces(pool);
  }

  [[nodiscard]] std::uint64_t vertices() const override { return header_.vertices; }
  [[nodiscard]] WeightType weight_type() const override {
    return weights_ ? WeightType::int32 : WeightType::none;
  }
  [[nodiscard]] std::uint64_t pieces() const override { return file_.pieces(); }

  void read(std::uint64_t piece, EdgeSink& sink) override {
    std::uint64_t vertex = first_vertex_[piece];
    std::uint64_t entries = 0;
    file_.for_each_block(piece, [&](const files::TextBlock& block) {
      const char* p = block.begin;
      while (p < block.end) {
        const char* q = files::skip_blanks(p);
        if (*q == '%') {
          p = detail::pass_line(q, block.end);
        } else if (vertex < header_.vertices) {
          p = read_line(block, q, static_cast<Vertex>(vertex++), sink, entries);
        } else {
          p = detail::pass_line_end(q, block.end);
          if (p == nullptr) {
            file_.fail(block, q,
                       fmt::format("a line for vertex {}, but the header announces {}", vertex + 1,
                                   header_.vertices));
          }
        }
      }
    });
    entries_[piece] = entries;
    // An empty last line that lacks its line end cannot be seen.
    if (piece + 1 == file_.pieces() && vertex + 1 < header_.vertices) {
      file_.fail(
          header_.line,
          fmt::format(
              "the header announces {} vertices, but lines for {} follow; was the file cut off?",
              header_.vertices, vertex));
    }
  }

  [[nodiscard]] std::uint64_t entries_met() const {
    std::uint64_t total = 0;
    for (const std::uint64_t e : entries_) total += e;
    return total;
  }

 private:
  // Which vertex each piece begins with: lines are counted first, comments aside.
  void number_pieces(exec::ThreadPool& pool) {
    std::vector<std::uint64_t> lines(file_.pieces());
    pool.parallel_for(0, file_.pieces(), 1, [&](std::uint64_t piece, std::uint64_t) {
      std::uint64_t count = 0;
      file_.for_each_block(piece, [&](const files::TextBlock& block) {
        for (const char* p = block.begin; p < block.end; p = detail::pass_line(p, block.end))
          count += *files::skip_blanks(p) == '%' ? 0 : 1;
      });
      lines[piece] = count;
    });
    std::uint64_t before = 0;
    for (std::uint64_t piece = 0; piece < file_.pieces(); ++piece) {
      first_vertex_[piece] = before;
      before += lines[piece];
    }
  }

  const char* read_line(const files::TextBlock& block, const char* p, Vertex vertex, EdgeSink& sink,
                        std::uint64_t& entries) const {
    constexpr std::size_t kBatch = 1024;
    std::array<Edge, kBatch> edges;
    std::array<std::int32_t, kBatch> weights;
    std::size_t size = 0;
    const auto flush = [&] {
      if (size != 0) sink.take({edges.data(), size}, {weights.data(), weights_ ? size : 0}, {});
      entries += size;
      size = 0;
    };
    for (std::uint64_t i = 0; i < header_.vertex_numbers; ++i)
      p = files::skip_blanks(read_number(block, p, "vertex size or weight"));
    for (;;) {
      p = files::skip_blanks(p);
      if (const char* next = detail::pass_line_end(p, block.end)) {
        flush();
        return next;
      }
      std::uint64_t neighbour;
      const char* q = files::parse_unsigned(p, neighbour);
      if (q == p || !files::is_token_end(*q)) refuse(block, p);
      if (neighbour - 1 >= header_.vertices) refuse(block, p);
      if (neighbour - 1 == vertex) {
        file_.fail(block, p,
                   fmt::format("a self-loop: vertex {} is its own neighbour, which METIS files "
                               "have no room for; leave it out, or write the graph as .mtx or .el",
                               neighbour));
      }
      edges[size] = {vertex, static_cast<Vertex>(neighbour - 1)};
      p = q;
      if (header_.edge_weights) {
        p = files::skip_blanks(p);
        q = files::parse_int32(p, weights[size]);
        if (q == nullptr || q == p) {
          file_.fail(block, p,
                     fmt::format("{} is not a weight; after every neighbour follows an integer of "
                                 "32 bits, since the header's "
                                 "format says so",
                                 files::quoted_token(p)));
        }
        if (no_negative_ && weights[size] < 0) {
          file_.fail(block, p,
                     fmt::format("the edge from {} to {} has the weight {}; weights of 0 and above "
                                 "are needed here",
                                 vertex + 1, neighbour, weights[size]));
        }
        p = q;
      }
      if (++size == kBatch) flush();
    }
  }

  const char* read_number(const files::TextBlock& block, const char* p, const char* what) const {
    std::uint64_t number;
    const char* end = files::parse_unsigned(p, number);
    if (end == p || !files::is_token_end(*end)) {
      file_.fail(block, p,
                 fmt::format("{} where a {} must stand, since the header's format says so",
                             files::quoted_token(p), what));
    }
    return end;
  }

  [[noreturn]] void refuse(const files::TextBlock& block, const char* p) const {
    if (*p == '\0') file_.fail(block, p, "a NUL byte; this is not a text file");
    file_.fail(
        block, p,
        fmt::format(
            "{} is not a neighbour; neighbours go from 1 to {}, the number of vertices in line {}",
            files::quoted_token(p), header_.vertices, header_.line));
  }

  const files::TextFile& file_;
  const MetisHeader header_;
  const bool weights_;
  const bool no_negative_;
  std::vector<std::uint64_t> first_vertex_;
  std::vector<std::uint64_t> entries_;
};

}  // namespace

Graph read_metis(const ReadRequest& request) {
  constexpr std::uint64_t kLongestLine = std::uint64_t{1} << 30;  // The neighbours of one vertex.
  files::TextFile file(request.path, request.kind.compression, kLongestLine);
  const MetisHeader header = read_metis_header(file);
  check_announced(file, header.line, header.vertices, request.max_vertices);
  if (header.vertices > file.text_bytes()) {
    file.fail(
        header.line,
        fmt::format(
            "the header announces {} vertices, for which the file is too short; was it cut off?",
            header.vertices));
  }
  constexpr std::uint64_t kEdgeBytes = 4;  // A digit and a blank on the lines of both its ends.
  if (header.edges > file.text_bytes() / kEdgeBytes + 1) {
    file.fail(header.line,
              fmt::format(
                  "the header announces {} edges, for which the file is too short; was it cut off?",
                  header.edges));
  }
  check_memory(file, header.line,
               {.vertices = header.vertices,
                .entries = header.edges,
                .are_mirrored = true,
                .may_be_loops = false,
                .has_weights = header.edge_weights && request.options.read_weights},
               request.options.build);
  if (header.edge_weights) note_weights(request);
  MetisSource source(file, header, request.options, request.pool);
  BuildOptions build_options = request.options.build;
  build_options.symmetrize = false;  // It is, or is refused.
  Graph graph = build_or_first_error(source, build_options, request.pool);
  const std::uint64_t entries = source.entries_met();
  if (entries % 2 != 0 || entries / 2 != header.edges) {
    file.fail(header.line, fmt::format("the header announces {} edges, for which 2 x {} neighbours "
                                       "must follow, but {} do; was the file cut off?",
                                       header.edges, header.edges, entries));
  }
  mark_symmetric(graph, request.path, 1, request.pool);
  return graph;
}

}  // namespace warren::graph::io
