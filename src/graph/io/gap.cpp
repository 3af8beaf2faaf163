// SPDX-License-Identifier: Apache-2.0
// The GAP benchmark's serialised graphs, .sg and .wsg: one byte (directed or not), int64 edges,
// int64 vertices, int64 offsets, and int32 neighbours, in a .wsg each with an int32 weight behind
// it. A directed graph's in-edges follow in the same form. An undirected edge counts twice. Nothing
// is aligned, so that all is copied.
#include <cstring>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/files/mapped_file.hpp"

#include "graph/io/csr.hpp"
#include "graph/io/format.hpp"

namespace warren::graph::io {
namespace {

constexpr std::uint64_t kHeaderBytes = 1 + 8 + 8;
constexpr std::uint64_t kCopyGrain = std::uint64_t{1} << 16;

std::int64_t load_int64(const char* p) {
  std::int64_t value;
  std::memcpy(&value, p, sizeof(value));
  return value;
}

struct GapHeader {
  bool directed;
  std::uint64_t edges;
  std::uint64_t vertices;
};

GapHeader read_header(const MappedFile& file, std::uint64_t entry_bytes,
                      std::uint64_t max_vertices) {
  if (file.size() < kHeaderBytes) {
    file.fail(
        file.size(),
        fmt::format("the file ends within its header of {} bytes; was it cut off?", kHeaderBytes));
  }
  const auto directed = static_cast<unsigned char>(file.data()[0]);
  const std::int64_t edges = load_int64(file.data() + 1), vertices = load_int64(file.data() + 9);
  if (directed > 1)
    file.fail(0,
              fmt::format(
                  "the mark for directed graphs is {}; 0 and 1 would be right. Is this a GAP file?",
                  directed));
  if (vertices < 1 || static_cast<std::uint64_t>(vertices) > max_vertices) {
    file.fail(9, fmt::format("{} vertices; a graph has 1 to {}", vertices, max_vertices));
  }
  // What the header announces is compared with the file's size before anything is computed with it.
  const auto n = static_cast<std::uint64_t>(vertices);
  if (edges < 0 || static_cast<std::uint64_t>(edges) > file.size() / entry_bytes ||
      (n + 1) > file.size() / 8) {
    file.fail(1, fmt::format("{} edges and {} vertices are announced, for which the file is too "
                             "short; was it cut off?",
                             edges, vertices));
  }
  const auto m = static_cast<std::uint64_t>(edges);
  const std::uint64_t one_direction = (n + 1) * 8 + m * entry_bytes;
  const std::uint64_t expected = kHeaderBytes + (directed == 1 ? 2 : 1) * one_direction;
  if (file.size() != expected) {
    file.fail(file.size(),
              fmt::format("the file ends here, but {} edges of {} bytes and {} vertices, {}, make "
                          "{} bytes; was it cut off, or "
                          "is it the other one of .sg and .wsg?",
                          m, entry_bytes, n, directed == 1 ? "directed" : "undirected", expected));
  }
  return {directed == 1, m, n};
}

}  // namespace

Graph read_gap(const ReadRequest& request) {
  const MappedFile file(request.path, pipes_of(request.kind));
  const bool has_weights = request.kind.format == FileFormat::gap_weighted;
  if (has_weights) note_weights(request);
  const bool weighted = has_weights && request.options.read_weights;
  const std::uint64_t entry_bytes = has_weights ? 8 : 4;
  const GapHeader header = read_header(file, entry_bytes, request.max_vertices);

  Graph graph;
  graph.vertices = static_cast<Vertex>(header.vertices);
  graph.offsets = memory::HostArray<EdgeOffset>(header.vertices + 1);
  graph.targets = memory::HostArray<Vertex>(header.edges);
  if (weighted) {
    graph.weight_type = WeightType::int32;
    graph.weights_int = memory::HostArray<std::int32_t>(header.edges);
  }
  const std::uint64_t entries_at = kHeaderBytes + (header.vertices + 1) * 8;
  const char* entries = file.data() + entries_at;
  request.pool.parallel_for(
      0, header.vertices + 1, kCopyGrain, [&](std::uint64_t begin, std::uint64_t end) {
        std::memcpy(graph.offsets.data() + begin, file.data() + kHeaderBytes + begin * 8,
                    (end - begin) * 8);
      });
  request.pool.parallel_for(
      0, header.edges, kCopyGrain, [&](std::uint64_t begin, std::uint64_t end) {
        if (!has_weights) {
          std::memcpy(graph.targets.data() + begin, entries + begin * 4, (end - begin) * 4);
          return;
        }
        for (std::uint64_t e = begin; e < end; ++e) {
          std::memcpy(graph.targets.data() + e, entries + e * 8, 4);
          if (weighted) std::memcpy(graph.weights_int.data() + e, entries + e * 8 + 4, 4);
        }
      });
  const CsrPlaces places{
      [](std::uint64_t i) { return fmt::format("byte {}", kHeaderBytes + i * 8); },
      [&](std::uint64_t i) { return fmt::format("byte {}", entries_at + i * entry_bytes); }};
  BuildOptions options = request.options.build;
  options.symmetrize = options.symmetrize && header.directed;
  graph = finish_csr(std::move(graph), request.path, places, options, request.pool);
  if (!header.directed) mark_symmetric(graph, request.path, 0, request.pool);
  return graph;
}

}  // namespace warren::graph::io
