// SPDX-License-Identifier: Apache-2.0
// The host side of BFS: memory, and the choice of the backend.
#include "warren/traverse/bfs.hpp"

#include <fmt/format.h>

#include "warren/core/trace.hpp"

#include "traverse/bfs/bfs_run.hpp"
#include "traverse/common/on_all.hpp"
#include "traverse/common/own_values.hpp"
#include "traverse/common/program_memory.hpp"

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
    share(team, arrays_.bitmap[1], arrays_.next_of);
    share(team, arrays_.outbox, arrays_.outbox_of);
    share(team, arrays_.outbox_count, arrays_.outbox_count_of);
    stream.synchronize();
  }

  [[nodiscard]] const BfsArrays& arrays() const { return arrays_; }
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
  exec::Device device_;
  BfsArrays arrays_;
  Buffer<Vertex> chunk_rows_;
  Buffer<Visit> visit_;
  Buffer<BitmapWord> seen_, barren_, bitmap_[2];
  Buffer<QueueEntry> queue_[2], outbox_;
  Buffer<std::uint64_t> queue_count_, outbox_count_;
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

BfsResult Bfs::run(Vertex source) {
  require(source < shard_.vertices,
          fmt::format("source {} is no vertex: the graph has {} vertices, numbered from 0", source,
                      shard_.vertices));
  BfsState initial;
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
      program.source = source;
      return Run::traverse(team_, stream_, program, initial);
    });
    const double end = now_seconds();
    result.seconds = end - begin;
    trace_span("bfs", team_.rank(), begin, end,
               fmt::format("{{\"source\":{},\"pull_levels\":{}}}", source, last.pull_levels));
    if (!options_.adds_up) return;
    const BfsSummary::State summary =
        Run::summarize(team_, stream_, BfsSummary{memory_->arrays().out, memory_->arrays().visit});
    result.sum_depth = summary.sum_depth;
    result.edges = summary.edges;
  });
  result.reached = last.reached;
  result.max_depth = last.deepest;
  result.pull_levels = last.pull_levels;
  result.far_bytes = last.far_bytes;
  return result;
}

std::vector<Vertex> Bfs::depth() const { return memory_->values<DepthOfVisit>().to_host(stream_); }
std::vector<Vertex> Bfs::parent() const {
  return memory_->values<ParentOfVisit>().to_host(stream_);
}
void Bfs::write(Vertex* depth, Vertex* parent) const { memory_->write(stream_, depth, parent); }

std::vector<Vertex> Bfs::all_depths() const { return on_all(team_, depth()); }
std::vector<Vertex> Bfs::all_parents() const { return on_all(team_, parent()); }

}  // namespace warren::traverse
