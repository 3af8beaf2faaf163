// SPDX-License-Identifier: Apache-2.0
// Random walks from vertices, plain and node2vec's (docs/sampling.md).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "warren/api/array.hpp"
#include "warren/api/graph.hpp"
#include "warren/api/session.hpp"
#include "warren/api/traverse.hpp"

namespace warren {

struct RandomWalksOptions {
  std::vector<Vertex> starts{};  ///< One or more; a vertex may come several times.
  std::uint32_t length = 80;     ///< Steps of each walk, up to 2^18.
  bool weighted = false;         ///< Steps go by the edges' weights, 0 or more.
  double p = 1.0;                ///< node2vec's return parameter, from 1e-100 to 1e100.
  double q = 1.0;                ///< Its in-out parameter, likewise.
  std::uint64_t seed = 1;
  std::uint64_t batch = 0;      ///< Its number, below 2^48: batches of one seed draw differently.
  Edges edges = Edges::device;  ///< Not compressed.
  std::optional<DeviceKind> device{};
  int devices = 0;
  std::optional<Session> session{};
};

struct RandomWalksResult {
  Array<Vertex> walks;       ///< starts x (length + 1), row-major; each begins with its start.
  std::uint32_t length = 0;  ///< Steps.
  RunInfo info;
};

/// A walk goes from a vertex v to one of its neighbours x along v's edges with a probability in
/// proportion to a(x) w(v, x): w is 1, or where `weighted` the edge's weight; a is 1 in the first
/// step, and later, where the walk came to v from t, 1 / p for x = t, 1 where t has an edge to x,
/// and 1 / q for all others (node2vec: Grover and Leskovec, KDD 2016). At a vertex without edges,
/// or whose weights are all 0, it stays. Walks are on the device (of several: on the first, ranks
/// sharing them out). A function of the graph, `seed`, `batch` and a start's place alone: the same
/// on every device and number of ranks. Throws VertexError for a start that is no vertex;
/// UsageError for no starts, a length, p or q out of range, and `weighted` for a graph without
/// weights, with a negative one or with none above 0; MemoryError.
[[nodiscard]] RandomWalksResult random_walks(const Graph& graph, const RandomWalksOptions& options);

}  // namespace warren
