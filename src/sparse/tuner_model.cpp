// SPDX-License-Identifier: Apache-2.0
// The tuner's model: bytes over measured bandwidths, for the fullest rank.
#include <algorithm>
#include <limits>

#include "warren/sparse/tuner.hpp"

namespace warren::sparse {
namespace {

/// Covers are looked for where that takes ten seconds or less, by what it took for kron:22 on 4
/// ranks: 0.9 s for the 24 million entries of a rank in others' columns, beside the two seconds
/// that each try's preparation takes.
constexpr double kSecondsToCover = 4e-8;
constexpr double kMostSecondsToCover = 10.0;

/// Rows from the ranks of the same workgroup, and from others.
struct Arrivals {
  double near = 0, far = 0;
};

/// What a rank's time follows from.
struct RankLoad {
  double own_entries = 0, remote_entries = 0, rows = 0;
  Arrivals others, halo;
};

struct Model {
  double row_bytes = 0, memory = 0, near_link = 0, far_link = 0;  // Bytes a second.
  double ranks = 0, phases = 0;
  double far_part = 0;    // Of entries in others' columns, those in other workgroups' columns.
  Arrivals fused, cover;  // A rank's, of the volumes.

  [[nodiscard]] double multiply(double entries, double rows) const {
    return (entries * (row_bytes + 4) + rows * 2 * row_bytes) / memory;
  }
  [[nodiscard]] double move(const Arrivals& rows) const {
    return row_bytes * (rows.near / near_link + rows.far / far_link);
  }
};

/// The own group's rows, and the first of the phases' rows, arrive while own columns are
/// multiplied; each further phase's rows while the one before is, after what of it is copied
/// within the group.
double time_of_fused(const RankLoad& a, const Model& m) {
  const double far = m.move({0, m.fused.far});
  const double first = m.move({a.halo.near, 0}) + far / m.phases;
  const double copies = m.move({std::max(0.0, m.fused.near - a.halo.near), 0});
  return std::max(m.multiply(a.own_entries, a.rows), first) +
         std::max(copies + m.multiply(a.remote_entries, a.rows), far * (m.phases - 1) / m.phases);
}

double time_of(Strategy strategy, const RankLoad& a, const Model& m) {
  const double own = m.multiply(a.own_entries, a.rows);
  const double remote = m.multiply(a.remote_entries, a.rows);
  const double passes = m.multiply(0, a.rows) * (m.ranks - 1);
  const Arrivals reads{a.remote_entries * (1 - m.far_part), a.remote_entries * m.far_part};
  switch (strategy) {
    case Strategy::broadcast:
      return own + remote + passes + m.move(a.others);
    case Strategy::broadcast_pipelined:
      return std::max(own + remote + passes, m.move(a.others));
    case Strategy::pull:
      return std::max(own + remote, m.move(reads)) + 2 * m.multiply(0, a.rows);
    case Strategy::once:
    case Strategy::staged:
      return std::max(own, m.move(a.halo)) + remote;
    case Strategy::fused:
      return time_of_fused(a, m);
    case Strategy::cover:
      return std::max(own, m.move(m.cover)) + remote;
  }
  return 0.0;
}

std::uint64_t rows_of(Strategy strategy, const graph::MovedRows& moved) {
  switch (strategy) {
    case Strategy::broadcast:
    case Strategy::broadcast_pipelined:
      return moved.broadcast;
    case Strategy::pull:
      return moved.per_edge;
    case Strategy::once:
    case Strategy::staged:
      return moved.once;
    case Strategy::fused:
      return moved.fused;
    case Strategy::cover:
      return moved.cover;
  }
  return 0;
}

RankLoad load_of(const team::Team& team, const Rows& rows, const Exchange& exchange, int group) {
  RankLoad mine;
  mine.remote_entries = static_cast<double>(exchange.remote_entries());
  mine.own_entries = static_cast<double>(rows.entries()) - mine.remote_entries;
  mine.rows = static_cast<double>(rows.count);
  const int leader = team.rank() / group * group;
  const auto first = static_cast<std::size_t>(leader);
  const auto last = first + static_cast<std::size_t>(group);
  const auto part = [&](const std::vector<std::uint64_t>& begins, double own) {
    const auto near = static_cast<double>(begins[last] - begins[first]);
    return Arrivals{near - own, static_cast<double>(begins.back()) - near};
  };
  mine.others = part(rows.cuts, mine.rows);
  mine.halo = part(exchange.halo_begin(), 0);
  return mine;
}

/// Of two ranks of one workgroup, or of two, the slowest link's bytes a second; 0 without one.
double slowest(const team::Links& links, int group, bool is_far) {
  double least = std::numeric_limits<double>::infinity();
  for (int a = 0; a < links.size(); ++a) {
    for (int b = 0; b < links.size(); ++b) {
      if (a != b && (a / group != b / group) == is_far)
        least = std::min(least, links.between(a, b).gigabytes_per_second);
    }
  }
  return least == std::numeric_limits<double>::infinity() ? 0.0 : std::max(1e-3, least) * 1e9;
}

Model model_of(const team::Links& links, int group, double row_bytes, const Volumes& volumes) {
  Model model;
  model.row_bytes = row_bytes;
  model.memory = 2e9 * std::max(1e-3, links.between(0, 0).gigabytes_per_second);
  model.near_link = slowest(links, group, false);
  model.far_link = slowest(links, group, true);
  // Where there are no such ranks, nothing moves between them.
  if (model.near_link == 0.0) model.near_link = model.memory;
  if (model.far_link == 0.0) model.far_link = model.near_link;
  model.ranks = static_cast<double>(links.size());
  model.phases = std::max(1.0, model.ranks / group - 1);
  const auto& [moved, between] = volumes;
  if (moved.per_edge > 0)
    model.far_part = static_cast<double>(between.per_edge) / static_cast<double>(moved.per_edge);
  const auto mean = [&](std::uint64_t all, std::uint64_t far) {
    return Arrivals{static_cast<double>(all - far) / model.ranks,
                    static_cast<double>(far) / model.ranks};
  };
  model.fused = mean(moved.fused, between.fused);
  model.cover = mean(moved.cover, between.cover);
  return model;
}

}  // namespace

int workgroup_of(const team::Links& links) {
  const auto groups = links.workgroups();
  const std::size_t size = groups.front().size();
  if (size == 1 || groups.size() == 1) return 0;
  int next = 0;
  for (const std::vector<int>& members : groups) {
    if (members.size() != size) return 0;
    for (const int rank : members) {
      if (rank != next++) return 0;
    }
  }
  return static_cast<int>(size);
}

std::vector<Candidate> predict(team::Team& team, const Rows& rows, std::uint64_t k,
                               std::uint64_t element_bytes, const team::Links& links,
                               int workgroup) {
  const int group = workgroup == 0 ? team.size() : workgroup;
  const Exchange exchange(team, rows);
  const std::vector<RankLoad> loads = team.all_gather(load_of(team, rows, exchange, group));
  double most_remote = 0;
  for (const RankLoad& load : loads) most_remote = std::max(most_remote, load.remote_entries);
  const bool with_cover = most_remote * kSecondsToCover <= kMostSecondsToCover;
  const Volumes volumes = exchange.volumes(team, rows, group, with_cover);
  const Model model =
      model_of(links, group, static_cast<double>(k) * static_cast<double>(element_bytes), volumes);
  std::vector<Candidate> all;
  for (const Strategy strategy : all_strategies()) {
    if (strategy == Strategy::once) continue;
    if (strategy == Strategy::cover && !with_cover) continue;
    Candidate candidate;
    candidate.options.strategy = strategy;
    candidate.options.workgroup = workgroup;
    candidate.rows_moved = rows_of(strategy, volumes.moved);
    for (const RankLoad& load : loads) {
      candidate.predicted_seconds =
          std::max(candidate.predicted_seconds, time_of(strategy, load, model));
    }
    all.push_back(candidate);
  }
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.predicted_seconds < b.predicted_seconds;
  });
  return all;
}

}  // namespace warren::sparse
