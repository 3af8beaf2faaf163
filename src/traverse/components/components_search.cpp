// SPDX-License-Identifier: Apache-2.0
// The host side of components by a search: whether one can run and is worth it, and its memory.
#include "traverse/components/components_search.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "warren/exec/memory.hpp"
#include "warren/team/ranks_of_a_device.hpp"

#include "traverse/common/short_levels.hpp"
#include "traverse/components/components_program.hpp"

namespace warren::traverse {
namespace {

/// From a hub few levels reach most vertices; a graph that takes more is none for a search.
constexpr std::uint32_t kMostLevels = 12;

/// Why a search cannot run; nothing where it can.
const char* obstacle(const team::Team& team, const graph::Shard& shard) {
  if (!shard.is_symmetric || !shard.has_in())
    return "a symmetric graph with in-edges, and this one is directed, or has none: make every "
           "edge go both ways, or take form forest";
  if (shard.edges_placement != graph::EdgesPlacement::device)
    return "edges in device memory, and these lie in host memory: place them on the device, or "
           "take form forest";
  if (team.needs_windows())
    return "ranks that reach each other's memory, and these do not: run one rank, or take form "
           "forest";
  return nullptr;
}

/// From so many directed edges on a forest over all vertices costs a GPU more than a search does
/// (one and two H200s, docs/decisions/components.md).
constexpr std::uint64_t kGpuEdges = 256'000'000;

/// Whether one rank may gain by a search at all: on a GPU with a large graph, on the CPU wherever
/// levels are few.
bool may_pay_alone(const team::Team& team, const graph::Shard& shard) {
  constexpr std::uint64_t kCpuVertices = 65536;
  if (team.device().is_cuda()) return shard.edges >= kGpuEdges;
  return shard.vertices >= kCpuVertices && !has_short_levels(shard.vertices, shard.edges);
}

/// The same once the hub is known.
bool pays(const team::Team& team, const graph::Shard& shard, const ComponentsStart& start) {
  const bool is_great = start.is_great_hub(shard.vertices);
  if (team.size() == 1) return is_great || !team.device().is_cuda();
  return start.is_hub(shard.vertices, shard.edges) &&
         (is_great || shard.edges >= kGpuEdges || !team.device().is_cuda());
}

/// Whether a search's memory is free on every rank's device, and some besides for what else a call
/// takes. Collective.
bool has_room(team::Team& team, const graph::Shard& shard) {
  // The forest stands beside it: a parent for each vertex, and three words for each own one.
  const std::uint64_t forest =
      sizeof(Vertex) * (shard.vertices + 3 * std::uint64_t{shard.out.count}) +
      sizeof(ComponentsPiece) * ComponentsPiece::most(shard.edges);
  const std::uint64_t wanted = BfsMemory::bytes(team, shard) + forest;
  const std::uint64_t free = exec::free_memory(team.device()) / team::ranks_of_a_device(team);
  const int has = wanted + wanted / 4 < free ? 1 : 0;
  return team.all_reduce(has, exec::Minimum{}) != 0;
}

}  // namespace

ComponentsStart find_start(team::Team& team, const graph::Shard& shard,
                           const exec::Stream& stream) {
  memory::Buffer<ComponentsDegrees> found(team.device(), 1);
  ComponentsDegrees degrees;
  found.upload(stream, {&degrees, 1});
  exec::with_backend(team.device(), [&](auto backend) {
    ComponentsSearchRun<decltype(backend)>::look(stream, {shard.out, found.data()});
  });
  found.download(stream, {&degrees, 1});
  stream.synchronize();
  degrees = team.all_reduce(degrees, [](const ComponentsDegrees& a, const ComponentsDegrees& b) {
    return ComponentsDegrees{std::max(a.hub, b.hub), std::min(a.first, b.first)};
  });
  const Vertex hub = degrees.hub_vertex();
  return {hub, degrees.hub_degree(), degrees.first == kNoVertex ? hub : degrees.first};
}

std::unique_ptr<ComponentsSearch> ComponentsSearch::make(team::Team& team,
                                                         const graph::Shard& shard,
                                                         const ComponentsOptions& options,
                                                         const exec::Stream& stream) {
  const bool is_forced = options.form == ComponentsForm::search;
  const bool samples =
      options.sampled_edges.has_value() || options.sampling != ComponentsSampling::automatic;
  require(!is_forced || !samples,
          "components: form search samples no edges; leave sampled_edges and sampling out, or take "
          "form forest");
  if (options.form == ComponentsForm::forest || samples || shard.vertices == 0) return nullptr;
  const char* const why_not = obstacle(team, shard);
  if (is_forced) {
    require(why_not == nullptr,
            fmt::format("components: form search takes {}", why_not ? why_not : ""));
  } else if (why_not != nullptr || (team.size() == 1 && !may_pay_alone(team, shard))) {
    return nullptr;
  }
  const ComponentsStart start = find_start(team, shard, stream);
  if (!is_forced && !(pays(team, shard, start) && has_room(team, shard))) return nullptr;
  return std::make_unique<ComponentsSearch>(team, shard, start, !is_forced, stream);
}

ComponentsSearch::ComponentsSearch(team::Team& team, const graph::Shard& shard,
                                   const ComponentsStart& start, bool may_give_up,
                                   const exec::Stream& stream)
    : memory_(team, shard, stream),
      reached_(team.device(), 1),
      program_{{memory_.arrays(), graph::NearAdjacency{shard.out}, graph::NearAdjacency{shard.in}},
               {},
               start.first,
               reached_.data(),
               {}} {
  memory_.set_sources(stream, {&start.hub, 1});
  static_cast<BfsArrays&>(program_.search) = memory_.arrays();
  share(team, reached_.data(), program_.reached_of);
  initial_.bfs = bfs_start(team, shard, {});
  initial_.bfs.depth_limit = kMostLevels;
  initial_.edges = shard.edges;
  initial_.may_give_up = may_give_up;
}

ComponentsSearchState ComponentsSearch::run(team::Team& team, const exec::Stream& stream,
                                            const memory::GlobalView<Vertex>& labels) {
  program_.labels = labels;
  ComponentsSearchState last;
  exec::with_backend(team.device(), [&](auto backend) {
    last = ComponentsSearchRun<decltype(backend)>::run(team, stream, program_, initial_);
  });
  return last;
}

}  // namespace warren::traverse
