// SPDX-License-Identifier: Apache-2.0
// One rank streams: the CPU's with all threads, or one GPU. What a call takes is known before, and
// compared with what the host has.
#include "api/streamed.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "warren/core/error.hpp"
#include "warren/core/stop.hpp"
#include "warren/core/trace.hpp"
#include "warren/exec/memory.hpp"
#include "warren/graph/edge_file.hpp"
#include "warren/team/processes.hpp"
#include "warren/traverse/streamed.hpp"

#include "api/call.hpp"
#include "api/memory_limit.hpp"

namespace warren::api {
namespace {

using graph::EdgeFile;
using traverse::StreamCheck;
using traverse::StreamMemory;

const EdgeFile& file_of(const Graph& graph) {
  const auto& file = graph.state()->file();
  require(file != nullptr,
          "edges: the graph was not read with its lists in a file: read a .wgr file so (--edges "
          "file), or "
          "place the edges on the device or the host");
  return *file;
}

/// A call's ranks, which are one.
template <class Options>
Place place_for(const Teams& teams, const Graph& graph, const Options& options, RunInfo& info) {
  require(team::Processes::current() == nullptr,
          "edges: lists that stay in a file are read by one process; start it without a launcher");
  const std::string& method = options.placement.method;
  require(method.empty() || method == "ranges",
          fmt::format("method: got \"{}\", but lists that stay in a file are read in its order: "
                      "leave it out, or give ranges",
                      method));
  const Place place = place_of(teams, options.device, options.devices, info);
  require(place.ranks == 1,
          fmt::format("devices: got {}, but lists that stay in a file are read by one rank: give 1",
                      place.ranks));
  info.devices_reason = "one rank reads the file";
  info.edges = Edges::file;
  info.edges_reason = graph.lists_reason();
  info.mode = Mode::synchronous;
  return place;
}

/// Throws MemoryError where the host has less than `need`; on the CPU `device_memory` holds for it,
/// too.
void check_host(const EdgeFile& file, const StreamMemory& need, DeviceKind kind,
                const PlacementOptions& placement) {
  constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t held = resident_memory();
  std::uint64_t limit = kNoLimit;
  std::string cure = "use a host with more memory";
  const auto apply = [&](const char* option, std::uint64_t least, std::uint64_t left) {
    if (left >= limit) return;
    limit = left;
    cure = fmt::format("give {} {} or more", option, least);
  };
  if (const std::uint64_t given = placement.host_memory; given != 0)
    apply("--host-memory", need.host + held, given > held ? given - held : 0);
  if (const std::uint64_t given = placement.device_memory; given != 0 && kind == DeviceKind::cpu)
    apply("--device-memory", need.host, given);
  const std::uint64_t free = exec::Device::cpu(1).memory().free;
  if (free != 0 && need.host > free) cure = "use a host with more memory";
  const std::uint64_t left = free == 0 ? limit : std::min(free, limit);
  if (need.host <= left) return;
  throw MemoryError(
      "the host", need.host, left,
      fmt::format("{} of it are windows, the rest a few bytes a vertex; the program itself holds "
                  "{}; the lists stay in {}, which takes {} of disk: {}",
                  human_bytes(file.window_memory()), human_bytes(held), file.path(),
                  human_bytes(file.file_bytes()), cure));
}

/// Throws MemoryError where a GPU has less than `need`. `is_limited`: it is believed to have less
/// than it has.
void check_device(const exec::Device& device, const EdgeFile& file, const StreamMemory& need,
                  bool is_limited) {
  if (!device.is_cuda()) return;
  const std::uint64_t left = exec::free_memory(device);
  if (need.device <= left) return;
  throw MemoryError(
      device.name(), need.device, left,
      fmt::format("windows and a few bytes a vertex; the lists stay in {}: {}use a GPU "
                  "with more memory, or --device cpu",
                  file.path(), is_limited ? "raise --device-memory, " : ""));
}

/// work(team, check) on the one rank, within the limits of memory.
template <class Options>
void run_on_rank(const Graph& graph, const Options& options, RunInfo& info,
                 const std::function<StreamMemory(DeviceKind)>& need,
                 const std::function<void(team::Team&, const StreamCheck&)>& work) {
  const std::shared_ptr<Teams> teams = session_of(options.session).teams();
  check_placement(Mode::automatic, Edges::file, options.placement, options.run);
  const Place place = place_for(*teams, graph, options, info);
  const StreamMemory memory = need(place.kind);
  check_host(file_of(graph), memory, place.kind, options.placement);
  const HostMemoryLimit host_limit(options.placement.host_memory);
  teams->run(place, graph.state()->number(), [&](team::Team& team, RankStore& /*store*/) {
    MemoryLimit limit(team, options.placement.device_memory, options.placement.host_memory);
    check_device(team.device(), file_of(graph), memory, options.placement.device_memory != 0);
    work(team, [&team] { team.check(); });
  });
}

/// `check` with the host's threads.
void verify(const std::optional<Session>& session, RunInfo& info,
            const std::function<traverse::Verdict(exec::ThreadPool&)>& check) {
  session_of(session).teams()->on_host([&](exec::ThreadPool& pool) {
    const TraceSpan span("verify", 0);
    traverse::Verdict verdict = check(pool);
    info.verdict = Verdict{verdict.correct, std::move(verdict.message)};
  });
}

void tell(RunInfo& info, const traverse::StreamFigures& figures) {
  info.bytes_read = figures.bytes_read;
  info.file_wait_seconds = figures.waited_seconds;
}

/// The largest ranks, ties by vertex: of those that are kept the smallest goes first.
std::vector<RankedVertex> largest_ranks(std::span<const double> ranks, std::size_t most) {
  const auto is_before = [](const RankedVertex& a, const RankedVertex& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.vertex < b.vertex;
  };
  std::vector<RankedVertex> top;
  for (std::size_t v = 0; v < ranks.size() && most > 0; ++v) {
    const RankedVertex next{static_cast<Vertex>(v), ranks[v]};
    if (top.size() == most && !is_before(next, top.front())) continue;
    if (top.size() == most) {
      std::ranges::pop_heap(top, is_before);
      top.pop_back();
    }
    top.push_back(next);
    std::ranges::push_heap(top, is_before);
  }
  std::ranges::sort(top, is_before);
  return top;
}

/// As a result has it.
template <class T>
Array<T> array_of(const memory::HostArray<T>& values) {
  Output<T> output(values.size());
  output.adopt(values);
  return output.take();
}

}  // namespace

BfsResult streamed_bfs(const Graph& graph, const std::vector<Vertex>& sources,
                       const BfsOptions& options) {
  const EdgeFile& file = file_of(graph);
  require(options.mode != Mode::asynchronous,
          "mode: lists that stay in a file are read step by step; leave the mode automatic");
  const traverse::BfsLimits limits{options.depth_limit.value_or(traverse::BfsLimits::kNoDepth),
                                   options.targets};
  BfsResult all;
  traverse::StreamedBfsResult last;
  memory::HostArray<Vertex> depth, parent;
  run_on_rank(
      graph, options, all.info,
      [&](DeviceKind kind) { return traverse::StreamedBfs::memory(file, kind); },
      [&](team::Team& team, const StreamCheck& check) {
        traverse::StreamedBfs bfs(team.device(), file, check);
        last = runs_of(team, options.run, all.info, [&] { return bfs.run(sources, limits); });
        depth = bfs.depth();
        parent = bfs.parent();
      });
  tell(all.info, last);
  all.sources = sources;
  all.reached = last.reached;
  all.max_depth = last.max_depth;
  all.level_ranks = 1;
  if (options.levels) all.levels = std::move(last.levels);
  if (options.figures) {
    all.figures.sum_depth = last.sum_depth;
    all.figures.traversed_edges = traverse::streamed_input_edges(file, depth.span(), check_stop);
  }
  if (options.run.verify) {
    verify(options.session, all.info, [&](exec::ThreadPool& pool) {
      return traverse::verify_streamed_bfs(file, sources, depth.span(), parent.span(), pool,
                                           limits);
    });
  }
  if (options.run.arrays == ResultArrays::none) return all;
  all.depth = array_of(depth);
  all.parent = array_of(parent);
  return all;
}

ComponentsResult streamed_components(const Graph& graph, const ComponentsOptions& options) {
  const EdgeFile& file = file_of(graph);
  require(options.form != ComponentsForm::search,
          "form: search reads lists in device memory, and these stay in a file; give forest");
  ComponentsResult all;
  traverse::StreamedComponentsResult last;
  memory::HostArray<Vertex> label;
  run_on_rank(
      graph, options, all.info,
      [&](DeviceKind kind) { return traverse::StreamedComponents::memory(file, kind); },
      [&](team::Team& team, const StreamCheck& check) {
        traverse::StreamedComponents components(team.device(), file, check);
        last = runs_of(team, options.run, all.info, [&] { return components.run(); });
        label = components.labels();
      });
  tell(all.info, last);
  all.components = last.components;
  all.largest = last.largest;
  all.form = ComponentsForm::forest;
  if (options.run.verify) {
    verify(options.session, all.info, [&](exec::ThreadPool& pool) {
      return traverse::verify_streamed_components(file, label.span(), pool);
    });
  }
  if (options.run.arrays != ResultArrays::none) all.label = array_of(label);
  return all;
}

PageRankResult streamed_pagerank(const Graph& graph, const PageRankOptions& options) {
  const EdgeFile& file = file_of(graph);
  require(options.mode != Mode::asynchronous,
          "mode: lists that stay in a file are read by iterations; give the synchronous one");
  require(!options.weighted,
          "weighted: lists that stay in a file are read without their weights; place the edges on "
          "the device or the host");
  const auto refuse = [](const char* name, const std::vector<double>& values) {
    require(values.empty(),
            fmt::format("{}: ranks of a graph whose lists stay in a file have none; place the "
                        "edges on the device or the host",
                        name));
  };
  refuse("personalization", options.personalization);
  refuse("dangling", options.dangling);
  refuse("start", options.start);
  const traverse::PageRankOptions own{options.damping, options.tolerance, options.max_iterations};
  PageRankResult all;
  traverse::StreamedPageRankResult last;
  memory::HostArray<double> ranks;
  run_on_rank(
      graph, options, all.info,
      [&](DeviceKind kind) { return traverse::StreamedPageRank::memory(file, kind, own); },
      [&](team::Team& team, const StreamCheck& check) {
        traverse::StreamedPageRank pagerank(team.device(), file, own, check);
        last = runs_of(team, options.run, all.info, [&] { return pagerank.run(); });
        ranks = pagerank.ranks();
      });
  tell(all.info, last);
  all.iterations = last.iterations;
  all.residual = last.residual;
  all.converged = last.converged;
  all.top = largest_ranks(ranks.span(), options.top);
  if (options.run.verify) {
    verify(options.session, all.info, [&](exec::ThreadPool& pool) {
      const double bound = traverse::pagerank_bound(
          own,
          {.iterations = last.iterations, .residual = last.residual, .converged = last.converged});
      return traverse::verify_streamed_pagerank(file, options.damping, ranks.span(), bound, pool);
    });
  }
  if (options.run.arrays != ResultArrays::none) all.rank = array_of(ranks);
  return all;
}

}  // namespace warren::api
