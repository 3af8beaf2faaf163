// SPDX-License-Identifier: Apache-2.0
#include "warren/graph/arrays.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "warren/core/error.hpp"

#include "graph/io/csr.hpp"

namespace warren::graph {
namespace {

constexpr std::uint64_t kPieceEdges = std::uint64_t{1} << 18;

class ColumnSource final : public EdgeSource {
 public:
  explicit ColumnSource(const EdgeColumns& edges) : edges_(edges) {}

  [[nodiscard]] std::uint64_t vertices() const override { return edges_.vertices; }
  [[nodiscard]] WeightType weight_type() const override {
    if (!edges_.weights_int.empty()) return WeightType::int32;
    return edges_.weights_float.empty() ? WeightType::none : WeightType::float32;
  }
  [[nodiscard]] std::uint64_t pieces() const override {
    return (edges_.sources.size() + kPieceEdges - 1) / kPieceEdges;
  }
  void read(std::uint64_t piece, EdgeSink& sink) override {
    constexpr std::size_t kBatch = 4096;
    std::array<Edge, kBatch> batch;
    const std::size_t end = std::min<std::size_t>((piece + 1) * kPieceEdges, edges_.sources.size());
    for (std::size_t first = piece * kPieceEdges; first < end; first += kBatch) {
      const std::size_t count = std::min(kBatch, end - first);
      for (std::size_t i = 0; i < count; ++i)
        batch[i] = {edges_.sources[first + i], edges_.targets[first + i]};
      sink.take({batch.data(), count}, part(edges_.weights_int, first, count),
                part(edges_.weights_float, first, count));
    }
  }

 private:
  template <class T>
  static std::span<const T> part(std::span<const T> all, std::size_t first, std::size_t count) {
    return all.empty() ? all : all.subspan(first, count);
  }

  EdgeColumns edges_;
};

void check_length(const char* name, std::size_t length, std::size_t edges) {
  require(length == edges,
          fmt::format("from_edges: {} {} for {} sources; give as many", length, name, edges));
}

/// The largest id plus one. Throws UsageError for one that is no vertex of `edges`.
std::uint64_t count_vertices(const EdgeColumns& edges, exec::ThreadPool& pool) {
  std::atomic<std::uint64_t> vertices{0};
  const auto look = [&](const char* name, std::span<const Vertex> ids) {
    pool.parallel_for(0, ids.size(), kPieceEdges, [&](std::uint64_t begin, std::uint64_t end) {
      const auto largest = std::max_element(ids.begin() + static_cast<std::ptrdiff_t>(begin),
                                            ids.begin() + static_cast<std::ptrdiff_t>(end));
      const std::uint64_t needed = std::uint64_t{*largest} + 1;
      if (needed > (edges.vertices == 0 ? kMaxVertices : edges.vertices)) {
        throw UsageError(fmt::format("from_edges: {}[{}] is {}; ids go from 0 to {}", name,
                                     largest - ids.begin(), *largest,
                                     (edges.vertices == 0 ? kMaxVertices : edges.vertices) - 1));
      }
      std::uint64_t before = vertices.load();
      while (before < needed && !vertices.compare_exchange_weak(before, needed)) {
      }
    });
  };
  look("sources", edges.sources);
  look("targets", edges.targets);
  return edges.vertices == 0 ? vertices.load() : edges.vertices;
}

}  // namespace

Graph from_csr(Graph raw, const BuildOptions& options, exec::ThreadPool& pool) {
  const std::uint64_t edges = raw.edges();
  require(raw.offsets.size() == std::uint64_t{raw.vertices} + 1,
          fmt::format("from_csr: {} offsets for {} vertices; give one more than vertices",
                      raw.offsets.size(), raw.vertices));
  const std::uint64_t weights =
      raw.weight_type == WeightType::int32 ? raw.weights_int.size() : raw.weights_float.size();
  require(raw.weight_type == WeightType::none || weights == edges,
          fmt::format("from_csr: {} weights for {} edges; give as many", weights, edges));
  io::CsrPlaces places;
  places.offset = [](std::uint64_t i) { return fmt::format("offsets[{}]", i); };
  places.target = [](std::uint64_t i) { return fmt::format("targets[{}]", i); };
  return io::finish_csr(std::move(raw), "from_csr", places, options, pool);
}

Graph from_edges(const EdgeColumns& edges, const BuildOptions& options, exec::ThreadPool& pool) {
  const std::size_t count = edges.sources.size();
  check_length("targets", edges.targets.size(), count);
  require(edges.weights_int.empty() || edges.weights_float.empty(),
          "from_edges: weights of both types; give one");
  if (!edges.weights_int.empty()) check_length("weights", edges.weights_int.size(), count);
  if (!edges.weights_float.empty()) check_length("weights", edges.weights_float.size(), count);
  require(
      edges.vertices <= kMaxVertices,
      fmt::format("from_edges: {} vertices; a graph has at most {}", edges.vertices, kMaxVertices));
  EdgeColumns known = edges;
  known.vertices = count_vertices(edges, pool);
  ColumnSource source(known);
  return build(source, options, pool);
}

}  // namespace warren::graph
