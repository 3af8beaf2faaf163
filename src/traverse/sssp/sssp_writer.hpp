// SPDX-License-Identifier: Apache-2.0
// Appending to the queues of SSSP: the window's bins, the far vertices, the current bin's next
// step, and the updates for other ranks. The lanes of a warp put vertices for several queues at
// once; they are gathered in scratch, and a full warp of them looks up their degrees and reserves
// room together.
#pragma once

#include "traverse/common/frontier_queue.hpp"
#include "traverse/sssp/sssp_state.hpp"
#include "traverse/sssp/sssp_updates.hpp"

namespace warren::traverse {

/// The queues by number: the bins first.
inline constexpr std::uint32_t kFarQueue = kSsspBins;
inline constexpr std::uint32_t kAgainQueue = kSsspBins + 1;
inline constexpr std::uint32_t kRemoteQueue = kSsspBins + 2;
inline constexpr std::uint32_t kSsspQueues = kSsspBins + 3;
inline constexpr std::uint32_t kNoQueue = kSsspQueues;

/// The queues as a step writes them.
struct SsspTargets {
  const EdgeOffset* offsets;  ///< Of own rows.
  Vertex first;
  QueueEntry* bins;  ///< kSsspBins times `capacity`.
  std::uint64_t capacity;
  std::uint64_t* bin_counts;
  QueueEntry* far;
  std::uint64_t* far_count;
  QueueEntry* again;
  std::uint64_t* again_count;
  SsspSendBuffer send_buffer;

  [[nodiscard]] WARREN_HD QueueEntry* entries(std::uint32_t queue) const {
    if (queue < kSsspBins) return bins + queue * capacity;
    return queue == kFarQueue ? far : again;
  }
  [[nodiscard]] WARREN_HD std::uint64_t& count(std::uint32_t queue) const {
    if (queue < kSsspBins) return bin_counts[queue];
    return queue == kFarQueue ? *far_count : *again_count;
  }
  /// Entries that a vertex takes: none without out-edges, one among the far ones.
  [[nodiscard]] WARREN_HD std::uint32_t entries_of(std::uint32_t queue, Vertex vertex) const {
    const std::uint64_t row = vertex - first;
    const std::uint32_t pieces = pieces_of(offsets[row + 1] - offsets[row]);
    return queue == kFarQueue && pieces > 1 ? 1 : pieces;
  }
};

/// Entries put, by what the control asks about.
struct SsspPut {
  std::uint64_t binned = 0;
  std::uint64_t again = 0;
  std::uint64_t far = 0;
  std::uint64_t sent = 0;
  WARREN_HD void add(std::uint32_t queue, std::uint64_t entries) {
    if (queue < kSsspBins) {
      binned += entries;
    } else if (queue == kFarQueue) {
      far += entries;
    } else if (queue == kRemoteQueue) {
      sent += entries;
    } else {
      again += entries;
    }
  }
};

/// What one warp gathers.
struct SsspStage {
  static constexpr std::uint32_t kHeld = 64;
  struct Entry {
    Vertex vertex;
    std::uint32_t queue;
  };
  Entry entry[kHeld];
};

template <class W>
class SsspWriter {
 public:
  WARREN_HD SsspWriter(const SsspTargets& targets, SsspStage& stage)
      : targets_(targets), stage_(stage) {}

  /// Every lane of `worker` calls; those with kNoQueue add nothing.
  WARREN_HD void put(const W& worker, Vertex vertex, std::uint32_t queue) {
    const bool has = queue != kNoQueue;
    const std::uint32_t many = worker.count(has);
    if (many == 0) return;
    const std::uint32_t before = worker.exclusive_scan(has ? 1u : 0u);
    if (has) stage_.entry[held_ + before] = {vertex, queue};
    held_ += many;
    worker.sync();
    if (held_ >= worker.size()) flush(worker, worker.size());
  }
  WARREN_HD void finish(const W& worker) {
    if (held_ > 0) flush(worker, held_);
  }
  [[nodiscard]] WARREN_HD const SsspPut& have_put() const { return have_put_; }

 private:
  /// The last `many` vertices, at most one a lane.
  WARREN_HD void flush(const W& worker, std::uint32_t many) {
    held_ -= many;
    std::uint32_t queue = kNoQueue;
    Vertex vertex = 0;
    std::uint32_t entries = 0;
    if (worker.lane() < many) {
      queue = stage_.entry[held_ + worker.lane()].queue;
      vertex = stage_.entry[held_ + worker.lane()].vertex;
      entries = queue == kRemoteQueue ? 1 : targets_.entries_of(queue, vertex);
    }
    worker.sync();
    if (entries == 0) queue = kNoQueue;
    for (std::uint32_t next = worker.reduce(queue, exec::Minimum{}); next != kNoQueue;
         next = worker.reduce(queue, exec::Minimum{})) {
      const bool mine = queue == next;
      if (next == kRemoteQueue) {
        targets_.send_buffer.put(worker, mine, vertex);
        have_put_.add(queue, mine ? 1 : 0);
      } else {
        append(worker, next, vertex, mine ? entries : 0);
      }
      if (mine) queue = kNoQueue;
    }
  }

  WARREN_HD void append(const W& worker, std::uint32_t queue, Vertex vertex,
                        std::uint32_t entries) {
    const std::uint32_t before = worker.exclusive_scan(entries);
    std::uint64_t base = 0;
    if (worker.lane() == worker.size() - 1)
      base = exec::atomic_add(targets_.count(queue), std::uint64_t{before} + entries);
    base = worker.broadcast(base, worker.size() - 1) + before;
    QueueEntry* list = targets_.entries(queue) + base;
    WARREN_ROLLED
    for (std::uint32_t p = 0; p < entries; ++p) list[p] = {vertex, p};
    have_put_.add(queue, entries);
  }

  const SsspTargets& targets_;
  SsspStage& stage_;
  std::uint32_t held_ = 0;
  SsspPut have_put_;
};

/// A CPU thread gathers entries of its own for every queue and reserves room for many at once.
template <>
class SsspWriter<exec::Serial> {
 public:
  SsspWriter(const SsspTargets& targets, SsspStage&) : targets_(targets) {}

  void put(const exec::Serial& worker, Vertex vertex, std::uint32_t queue) {
    if (queue == kNoQueue) return;
    if (queue == kRemoteQueue) {
      targets_.send_buffer.put(worker, true, vertex);
      have_put_.add(queue, 1);
      return;
    }
    // Its degree is looked up later, when the offsets asked for now are there.
    exec::prefetch(targets_.offsets + (vertex - targets_.first));
    waiting_[many_waiting_++] = {vertex, queue};
    if (many_waiting_ == kWaiting) enter();
  }
  void finish(const exec::Serial&) {
    enter();
    for (std::uint32_t queue = 0; queue < kRemoteQueue; ++queue) flush(queue);
  }
  [[nodiscard]] const SsspPut& have_put() const { return have_put_; }

 private:
  void enter() {
    for (std::uint32_t i = 0; i < many_waiting_; ++i) {
      const auto [vertex, queue] = waiting_[i];
      const std::uint32_t entries = targets_.entries_of(queue, vertex);
      for (std::uint32_t p = 0; p < entries; ++p) {
        if (held_[queue] == kHeld) flush(queue);
        own_[queue][held_[queue]++] = {vertex, p};
      }
    }
    many_waiting_ = 0;
  }

  void flush(std::uint32_t queue) {
    const std::uint32_t held = held_[queue];
    if (held == 0) return;
    QueueEntry* list =
        targets_.entries(queue) + exec::atomic_add(targets_.count(queue), std::uint64_t{held});
    for (std::uint32_t i = 0; i < held; ++i) list[i] = own_[queue][i];
    have_put_.add(queue, held);
    held_[queue] = 0;
  }

  static constexpr std::uint32_t kHeld = 256;
  static constexpr std::uint32_t kWaiting = 16;
  const SsspTargets& targets_;
  SsspPut have_put_;
  SsspStage::Entry waiting_[kWaiting];
  std::uint32_t many_waiting_ = 0;
  std::uint32_t held_[kRemoteQueue] = {};
  QueueEntry own_[kRemoteQueue][kHeld];
};

}  // namespace warren::traverse
