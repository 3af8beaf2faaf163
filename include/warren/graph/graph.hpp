// SPDX-License-Identifier: Apache-2.0
// A graph in host memory as compressed sparse rows (CSR): the neighbours of vertex v are
// targets[offsets[v] .. offsets[v + 1]).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warren/core/types.hpp"
#include "warren/memory/host_array.hpp"

namespace warren::graph {

enum class WeightType : std::uint32_t { none = 0, int32 = 1, float32 = 2 };

/// What is known about a graph's symmetry: every edge (u, v) with its (v, u), of equal weight.
enum class Symmetry : std::uint32_t { unknown = 0, symmetric = 1, directed = 2 };

/// A directed graph of n vertices and m edges. Neighbour lists are sorted by id; parallel edges are
/// merged unless the reader was told to keep them. Copies share the arrays.
struct Graph {
  Vertex vertices = 0;
  memory::HostArray<EdgeOffset> offsets;  ///< n + 1, first 0, last m.
  memory::HostArray<Vertex> targets;      ///< m.
  WeightType weight_type = WeightType::none;
  memory::HostArray<std::int32_t> weights_int;  ///< m where weight_type is int32.
  memory::HostArray<float> weights_float;       ///< m where weight_type is float32.
  Symmetry symmetry = Symmetry::unknown;
  /// Ids as they stood in the file, ascending, where they were compacted; empty where they are the
  /// vertex ids.
  memory::HostArray<std::uint64_t> original_ids;

  [[nodiscard]] EdgeOffset edges() const { return targets.size(); }
  [[nodiscard]] EdgeOffset degree(Vertex v) const {
    return offsets[std::uint64_t{v} + 1] - offsets[v];
  }
  [[nodiscard]] std::span<const Vertex> neighbours(Vertex v) const {
    return {targets.data() + offsets[v], degree(v)};
  }
  /// The id that the user knows vertex v by.
  [[nodiscard]] std::uint64_t original_id(Vertex v) const {
    return original_ids.empty() ? v : original_ids[v];
  }
};

}  // namespace warren::graph
