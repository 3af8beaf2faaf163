// SPDX-License-Identifier: Apache-2.0
#include "warren/sparse/exchange.hpp"

#include <algorithm>
#include <atomic>

#include "warren/core/error.hpp"

#include "sparse/row_moves.hpp"

namespace warren::sparse {
namespace {

constexpr std::uint64_t kExchangeGrain = std::uint64_t{1} << 10;

/// Entries in columns of other workgroups.
std::uint64_t far_entries(const Rows& rows, const Workgroup& group, exec::ThreadPool& pool) {
  std::atomic<std::uint64_t> count{0};
  if (group.is_team) return 0;
  pool.parallel_for(0, rows.entries(), kExchangeGrain, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t mine = 0;
    for (std::uint64_t e = begin; e < end; ++e) mine += group.has_row(rows.columns[e]) ? 0 : 1;
    count.fetch_add(mine, std::memory_order_relaxed);
  });
  return count.load();
}

}  // namespace

Exchange::Exchange(team::Team& team, const Rows& rows) {
  exec::ThreadPool& pool = team.device().pool();
  const auto ranks = static_cast<std::size_t>(team.size());
  require(rows.cuts.size() == ranks + 1, "an exchange needs the team's cuts");
  const std::uint64_t last = rows.first + rows.count;
  place_.assign(rows.cuts.back(), 0);
  std::atomic<std::uint64_t> remote{0};
  pool.parallel_for(0, rows.count, kExchangeGrain, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t mine = 0;
    for (EdgeOffset e = rows.begin(begin); e < rows.end(end - 1); ++e) {
      const Vertex column = rows.columns[e];
      if (column >= rows.first && column < last) continue;
      ++mine;
      const std::atomic_ref<std::uint32_t> mark(place_[column]);
      if (mark.load(std::memory_order_relaxed) == 0) mark.store(1, std::memory_order_relaxed);
    }
    remote.fetch_add(mine, std::memory_order_relaxed);
  });
  remote_entries_ = remote.load();
  for (std::size_t q = 0; q < ranks; ++q) {
    halo_begin_.push_back(halo_.size());
    for (std::uint64_t v = rows.cuts[q]; v < rows.cuts[q + 1]; ++v) {
      if (place_[v] == 0) continue;
      place_[v] = static_cast<std::uint32_t>(halo_.size());
      halo_.push_back(static_cast<Vertex>(v));
    }
  }
  halo_begin_.push_back(halo_.size());
}

std::span<const Vertex> Exchange::halo_of(int q) const {
  const auto i = static_cast<std::size_t>(q);
  return std::span<const Vertex>(halo_).subspan(halo_begin_[i],
                                                halo_begin_[i + 1] - halo_begin_[i]);
}

std::uint64_t Exchange::place(Vertex column) const { return place_[column]; }

Volumes Exchange::volumes(team::Team& team, const Rows& rows, int workgroup,
                          bool with_cover) const {
  graph::check_workgroup(workgroup, team.size());
  const auto ranks = static_cast<std::uint64_t>(team.size());
  const Workgroup group(team, rows, workgroup);
  graph::MovedRows mine;
  graph::MovedRows between;
  // Each owner is told who needs its rows, and counts them.
  std::vector<std::vector<Vertex>> needed;
  for (int q = 0; q < team.size(); ++q) {
    const auto part = halo_of(q);
    needed.emplace_back(part.begin(), part.end());
  }
  std::vector<std::uint32_t> needing(rows.count, 0);
  const auto wanted = team.all_to_all_v(needed);
  for (std::size_t q = 0; q < wanted.size(); ++q) {
    for (const Vertex v : wanted[q]) needing[v - rows.first] |= 1u << q;
  }
  static_assert(kMaxRanks <= 32);
  for (const std::uint32_t& set : needing)
    graph::count_row(team.rank(), {&set, 1}, workgroup, mine, between);
  mine.per_edge = remote_entries_;
  between.per_edge = far_entries(rows, group, team.device().pool());
  mine.broadcast = rows.count * (ranks - 1);
  between.broadcast = rows.count * (ranks - static_cast<std::uint64_t>(workgroup));
  if (with_cover) {
    const auto& covers = rows.covers(team.device().pool());
    for (int q = 0; q < team.size(); ++q) {
      const std::uint64_t size = covers[static_cast<std::size_t>(q)].size;
      mine.cover += size;
      if (!group.has_rank(q)) between.cover += size;
    }
  }
  std::uint64_t sums[] = {mine.broadcast, mine.per_edge,     mine.once,        mine.fused,
                          mine.cover,     between.broadcast, between.per_edge, between.once,
                          between.fused,  between.cover};
  team.sum(sums);
  return {{sums[0], sums[1], sums[2], sums[3], sums[4]},
          {sums[5], sums[6], sums[7], sums[8], sums[9]}};
}

}  // namespace warren::sparse
