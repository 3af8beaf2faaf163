// SPDX-License-Identifier: Apache-2.0
// The text formats. Threads print ranges of rows into buffers, which are written in order.
#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/interrupt_point.hpp"
#include "warren/core/log.hpp"

#include "graph/io/csr.hpp"
#include "graph/io/write.hpp"

namespace warren::graph::io {
namespace {

constexpr EdgeOffset kRangeEdges = EdgeOffset{1} << 16;
constexpr std::uint64_t kRangeVertices = std::uint64_t{1} << 16;

class TextBuffer {
 public:
  void clear() { size_ = 0; }
  void put(char c) {
    reserve(1);
    bytes_[size_++] = c;
  }
  void put(std::uint64_t value) { put_number(value); }
  void put(std::int32_t value) { put_number(value); }
  /// The shortest digits that give this float again, with a mark of being none of the integers.
  void put(float value) {
    const std::size_t begin = size_;
    put_number(value);
    if (text().substr(begin).find_first_of(".en") == std::string_view::npos) {
      put('.');
      put('0');
    }
  }
  [[nodiscard]] std::string_view text() const { return {bytes_.data(), size_}; }

 private:
  template <class T>
  void put_number(T value) {
    constexpr std::size_t kLongest = 32;
    reserve(kLongest);
    size_ = static_cast<std::size_t>(
        std::to_chars(bytes_.data() + size_, bytes_.data() + size_ + kLongest, value).ptr -
        bytes_.data());
  }
  void reserve(std::size_t more) {
    if (bytes_.size() - size_ < more) bytes_.resize(2 * bytes_.size() + more);
  }

  std::vector<char> bytes_ = std::vector<char>(1 << 16);
  std::size_t size_ = 0;
};

// The end of a range of rows from `begin` that one thread prints.
std::uint64_t range_end(const Graph& graph, std::uint64_t begin) {
  const std::span<const EdgeOffset> offsets = graph.offsets.span();
  const auto past = static_cast<std::uint64_t>(
      std::upper_bound(offsets.begin(), offsets.end(), offsets[begin] + kRangeEdges) -
      offsets.begin());
  return std::min<std::uint64_t>(
      {std::max(past - 1, begin + 1), begin + kRangeVertices, graph.vertices});
}

// Writes print_row(buffer, vertex) for all vertices.
template <class PrintRow>
void write_rows(const WriteRequest& request, files::TextOutput& out, PrintRow&& print_row) {
  std::vector<TextBuffer> buffers(static_cast<std::size_t>(request.pool.size()));
  std::vector<std::uint64_t> cuts;
  for (std::uint64_t v = 0; v < request.graph.vertices; v = cuts.back()) {
    cuts.assign(1, v);
    while (cuts.size() <= buffers.size() && cuts.back() < request.graph.vertices) {
      cuts.push_back(range_end(request.graph, cuts.back()));
    }
    request.pool.parallel_for(0, cuts.size() - 1, 1, [&](std::uint64_t range, std::uint64_t) {
      buffers[range].clear();
      for (std::uint64_t u = cuts[range]; u < cuts[range + 1]; ++u) print_row(buffers[range], u);
    });
    for (std::size_t range = 0; range + 1 < cuts.size(); ++range) out.write(buffers[range].text());
  }
}

void put_weight(TextBuffer& buffer, const Graph& graph, EdgeOffset e, char separator) {
  if (graph.weight_type == WeightType::none) return;
  buffer.put(separator);
  if (graph.weight_type == WeightType::int32) {
    buffer.put(graph.weights_int[e]);
  } else {
    buffer.put(graph.weights_float[e]);
  }
}

// Whether a reader of the bare edges would find as many vertices as there are.
bool last_vertex_occurs(const Graph& graph) {
  const Vertex last = graph.vertices - 1;
  return graph.degree(last) != 0 ||
         std::find(graph.targets.begin(), graph.targets.end(), last) != graph.targets.end();
}

// Whether the user's ids are all numbers from 0, or from 1, on: then a count says which there are.
bool has_all_ids(const Graph& graph) {
  return graph.original_ids.empty() ||
         (graph.original_ids[0] == 1 && graph.original_ids[graph.vertices - 1] == graph.vertices);
}

}  // namespace

void write_edge_list(const WriteRequest& request, OutputFile& file) {
  Graph graph = request.graph;
  const bool snap = request.kind.format == FileFormat::snap;
  const bool csv = request.kind.format == FileFormat::csv;
  if (request.kind.format == FileFormat::edge_list && graph.weight_type != WeightType::none) {
    log_warning(request.path + ": weights are not written; a .wel file would hold them");
    graph.weight_type = WeightType::none;
  }
  if (request.kind.format == FileFormat::weighted_edge_list &&
      graph.weight_type == WeightType::none) {
    graph.weights_int = integer_weights(request);
    graph.weight_type = WeightType::int32;
  }
  const auto out = files::make_text_output(file, request.kind.compression);
  // Other programs' readers of .el and .wel know no comments: one is written where the number of
  // vertices would be lost otherwise.
  const bool announce =
      has_all_ids(graph) && ((snap && graph.original_ids.empty()) || !last_vertex_occurs(graph));
  if (announce) out->write(fmt::format("# Nodes: {} Edges: {}\n", graph.vertices, graph.edges()));
  if (csv)
    out->write(graph.weight_type == WeightType::none ? "source,target\n"
                                                     : "source,target,weight\n");
  const char separator = snap ? '\t' : csv ? ',' : ' ';
  write_rows(request, *out, [&](TextBuffer& buffer, std::uint64_t u) {
    for (EdgeOffset e = graph.offsets[u]; e < graph.offsets[u + 1]; ++e) {
      buffer.put(graph.original_id(static_cast<Vertex>(u)));
      buffer.put(separator);
      buffer.put(graph.original_id(graph.targets[e]));
      put_weight(buffer, graph, e, separator);
      buffer.put('\n');
    }
  });
  out->finish();
}

void write_matrix_market(const WriteRequest& request, OutputFile& file) {
  const Graph& graph = request.graph;
  const bool symmetric = graph.symmetry == Symmetry::symmetric;
  std::uint64_t entries = graph.edges();
  if (symmetric) {
    std::atomic<std::uint64_t> lower{0};
    request.pool.parallel_for(
        0, graph.vertices, kRangeVertices, [&](std::uint64_t begin, std::uint64_t end) {
          std::uint64_t count = 0;
          for (std::uint64_t u = begin; u < end; ++u) {
            for (EdgeOffset e = graph.offsets[u]; e < graph.offsets[u + 1]; ++e) {
              count += graph.targets[e] <= u ? 1 : 0;
            }
          }
          lower += count;
        });
    entries = lower;
  }
  const char* field = graph.weight_type == WeightType::none    ? "pattern"
                      : graph.weight_type == WeightType::int32 ? "integer"
                                                               : "real";
  const auto out = files::make_text_output(file, request.kind.compression);
  out->write(fmt::format("%%MatrixMarket matrix coordinate {} {}\n{} {} {}\n", field,
                         symmetric ? "symmetric" : "general", graph.vertices, graph.vertices,
                         entries));
  write_rows(request, *out, [&](TextBuffer& buffer, std::uint64_t u) {
    for (EdgeOffset e = graph.offsets[u]; e < graph.offsets[u + 1]; ++e) {
      if (symmetric && graph.targets[e] > u) continue;
      buffer.put(u + 1);
      buffer.put(' ');
      buffer.put(std::uint64_t{graph.targets[e]} + 1);
      put_weight(buffer, graph, e, ' ');
      buffer.put('\n');
    }
  });
  out->finish();
}

void write_dimacs(const WriteRequest& request, OutputFile& file) {
  const Graph& graph = request.graph;
  const memory::HostArray<std::int32_t> weights = integer_weights(request);
  const auto out = files::make_text_output(file, request.kind.compression);
  out->write(fmt::format("p sp {} {}\n", graph.vertices, graph.edges()));
  write_rows(request, *out, [&](TextBuffer& buffer, std::uint64_t u) {
    for (EdgeOffset e = graph.offsets[u]; e < graph.offsets[u + 1]; ++e) {
      buffer.put('a');
      buffer.put(' ');
      buffer.put(u + 1);
      buffer.put(' ');
      buffer.put(std::uint64_t{graph.targets[e]} + 1);
      buffer.put(' ');
      buffer.put(weights[e]);
      buffer.put('\n');
    }
  });
  out->finish();
}

void write_metis(const WriteRequest& request, OutputFile& file) {
  const Graph& graph = request.graph;
  if (!is_undirected(request)) {
    throw InputError(request.path +
                     ": the graph is directed, and .graph holds undirected ones only; symmetrize "
                     "it, or choose another format");
  }
  const bool weighted = graph.weight_type != WeightType::none;
  memory::HostArray<std::int32_t> weights;
  if (weighted) weights = integer_weights(request);
  SeldomInterruptPoint point;
  for (std::uint64_t u = 0; u < graph.vertices; ++u) {
    point();
    const auto row = graph.neighbours(static_cast<Vertex>(u));
    if (std::binary_search(row.begin(), row.end(), static_cast<Vertex>(u))) {
      throw InputError(
          fmt::format("{}: vertex {} has a self-loop, and .graph holds none; drop "
                      "self-loops, or choose another format",
                      request.path, u));
    }
  }
  const auto out = files::make_text_output(file, request.kind.compression);
  out->write(fmt::format("{} {}{}\n", graph.vertices, graph.edges() / 2, weighted ? " 001" : ""));
  write_rows(request, *out, [&](TextBuffer& buffer, std::uint64_t u) {
    for (EdgeOffset e = graph.offsets[u]; e < graph.offsets[u + 1]; ++e) {
      if (e != graph.offsets[u]) buffer.put(' ');
      buffer.put(std::uint64_t{graph.targets[e]} + 1);
      if (weighted) {
        buffer.put(' ');
        buffer.put(weights[e]);
      }
    }
    buffer.put('\n');
  });
  out->finish();
}

}  // namespace warren::graph::io
