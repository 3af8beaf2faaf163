// SPDX-License-Identifier: Apache-2.0
// Attention's walk where several lanes have columns of one head: each of them makes the weight of
// an entry of its own, and all take it from there. A weight is some thirty instructions, which each
// lane would otherwise do for every entry.
#pragma once

#include <bit>
#include <cmath>

#include "learn/attention/gat/attention_walk_parts.hpp"

namespace warren::learn::detail {

/// The entries of a task whose weights a lane makes: every so many-th. The next one's numbers are
/// on their way while others are used.
/// kIsWhole: all columns are this rank's own ones, and are stored.
template <class Side, bool kIsWhole = false>
class OwnEntries {
 public:
  WARREN_HD OwnEntries(const AttentionJob<Side>& job, const sparse::SpmmTask& task,
                       std::uint32_t head, std::uint32_t first)
      : job_(job),
        task_(task),
        head_(head),
        total_(static_cast<std::uint32_t>(task.end - task.begin)),
        rows_(job.a.offsets, task),
        row_(job.side.row(task.row, head)) {
    if (total_ == 0) return;
    find(first);
    load();
  }
  [[nodiscard]] WARREN_HD Vertex column() const { return column_; }
  /// Of the entry last weighed, of the task's rows; a piece's is 0.
  [[nodiscard]] WARREN_HD std::uint32_t row() const { return rows_.row(); }
  /// Looks up the column of entry i, or of the last one.
  WARREN_HD void find(std::uint32_t i) {
    const std::uint64_t e = task_.begin + sparse::detail::entry_or_last(i, total_);
    if constexpr (kIsWhole) {
      column_ = job_.a.column_ids[e];
    } else {
      column_ = static_cast<Vertex>(job_.a.column(e));
    }
  }
  /// Reads that column's numbers.
  WARREN_HD void load() {
    if constexpr (kIsWhole) {
      entry_ = job_.side.own_entry(column_, head_);
    } else {
      entry_ = job_.side.entry(column_, head_);
    }
  }
  /// Of entry i, whose numbers were read; nothing behind the last.
  [[nodiscard]] WARREN_HD EdgeWeight weigh(std::uint32_t i) {
    if (i >= total_) return {0.0f, 0.0f, false};
    if (i >= rows_.end()) {
      while (i >= rows_.end()) rows_.advance();
      row_ = job_.side.row(std::uint64_t{task_.row} + rows_.row(), head_);
    }
    return job_.side.weigh(row_, entry_, head_);
  }

 private:
  const AttentionJob<Side>& job_;
  const sparse::SpmmTask& task_;
  std::uint32_t head_, total_;
  sparse::detail::TileRows rows_;
  typename Side::Row row_;
  typename Side::Entry entry_{};
  Vertex column_ = 0;
};

/// Weight and term with the logit's sign, as lanes hand them to each other: weights, and powers,
/// are not negative.
template <class Side>
struct SignedWeight {
  float weight, term;

  WARREN_HD explicit SignedWeight(const EdgeWeight& edge)
      : weight(edge.is_positive ? edge.weight : -edge.weight),
        term(Side::kHasSecond && !edge.is_positive ? -edge.term : edge.term) {}
  template <class W>
  [[nodiscard]] WARREN_HD EdgeWeight of(const W& worker, std::uint32_t lane) const {
    const float w = worker.broadcast(weight, lane);
    const float t = worker.broadcast(term, lane);
    // A dropped edge's weight is 0, but its power counts.
    if constexpr (Side::kHasSecond) return {fabsf(w), fabsf(t), t > 0.0f};
    return {fabsf(w), t, w > 0.0f};
  }
};

/// Task `index % tasks` in column tile `index / tasks`. `together`: how many neighbouring lanes
/// have columns of one head, a power of two, 4 or more.
template <class Side, std::uint32_t N, bool kIsWhole>
struct AttentionSharedWalk {
  static constexpr std::uint32_t kInFlight = 4;
  static constexpr std::uint32_t kMostThreads = 768;
  AttentionJob<Side> job;
  std::uint32_t together;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t index) const {
    const sparse::SpmmTask task = job.tasks[index % job.task_count];
    const std::uint64_t column = (index / job.task_count * worker.size() + worker.lane()) * N;
    // Lanes behind the last column make weights, too.
    const bool is_active = column < job.k;
    const AttentionLane<Side, N> lane(job, column);
    const std::uint32_t group = worker.lane() / together * together;
    const auto* const x = job.template origin<kIsWhole>() + (is_active ? column : 0);
    const auto stride = static_cast<std::uint32_t>(job.x.stride);
    const auto total = static_cast<std::uint32_t>(task.end - task.begin);
    OwnEntries<Side> own(job, task, lane.head, worker.lane() - group);
    sparse::detail::TileRows rows(job.a.offsets, task);
    AttentionSums<N> sums;
    const auto next = [&] {
      if (is_active) lane.template finish<kIsWhole>(std::uint64_t{task.row} + rows.row(), sums);
      sums = {};
      rows.advance();
    };
    for (std::uint32_t i = 0; i < total; i += together) {
      const SignedWeight<Side> mine(own.weigh(i + worker.lane() - group));
      const Vertex to = own.column();
      own.find(i + together + worker.lane() - group);
      for (std::uint32_t e = 0; e < together && i + e < total; e += kInFlight) {
        Pack<typename Side::Element, N> values[kInFlight];
        WARREN_UNROLL
        for (std::uint32_t u = 0; u < kInFlight; ++u)
          values[u] = load_pack<N>(x + std::uint64_t{worker.broadcast(to, group + e + u)} * stride);
        if (e == 0) own.load();
        const bool is_within = i + e + kInFlight <= total && i + e + kInFlight <= rows.end();
        WARREN_UNROLL
        for (std::uint32_t u = 0; u < kInFlight; ++u) {
          if (!is_within) {
            if (i + e + u >= total) break;
            while (i + e + u >= rows.end()) next();
          }
          lane.add(mine.of(worker, group + e + u), values[u], sums);
        }
      }
    }
    if (task.partial == sparse::SpmmTask::kWhole) {
      while (rows.row() < task.rows) next();
    } else if (is_active) {
      lane.store(task.partial, sums);
    }
  }
};

/// How many of `lanes` lanes with N columns each can share weights; 0 where too few have columns of
/// one head.
template <class Side>
[[nodiscard]] std::uint32_t lanes_of_a_head(const AttentionJob<Side>& job, std::uint32_t lanes,
                                            std::uint32_t n) {
  constexpr std::uint64_t kFewest = 4;
  if (job.heads > 1 && job.width % n != 0) return 0;
  const std::uint64_t together =
      job.heads == 1 ? lanes : std::min<std::uint64_t>(job.width / n, lanes);
  return std::has_single_bit(together) && together >= kFewest ? static_cast<std::uint32_t>(together)
                                                              : 0;
}

}  // namespace warren::learn::detail
