// SPDX-License-Identifier: Apache-2.0
// What calls do before they run, for programs with algorithms of their own: the number of ranks is
// chosen, and each rank has its part of the graph on its device.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "warren/api/graph.hpp"
#include "warren/api/run.hpp"
#include "warren/graph/partition.hpp"
#include "warren/graph/shard.hpp"
#include "warren/team/team.hpp"
#include "warren/traverse/choose_devices.hpp"

namespace warren {

/// Where a call runs: fields of the calls' own options.
struct WhereOptions {
  Mode mode = Mode::automatic;
  Edges edges = Edges::device;
  PlacementOptions placement{};
  std::optional<DeviceKind> device{};
  int devices = 0;
  std::optional<Session> session{};
  /// Of on_ranks(): parts are over the ranks of each host (Team::of_host()), which has all of the
  /// graph.
  bool of_host = false;
};

/// The ranks that a call of `traversal` would run on where neither its options nor the session say
/// how many, by what is free on the devices now; and why.
[[nodiscard]] traverse::DeviceChoice choose_devices(const Graph& graph,
                                                    traverse::Traversal traversal,
                                                    const WhereOptions& where = {});

/// One rank's part of a graph.
struct RankPart {
  const graph::Shard& shard;  ///< With in-edges. Lives as long as the session keeps it.
  /// From the graph's vertices to the shard's, and back.
  const graph::Partition& order;
};

/// Runs `work` on every rank, with its part of the graph, which later calls of the same placement
/// use as well. `where.mode` says nothing here. Throws what `work` throws first, by which the team
/// ends; where a rank has too little memory for what the session keeps besides, `work` runs a
/// second time.
void on_ranks(const Graph& graph, const WhereOptions& where,
              const std::function<void(team::Team&, const RankPart&)>& work);

/// busiest_vertex() and random_sources() of a graph that is drawn on the ranks, without one in host
/// memory. `name` is what messages call the number.
[[nodiscard]] Vertex busiest_vertex(const Graph& graph, const WhereOptions& where);
[[nodiscard]] std::vector<Vertex> random_sources(const Graph& graph, std::uint64_t count,
                                                 std::uint64_t seed, const WhereOptions& where,
                                                 const std::string& name = "count");

}  // namespace warren
