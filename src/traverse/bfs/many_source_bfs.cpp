// SPDX-License-Identifier: Apache-2.0
// The host side of BFS from many sources.
#include "warren/traverse/many_source_bfs.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "warren/core/trace.hpp"

#include "traverse/bfs/many_source_bfs_program.hpp"

namespace warren::traverse {

static_assert(ManySourceBfs::kMaxSources == ManySourceBfsArrays::kMaxSources);

class ManySourceBfsMemory {
 public:
  ManySourceBfsMemory(team::Team& team, const graph::Shard& shard, const exec::Stream& stream)
      : seen_(team.device(), shard.in.count),
        counts_(team.device(), 1),
        found_{memory::GlobalArray<SourceMask>(team, shard.cuts, 1, memory::Placement::replicated,
                                               memory::Reach::published),
               memory::GlobalArray<SourceMask>(team, shard.cuts, 1, memory::Placement::replicated,
                                               memory::Reach::published)} {
    arrays_.in = shard.in;
    arrays_.packed = shard.packed_in;
    if (team.device().is_cuda() && shard.edges_placement != graph::EdgesPlacement::compressed_host)
      arrays_.classes =
          classify_rows(stream, shard.in, RowClasses::bounds(shard.edges_placement), class_rows_);
    for (std::size_t i = 0; i < 2; ++i) arrays_.found[i] = found_[i].view();
    arrays_.seen = seen_.data();
    arrays_.counts = counts_.data();
  }
  [[nodiscard]] const ManySourceBfsArrays& arrays() const { return arrays_; }
  [[nodiscard]] ManySourceBfsArrays::Counts counts(const exec::Stream& stream) const {
    return counts_.to_host(stream).front();
  }

 private:
  ManySourceBfsArrays arrays_;
  memory::Buffer<SourceMask> seen_;
  memory::Buffer<ManySourceBfsArrays::Counts> counts_;
  memory::Buffer<Vertex> class_rows_;
  memory::GlobalArray<SourceMask> found_[2];
};

ManySourceBfs::ManySourceBfs(team::Team& team, const graph::Shard& shard)
    : team_(team), shard_(shard), stream_(team.device()) {
  require(shard.has_in() || shard.vertices == 0,
          "BFS from many sources needs a shard with in-edges");
  memory_ = std::make_unique<ManySourceBfsMemory>(team, shard, stream_);
}

ManySourceBfs::~ManySourceBfs() = default;

ManySourceBfsResult ManySourceBfs::run(std::span<const Vertex> sources) {
  require(!sources.empty() && sources.size() <= kMaxSources,
          fmt::format("{} sources: one pass takes from 1 to {}", sources.size(), kMaxSources));
  ManySourceBfsArrays arrays = memory_->arrays();
  arrays.sources = static_cast<std::uint32_t>(sources.size());
  for (std::size_t s = 0; s < sources.size(); ++s) {
    require(sources[s] < shard_.vertices,
            fmt::format("source {} is no vertex: the graph has {} vertices, numbered from 0",
                        sources[s], shard_.vertices));
    arrays.source[s] = sources[s];
    arrays.all |= SourceMask{1} << s;
  }
  team_.barrier();
  ManySourceBfsResult result;
  exec::with_backend(team_.device(), [&](auto backend) {
    using Backend = decltype(backend);
    const double begin = now_seconds();
    if (shard_.edges_placement == graph::EdgesPlacement::compressed_host) {
      ManySourceBfsRun<Backend, true>::run(team_, stream_, {arrays});
    } else {
      ManySourceBfsRun<Backend, false>::run(team_, stream_, {arrays});
    }
    const double end = now_seconds();
    result.seconds = end - begin;
    trace_span("bfs from many sources", team_.rank(), begin, end,
               fmt::format("{{\"sources\":{}}}", sources.size()));
  });
  const auto all = team_.all_gather(memory_->counts(stream_));
  for (std::size_t s = 0; s < sources.size(); ++s) {
    SourceReach reach{sources[s], 0, 0, 0};
    for (const auto& counts : all) {
      reach.reached += counts.reached[s];
      reach.sum_depth += counts.sum_depth[s];
      if (counts.has_depth[s] > 0)
        reach.max_depth =
            std::max(reach.max_depth, static_cast<std::uint32_t>(counts.has_depth[s] - 1));
    }
    result.sources.push_back(reach);
  }
  return result;
}

}  // namespace warren::traverse
