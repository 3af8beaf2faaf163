// SPDX-License-Identifier: Apache-2.0
// The frontier as a list. An entry is a vertex and a piece number: long neighbour lists stand in
// the queue as several entries, so that a hub is shared out over many workers and never holds up a
// level.
#pragma once

#include "warren/exec/atomic.hpp"
#include "warren/exec/worker.hpp"
#include "warren/graph/adjacency.hpp"

namespace warren::traverse {

/// Edges of one entry at most.
inline constexpr std::uint32_t kPieceEdges = 256;

/// An entry of the queue is a block of a compressed list.
static_assert(kPieceEdges == graph::kCompressedBlock);

struct QueueEntry {
  Vertex vertex;
  std::uint32_t piece;
};

[[nodiscard]] WARREN_HD inline std::uint32_t pieces_of(EdgeOffset degree) {
  return static_cast<std::uint32_t>((degree + kPieceEdges - 1) / kPieceEdges);
}

/// The piece of a list that an entry stands for, among the rows of `csr`.
[[nodiscard]] WARREN_HD inline graph::ListPiece piece_of(const graph::CsrView& csr,
                                                         const QueueEntry& entry) {
  graph::ListPiece piece;
  piece.row = entry.vertex - csr.first;
  piece.begin = csr.begin(piece.row) + std::uint64_t{entry.piece} * kPieceEdges;
  const EdgeOffset rest = csr.end(piece.row) - piece.begin;
  piece.length = static_cast<std::uint32_t>(rest < kPieceEdges ? rest : kPieceEdges);
  return piece;
}

inline constexpr std::uint64_t kOffsetsAhead = 8;
inline constexpr std::uint64_t kListsAhead = 4;

/// Starts the loads of the offsets and lists of the entries to come after `index`. For the CPU,
/// where no load passes an atomic operation, so that working off entries would wait for one cache
/// miss at a time.
inline void load_ahead(const graph::CsrView& csr, const QueueEntry* entries, std::uint64_t index,
                       std::uint64_t count) {
  if (index + kOffsetsAhead < count)
    exec::prefetch(&csr.offsets[entries[index + kOffsetsAhead].vertex - csr.first]);
  if (index + kListsAhead >= count) return;
  const graph::ListPiece later = piece_of(csr, entries[index + kListsAhead]);
  constexpr std::uint32_t kInLine = 64 / sizeof(Vertex);
  for (std::uint32_t k = 0; k < later.length + kInLine; k += kInLine)
    exec::prefetch(csr.targets + later.begin + k);
}

/// Entries that a queue must hold at most, when every vertex enters once.
[[nodiscard]] inline std::uint64_t queue_capacity(std::uint64_t vertices, std::uint64_t edges) {
  return vertices + edges / kPieceEdges + 1;
}

/// Appends to a queue: one reservation for all lanes of a worker.
template <class W>
class QueueWriter {
 public:
  WARREN_HD QueueWriter(QueueEntry* entries, std::uint64_t* count)
      : entries_(entries), count_(count) {}

  /// Every lane of `worker` calls; lanes with `pieces` == 0 add nothing.
  WARREN_HD void put(const W& worker, Vertex vertex, std::uint32_t pieces) {
    if (!worker.any(pieces != 0)) return;
    const std::uint32_t before = worker.exclusive_scan(pieces);
    std::uint64_t base = 0;
    if (worker.lane() == worker.size() - 1)
      base = exec::atomic_add(*count_, std::uint64_t{before} + pieces);
    base = worker.broadcast(base, worker.size() - 1) + before;
    for (std::uint32_t p = 0; p < pieces; ++p) entries_[base + p] = {vertex, p};
  }
  WARREN_HD void finish() {}

 private:
  QueueEntry* entries_;
  std::uint64_t* count_;
};

/// A CPU thread gathers entries of its own and reserves room for many at once.
template <>
class QueueWriter<exec::Serial> {
 public:
  QueueWriter(QueueEntry* entries, std::uint64_t* count) : entries_(entries), count_(count) {}

  void put(const exec::Serial&, Vertex vertex, std::uint32_t pieces) {
    for (std::uint32_t p = 0; p < pieces; ++p) {
      if (held_ == kHeld) finish();
      own_[held_++] = {vertex, p};
    }
  }
  void finish() {
    if (held_ == 0) return;
    const std::uint64_t base = exec::atomic_add(*count_, std::uint64_t{held_});
    for (std::uint32_t i = 0; i < held_; ++i) entries_[base + i] = own_[i];
    held_ = 0;
  }

 private:
  static constexpr std::uint32_t kHeld = 512;
  QueueEntry* entries_;
  std::uint64_t* count_;
  std::uint32_t held_ = 0;
  QueueEntry own_[kHeld];
};

}  // namespace warren::traverse
