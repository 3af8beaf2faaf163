// SPDX-License-Identifier: Apache-2.0
// Edge lists: .el (two columns), .wel (three), and .txt and .tsv as SNAP writes them (two or three,
// the same on all lines).
#include <optional>

#include <fmt/format.h>

#include "warren/core/error.hpp"

#include "graph/io/coordinate_source.hpp"
#include "graph/io/format.hpp"

namespace warren::graph::io {
namespace {

// Whether the first line with data has a third column.
bool first_line_has_weight(TextFile& file) {
  bool weight = false;
  file.read_head([&](const TextBlock& block) {
    const char* p = block.begin;
    while (p < block.end) {
      const char* q = skip_blanks(p);
      if (*q != '#' && *q != '%' && detail::pass_line_end(q, block.end) == nullptr) {
        q = skip_blanks(skip_token(skip_blanks(skip_token(q))));
        weight = detail::pass_line_end(q, block.end) == nullptr && *q != '\0';
        return block.begin;
      }
      p = detail::pass_line(q, block.end);
    }
    return block.end;
  });
  file.read_head([](const TextBlock& block) {
    return block.begin;
  });  // All of the text is data: comments count.
  return weight;
}

CoordinateFormat line_format(const ReadRequest& request, bool weighted) {
  const FileFormat kind = request.kind.format;
  CoordinateFormat format;
  format.node_comments = !request.options.compact;
  format.max_vertices = request.max_vertices;
  format.syntax.base = request.options.one_based ? 1 : 0;
  format.syntax.largest = request.max_vertices - 1 + format.syntax.base;
  if (request.options.compact) format.syntax.largest = kTooLarge - 1;
  if (weighted) {
    format.column = request.options.read_weights ? WeightColumn::int32 : WeightColumn::ignored;
    format.syntax.columns = kind == FileFormat::snap
                                ? "two vertex ids and a weight, as the first line does"
                                : "two vertex ids and a weight";
  } else {
    format.syntax.columns = kind == FileFormat::snap
                                ? "two vertex ids, as the first line does"
                                : "two vertex ids (edges with weights belong into a .wel file)";
  }
  return format;
}

void shift_ids(Graph& graph) {
  graph.original_ids = memory::HostArray<std::uint64_t>(graph.vertices);
  for (std::uint64_t v = 0; v < graph.vertices; ++v) graph.original_ids[v] = v + 1;
}

}  // namespace

Graph read_edge_list(const ReadRequest& request) {
  TextFile file(request.path, request.kind.compression);
  const bool weighted = request.kind.format == FileFormat::weighted_edge_list ||
                        (request.kind.format == FileFormat::snap && first_line_has_weight(file));
  CoordinateFormat format = line_format(request, weighted);
  std::optional<CompactIds> ids;
  if (request.options.compact) {
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
        (request.options.compact
             ? ": no edges, so that no ids occur; give lines of two vertex ids"
             : ": no edges and no '# Nodes: N' comment; give lines of two vertex ids, or "
               "say how many vertices there are"));
  }
  if (ids) {
    if (!ids->without_gaps()) graph.original_ids = ids->ids();
  } else if (request.options.one_based) {
    shift_ids(graph);
  }
  return graph;
}

}  // namespace warren::graph::io
