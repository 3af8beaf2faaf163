// SPDX-License-Identifier: Apache-2.0
// The readings of build(): counting edges per vertex, and putting each edge into its row. Both
// are bound by cache misses at random vertices, so edges are taken in chunks, and everything that a
// chunk will touch is prefetched first. That also keeps atomic additions, which wait for all stores
// before them, from waiting for memory.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <type_traits>

#include "warren/core/error.hpp"
#include "warren/graph/builder.hpp"

#include "graph/build_bands.hpp"
#include "graph/build_sort.hpp"

namespace warren::graph::detail {

/// What a reading saw. The sums over all pieces of both readings must agree, or the source did not
/// repeat itself.
struct ReadingTotals {
  std::uint64_t entries = 0;   ///< Edges that go into the graph, duplicates included.
  std::uint64_t checksum = 0;  ///< Of the entries, in any order.
  std::uint64_t vertices = 0;  ///< Largest id plus one; 0 without edges.
  EntrySample sample;          ///< Of a counting reading whose duplicates will be merged.

  void add(const ReadingTotals& other) {
    entries += other.entries;
    checksum += other.checksum;
    vertices = std::max(vertices, other.vertices);
    sample.add(other.sample);
  }
};

/// A part of a batch, as directed entries: reversed edges added and self-loops dropped as the
/// options ask. A self-loop is its own reverse and is never doubled.
class Chunk {
 public:
  static constexpr std::size_t kEdges = 96;

  explicit Chunk(const BuildOptions& options)
      : symmetrize_(options.symmetrize), drop_loops_(options.drop_self_loops) {}

  /// Takes up to kEdges edges; updates `totals`.
  void load(std::span<const Edge> edges, ReadingTotals& totals) {
    size_ = 0;
    Vertex largest = 0;
    std::uint64_t checksum = 0;
    const auto put = [&](Vertex row, Vertex target, std::size_t edge, bool keep) {
      rows_[size_] = row;
      targets_[size_] = target;
      edge_[size_] = static_cast<std::uint8_t>(edge);
      const std::uint64_t hash = ((std::uint64_t{row} << 32) ^ target) * 0x9e3779b97f4a7c15ull;
      checksum += keep ? hash ^ (hash >> 32) : 0;
      size_ += keep ? 1 : 0;
    };
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const auto [source, target] = edges[i];
      largest = std::max({largest, source, target});
      const bool loop = source == target;
      put(source, target, i, !(loop && drop_loops_));
      if (symmetrize_) put(target, source, i, !loop);
    }
    totals.entries += size_;
    totals.checksum += checksum;
    if (!edges.empty()) totals.vertices = std::max(totals.vertices, std::uint64_t{largest} + 1);
  }

  /// Drops the entries of rows outside of [first, last).
  void keep_rows(std::uint64_t first, std::uint64_t last) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      rows_[kept] = rows_[i];
      targets_[kept] = targets_[i];
      edge_[kept] = edge_[i];
      kept += rows_[i] >= first && rows_[i] < last ? 1 : 0;
    }
    size_ = kept;
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Vertex row(std::size_t i) const { return rows_[i]; }
  [[nodiscard]] Vertex target(std::size_t i) const { return targets_[i]; }
  /// Position in the loaded span of the edge that entry i came from.
  [[nodiscard]] std::size_t edge(std::size_t i) const { return edge_[i]; }

 private:
  bool symmetrize_;
  bool drop_loops_;
  std::size_t size_ = 0;
  // One more than fits: a dropped entry is written and then overwritten.
  std::array<Vertex, 2 * kEdges + 1> rows_;
  std::array<Vertex, 2 * kEdges + 1> targets_;
  std::array<std::uint8_t, 2 * kEdges + 1> edge_;
};

/// Adds to a counter and returns what it was. Plain where only one thread counts.
template <bool kShared>
EdgeOffset fetch_increment(EdgeOffset& counter) {
  if constexpr (kShared) {
    return std::atomic_ref<EdgeOffset>(counter).fetch_add(1, std::memory_order_relaxed);
  } else {
    return counter++;
  }
}

/// Calls f(part, index of its first edge) for the parts of a batch that fit into a chunk.
template <class F>
void for_chunks(std::span<const Edge> edges, F&& f) {
  for (std::size_t first = 0; first < edges.size(); first += Chunk::kEdges) {
    f(edges.subspan(first, std::min(Chunk::kEdges, edges.size() - first)), first);
  }
}

/// Whether the source said that ids are below a limit, or somebody supposes so.
enum class IdLimit { announced, guessed };
/// An id that is not below a guessed limit.
struct IdPastGuess {};

/// First reading: ++counts[row] for every entry. Ids must be below `limit`.
template <bool kShared, IdLimit kLimit>
class CountSink final : public EdgeSink {
 public:
  CountSink(EdgeOffset* counts, std::uint64_t limit, const BuildOptions& options)
      : counts_(counts), limit_(limit), samples_(!options.keep_duplicates), chunk_(options) {}

  void take(std::span<const Edge> edges, std::span<const std::int32_t>,
            std::span<const float>) override {
    for_chunks(edges, [&](std::span<const Edge> part, std::size_t) {
      chunk_.load(part, totals_);
      if (totals_.vertices > limit_) refuse();
      for (std::size_t i = 0; i < chunk_.size(); ++i)
        __builtin_prefetch(counts_ + chunk_.row(i), 1);
      for (std::size_t i = 0; i < chunk_.size(); ++i)
        (void)fetch_increment<kShared>(counts_[chunk_.row(i)]);
      for (std::size_t i = 0; samples_ && i < chunk_.size(); ++i)
        totals_.sample.offer(chunk_.row(i), chunk_.target(i));
    });
  }
  [[nodiscard]] const ReadingTotals& totals() const { return totals_; }

 private:
  [[noreturn]] void refuse() const {
    if constexpr (kLimit == IdLimit::guessed) throw IdPastGuess{};
    throw InputError("an edge names vertex " + std::to_string(totals_.vertices - 1) +
                     ", but ids must be below " + std::to_string(limit_));
  }

  EdgeOffset* counts_;
  std::uint64_t limit_;
  bool samples_;
  ReadingTotals totals_;
  Chunk chunk_;
};

/// A reading that only finds the largest id.
class LargestIdSink final : public EdgeSink {
 public:
  void take(std::span<const Edge> edges, std::span<const std::int32_t>,
            std::span<const float>) override {
    Vertex largest = 0;
    for (const Edge& edge : edges) largest = std::max({largest, edge.source, edge.target});
    if (!edges.empty()) totals_.vertices = std::max(totals_.vertices, std::uint64_t{largest} + 1);
  }
  [[nodiscard]] const ReadingTotals& totals() const { return totals_; }

 private:
  ReadingTotals totals_;
};

/// A later reading: puts every entry of a band at the cursor of its row, and advances that. The
/// band's cursors lie in [0, its entries).
template <class Weight, bool kShared>
class FillSink final : public EdgeSink {
 public:
  FillSink(EdgeOffset* cursors, std::uint64_t vertices, Columns<Weight> columns, const Band& band,
           const BuildOptions& options)
      : cursors_(cursors), vertices_(vertices), columns_(columns), band_(band), chunk_(options) {}

  void take(std::span<const Edge> edges, std::span<const std::int32_t> weights_int,
            std::span<const float> weights_float) override {
    const Weight* weights = nullptr;
    if constexpr (std::is_same_v<Weight, std::int32_t>) weights = check(edges, weights_int);
    if constexpr (std::is_same_v<Weight, float>) weights = check(edges, weights_float);
    for_chunks(edges, [&](std::span<const Edge> part, std::size_t first) {
      chunk_.load(part, totals_);
      if (totals_.vertices > vertices_) changed();
      if (band_.last - band_.first < vertices_) chunk_.keep_rows(band_.first, band_.last);
      for (std::size_t i = 0; i < chunk_.size(); ++i)
        __builtin_prefetch(cursors_ + chunk_.row(i), 1);
      EdgeOffset furthest = 0;
      for (std::size_t i = 0; i < chunk_.size(); ++i) {
        places_[i] = fetch_increment<kShared>(cursors_[chunk_.row(i)]);
        furthest = std::max(furthest, places_[i]);
        __builtin_prefetch(columns_.targets + places_[i], 1);
        if constexpr (!std::is_same_v<Weight, NoWeight>)
          __builtin_prefetch(columns_.weights + places_[i], 1);
      }
      if (furthest >= band_.entries && chunk_.size() > 0) changed();
      for (std::size_t i = 0; i < chunk_.size(); ++i) {
        columns_.targets[places_[i]] = chunk_.target(i);
        if constexpr (!std::is_same_v<Weight, NoWeight>)
          columns_.weights[places_[i]] = weights[first + chunk_.edge(i)];
      }
    });
  }
  [[nodiscard]] const ReadingTotals& totals() const { return totals_; }

  [[noreturn]] static void changed() {
    throw InputError(
        "the edges changed between the two readings of their source; read it again when nobody "
        "writes to it");
  }

 private:
  template <class T>
  static const T* check(std::span<const Edge> edges, std::span<const T> weights) {
    if (weights.size() != edges.size()) {
      throw InputError(std::to_string(edges.size()) + " edges came with " +
                       std::to_string(weights.size()) + " weights");
    }
    return weights.data();
  }

  EdgeOffset* cursors_;
  std::uint64_t vertices_;
  Columns<Weight> columns_;
  Band band_;
  ReadingTotals totals_;
  Chunk chunk_;
  std::array<EdgeOffset, 2 * Chunk::kEdges> places_;
};

}  // namespace warren::graph::detail
