// SPDX-License-Identifier: Apache-2.0
#include "api/call.hpp"

#include <utility>

#include <fmt/format.h>

#include "warren/api/checks.hpp"
#include "warren/core/error.hpp"
#include "warren/core/log.hpp"
#include "warren/core/trace.hpp"
#include "warren/exec/current_device.hpp"
#include "warren/exec/memory.hpp"
#include "warren/graph/generate_shard.hpp"
#include "warren/graph/in_edges.hpp"
#include "warren/graph/merged_cuts.hpp"
#include "warren/graph/transform.hpp"
#include "warren/team/processes.hpp"

#include "api/library_words.hpp"
#include "api/memory_limit.hpp"
#include "api/own_shard.hpp"

namespace warren::api {
namespace {

graph::EdgesOptions lists_of(const CallOptions& options) {
  graph::EdgesOptions lists;
  if (options.edges == Edges::device) return lists;
  lists.placement = options.edges == Edges::host ? graph::EdgesPlacement::host
                                                 : graph::EdgesPlacement::compressed_host;
  lists.cache_bytes = options.placement.cache.value_or(graph::EdgesOptions::kAllThatIsFree);
  return lists;
}

traverse::TraversalWork work_of(const Teams& teams, const Graph& graph,
                                const CallOptions& options) {
  const Drawing* drawing = graph.state()->drawing();
  const bool is_symmetric = drawing != nullptr ? drawing->is_symmetric() : graph.is_symmetric();
  traverse::TraversalWork work{*options.traversal, options.mode == Mode::asynchronous,
                               options.edges != Edges::device, graph.vertices(),
                               drawing != nullptr ? drawing->draws() : graph.edges()};
  const std::uint64_t bytes =
      sizeof(Vertex) + (options.traversal == traverse::Traversal::sssp ? 4 : 0);
  work.list_bytes = work.edges * bytes * (is_symmetric ? 1 : 2);
  const std::uint64_t limit = options.placement.device_memory;
  work.gpu_bytes =
      limit != 0
          ? limit
          : exec::free_memory(exec::Device::cuda(0).with_memory(teams.memory(DeviceKind::cuda)));
  return work;
}

/// Of a graph, for processes that each read it: sizes, and numbers made of entries all over its
/// arrays. Trivially copyable.
struct Fingerprint {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::uint64_t cuts = 0;
  std::uint64_t lists = 0;
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

/// Of up to 64 Ki bytes, evenly spread, as many as all where there are fewer.
std::uint64_t mixed(const void* data, std::uint64_t bytes, std::uint64_t hash) {
  constexpr std::uint64_t kLooks = std::uint64_t{1} << 16;
  constexpr std::uint64_t kPrime = 0x100000001b3;  // FNV-1a's.
  const auto* const from = static_cast<const unsigned char*>(data);
  const std::uint64_t looks = std::min(bytes, kLooks);
  // Sizes of elements are even: with an odd step all their bytes are met.
  const std::uint64_t step = looks == 0 ? 1 : bytes / looks | 1;
  for (std::uint64_t at = 0; at < bytes; at += step) hash = (hash ^ from[at]) * kPrime;
  return hash;
}

Fingerprint fingerprint_of(const CutGraph& cut) {
  const graph::Graph& graph = *cut.out;
  constexpr std::uint64_t kStart = 0xcbf29ce484222325;
  Fingerprint print{graph.vertices, graph.edges(), kStart, kStart};
  print.cuts = mixed(cut.cuts.data(), cut.cuts.size() * sizeof(std::uint64_t), print.cuts);
  const auto add = [&](const auto& array) {
    print.lists = mixed(array.data(), array.size() * sizeof *array.data(), print.lists);
  };
  add(graph.offsets);
  add(graph.targets);
  add(graph.weights_int);
  add(graph.weights_float);
  return print;
}

/// Throws UsageError, as a session that is to have GPUs does.
void check_for_gpus() {
  if (exec::cuda_device_count() > 0) return;
  team::TeamOptions options;
  options.kind = DeviceKind::cuda;
  team::validate(options);
}

}  // namespace

void check_same_graph(team::Team& team, const CutGraph& cut) {
  const std::vector<Fingerprint> all = team.all_gather(fingerprint_of(cut));
  for (std::size_t q = 1; q < all.size(); ++q) {
    require(all[q] == all[0],
            fmt::format("the ranks read different graphs: rank {} has {} vertices and {} edges, "
                        "rank 0 {} and {}{}; give all ranks the same file",
                        q, all[q].vertices, all[q].edges, all[0].vertices, all[0].edges,
                        all[q].vertices == all[0].vertices && all[q].edges == all[0].edges
                            ? ", with other lists, weights or parts"
                            : ""));
  }
}

Place place_of(const Teams& teams, const std::optional<DeviceKind>& device, int devices,
               RunInfo& info, int gpu, bool has_hosts) {
  if (devices < 0)
    throw UsageError(fmt::format("devices: got {}, expected 1 or more, or 0 to choose", devices));
  Place place;
  place.kind = teams.kind(device);
  const int asked = devices != 0 ? devices : teams.devices();
  if (const auto* processes = team::Processes::current()) {
    place.ranks = processes->size();
    require(has_hosts || processes->hosts() == 1,
            "this call has no form for ranks on several hosts yet: start all ranks on one host");
    require(place.kind == DeviceKind::cpu || processes->hosts() == 1,
            "device: ranks on several hosts run on the CPU; GPUs are not there yet");
    require(asked == place.ranks,
            fmt::format("devices: got {}, but each of {} processes is a rank ({}): leave it out",
                        asked, place.ranks, processes->launcher()));
    info.devices_reason = fmt::format("a rank for each process ({})", processes->launcher());
  } else if (asked != 0) {
    place.ranks = asked;
    info.devices_reason = "asked for";
  } else if (place.kind == DeviceKind::cpu) {
    info.devices_reason = "on the CPU one rank uses all threads";
  } else {
    info.devices_reason = "this call takes several GPUs where it is told so";
  }
  if (device == DeviceKind::cuda) check_for_gpus();
  if (place.kind == DeviceKind::cuda && place.ranks == 1 && gpu >= 0) place.gpu = gpu;
  info.device = place.kind;
  info.devices = place.ranks;
  info.threads = teams.threads();
  return place;
}

Call::Call(const Graph& graph, const CallOptions& options)
    : graph_(graph), options_(options), teams_(session_of(options.session).teams()) {
  require(options.edges != Edges::file,
          "edges: this call reads no lists from a file; bfs, connected_components and pagerank do: "
          "place the edges on the device or the host");
  check_placement(options.mode, options.edges, options.placement, options.run);
  const auto* processes = team::Processes::current();
  require(options.mode != Mode::asynchronous || processes == nullptr || processes->hosts() == 1,
          "mode asynchronous has no form for ranks on several hosts yet: take the synchronous one, "
          "or start all ranks on one host");
  const exec::KeepCurrentDevice current;
  place_ = place_of(*teams_, options.device, options.devices, info, options.gpu, true);
  const bool is_asked = options.devices != 0 || teams_->options().devices != 0;
  if (!is_asked && place_.kind == DeviceKind::cuda && options.traversal && processes == nullptr) {
    const int reachable = teams_->options().no_peer ? 1 : team::connected_cuda_devices();
    // Where there is a choice. To ask a GPU for its free memory takes longer than a small search.
    const traverse::TraversalWork work = reachable > 1
                                             ? work_of(*teams_, graph, options)
                                             : traverse::TraversalWork{*options.traversal};
    const traverse::DeviceChoice choice = traverse::choose_devices(work, reachable);
    place_.ranks = info.devices = choice.devices;
    info.devices_reason = choice.reason;
  }
  info.edges = options.edges;
  info.mode = options.mode == Mode::asynchronous ? Mode::asynchronous : Mode::synchronous;
}

bool Call::draws() const {
  const Drawing* drawing = graph_.state()->drawing();
  if (drawing == nullptr || place_.kind != DeviceKind::cuda)
    return drawing != nullptr && drawing->by_ranges && takes_ranges();
  const std::string& method = options_.placement.method;
  const bool can_draw = method.empty() || method == "ranges" || method == "degree";
  // Lists that stay on the device, or are compressed, may not fit a limit.
  const bool may_fit = options_.placement.device_memory == 0 || options_.edges == Edges::host;
  return can_draw && may_fit;
}

bool Call::takes_ranges() const {
  // Of several hosts each has all ranges, where parts are over the ranks of one.
  return are_in_ranges(options_.placement.method) && options_.edges != Edges::compressed_host &&
         (!options_.of_host || team::Processes::current()->hosts() == 1);
}

bool Call::has_ranges() const {
  return takes_ranges() && (reads_ranges() || (draws() && place_.kind == DeviceKind::cpu));
}

bool Call::reads_ranges() const { return graph_.state()->rows() != nullptr && takes_ranges(); }

std::shared_ptr<RankGraph> Call::make_part(team::Team& team, const CutGraph& cut) {
  auto made = std::make_shared<RankGraph>();
  if (team.spans_processes()) check_same_graph(team, cut);
  if (options_.of_host && team.spans_hosts()) {
    team::Team& host = team.of_host();
    graph::ShardSource of_host = cut;
    of_host.cuts = graph::merged_cuts(cut.cuts, host.size());
    made->shard = graph::make_shard(host, of_host, lists_of(options_));
  } else {
    made->shard = graph::make_shard(team, cut, lists_of(options_));
  }
  if (!made->shard.has_in() && made->shard.vertices > 0)
    graph::add_in_edges(exec::Stream(team.device()), made->shard);
  made->order = cut.order;
  return made;
}

std::shared_ptr<RankGraph> Call::draw_part(team::Team& team) {
  const Drawing& drawing = *graph_.state()->drawing();
  const auto order = options_.placement.method == "degree" ? graph::VertexOrder::degree
                                                           : graph::VertexOrder::natural;
  auto made = std::make_shared<RankGraph>();
  graph::Shard& shard = made->shard;
  if (place_.kind == DeviceKind::cpu)
    shard = own_shard(team, *graph_.state(), lists_of(options_), true);
  else
    shard = graph::generate_shard(team, drawing.spec, drawing.build, true, order,
                                  lists_of(options_), drawing.weights);
  if (team.reports()) {
    order_.reset();
    graph_.state()->note_edges(shard.edges);
    if (shard.old_id) {
      const exec::Stream stream(team.device());
      auto ids = std::make_shared<graph::Partition>();
      ids->cuts = shard.cuts;
      ids->new_id = memory::HostArray<Vertex>(shard.vertices);
      ids->old_id = memory::HostArray<Vertex>(shard.vertices);
      shard.new_id->download(stream, ids->new_id.span());
      shard.old_id->download(stream, ids->old_id.span());
      stream.synchronize();
      order_ = std::move(ids);
    }
  }
  team.barrier();
  made->order = order_;
  return made;
}

std::shared_ptr<RankGraph> Call::read_part(team::Team& team) const {
  auto made = std::make_shared<RankGraph>();
  made->shard = own_shard(team, *graph_.state(), lists_of(options_), true);
  return made;
}

void Call::run(const std::function<void(team::Team&, RankGraph&)>& work) {
  const auto in_edges =
      in_edges_on_device() ? GraphState::InEdges::device : GraphState::InEdges::host;
  GraphState& state = *graph_.state();
  const bool is_drawn = draws(), is_read = reads_ranges();
  const HostMemoryLimit host_limit(options_.placement.host_memory);
  std::shared_ptr<const CutGraph> cut;
  if (!is_drawn && !is_read)
    cut = state.source(place_.ranks, options_.edges, in_edges, teams_, options_.placement);
  // Where all ranks are on one host, parts over those of a host are the same.
  const auto* processes = team::Processes::current();
  const bool is_of_host = options_.of_host && processes != nullptr && processes->hosts() > 1;
  const int placed = state.part_of(options_.edges, options_.placement, teams_);
  const RankStore::Key key{state.number(), is_of_host ? -1 - placed : placed};
  teams_->run(place_, state.number(), [&](team::Team& team, RankStore& store) {
    MemoryLimit limit(team, options_.placement.device_memory, options_.placement.host_memory);
    std::shared_ptr<void>& kept = store[key];
    if (kept == nullptr) {
      const TraceSpan span("make shard", team.rank());
      if (is_drawn)
        kept = draw_part(team);
      else
        kept = is_read ? read_part(team) : make_part(team, *cut);
    }
    auto& part = *static_cast<RankGraph*>(kept.get());
    if (team.reports()) order_ = part.order;
    const std::uint64_t sent = team.bytes_between_hosts();
    work(team, part);
    if (team.spans_hosts() && !options_.own)
      info.bytes_between_hosts += bytes_between_hosts(team, sent);
    limit.finish();
  });
  if (!is_logged(LogLevel::debug)) return;
  log_debug(fmt::format("ran on {} {} ({}), mode {}{}", info.devices,
                        info.device == DeviceKind::cuda ? "GPUs" : "CPU ranks", info.devices_reason,
                        info.mode == Mode::asynchronous ? "async" : "sync",
                        info.mode_reason.empty() ? "" : ": " + info.mode_reason));
}

const graph::Graph& Call::csr() {
  GraphState& state = *graph_.state();
  if (state.has_csr() || !draws() || has_ranges()) return state.csr();
  state.set_csr(fetch(Checked::graph));
  return state.csr();
}

graph::Graph Call::fetch(Checked what) {
  graph::Graph fetched;
  run([&](team::Team& team, RankGraph& rank) {
    const TraceSpan span("fetch graph", team.rank());
    graph::Graph all = what == Checked::lists ? graph::download_lists(team, rank.shard)
                                              : graph::download(team, rank.shard);
    if (team.reports()) fetched = std::move(all);
  });
  if (order_ != nullptr) {
    teams_->on_host([&](exec::ThreadPool& pool) {
      fetched = graph::relabel(fetched, order_->old_id.span(), pool);
    });
  }
  return fetched;
}

void Call::verify(
    const std::function<traverse::Verdict(const graph::Graph&, exec::ThreadPool&)>& check,
    Checked what) {
  graph::Graph lists;
  const bool has_lists =
      what == Checked::lists && draws() && !has_ranges() && !graph_.state()->has_csr();
  if (has_lists)
    lists = fetch(what);
  else if (!has_ranges())
    (void)csr();
  const auto* processes = team::Processes::current();
  // Of processes, which all have the result, one looks. It alone may read, or draw, the whole graph
  // for that.
  if (processes == nullptr || processes->rank() == 0) {
    const graph::Graph& graph = has_lists ? lists : csr();
    teams_->on_host([&](exec::ThreadPool& pool) {
      const TraceSpan span("verify", 0);
      traverse::Verdict verdict = check(graph, pool);
      info.verdict = Verdict{verdict.correct, std::move(verdict.message)};
    });
  }
  if (processes != nullptr) tell_verdict();
}

void Call::tell_verdict() {
  on_team([&](team::Team& team) {
    std::string mine;
    if (info.verdict) mine = (info.verdict->correct ? "+" : "-") + info.verdict->message;
    const auto all = team.all_gather_v(std::span<const char>(mine));
    const std::string first(all.front().begin(), all.front().end());
    info.verdict = Verdict{first.starts_with('+'), first.substr(1)};
  });
}

bool Call::in_edges_on_device() const {
  if (place_.kind != DeviceKind::cuda || place_.ranks != 1 || options_.edges != Edges::device)
    return false;
  if (options_.placement.device_memory != 0 || draws()) return false;
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
  teams_->run(place_, graph_.state()->number(), [&](team::Team& team, RankStore& /*store*/) {
    const std::uint64_t sent = team.bytes_between_hosts();
    work(team);
    if (team.spans_hosts()) info.bytes_between_hosts += bytes_between_hosts(team, sent);
  });
}

void check_placement(Mode mode, Edges edges, const PlacementOptions& placement,
                     const RunOptions& run) {
  told_in_library_words([&] { check_lists(mode, edges, placement); });
  // Here and in place_of(): texts that are made before they are needed take a small call's time.
  if (run.repeat < 0)
    throw UsageError(fmt::format(
        "repeat: got {}, expected a number of timed runs, or 0 for one run", run.repeat));
}

TaskReport told(const traverse::AsyncReport& report) {
  const schedule::QueueReport& queue = report.queue;
  TaskReport told;
  told.tasks = queue.tasks;
  told.rank_tasks = queue.rank_tasks;
  told.rank_idle_seconds = queue.rank_idle_seconds;
  told.expanded = report.expanded;
  told.redundancy = report.redundancy;
  told.spilled = queue.spilled;
  told.is_persistent = queue.is_persistent;
  told.rounds = queue.rounds;
  told.messages_sent = queue.messages_sent;
  told.messages = queue.messages;
  told.message_bytes = queue.bytes;
  return told;
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

std::uint64_t bytes_between_hosts(team::Team& team, std::uint64_t before) {
  return team.all_reduce(team.bytes_between_hosts() - before, std::plus<std::uint64_t>());
}

double slowest(team::Team& team, double seconds) {
  if (team.size() == 1) return seconds;  // What one rank would send itself takes memory.
  return team.all_reduce(seconds, [](double a, double b) { return a > b ? a : b; });
}

}  // namespace warren::api

namespace warren {

RunInfo run_info(const Session& session) {
  RunInfo info;
  (void)api::place_of(*session.teams(), std::nullopt, 0, info, -1, true);
  return info;
}

}  // namespace warren
