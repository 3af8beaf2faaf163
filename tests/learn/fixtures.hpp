// SPDX-License-Identifier: Apache-2.0
// Graphs, values and cuts for the tests of layers and training.
#pragma once

#include <memory>
#include <random>
#include <vector>

#include "warren/graph/partition.hpp"
#include "warren/graph/transform.hpp"
#include "warren/learn/model.hpp"
#include "warren/learn/neighbours.hpp"
#include "warren/learn/operand.hpp"

#include "reference/learn.hpp"
#include "sparse/dense.hpp"
#include "support/backends.hpp"
#include "traverse/fixtures.hpp"

namespace warren::fixtures {

/// Models, GraphSAGE by both of its sums that differ in what they keep.
struct Kind {
  const char* name;
  learn::ModelKind kind;
  learn::SageAggregate aggregate = learn::SageAggregate::mean;
};
inline constexpr Kind kKinds[] = {{"gcn", learn::ModelKind::gcn},
                                  {"sage, mean", learn::ModelKind::sage},
                                  {"sage, max", learn::ModelKind::sage, learn::SageAggregate::max},
                                  {"gat", learn::ModelKind::gat},
                                  {"gatv2", learn::ModelKind::gatv2},
                                  {"gin", learn::ModelKind::gin}};

inline std::vector<double> random_values(std::uint64_t size, std::uint64_t seed) {
  std::mt19937_64 draw(seed);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<double> values(size);
  for (double& value : values) value = static_cast<double>(uniform(draw));
  return values;
}

/// Values on a device, stored as numbers of a type; and back.
inline learn::NumberBuffer stored(const exec::Stream& stream, const std::vector<float>& values,
                                  learn::NumberType type) {
  learn::NumberBuffer buffer(stream.device(), type, values.size());
  learn::with_type(type, [&]<class T>(T) {
    std::vector<T> narrow;
    for (const float value : values) narrow.push_back(from_float<T>(value));
    exec::copy(stream, buffer.data().raw(), narrow.data(), buffer.bytes());
    stream.synchronize();
  });
  return buffer;
}
inline std::vector<float> fetched(const exec::Stream& stream, const learn::NumberBuffer& buffer) {
  std::vector<float> values;
  learn::with_type(buffer.type(), [&]<class T>(T) {
    std::vector<T> narrow(buffer.size());
    exec::copy(stream, narrow.data(), buffer.data().raw(), buffer.bytes());
    stream.synchronize();
    for (const T value : narrow) values.push_back(to_float(value));
  });
  return values;
}
/// A norm's gain of a column that is not what it begins with; some turn the column round.
inline float gain(std::uint64_t column) {
  constexpr float kGains[] = {0.5f, 1.75f, -0.75f, 1.25f, 0.3f};
  return kGains[column % 5];
}
/// Half the distance from 1 to the next number: what rounding may change, relatively.
inline double rounding_of(learn::NumberType type) {
  if (type == learn::NumberType::float32) return 0x1p-24;
  return type == learn::NumberType::float16 ? 0x1p-11 : 0x1p-8;
}

/// Graphs small enough for differences by every element.
inline std::vector<Named> small_graphs() {
  std::vector<Named> all;
  all.push_back({"one vertex", from_list(1, {})});
  all.push_back({"one vertex with a loop", from_list(1, {{0, 0}})});
  all.push_back({"no edges", from_list(6, {})});
  graph::BuildOptions keep;
  keep.keep_duplicates = true;
  all.push_back({"loops and duplicates",
                 from_list(6, {{0, 0}, {0, 1}, {0, 1}, {1, 2}, {2, 2}, {4, 3}}, keep)});
  all.push_back({"path", path(9)});
  all.push_back({"star", star(14, true)});
  all.push_back({"out-star", star(11, false)});
  for (std::uint64_t seed = 0; seed < 4; ++seed)
    all.push_back({"random " + std::to_string(seed),
                   random_graph(static_cast<Vertex>(8 + 3 * seed), 30, seed, seed % 2 == 0)});
  return all;
}

/// With its reverse, in equal ranges.
inline learn::GraphPair pair_of(graph::Graph graph, int ranks) {
  exec::ThreadPool pool(2);
  learn::GraphPair pair;
  const bool is_symmetric = graph::is_symmetric(graph, pool);
  const auto n = static_cast<std::uint64_t>(graph.vertices);
  for (int q = 0; q <= ranks; ++q)
    pair.cuts.push_back(n * static_cast<std::uint64_t>(q) / static_cast<std::uint64_t>(ranks));
  pair.out = std::make_shared<const graph::Graph>(std::move(graph));
  pair.in = is_symmetric ? pair.out
                         : std::make_shared<const graph::Graph>(graph::transpose(*pair.out, pool));
  return pair;
}

inline reference::Edges edges_of(const graph::Graph& graph) {
  reference::Edges edges;
  edges.n = graph.vertices;
  for (Vertex v = 0; v < graph.vertices; ++v) {
    for (const Vertex w : graph.neighbours(v)) edges.list.emplace_back(v, w);
  }
  if (graph.weight_type == graph::WeightType::none) return edges;
  const bool is_integer = graph.weight_type == graph::WeightType::int32;
  for (EdgeOffset e = 0; e < graph.edges(); ++e)
    edges.weights.push_back(is_integer ? static_cast<double>(graph.weights_int[e])
                                       : static_cast<double>(graph.weights_float[e]));
  return edges;
}

/// With these weights, by edge in the graph's order, which need not be those of the other way.
template <class WeightOf>
graph::Graph with_weights(graph::Graph graph, WeightOf&& weight_of) {
  graph.weight_type = graph::WeightType::float32;
  graph.weights_float = memory::HostArray<float>(graph.edges());
  for (EdgeOffset e = 0; e < graph.edges(); ++e) graph.weights_float[e] = weight_of(e);
  graph.symmetry = graph::Symmetry::unknown;
  return graph;
}

inline learn::SparseRows sparse_rows(const std::vector<float>& dense, std::uint64_t rows,
                                     std::uint64_t columns) {
  learn::SparseRows sparse;
  sparse.rows = rows;
  sparse.columns = columns;
  for (std::uint64_t r = 0; r < rows; ++r) {
    for (std::uint64_t c = 0; c < columns; ++c) {
      if (dense[r * columns + c] == 0.0f) continue;
      sparse.column_ids.push_back(static_cast<Vertex>(c));
      sparse.values.push_back(dense[r * columns + c]);
    }
    sparse.offsets.push_back(sparse.column_ids.size());
  }
  return sparse;
}

}  // namespace warren::fixtures
