// SPDX-License-Identifier: Apache-2.0
// The host side of BFS: its arguments, and the choice of the backend.
#include "warren/traverse/bfs.hpp"

#include <fmt/format.h>

#include "warren/core/trace.hpp"

#include "traverse/bfs/bfs_memory.hpp"
#include "traverse/common/on_all.hpp"
#include "traverse/common/without_repeats.hpp"

namespace warren::traverse {

Bfs::Bfs(team::Team& team, const graph::Shard& shard, const BfsOptions& options)
    : team_(team),
      shard_(shard),
      options_(options),
      stream_(team.device()),
      memory_(std::make_unique<BfsMemory>(team, shard, stream_)) {
  require(options.alpha > 0.0 && options.beta > 0.0, "BFS: alpha and beta must be positive");
}

Bfs::~Bfs() = default;

void Bfs::check_vertex(Vertex v, const char* what) const {
  require(v < shard_.vertices,
          fmt::format("{} {} is no vertex: the graph has {} vertices, numbered from 0", what, v,
                      shard_.vertices));
}

BfsResult Bfs::run(Vertex source, const BfsLimits& limits) {
  return run(std::span(&source, 1), limits);
}

BfsResult Bfs::run(std::span<const Vertex> sources, const BfsLimits& limits) {
  require(!sources.empty(), "BFS: no sources; give one or more");
  for (const Vertex source : sources) check_vertex(source, "source");
  for (const Vertex target : limits.targets) check_vertex(target, "target");
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
    trace_span(
        "bfs", team_.rank(), begin, end,
        fmt::format("{{\"source\":{},\"pull_levels\":{}}}", sources.front(), last.pull_levels));
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

std::vector<Vertex> Bfs::depth() const { return memory_->values<DepthOfVisit>().to_host(stream_); }
std::vector<Vertex> Bfs::parent() const {
  return memory_->values<ParentOfVisit>().to_host(stream_);
}
void Bfs::write(Vertex* depth, Vertex* parent) const { memory_->write(stream_, depth, parent); }

std::vector<Vertex> Bfs::all_depths() const { return on_all(team_, depth()); }
std::vector<Vertex> Bfs::all_parents() const { return on_all(team_, parent()); }

}  // namespace warren::traverse
