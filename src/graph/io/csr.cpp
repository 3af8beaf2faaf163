// SPDX-License-Identifier: Apache-2.0
// Checking arrays that came out of a file, and rebuilding those that are not yet as a Graph must
// be.
#include "graph/io/csr.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"

#include "graph/io/csr_words.hpp"

namespace warren::graph::io {
namespace {

constexpr std::uint64_t kPieceEdges = std::uint64_t{1} << 16;
constexpr std::uint64_t kRowGrain = std::uint64_t{1} << 13;

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ull;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ull;
  return x ^ (x >> 32);
}

std::uint32_t weight_bits(const Graph& graph, EdgeOffset e) {
  switch (graph.weight_type) {
    case WeightType::int32:
      return static_cast<std::uint32_t>(graph.weights_int[e]);
    case WeightType::float32:
      return std::bit_cast<std::uint32_t>(graph.weights_float[e] + 0.0f);  // -0 is 0.
    case WeightType::none:
      break;
  }
  return 0;
}

void check_offsets(const Graph& graph, const std::string& path, const CsrPlaces& places,
                   exec::ThreadPool& pool) {
  const std::uint64_t edges = graph.edges();
  const auto fail = [&](std::uint64_t index, const std::string& words) {
    throw InputError(fmt::format("{}: {}: {}", path, places.offset(index), words));
  };
  const memory::HostArray<EdgeOffset>& row = graph.offsets;
  if (row[0] != 0) fail(0, first_row_words(row[0]));
  pool.parallel_for(0, graph.vertices, std::uint64_t{1} << 16,
                    [&](std::uint64_t begin, std::uint64_t end) {
                      for (std::uint64_t v = begin; v < end; ++v) {
                        if (row[v] <= row[v + 1] && row[v + 1] <= edges) continue;
                        fail(v + 1, row_words(v, row[v], row[v + 1], edges));
                      }
                    });
  if (row[graph.vertices] != edges)
    fail(graph.vertices, last_row_words(row[graph.vertices], edges));
}

struct RowFindings {
  std::atomic<bool> unsorted{false};    // A neighbour behind a larger one.
  std::atomic<bool> duplicates{false};  // Two equal neighbours in a row.
  std::atomic<bool> self_loops{false};
};

void check_targets(const Graph& graph, const std::string& path, const CsrPlaces& places,
                   RowFindings& findings, exec::ThreadPool& pool) {
  pool.parallel_for(0, graph.vertices, kRowGrain, [&](std::uint64_t begin, std::uint64_t end) {
    bool unsorted = false, duplicates = false, self_loops = false;
    for (std::uint64_t v = begin; v < end; ++v) {
      std::uint64_t last = 0;  // One more than the neighbour before.
      for (EdgeOffset e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
        const std::uint64_t target = graph.targets[e];
        if (target >= graph.vertices) {
          throw InputError(
              fmt::format("{}: {}: an edge of vertex {} leads to vertex {}; ids go from 0 to {}",
                          path, places.target(e), v, target, graph.vertices - 1));
        }
        unsorted |= target + 1 < last;
        duplicates |= target + 1 == last;
        self_loops |= target == v;
        last = target + 1;
      }
    }
    if (unsorted) findings.unsorted = true;
    if (duplicates) findings.duplicates = true;
    if (self_loops) findings.self_loops = true;
  });
}

}  // namespace

std::uint64_t CsrSource::pieces() const { return (graph_.edges() + kPieceEdges - 1) / kPieceEdges; }

void CsrSource::read(std::uint64_t piece, EdgeSink& sink) {
  constexpr std::size_t kBatch = 4096;
  std::array<Edge, kBatch> batch;
  const std::span<const EdgeOffset> offsets = graph_.offsets.span();
  EdgeOffset e = piece * kPieceEdges;
  const EdgeOffset end = std::min<EdgeOffset>(e + kPieceEdges, graph_.edges());
  auto v = static_cast<std::uint64_t>(std::upper_bound(offsets.begin(), offsets.end(), e) -
                                      offsets.begin()) -
           1;
  while (e < end) {
    const std::size_t size = std::min<EdgeOffset>(kBatch, end - e);
    for (std::size_t i = 0; i < size; ++i) {
      while (e + i >= offsets[v + 1]) ++v;
      batch[i] = {static_cast<Vertex>(v), graph_.targets[e + i]};
    }
    std::span<const std::int32_t> ints;
    std::span<const float> floats;
    if (graph_.weight_type == WeightType::int32) ints = {graph_.weights_int.data() + e, size};
    if (graph_.weight_type == WeightType::float32) floats = {graph_.weights_float.data() + e, size};
    sink.take({batch.data(), size}, ints, floats);
    e += size;
  }
}

Graph finish_csr(Graph raw, const std::string& path, const CsrPlaces& places,
                 const BuildOptions& options, exec::ThreadPool& pool) {
  RowFindings findings;
  check_offsets(raw, path, places, pool);
  check_targets(raw, path, places, findings, pool);
  const bool add_reverse = options.symmetrize && raw.symmetry != Symmetry::symmetric;
  const bool drop = options.drop_self_loops && findings.self_loops;
  const bool merge = findings.duplicates && !options.keep_duplicates;
  if (!findings.unsorted && !add_reverse && !drop && !merge) return raw;
  if (merge && !options.sum_duplicates && raw.weight_type != WeightType::none) {
    warn_of_merged(path);
  }
  BuildOptions wanted = options;
  wanted.symmetrize = add_reverse;
  CsrSource source(raw);
  Graph graph = build(source, wanted, pool);
  graph.original_ids = raw.original_ids;
  if (!add_reverse) graph.symmetry = raw.symmetry;
  return graph;
}

void warn_of_merged(const std::string& path) {
  log_warning(path +
              ": of entries at the same place the smallest is taken; --sum-duplicates adds them "
              "up, as SciPy "
              "does, and --keep-duplicates keeps them all");
}

bool sums_symmetric(const Graph& graph, exec::ThreadPool& pool) {
  std::atomic<std::uint64_t> difference{0};
  pool.parallel_for(0, graph.vertices, kRowGrain, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t sum = 0;
    for (std::uint64_t u = begin; u < end; ++u) {
      for (EdgeOffset e = graph.offsets[u]; e < graph.offsets[u + 1]; ++e) {
        const std::uint64_t v = graph.targets[e];
        const std::uint64_t salt = weight_bits(graph, e) * 0x9e3779b97f4a7c15ull;
        sum += mix((u << 32 | v) ^ salt) - mix((v << 32 | u) ^ salt);
      }
    }
    difference.fetch_add(sum);
  });
  return difference.load() == 0;
}

void mark_symmetric(Graph& graph, const std::string& path, std::uint64_t base,
                    exec::ThreadPool& pool) {
  if (sums_symmetric(graph, pool)) {
    graph.symmetry = Symmetry::symmetric;
    return;
  }
  for (std::uint64_t u = 0; u < graph.vertices; ++u) {
    for (EdgeOffset e = graph.offsets[u]; e < graph.offsets[u + 1]; ++e) {
      const Vertex v = graph.targets[e];
      const Vertex* row = graph.targets.data() + graph.offsets[v];
      const Vertex* row_end = graph.targets.data() + graph.offsets[std::uint64_t{v} + 1];
      const auto [first, last] = std::equal_range(row, row_end, static_cast<Vertex>(u));
      const bool found = std::any_of(first, last, [&](const Vertex& reverse) {
        return weight_bits(graph, static_cast<EdgeOffset>(&reverse - graph.targets.data())) ==
               weight_bits(graph, e);
      });
      if (!found) {
        throw InputError(
            fmt::format("{}: the format says that the graph is undirected, but edge ({}, {}) has "
                        "no edge ({}, {}) of equal "
                        "weight; a directed graph belongs into another format",
                        path, u + base, v + base, v + base, u + base));
      }
    }
  }
  throw InputError(path +
                   ": the format says that the graph is undirected, but some edges do not occur as "
                   "often in both directions");
}

}  // namespace warren::graph::io
