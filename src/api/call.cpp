// SPDX-License-Identifier: Apache-2.0
#include "api/call.hpp"

#include <utility>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/exec/current_device.hpp"
#include "warren/exec/memory.hpp"
#include "warren/graph/in_edges.hpp"

namespace warren::api {
namespace {

graph::EdgesOptions placement(Edges edges) {
  graph::EdgesOptions options;
  if (edges == Edges::device) return options;
  options.placement =
      edges == Edges::host ? graph::EdgesPlacement::host : graph::EdgesPlacement::compressed_host;
  options.cache_bytes = graph::EdgesOptions::kAllThatIsFree;
  return options;
}

traverse::TraversalWork work_of(const Graph& graph, const CallOptions& options) {
  traverse::TraversalWork work{*options.traversal, options.mode == Mode::asynchronous,
                               options.edges != Edges::device, graph.vertices(), graph.edges()};
  const std::uint64_t bytes =
      sizeof(Vertex) + (options.traversal == traverse::Traversal::sssp ? 4 : 0);
  work.list_bytes = work.edges * bytes * (graph.is_symmetric() ? 1 : 2);
  work.gpu_bytes = exec::free_memory(exec::Device::cuda(0));
  return work;
}

}  // namespace

Place place_of(const Teams& teams, const std::optional<DeviceKind>& device, int devices,
               RunInfo& info) {
  require(devices >= 0,
          fmt::format("devices: got {}, expected 1 or more, or 0 to choose", devices));
  Place place;
  place.kind = teams.kind(device);
  const int asked = devices != 0 ? devices : teams.options().devices;
  if (asked != 0) {
    place.ranks = asked;
    info.devices_reason = "asked for";
  } else if (place.kind == DeviceKind::cpu) {
    info.devices_reason = "on the CPU one rank uses all threads";
  } else {
    info.devices_reason = "this call takes several GPUs where it is told so";
  }
  info.device = place.kind;
  info.devices = place.ranks;
  info.threads = teams.threads();
  return place;
}

Call::Call(const Graph& graph, const CallOptions& options)
    : graph_(graph),
      options_(options),
      teams_(options.session ? options.session->teams() : Session::standard().teams()) {
  require(options.mode != Mode::asynchronous || options.edges != Edges::compressed_host,
          "mode asynchronous reads plain lists: place the edges on the device or the host");
  const exec::KeepCurrentDevice current;
  place_ = place_of(*teams_, options.device, options.devices, info);
  const bool is_asked = options.devices != 0 || teams_->options().devices != 0;
  if (!is_asked && place_.kind == DeviceKind::cuda && options.traversal) {
    const traverse::DeviceChoice choice =
        traverse::choose_devices(work_of(graph, options), team::connected_cuda_devices());
    place_.ranks = info.devices = choice.devices;
    info.devices_reason = choice.reason;
  }
  info.edges = options.edges;
  info.mode = options.mode == Mode::asynchronous ? Mode::asynchronous : Mode::synchronous;
}

void Call::run(const std::function<void(team::Team&, RankGraph&)>& work) {
  const auto in_edges =
      in_edges_on_device() ? GraphState::InEdges::device : GraphState::InEdges::host;
  const graph::ShardSource source =
      graph_.state()->source(place_.ranks, options_.edges, in_edges, teams_);
  const std::uint64_t number = graph_.state()->number();
  const RankStore::Key key{number, static_cast<int>(options_.edges)};
  teams_->run(place_, number, [&](team::Team& team, RankStore& store) {
    std::shared_ptr<void>& kept = store[key];
    if (kept == nullptr) {
      auto made = std::make_shared<RankGraph>();
      made->shard = graph::make_shard(team, source, placement(options_.edges));
      if (!made->shard.has_in() && made->shard.vertices > 0)
        graph::add_in_edges(exec::Stream(team.device()), made->shard);
      kept = std::move(made);
    }
    work(team, *static_cast<RankGraph*>(kept.get()));
  });
  if (!is_logged(LogLevel::debug)) return;
  log_debug(fmt::format("ran on {} {} ({}), mode {}{}", info.devices,
                        info.device == DeviceKind::cuda ? "GPUs" : "CPU ranks", info.devices_reason,
                        info.mode == Mode::asynchronous ? "async" : "sync",
                        info.mode_reason.empty() ? "" : ": " + info.mode_reason));
}

bool Call::in_edges_on_device() const {
  if (place_.kind != DeviceKind::cuda || place_.ranks != 1 || options_.edges != Edges::device)
    return false;
  if (graph_.state()->known_symmetry() == true) return false;
  const exec::KeepCurrentDevice current;
  constexpr std::uint64_t kMostWeighted = std::uint64_t{1} << 32;
  if (graph_.is_weighted() && graph_.edges() >= kMostWeighted) return false;
  // The shard, what is taken to make its reverse, and about as much for the algorithm.
  const graph::Graph& csr = graph_.csr();
  const std::uint64_t made = graph::in_edges_bytes(csr.vertices, csr.edges(), csr.weight_type);
  return 2 * made < exec::total_memory(exec::Device::cuda(0));
}

void Call::on_team(const std::function<void(team::Team&)>& work) {
  teams_->run(place_, graph_.state()->number(),
              [&](team::Team& team, RankStore& /*store*/) { work(team); });
}

bool is_async(Mode mode, const std::optional<traverse::ModeChoice>& known) {
  return mode == Mode::asynchronous || (mode == Mode::automatic && known && known->is_async);
}

void check_vertex(const Graph& graph, Vertex v, const char* name) {
  if (v < graph.vertices()) return;
  if (graph.vertices() == 0)
    throw VertexError(fmt::format("{}: got {}, but the graph has no vertices", name, v));
  throw VertexError(
      fmt::format("{}: got {}, expected a vertex, 0 to {}", name, v, graph.vertices() - 1));
}

double slowest(team::Team& team, double seconds) {
  return team.all_reduce(seconds, [](double a, double b) { return a > b ? a : b; });
}

}  // namespace warren::api
