// SPDX-License-Identifier: Apache-2.0
// The host side of BFS by access pattern.
#include "warren/baselines/pattern_bfs.hpp"

#include <fmt/format.h>

#include "warren/core/trace.hpp"
#include "warren/memory/buffer.hpp"
#include "warren/memory/managed_buffer.hpp"

#include "baselines/pattern_bfs_program.hpp"

namespace warren::baselines {

class PatternBfsMemory {
 public:
  PatternBfsMemory(const exec::Device& device, Vertex vertices) : depth(device, vertices) {}
  memory::Buffer<Vertex> depth;
  memory::ManagedBuffer<Vertex> lists;  ///< Of ListMemory::managed.
};

namespace {

/// A copy of all lists, on the whole pages that they fill.
memory::ManagedBuffer<Vertex> managed_lists(const exec::Stream& stream, const graph::Shard& shard) {
  memory::ManagedBuffer<Vertex> lists(stream.device(), shard.edges, memory::ManagedPages::copy);
  exec::copy(stream, lists.data(), shard.out.targets, lists.bytes());
  stream.synchronize();
  return lists;
}

}  // namespace

PatternBfs::PatternBfs(team::Team& team, const graph::Shard& shard, ListMemory lists)
    : team_(team), shard_(shard), out_(shard.out), stream_(team.device()) {
  require(team.size() == 1, "access patterns are compared on one rank");
  graph::require_plain_lists(shard, "access patterns");
  memory_ = std::make_unique<PatternBfsMemory>(team.device(), shard.out.count);
  if (lists == ListMemory::managed) {
    memory_->lists = managed_lists(stream_, shard);
    out_.targets = memory_->lists.data();
    out_.cached_end = 0;
  }
}

PatternBfs::~PatternBfs() = default;

PatternBfsResult PatternBfs::run(Vertex source, AccessPattern pattern, bool counts) {
  require(source < shard_.vertices,
          fmt::format("source {} is no vertex: the graph has {} vertices, numbered from 0", source,
                      shard_.vertices));
  PatternBfsResult result;
  if (memory_->lists.size() > 0) memory_->lists.return_to_host(stream_);
  exec::with_backend(team_.device(), [&](auto backend) {
    const double begin = now_seconds();
    const PatternBfsState last = PatternBfsRun<decltype(backend)>::run(
        team_, stream_, pattern, counts, out_, memory_->depth.data(), source);
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

std::uint64_t PatternBfs::bytes_in_blocks(std::uint64_t block) const {
  require(block > 0, "blocks of memory have at least a byte");
  const std::vector<Vertex> depths = depth();
  std::vector<EdgeOffset> offsets(std::uint64_t{out_.count} + 1);
  exec::copy(stream_, offsets.data(), out_.offsets, offsets.size() * sizeof(EdgeOffset));
  stream_.synchronize();
  std::uint64_t blocks = 0;
  std::uint64_t next = 0;  // The first block that is not counted yet.
  for (Vertex row = 0; row < out_.count; ++row) {
    const bool is_read = depths[row] != kNoVertex && offsets[row] < offsets[row + 1];
    if (!is_read || offsets[row] < out_.cached_end) continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(out_.list(offsets[row]));
    const std::uint64_t bytes = (offsets[row + 1] - offsets[row]) * sizeof(Vertex);
    const std::uint64_t end = (begin + bytes - 1) / block + 1;
    const std::uint64_t first = begin / block < next ? next : begin / block;
    blocks += end > first ? end - first : 0;
    next = end;
  }
  return blocks * block;
}

}  // namespace warren::baselines
