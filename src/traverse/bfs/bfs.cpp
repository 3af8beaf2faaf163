// SPDX-License-Identifier: Apache-2.0
// The host side of BFS: its arguments, and the choice of the backend.
#include "warren/traverse/bfs.hpp"

#include <fmt/format.h>

#include "warren/core/trace.hpp"
#include "warren/exec/memory.hpp"
#include "warren/team/ranks_of_a_device.hpp"

#include "traverse/bfs/bfs_memory.hpp"
#include "traverse/common/on_all.hpp"
#include "traverse/common/short_levels.hpp"
#include "traverse/common/whole_graph.hpp"
#include "traverse/common/without_repeats.hpp"

namespace warren::traverse {

/// A search whose levels the first rank runs. Every rank has the results of its vertices.
class BfsOfFirst {
 public:
  BfsOfFirst(team::Team& team, const graph::Shard& shard, const BfsOptions& options,
             const exec::Stream& stream)
      : graph_(team, shard, stream), visit_(team.device(), shard.out.count) {
    if (graph_.is_here()) search_ = std::make_unique<Bfs>(graph_.alone(), graph_.shard(), options);
    Visit* const all = search_ ? search_->memory_->visits().data() : nullptr;
    from_ = static_cast<const Visit*>(team.share_with_all(all).front());
    first_ = shard.out.first;
  }

  /// The result, of all ranks. Collective.
  BfsResult run(team::Team& team, const exec::Stream& stream, std::span<const Vertex> sources,
                const BfsLimits& limits) {
    BfsResult result;
    team.with_peer_memory([&] {
      team.barrier();
      const double begin = now_seconds();
      if (search_) result = search_->run(sources, limits);
      result = team.all_gather(result).front();
      exec::copy(stream, visit_.data(), from_ + first_, visit_.bytes());
      stream.synchronize();
      team.barrier();
      result.seconds = now_seconds() - begin;
    });
    return result;
  }
  [[nodiscard]] const memory::Buffer<Visit>& visits() const { return visit_; }

 private:
  WholeGraph graph_;
  std::unique_ptr<Bfs> search_;
  memory::Buffer<Visit> visit_;  ///< Of own vertices.
  const Visit* from_ = nullptr;  ///< Of all, on the first rank.
  std::uint64_t first_ = 0;
};

namespace {

bool runs_on_first(team::Team& team, const graph::Shard& shard, BfsRanks ranks) {
  const bool can = shard.edges_placement == graph::EdgesPlacement::device && !team.needs_windows();
  if (ranks == BfsRanks::first) {
    require(can,
            "BFS: the first rank runs all levels only of lists in device memory that it reaches: "
            "let all ranks run them");
    return team.size() > 1;
  }
  // Directed graphs may have few levels of many vertices, which are pulled.
  if (ranks == BfsRanks::all || !can || !shard.is_symmetric || team.size() == 1 ||
      !team.device().is_cuda() || !has_short_levels(shard.vertices, shard.edges))
    return false;
  // The state of a search is some 25 bytes a vertex.
  const std::uint64_t wanted = WholeGraph::bytes(shard) + 32 * shard.vertices;
  const std::uint64_t free = exec::free_memory(team.device()) / team::ranks_of_a_device(team);
  const int has_room = team.rank() > 0 || wanted < free / 2 ? 1 : 0;
  return team.all_reduce(has_room, exec::Minimum{}) != 0;
}

}  // namespace

Bfs::Bfs(team::Team& team, const graph::Shard& shard, const BfsOptions& options)
    : team_(team), shard_(shard), options_(options), stream_(team.device()) {
  require(options.alpha > 0.0 && options.beta > 0.0, "BFS: alpha and beta must be positive");
  if (runs_on_first(team, shard, options.ranks)) {
    first_ = std::make_unique<BfsOfFirst>(team, shard, options, stream_);
  } else {
    memory_ = std::make_unique<BfsMemory>(team, shard, stream_);
  }
}

Bfs::~Bfs() = default;

void Bfs::check_vertex(Vertex v, const char* what) const {
  // Texts that are made before they are needed take a small search's time, here and in run().
  if (v >= shard_.vertices)
    throw UsageError(fmt::format("{} {} is no vertex: the graph has {} vertices, numbered from 0",
                                 what, v, shard_.vertices));
}

BfsResult Bfs::run(Vertex source, const BfsLimits& limits) {
  return run(std::span(&source, 1), limits);
}

BfsResult Bfs::run(std::span<const Vertex> sources, const BfsLimits& limits) {
  require(!sources.empty(), "BFS: no sources; give one or more");
  for (const Vertex source : sources) check_vertex(source, "source");
  for (const Vertex target : limits.targets) check_vertex(target, "target");
  if (first_) return first_->run(team_, stream_, sources, limits);
  const std::vector<Vertex> targets = without_repeats(limits.targets);
  memory_->set_sources(stream_, without_repeats(sources));
  memory_->set_targets(stream_, targets);
  BfsState initial = bfs_start(team_, shard_, options_);
  initial.depth_limit = limits.depth;
  initial.targets = static_cast<std::uint32_t>(targets.size());
  team_.barrier();
  BfsResult result;
  BfsState last;
  exec::with_backend(team_.device(), [&](auto backend) {
    using Run = BfsRun<decltype(backend)>;
    const double begin = now_seconds();
    last = graph::with_adjacency(shard_, [&](const auto& out, const auto& in) {
      BfsProgram<std::decay_t<decltype(out)>> program{memory_->arrays(), out, in};
      return Run::traverse(team_, stream_, program, initial);
    });
    const double end = now_seconds();
    result.seconds = end - begin;
    if (trace_enabled()) {
      trace_span(
          "bfs", team_.rank(), begin, end,
          fmt::format("{{\"source\":{},\"pull_levels\":{}}}", sources.front(), last.pull_levels));
    }
    if (!options_.adds_up) return;
    const BfsSummary::State summary =
        Run::summarize(team_, stream_, BfsSummary{memory_->arrays().out, memory_->arrays().visit});
    result.sum_depth = summary.sum_depth;
    result.edges = summary.edges;
  });
  result.reached = last.reached;
  result.max_depth = last.deepest;
  result.levels = last.level;
  result.pull_levels = last.pull_levels;
  result.ranks = initial.ranks;
  result.far_bytes = last.far_bytes;
  return result;
}

std::vector<std::uint64_t> level_sizes(team::Team& team, std::span<const Vertex> depth) {
  std::vector<std::uint64_t> own;
  for (const Vertex level : depth) {
    if (level == kNoVertex) continue;
    if (level >= own.size()) own.resize(std::size_t{level} + 1);
    ++own[level];
  }
  std::vector<std::uint64_t> all;
  for (const auto& part : team.all_gather_v(std::span<const std::uint64_t>(own))) {
    if (part.size() > all.size()) all.resize(part.size());
    for (std::size_t level = 0; level < part.size(); ++level) all[level] += part[level];
  }
  return all;
}

const memory::Buffer<Visit>& Bfs::visits() const {
  return first_ ? first_->visits() : memory_->visits();
}
std::vector<Vertex> Bfs::depth() const {
  return OwnValues<DepthOfVisit>{visits().data(), visits().size()}.to_host(stream_);
}
std::vector<Vertex> Bfs::parent() const {
  return OwnValues<ParentOfVisit>{visits().data(), visits().size()}.to_host(stream_);
}
void Bfs::write(Vertex* depth, Vertex* parent) const {
  exec::with_backend(team_.device(), [&](auto backend) {
    BfsRun<decltype(backend)>::write(stream_, {visits().data(), depth, parent}, visits().size());
  });
  stream_.synchronize();
}

std::vector<Vertex> Bfs::all_depths() const { return on_all(team_, depth()); }
std::vector<Vertex> Bfs::all_parents() const { return on_all(team_, parent()); }

}  // namespace warren::traverse
