// SPDX-License-Identifier: Apache-2.0
#include "warren/api/measure_patterns.hpp"

#include <numeric>

#include <fmt/format.h>

#include "warren/baselines/pattern_bfs.hpp"
#include "warren/core/error.hpp"
#include "warren/exec/managed.hpp"
#include "warren/traverse/bfs.hpp"

#include "api/measured.hpp"

namespace warren::api {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

/// Empty where lists of `bytes` may be in managed memory.
std::string why_not_managed(const exec::Device& device, std::uint64_t bytes) {
  const std::uint64_t room = exec::managed_room(device);
  if (room == 0) return fmt::format("{} has no managed memory", device.name());
  if (bytes <= room) return {};
  return fmt::format("lists of {} where {} has room for {}, half of what it has free",
                     human_bytes(bytes), device.name(), human_bytes(room));
}

/// The patterns of the paper, then warren's traversals.
class PatternRank {
 public:
  PatternRank(team::Team& team, const graph::Shard& shard, const std::vector<Vertex>& sources)
      : team_(team),
        shard_(shard),
        sources_(sources),
        part_(1.0 / static_cast<double>(sources.size())) {
    result_.graph_edges = shard.edges;
    result_.list_bytes = static_cast<double>(shard.edges * sizeof(Vertex));
    result_.page_bytes = kPageBytes;
  }

  [[nodiscard]] PatternsResult run() {
    {
      baselines::PatternBfs bfs(team_, shard_);
      result_.sequential_rate = bfs.sequential_rate();
      pattern(bfs, "strided", baselines::AccessPattern::strided);
      pattern(bfs, "merged", baselines::AccessPattern::merged);
      pattern(bfs, "merged and aligned", baselines::AccessPattern::aligned);
    }
    managed();
    warrens("push in address order", false);
    warrens("direction-optimising", true);
    return std::move(result_);
  }

 private:
  void pattern(baselines::PatternBfs& bfs, const std::string& name,
               baselines::AccessPattern pattern) {
    PatternFigures figures;
    figures.has_requests = true;
    (void)bfs.run(sources_.front(), pattern, false);
    for (const Vertex source : sources_) {
      figures.seconds.push_back(bfs.run(source, pattern, false).seconds);
      const auto counted = bfs.run(source, pattern, true);
      figures.bytes += static_cast<double>(counted.bytes()) * part_;
      for (std::size_t i = 0; i < figures.by_size.size(); ++i)
        figures.by_size[i] += static_cast<double>(counted.requests[i]) * part_;
    }
    add(name, std::move(figures));
  }

  /// The paper's UVM: lists in managed memory, all of them in host memory before each search.
  void managed() {
    result_.left_out = why_not_managed(team_.device(), shard_.edges * sizeof(Vertex));
    if (!result_.left_out.empty()) return;
    baselines::PatternBfs bfs(team_, shard_, baselines::ListMemory::managed);
    PatternFigures figures;
    figures.has_pages = true;
    (void)bfs.run(sources_.front(), baselines::AccessPattern::aligned, false);
    for (const Vertex source : sources_) {
      figures.seconds.push_back(bfs.run(source, baselines::AccessPattern::aligned, false).seconds);
      figures.bytes += static_cast<double>(bfs.bytes_in_blocks(kPageBytes)) * part_;
    }
    add("managed", std::move(figures));
  }

  void warrens(const std::string& name, bool optimizing) {
    traverse::BfsOptions options;
    options.direction_optimizing = optimizing;
    traverse::Bfs bfs(team_, shard_, options);
    PatternFigures figures;
    (void)bfs.run(sources_.front());
    for (const Vertex source : sources_) {
      const auto result = bfs.run(source);
      figures.seconds.push_back(result.seconds);
      figures.bytes += static_cast<double>(result.far_bytes) * part_;
    }
    add(name, std::move(figures));
  }

  void add(const std::string& name, PatternFigures figures) {
    figures.name = name;
    figures.mean_seconds =
        std::accumulate(figures.seconds.begin(), figures.seconds.end(), 0.0) * part_;
    figures.rate = figures.bytes / figures.mean_seconds;
    figures.amplification = figures.bytes / result_.list_bytes;
    figures.requests = std::accumulate(figures.by_size.begin(), figures.by_size.end(), 0.0);
    result_.figures.push_back(std::move(figures));
  }

  team::Team& team_;
  const graph::Shard& shard_;
  const std::vector<Vertex>& sources_;
  const double part_;  ///< Of a mean.
  PatternsResult result_;
};

}  // namespace

PatternsResult measure_patterns(const Graph& graph, const WhereOptions& where,
                                const std::vector<Vertex>& sources) {
  require(!sources.empty(), "sources: got none, expected one or more");
  PatternsResult result;
  on_ranks(graph, where, [&](team::Team& team, const RankPart& part) {
    require(team.size() == 1,
            fmt::format("devices: got {}, expected 1: patterns are of one device", team.size()));
    result = PatternRank(team, part.shard, sources).run();
  });
  return result;
}

}  // namespace warren::api
