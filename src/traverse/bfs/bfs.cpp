// SPDX-License-Identifier: Apache-2.0
// The host side of BFS: memory, and the choice of the backend.
#include "warren/traverse/bfs.hpp"

#include <fmt/format.h>

#include "warren/core/trace.hpp"

#include "traverse/bfs/bfs_run.hpp"
#include "traverse/common/on_all.hpp"
#include "traverse/common/own_values.hpp"
#include "traverse/common/program_memory.hpp"
#include "traverse/common/without_repeats.hpp"

namespace warren::traverse {

using memory::Buffer;

class BfsMemory {
 public:
  BfsMemory(team::Team& team, const graph::Shard& shard, const exec::Stream& stream)
      : device_(team.device()) {
    const std::uint64_t n = shard.vertices;
    const std::uint64_t own = shard.out.count;
    const auto ranks = static_cast<std::size_t>(team.size());
    arrays_.out = shard.out;
    arrays_.rank = team.rank();
    arrays_.ranks = team.size();
    arrays_.words = bitmap_words(n);
    for (std::size_t q = 0; q <= ranks; ++q) arrays_.cuts[q] = shard.cuts[q];

    arrays_.visit = take(device_, visit_, own);
    arrays_.seen = take(device_, seen_, arrays_.words);
    for (int i = 0; i < 2; ++i) arrays_.bitmap[i] = take(device_, bitmap_[i], arrays_.words);
    const EdgeOffset own_edges = graph::edge_range(stream, shard.out).count();
    for (int i = 0; i < 2; ++i)
      arrays_.queue[i] = take(device_, queue_[i], queue_capacity(own, own_edges));
    arrays_.queue_count = take(device_, queue_count_, 3);
    arrays_.outbox_count = take(device_, outbox_count_, 2 * kMaxRanks);
    if (ranks > 1) arrays_.outbox = take(device_, outbox_, n);
    if (shard.has_in() && own > 0) {
      const std::uint64_t words =
          (std::uint64_t{shard.out.first} + own - 1) / kWordBits + 1 - shard.out.first / kWordBits;
      arrays_.barren = take(device_, barren_, words);
      exec::with_backend(device_, [&](auto backend) {
        BfsRun<decltype(backend)>::find_barren(stream, shard.in, words, barren_.data());
      });
    }
    if (shard.edges_placement != graph::EdgesPlacement::device)
      arrays_.chunks = graph::make_edge_chunks(stream, shard.out, chunk_rows_);
    arrays_.is_symmetric = shard.is_symmetric;
    const auto rank = static_cast<std::size_t>(team.rank());
    windows_.share(team, bitmap_[1], arrays_.next_of);
    windows_.share(team, outbox_, arrays_.outbox_of, shard.cuts[rank], shard.cuts[rank + 1]);
    windows_.share(team, outbox_count_, arrays_.outbox_count_of);
    stream.synchronize();
  }

  [[nodiscard]] const BfsArrays& arrays() const { return arrays_; }
  /// From several sources, where there are more than one. No repeats.
  void set_sources(const exec::Stream& stream, std::span<const Vertex> sources) {
    arrays_.source = sources.front();
    arrays_.source_count = sources.size() > 1 ? sources.size() : 0;
    if (arrays_.source_count > 0) arrays_.sources = put(stream, sources_, sources);
  }
  /// No repeats.
  void set_targets(const exec::Stream& stream, std::span<const Vertex> targets) {
    arrays_.target_count = targets.size();
    arrays_.is_target = nullptr;
    if (targets.empty()) return;
    arrays_.targets = put(stream, targets_, targets);
    if (arrays_.ranks > 1) return;  // Of levels that are run by a few blocks alone.
    std::vector<BitmapWord> bits(arrays_.words, 0);
    for (const Vertex v : targets) bits[v / kWordBits] |= bit_of(v);
    arrays_.is_target = put(stream, is_target_, std::span<const BitmapWord>(bits));
  }
  void write(const exec::Stream& stream, Vertex* depth, Vertex* parent) const {
    exec::with_backend(device_, [&](auto backend) {
      BfsRun<decltype(backend)>::write(stream, {visit_.data(), depth, parent}, visit_.size());
    });
    stream.synchronize();
  }
  template <class Map>
  [[nodiscard]] OwnValues<Map> values() const {
    return {visit_.data(), visit_.size()};
  }

 private:
  template <class T>
  const T* put(const exec::Stream& stream, Buffer<T>& buffer, std::span<const T> values) {
    if (buffer.size() < values.size()) buffer = Buffer<T>(device_, values.size());
    buffer.upload(stream, values);
    stream.synchronize();
    return buffer.data();
  }

  exec::Device device_;
  BfsArrays arrays_;
  Buffer<Vertex> chunk_rows_;
  Buffer<Visit> visit_;
  Buffer<Vertex> sources_, targets_;
  Buffer<BitmapWord> seen_, barren_, bitmap_[2], is_target_;
  Buffer<QueueEntry> queue_[2], outbox_;
  Buffer<std::uint64_t> queue_count_, outbox_count_;
  ProgramWindows windows_;
};

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
  BfsState initial;
  initial.depth_limit = limits.depth;
  initial.targets = static_cast<std::uint32_t>(targets.size());
  initial.ranks = static_cast<std::uint32_t>(team_.size());
  initial.may_pull = options_.direction_optimizing && shard_.has_in();
  initial.may_sweep = shard_.edges_placement != graph::EdgesPlacement::device;
  initial.alpha = options_.alpha;
  initial.beta = options_.beta;
  initial.vertices = shard_.vertices;
  initial.unexplored_edges = shard_.edges;
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
