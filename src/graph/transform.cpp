// SPDX-License-Identifier: Apache-2.0
// Graphs made from graphs. Reversing, symmetrising and relabelling are building again from a
// changed stream of the same edges, which is parallel, repeats bit for bit, and holds nothing
// besides the old graph and the new.
#include "warren/graph/transform.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/graph/builder.hpp"
#include "warren/graph/draw.hpp"

#include "graph/edge_digest.hpp"
#include "graph/own_rows.hpp"

namespace warren::graph {
namespace {

constexpr std::uint64_t kTransformGrain = std::uint64_t{1} << 13;
constexpr std::uint64_t kPieceEdges = std::uint64_t{1} << 16;
constexpr std::uint64_t kTransformBatch = 1024;

// The bits of edge e's weight; both zeros of a float are one value.
std::uint32_t weight_bits_of(const detail::HostRows& rows, EdgeOffset e) {
  if (rows.weights_int != nullptr) return static_cast<std::uint32_t>(rows.weights_int[e]);
  if (rows.weights_float != nullptr)
    return std::bit_cast<std::uint32_t>(rows.weights_float[e] + 0.0f);
  return 0;
}

// The edges of a graph, each passed through `map`, in pieces of equal numbers of edges: a hub's row
// may span several.
template <class Map>
class MappedSource final : public EdgeSource {
 public:
  MappedSource(const Graph& graph, Map map) : graph_(graph), map_(std::move(map)) {}

  [[nodiscard]] std::uint64_t vertices() const override { return graph_.vertices; }
  [[nodiscard]] WeightType weight_type() const override { return graph_.weight_type; }
  [[nodiscard]] std::uint64_t pieces() const override {
    return (graph_.edges() + kPieceEdges - 1) / kPieceEdges;
  }

  void read(std::uint64_t piece, EdgeSink& sink) override {
    const EdgeOffset begin = piece * kPieceEdges;
    const EdgeOffset end = std::min(begin + kPieceEdges, graph_.edges());
    const auto after = std::upper_bound(graph_.offsets.begin(), graph_.offsets.end(), begin);
    auto row = static_cast<std::uint64_t>(after - graph_.offsets.begin()) - 1;
    std::array<Edge, kTransformBatch> batch;
    for (EdgeOffset first = begin; first < end; first += kTransformBatch) {
      const std::uint64_t count = std::min(kTransformBatch, end - first);
      for (std::uint64_t i = 0; i < count; ++i) {
        while (graph_.offsets[row + 1] <= first + i) ++row;
        batch[i] = map_(Edge{static_cast<Vertex>(row), graph_.targets[first + i]});
      }
      sink.take({batch.data(), count}, weights(graph_.weights_int, first, count),
                weights(graph_.weights_float, first, count));
    }
  }

 private:
  template <class T>
  static std::span<const T> weights(const memory::HostArray<T>& all, EdgeOffset first,
                                    std::uint64_t count) {
    if (all.empty()) return {};
    return {all.data() + first, count};
  }

  const Graph& graph_;
  Map map_;
};

constexpr BuildOptions kKeepAll{
    .symmetrize = false, .drop_self_loops = false, .keep_duplicates = true};

// A permutation names each of n ids once: n names below n, none twice.
void check_permutation(std::span<const Vertex> new_id, std::uint64_t n, exec::ThreadPool& pool) {
  if (new_id.size() != n) {
    throw UsageError(fmt::format("relabel: {} new ids for {} vertices; there should be one each",
                                 new_id.size(), n));
  }
  memory::HostArray<std::uint8_t> seen(n);
  pool.parallel_for(0, n, kTransformGrain * 16, [&](std::uint64_t begin, std::uint64_t end) {
    std::fill(seen.begin() + begin, seen.begin() + end, std::uint8_t{0});
  });
  pool.parallel_for(0, n, kTransformGrain, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t v = begin; v < end; ++v) {
      const Vertex id = new_id[v];
      if (id >= n)
        throw UsageError(
            fmt::format("relabel: vertex {} would become {}; ids should be below {}", v, id, n));
      if (std::atomic_ref<std::uint8_t>(seen[id]).exchange(1, std::memory_order_relaxed) != 0) {
        throw UsageError(fmt::format(
            "relabel: two vertices would become {}; the new ids should be a permutation", id));
      }
    }
  });
}

}  // namespace

Graph transpose(const Graph& graph, exec::ThreadPool& pool) {
  if (graph.symmetry == Symmetry::symmetric) return graph;
  MappedSource source(graph, [](Edge edge) { return Edge{edge.target, edge.source}; });
  Graph result = build(source, kKeepAll, pool);
  result.symmetry = graph.symmetry;
  result.original_ids = graph.original_ids;
  return result;
}

Graph symmetrize(const Graph& graph, bool keep_duplicates, exec::ThreadPool& pool) {
  const bool already = graph.symmetry == Symmetry::symmetric;
  if (already && keep_duplicates) return graph;
  MappedSource source(graph, [](Edge edge) { return edge; });
  const BuildOptions options{
      .symmetrize = !already, .drop_self_loops = false, .keep_duplicates = keep_duplicates};
  Graph result = build(source, options, pool);
  result.symmetry = Symmetry::symmetric;
  result.original_ids = graph.original_ids;
  return result;
}

Graph relabel(const Graph& graph, std::span<const Vertex> new_id, exec::ThreadPool& pool) {
  check_permutation(new_id, graph.vertices, pool);
  MappedSource source(graph, [new_id](Edge edge) {
    return Edge{new_id[edge.source], new_id[edge.target]};
  });
  Graph result = build(source, kKeepAll, pool);
  result.symmetry = graph.symmetry;
  return result;
}

memory::HostArray<std::int32_t> detail::uniform_weights_of(const HostRows& rows, Vertex first,
                                                           const UniformWeights& rule,
                                                           exec::ThreadPool& pool) {
  check_uniform_weights(rule);
  if (rows.offsets.empty()) return {};
  const EdgeOffset begin_edge = rows.offsets.front();
  memory::HostArray<std::int32_t> weights(rows.offsets.back() - begin_edge);
  pool.parallel_for(0, rows.offsets.size() - 1, kTransformGrain,
                    [&](std::uint64_t begin, std::uint64_t end) {
                      for (std::uint64_t i = begin; i < end; ++i) {
                        const auto v = static_cast<Vertex>(first + i);
                        for (EdgeOffset e = rows.offsets[i]; e < rows.offsets[i + 1]; ++e)
                          weights[e - begin_edge] = draw_weight(rule, v, rows.targets[e]);
                      }
                    });
  return weights;
}

void set_uniform_weights(Graph& graph, std::int64_t low, std::int64_t high, std::uint64_t seed,
                         exec::ThreadPool& pool) {
  memory::HostArray<std::int32_t> weights =
      detail::uniform_weights_of(detail::rows_of(graph), 0, {low, high, seed}, pool);
  graph.weight_type = WeightType::int32;
  graph.weights_int = std::move(weights);
  graph.weights_float = {};
}

void drop_weights(Graph& graph) {
  graph.weight_type = WeightType::none;
  graph.weights_int = {};
  graph.weights_float = {};
}

detail::BothDigests detail::digests_of(const HostRows& rows, Vertex first, exec::ThreadPool& pool) {
  BothDigests all;
  if (rows.offsets.empty()) return all;
  std::mutex mutex;
  pool.parallel_for(0, rows.offsets.size() - 1, kTransformGrain,
                    [&](std::uint64_t begin, std::uint64_t end) {
                      BothDigests own;
                      for (std::uint64_t i = begin; i < end; ++i) {
                        const auto v = static_cast<Vertex>(first + i);
                        for (EdgeOffset e = rows.offsets[i]; e < rows.offsets[i + 1]; ++e) {
                          const std::uint32_t weight = weight_bits_of(rows, e);
                          own.forwards.add(v, rows.targets[e], weight);
                          own.backwards.add(rows.targets[e], v, weight);
                        }
                      }
                      const std::scoped_lock lock(mutex);
                      all.forwards.add(own.forwards);
                      all.backwards.add(own.backwards);
                    });
  return all;
}

bool is_symmetric(Graph& graph, exec::ThreadPool& pool) {
  if (graph.symmetry == Symmetry::unknown) {
    const detail::BothDigests digests = detail::digests_of(detail::rows_of(graph), 0, pool);
    graph.symmetry =
        digests.forwards == digests.backwards ? Symmetry::symmetric : Symmetry::directed;
  }
  return graph.symmetry == Symmetry::symmetric;
}

}  // namespace warren::graph
