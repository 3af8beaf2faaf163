// SPDX-License-Identifier: Apache-2.0
// Edge lists: .el (two columns), .wel (three), and .txt, .tsv and .csv (two or three, the same on
// all lines). Plain ones are scanned as they stand; of others the lines are written anew.
#include <optional>

#include <fmt/format.h>

#include "warren/core/error.hpp"

#include "graph/io/cells.hpp"
#include "graph/io/coordinate_source.hpp"
#include "graph/io/format.hpp"

namespace warren::graph::io {
namespace {

// Whether the first line of a plain list has a third column.
bool first_line_has_weight(files::TextFile& file) {
  bool weight = false;
  file.read_head([&](const files::TextBlock& block) {
    const char* p = block.begin;
    while (p < block.end) {
      const char* q = files::skip_blanks(p);
      if (*q != '#' && *q != '%' && detail::pass_line_end(q, block.end) == nullptr) {
        q = files::skip_blanks(files::skip_token(files::skip_blanks(files::skip_token(q))));
        weight = detail::pass_line_end(q, block.end) == nullptr && *q != '\0';
        return block.begin;
      }
      p = detail::pass_line(q, block.end);
    }
    return block.end;
  });
  file.read_head([](const files::TextBlock& block) {
    return block.begin;
  });  // All of the text is data: comments count.
  return weight;
}

CoordinateFormat line_format(const ReadRequest& request, bool weighted) {
  const FileFormat kind = request.kind.format;
  const bool is_free = kind == FileFormat::snap || kind == FileFormat::csv;
  CoordinateFormat format;
  format.node_comments = !request.options.compact;
  format.max_vertices = request.max_vertices;
  format.syntax.base = request.options.one_based ? 1 : 0;
  format.syntax.largest = request.max_vertices - 1 + format.syntax.base;
  format.syntax.no_negative_weights = request.options.no_negative_weights;
  format.syntax.drops_self_loops = request.options.build.drop_self_loops;
  format.syntax.largest_because =
      "vertices are numbered with 32 bits (--compact gives larger ids numbers of their own)";
  format.syntax.id_cure = "; of a list whose ids are words, --ids words reads all as such";
  format.syntax.weight_cure = "; if the first line is one of headings, --headings yes says so";
  if (request.options.compact) {
    format.syntax.largest = files::kTooLarge - 1;
    format.syntax.largest_because.clear();
  }
  if (weighted) {
    note_weights(request);
    format.weights = request.options.weights;
    format.column = request.options.read_weights ? WeightColumn::int32 : WeightColumn::ignored;
    format.syntax.columns = is_free ? "two vertex ids and a weight, as the first line does"
                                    : "two vertex ids and a weight";
  } else {
    format.syntax.columns = is_free ? "two vertex ids, as the first line does"
                                    : "two vertex ids (edges with weights belong into a .wel file)";
  }
  return format;
}

// Whether there are weights: the format says so, or the first lines do.
bool is_weighted(const ReadRequest& request, files::TextFile& file, const CellLayout* cells) {
  switch (request.kind.format) {
    case FileFormat::edge_list:
      return false;
    case FileFormat::weighted_edge_list:
      return true;
    default:
      return cells != nullptr ? cells->is_weighted : first_line_has_weight(file);
  }
}

std::optional<CellLayout> layout_of(const ReadRequest& request, files::TextFile& file) {
  const ReadOptions& options = request.options;
  auto layout =
      find_layout(file, {options.are_words, options.words != nullptr, options.has_headings});
  constexpr std::size_t kIdColumns = 2;
  if (layout && request.kind.format == FileFormat::edge_list && layout->take.size() > kIdColumns)
    layout->take.resize(kIdColumns);
  return layout;
}

void shift_ids(Graph& graph) {
  graph.original_ids = memory::HostArray<std::uint64_t>(graph.vertices);
  for (std::uint64_t v = 0; v < graph.vertices; ++v) graph.original_ids[v] = v + 1;
}

// Words are vertices by the order in which they were first named.
void number_words(const ReadRequest& request, const WordIds& words, CoordinateFormat& format) {
  if (words.size() > request.max_vertices) {
    throw InputError(fmt::format("{}: {} different words are ids; a graph has {} vertices at most",
                                 request.path, words.size(), request.max_vertices));
  }
  format.syntax.words = &words;
  format.vertices = words.size();
  format.node_comments = false;
  format.syntax.base = 0;
  format.syntax.largest = words.size() == 0 ? 0 : words.size() - 1;
  format.syntax.id_cure.clear();
}

}  // namespace

Graph read_edge_list(const ReadRequest& request) {
  files::TextFile file(request.path, request.kind.compression);
  const std::optional<CellLayout> cells = layout_of(request, file);
  CoordinateFormat format =
      line_format(request, is_weighted(request, file, cells ? &*cells : nullptr));
  format.cells = cells ? &*cells : nullptr;
  std::optional<WordIds> words;
  std::optional<CompactIds> ids;
  if (cells && cells->are_words) {
    words = gather_words(file, *cells);
    number_words(request, *words, format);
  } else if (request.options.compact) {
    ids.emplace();
    gather_ids(file, format, request.pool, *ids);
    format.vertices = ids->size();
  }
  std::uint64_t edges = 0;
  Graph graph = build_coordinates(file, format, ids ? &*ids : nullptr, request.options.build,
                                  request.pool, edges);
  if (graph.vertices == 0) {
    throw InputError(
        request.path +
        (request.options.compact || words
             ? ": no edges, so that no ids occur; give lines of two vertex ids"
             : ": no edges and no '# Nodes: N' comment; give lines of two vertex ids, or "
               "say how many vertices there are"));
  }
  if (words) {
    if (request.options.words != nullptr) *request.options.words = words->take();
  } else if (ids) {
    if (!ids->without_gaps()) graph.original_ids = ids->ids();
  } else if (request.options.one_based) {
    shift_ids(graph);
  }
  return graph;
}

}  // namespace warren::graph::io
