// SPDX-License-Identifier: Apache-2.0
// The host side of BFS by access pattern.
#include "warren/traverse/pattern_bfs.hpp"

#include <fmt/format.h>

#include "warren/core/trace.hpp"
#include "warren/memory/buffer.hpp"

#include "traverse/pattern_bfs_program.hpp"

namespace warren::traverse {

class PatternBfsMemory {
 public:
  PatternBfsMemory(const exec::Device& device, Vertex vertices) : depth(device, vertices) {}
  memory::Buffer<Vertex> depth;
};

PatternBfs::PatternBfs(team::Team& team, const graph::Shard& shard)
    : team_(team), shard_(shard), stream_(team.device()) {
  require(team.size() == 1, "access patterns are compared on one rank");
  graph::require_plain_lists(shard, "access patterns");
  memory_ = std::make_unique<PatternBfsMemory>(team.device(), shard.out.count);
}

PatternBfs::~PatternBfs() = default;

PatternBfsResult PatternBfs::run(Vertex source, AccessPattern pattern, bool counts) {
  require(source < shard_.vertices,
          fmt::format("source {} is no vertex: the graph has {} vertices, numbered from 0", source,
                      shard_.vertices));
  PatternBfsResult result;
  exec::with_backend(team_.device(), [&](auto backend) {
    const double begin = now_seconds();
    const PatternBfsState last = PatternBfsRun<decltype(backend)>::run(
        team_, stream_, pattern, counts, shard_.out, memory_->depth.data(), source);
    result.seconds = now_seconds() - begin;
    result.reached = last.reached;
    result.max_depth = last.level;
    for (std::size_t i = 0; i < result.requests.size(); ++i) result.requests[i] = last.requests[i];
  });
  return result;
}

double PatternBfs::sequential_rate() {
  const std::uint64_t quads = shard_.edges / 4;
  if (quads == 0) return 0.0;
  SequentialRead program{reinterpret_cast<const SequentialRead::Quad*>(shard_.out.targets), quads};
  double best = 0.0;
  exec::with_backend(team_.device(), [&](auto backend) {
    for (int run = 0; run < 3; ++run) {
      const double begin = now_seconds();
      PatternBfsRun<decltype(backend)>::read(team_, stream_, program);
      const double rate =
          static_cast<double>(quads * sizeof(SequentialRead::Quad)) / (now_seconds() - begin);
      best = rate > best ? rate : best;
    }
  });
  return best;
}

std::vector<Vertex> PatternBfs::depth() const { return memory_->depth.to_host(stream_); }

}  // namespace warren::traverse
