// SPDX-License-Identifier: Apache-2.0
// From formats to writers, and GAP's format, which holds CSR as it is.
#include "graph/io/write.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/graph/transform.hpp"

#include "graph/io/csr.hpp"

namespace warren::graph {
namespace io {
namespace {

constexpr std::uint64_t kTextGrain = std::uint64_t{1} << 16;

// Offsets and neighbours of one direction.
void write_gap_direction(const Graph& graph, const std::int32_t* weights, OutputFile& file) {
  file.write(graph.offsets.data(), graph.offsets.size() * sizeof(EdgeOffset));
  if (weights == nullptr) {
    file.write(graph.targets.data(), graph.edges() * sizeof(Vertex));
    return;
  }
  struct Entry {
    Vertex target;
    std::int32_t weight;
  };
  std::vector<Entry> entries;
  for (EdgeOffset begin = 0; begin < graph.edges(); begin += kTextGrain) {
    const EdgeOffset end = std::min<EdgeOffset>(begin + kTextGrain, graph.edges());
    entries.clear();
    for (EdgeOffset e = begin; e < end; ++e) entries.push_back({graph.targets[e], weights[e]});
    file.write(entries.data(), entries.size() * sizeof(Entry));
  }
}

void write_as(const WriteRequest& request, OutputFile& file) {
  switch (request.kind.format) {
    case FileFormat::edge_list:
    case FileFormat::weighted_edge_list:
    case FileFormat::snap:
    case FileFormat::csv:
      return write_edge_list(request, file);
    case FileFormat::matrix_market:
      return write_matrix_market(request, file);
    case FileFormat::dimacs:
      return write_dimacs(request, file);
    case FileFormat::metis:
      return write_metis(request, file);
    case FileFormat::gap:
    case FileFormat::gap_weighted:
      return write_gap(request, file);
    case FileFormat::edge_index:
      throw InputError(request.path +
                       ": .npy is read, not written; .npz (SciPy CSR) holds the same edges");
    case FileFormat::scipy:
      return write_scipy(request, file);
    case FileFormat::warren:
      return write_warren(request, file);
  }
}

}  // namespace

memory::HostArray<std::int32_t> integer_weights(const WriteRequest& request) {
  const Graph& graph = request.graph;
  if (graph.weight_type == WeightType::int32) return graph.weights_int;
  memory::HostArray<std::int32_t> weights(graph.edges());
  if (graph.weight_type == WeightType::none) {
    log_warning(request.path +
                ": the graph has no weights, and the format needs them: all are written as 1");
    request.pool.parallel_for(0, graph.edges(), kTextGrain,
                              [&](std::uint64_t begin, std::uint64_t end) {
                                std::fill(weights.begin() + begin, weights.begin() + end, 1);
                              });
    return weights;
  }
  request.pool.parallel_for(0, graph.edges(), kTextGrain,
                            [&](std::uint64_t begin, std::uint64_t end) {
                              for (EdgeOffset e = begin; e < end; ++e) {
                                const float weight = graph.weights_float[e];
                                if (!(weight >= -2147483648.0f && weight < 2147483648.0f) ||
                                    weight != std::floor(weight)) {
                                  throw InputError(
                                      fmt::format("{}: weight {} cannot be held by this format, "
                                                  "which knows integers only; .wgr, .wel, "
                                                  ".mtx and .npz hold floats",
                                                  request.path, weight));
                                }
                                weights[e] = static_cast<std::int32_t>(weight);
                              }
                            });
  return weights;
}

bool is_undirected(const WriteRequest& request) {
  if (request.graph.symmetry != Symmetry::unknown) {
    return request.graph.symmetry == Symmetry::symmetric;
  }
  return sums_symmetric(request.graph, request.pool);
}

void write_gap(const WriteRequest& request, OutputFile& file) {
  const Graph& graph = request.graph;
  const bool weighted = request.kind.format == FileFormat::gap_weighted;
  if (graph.vertices > 0x7fffffffu) {
    throw InputError(
        fmt::format("{}: {} vertices; the format holds 2147483647 at most, .wgr and .npz hold more",
                    request.path, graph.vertices));
  }
  if (!weighted && graph.weight_type != WeightType::none) {
    log_warning(request.path + ": weights are not written; a .wsg file would hold them");
  }
  Graph forward = graph;
  drop_weights(forward);
  if (weighted) {
    forward.weight_type = WeightType::int32;
    forward.weights_int = integer_weights(request);
  }
  const char directed = is_undirected(request) ? 0 : 1;
  const std::uint64_t edges = graph.edges(), vertices = graph.vertices;
  file.write(&directed, 1);
  file.write(&edges, sizeof(edges));
  file.write(&vertices, sizeof(vertices));
  write_gap_direction(forward, weighted ? forward.weights_int.data() : nullptr, file);
  if (directed == 0) return;
  const Graph backward = transpose(forward, request.pool);
  write_gap_direction(backward, weighted ? backward.weights_int.data() : nullptr, file);
}

}  // namespace io

std::uint64_t write_graph(const Graph& graph, const std::string& path, exec::ThreadPool& pool) {
  const io::FileKind kind = io::required_kind(path);
  if (graph.vertices == 0) {
    throw InputError(path + ": the graph has no vertices; a file holds at least one");
  }
  OutputFile file(path);
  io::write_as({graph, path, kind, pool}, file);
  return file.commit();
}

}  // namespace warren::graph
