// SPDX-License-Identifier: Apache-2.0
// Where searches start when nobody says: at the vertex with the most out-edges, or at random ones
// that have some, as Graph500 draws them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "warren/core/types.hpp"
#include "warren/graph/edge_file.hpp"
#include "warren/graph/graph.hpp"
#include "warren/graph/shard.hpp"
#include "warren/team/team.hpp"

namespace warren::traverse {

/// From one numbering of the vertices to another.
using Renumber = std::function<Vertex(Vertex)>;

/// The vertex of the largest out-degree, the smallest id of several. Throws UsageError for a graph
/// without vertices.
[[nodiscard]] Vertex busiest_vertex(const graph::Graph& graph);
/// The same of a graph on several ranks, in the numbering that `to_user` gives. Collective.
[[nodiscard]] Vertex busiest_vertex(team::Team& team, const graph::Shard& shard,
                                    const Renumber& to_user);

/// `count` different vertices with out-edges: a function of the graph and the seed alone. Throws
/// UsageError where there are fewer, which calls the number by `name`.
[[nodiscard]] std::vector<Vertex> random_sources(const graph::Graph& graph, std::uint64_t count,
                                                 std::uint64_t seed,
                                                 const std::string& name = "sources");
/// The same of a graph whose lists stay in a file.
[[nodiscard]] std::vector<Vertex> random_sources(const graph::EdgeFile& file, std::uint64_t count,
                                                 std::uint64_t seed, const std::string& name);
/// The same of a graph on several ranks, in the numbering that `to_shard` takes. Collective.
[[nodiscard]] std::vector<Vertex> random_sources(team::Team& team, const graph::Shard& shard,
                                                 std::uint64_t count, std::uint64_t seed,
                                                 const Renumber& to_shard,
                                                 const std::string& name = "sources");

}  // namespace warren::traverse
