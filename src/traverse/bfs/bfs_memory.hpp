// SPDX-License-Identifier: Apache-2.0
// The memory of a breadth-first search, and the state that one starts from: for bfs.cpp, and for
// what begins with a search.
#pragma once

#include <span>
#include <vector>

#include "warren/traverse/bfs.hpp"

#include "traverse/bfs/bfs_run.hpp"
#include "traverse/common/own_values.hpp"
#include "traverse/common/program_memory.hpp"

namespace warren::traverse {

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
    arrays_.update_counts = take(device_, update_counts_, 2 * kMaxRanks);
    if (ranks > 1) arrays_.send_buffer = take(device_, send_buffer_, n);
    if (shard.has_in() && own > 0) {
      const std::uint64_t words =
          (std::uint64_t{shard.out.first} + own - 1) / kWordBits + 1 - shard.out.first / kWordBits;
      arrays_.zero_in_degree = take(device_, zero_in_degree_, words);
      exec::with_backend(device_, [&](auto backend) {
        BfsRun<decltype(backend)>::find_zero_in_degree(stream, shard.in, words,
                                                       zero_in_degree_.data());
      });
    }
    if (shard.edges_placement != graph::EdgesPlacement::device)
      arrays_.chunks = graph::make_edge_chunks(stream, shard.out, chunk_rows_);
    arrays_.is_symmetric = shard.is_symmetric;
    const auto rank = static_cast<std::size_t>(team.rank());
    windows_.share(team, bitmap_[1], arrays_.next_of);
    windows_.share(team, send_buffer_, arrays_.send_buffer_of, shard.cuts[rank],
                   shard.cuts[rank + 1]);
    windows_.share(team, update_counts_, arrays_.update_counts_of);
    stream.synchronize();
  }

  /// What the constructor takes of this rank's device, in bytes, about.
  [[nodiscard]] static std::uint64_t bytes(const team::Team& team, const graph::Shard& shard) {
    const std::uint64_t own = shard.out.count;
    const std::uint64_t ranks = static_cast<std::uint64_t>(team.size());
    const std::uint64_t queue = queue_capacity(own, shard.edges / ranks);
    return own * sizeof(Visit) + 2 * queue * sizeof(QueueEntry) +
           3 * bitmap_words(shard.vertices) * sizeof(BitmapWord) +
           (ranks > 1 ? shard.vertices * sizeof(QueueEntry) : 0);
  }

  [[nodiscard]] const BfsArrays& arrays() const { return arrays_; }
  /// Of own vertices.
  [[nodiscard]] memory::Buffer<Visit>& visits() { return visit_; }
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

 private:
  template <class T>
  const T* put(const exec::Stream& stream, memory::Buffer<T>& buffer, std::span<const T> values) {
    if (buffer.size() < values.size()) buffer = memory::Buffer<T>(device_, values.size());
    buffer.upload(stream, values);
    stream.synchronize();
    return buffer.data();
  }

  exec::Device device_;
  BfsArrays arrays_;
  memory::Buffer<Vertex> chunk_rows_;
  memory::Buffer<Visit> visit_;
  memory::Buffer<Vertex> sources_, targets_;
  memory::Buffer<BitmapWord> seen_, zero_in_degree_, bitmap_[2], is_target_;
  memory::Buffer<QueueEntry> queue_[2], send_buffer_;
  memory::Buffer<std::uint64_t> queue_count_, update_counts_;
  ProgramWindows windows_;
};

/// The state that a search of the shard starts from, without limits.
[[nodiscard]] inline BfsState bfs_start(const team::Team& team, const graph::Shard& shard,
                                        const BfsOptions& options) {
  BfsState initial;
  initial.ranks = static_cast<std::uint32_t>(team.size());
  initial.may_pull = options.direction_optimizing && shard.has_in();
  initial.may_go_by_address = shard.edges_placement != graph::EdgesPlacement::device;
  initial.alpha = options.alpha;
  initial.beta = options.beta;
  initial.vertices = shard.vertices;
  initial.unexplored_edges = shard.edges;
  return initial;
}

}  // namespace warren::traverse
