// SPDX-License-Identifier: Apache-2.0
// Rows are cut into pieces of about equal work, which threads take in order. A thread sorts and
// merges its piece within the piece's own place, learns from the piece before where the piece
// belongs, and moves it there, while it is still in its cache, as soon as the pieces that lay there
// have moved. The lowest unfinished piece never waits for one that nobody has taken, so this cannot
// lock up.
#include "graph/build_rows.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "warren/core/error.hpp"
#include "warren/core/interrupt_point.hpp"

namespace warren::graph::detail {
namespace {

constexpr std::uint64_t kPieceWork =
    std::uint64_t{1} << 15;  // Vertices plus edges: a piece fits into a core's cache.

struct Piece {
  std::uint64_t first_vertex;
  EdgeOffset first_entry;
};

// Pieces of about kPieceWork, then the end.
std::vector<Piece> cut_pieces(std::uint64_t vertices, const EdgeOffset* offsets) {
  std::vector<Piece> pieces{{0, 0}};
  const std::uint64_t work = vertices + offsets[vertices];
  for (std::uint64_t goal = kPieceWork; goal < work; goal += kPieceWork) {
    std::uint64_t low = pieces.back().first_vertex;
    std::uint64_t high = vertices;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (offsets[middle] + middle < goal) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low > pieces.back().first_vertex && low < vertices) pieces.push_back({low, offsets[low]});
  }
  pieces.push_back({vertices, offsets[vertices]});
  return pieces;
}

// The same with the sums of their weights, in order; `is_too_large` becomes true where one is past
// what a weight holds.
template <class Weight>
EdgeOffset sum_row(Columns<Weight> columns, EdgeOffset begin, EdgeOffset end, EdgeOffset out,
                   std::atomic<bool>& is_too_large) {
  using Sum = std::conditional_t<std::is_same_v<Weight, float>, double, std::int64_t>;
  for (EdgeOffset i = begin; i < end;) {
    const Vertex target = columns.targets[i];
    Sum sum = 0;
    for (; i < end && columns.targets[i] == target; ++i)
      sum += static_cast<Sum>(columns.weights[i]);
    const bool is_within = sum >= static_cast<Sum>(std::numeric_limits<Weight>::lowest()) &&
                           sum <= static_cast<Sum>(std::numeric_limits<Weight>::max());
    if (!is_within) is_too_large.store(true, std::memory_order_relaxed);
    columns.targets[out] = target;
    columns.weights[out++] = is_within ? static_cast<Weight>(sum) : Weight{0};
  }
  return out;
}

// Copies entries [begin, end) without repeated targets to `out` <= begin; returns the end of the
// copy. The first of equal targets, which has the smallest weight, stays.
template <class Weight>
EdgeOffset merge_row(Columns<Weight> columns, EdgeOffset begin, EdgeOffset end, EdgeOffset out) {
  Vertex previous = kNoVertex;
  for (EdgeOffset i = begin; i < end; ++i) {
    const Vertex target = columns.targets[i];
    columns.targets[out] = target;
    if constexpr (!std::is_same_v<Weight, NoWeight>) columns.weights[out] = columns.weights[i];
    out += target != previous ? 1 : 0;
    previous = target;
  }
  return out;
}

template <class Weight>
void move_entries(Columns<Weight> columns, EdgeOffset from, EdgeOffset to, std::uint64_t count) {
  std::memmove(columns.targets + to, columns.targets + from, count * sizeof(Vertex));
  if constexpr (!std::is_same_v<Weight, NoWeight>) {
    std::memmove(columns.weights + to, columns.weights + from, count * sizeof(Weight));
  }
}

// Where pieces belong, published as it becomes known.
class Places {
 public:
  explicit Places(std::span<const Piece> pieces)
      : pieces_(pieces), place_(pieces.size()), moved_(pieces.size()) {
    for (auto& place : place_) place.store(kUnknown, std::memory_order_relaxed);
    place_[0].store(0, std::memory_order_relaxed);
  }

  // The place of piece p, which has `size` entries. Waits for the piece before to have been sorted.
  EdgeOffset claim(std::size_t p, std::uint64_t size) {
    EdgeOffset place = place_[p].load(std::memory_order_acquire);
    while (place == kUnknown) {
      place_[p].wait(kUnknown, std::memory_order_acquire);
      place = place_[p].load(std::memory_order_acquire);
    }
    place_[p + 1].store(place + size, std::memory_order_release);
    place_[p + 1].notify_all();
    return place;
  }

  // Waits until the pieces before p whose entries lay in [begin, end) have moved away.
  void wait_vacated(std::size_t p, EdgeOffset begin, EdgeOffset end) const {
    const auto after = std::upper_bound(
        pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(p) + 1, begin,
        [](EdgeOffset entry, const Piece& piece) { return entry < piece.first_entry; });
    for (auto q = static_cast<std::size_t>(after - pieces_.begin()) - 1;
         q < p && pieces_[q].first_entry < end; ++q) {
      moved_[q].wait(0, std::memory_order_acquire);
    }
  }

  void set_moved(std::size_t p) {
    moved_[p].store(1, std::memory_order_release);
    moved_[p].notify_all();
  }

  [[nodiscard]] EdgeOffset end() const { return place_.back().load(std::memory_order_relaxed); }

 private:
  static constexpr EdgeOffset kUnknown = ~EdgeOffset{0};

  std::span<const Piece> pieces_;
  std::vector<std::atomic<EdgeOffset>> place_;
  std::vector<std::atomic<std::uint32_t>> moved_;
};

template <class Weight>
void merge_piece(std::size_t p, std::span<const Piece> pieces, EdgeOffset* offsets,
                 Columns<Weight> columns, RowSorter<Weight>& sorter, Places& places,
                 std::atomic<bool>* sum_is_too_large) {
  const auto [first, begin] = pieces[p];
  const std::uint64_t last = pieces[p + 1].first_vertex;
  // The piece's own offsets: offsets[first] is the piece before's to write.
  EdgeOffset out = begin;
  EdgeOffset row = begin;
  for (std::uint64_t v = first; v < last; ++v) {
    const EdgeOffset end = offsets[v + 1];
    sorter.sort(columns, row, end);
    if constexpr (std::is_same_v<Weight, NoWeight>) {
      out = merge_row(columns, row, end, out);
    } else {
      out = sum_is_too_large == nullptr ? merge_row(columns, row, end, out)
                                        : sum_row(columns, row, end, out, *sum_is_too_large);
    }
    offsets[v + 1] = out;
    row = end;
  }
  const std::uint64_t size = out - begin;
  const EdgeOffset place = places.claim(p, size);
  if (place != begin) {
    places.wait_vacated(p, place, place + size);
    move_entries(columns, begin, place, size);
    for (std::uint64_t v = first; v < last; ++v) offsets[v + 1] -= begin - place;
  }
  places.set_moved(p);
}

}  // namespace

template <class Weight>
std::uint64_t finish_rows(std::uint64_t rows, std::uint64_t vertices, EdgeOffset* offsets,
                          Columns<Weight> columns, Duplicates duplicates, exec::ThreadPool& pool) {
  const std::vector<Piece> pieces = cut_pieces(rows, offsets);
  Places places(pieces);
  std::atomic<std::size_t> next{0};
  std::atomic<bool> is_too_large{false};
  std::atomic<bool>* const sum_is_too_large =
      duplicates == Duplicates::summed ? &is_too_large : nullptr;
  pool.run([&](int) {
    RowSorter<Weight> sorter(vertices);
    for (;;) {
      interrupt_point();  // Before a piece is taken: who has one finishes it, others wait for it.
      const std::size_t p = next.fetch_add(1, std::memory_order_relaxed);
      if (p + 1 >= pieces.size()) return;
      if (duplicates == Duplicates::kept) {
        for (std::uint64_t v = pieces[p].first_vertex; v < pieces[p + 1].first_vertex; ++v) {
          sorter.sort(columns, offsets[v], offsets[v + 1]);
        }
      } else {
        merge_piece(p, std::span<const Piece>(pieces), offsets, columns, sorter, places,
                    sum_is_too_large);
      }
    }
  });
  if (is_too_large) {
    throw InputError(
        "the weights of parallel edges add up to more than a weight holds; give them in a smaller "
        "unit, and integers past 32 bits as floats (in a text file with a decimal point)");
  }
  return duplicates == Duplicates::kept ? offsets[rows] : places.end();
}

template std::uint64_t finish_rows<NoWeight>(std::uint64_t, std::uint64_t, EdgeOffset*,
                                             Columns<NoWeight>, Duplicates, exec::ThreadPool&);
template std::uint64_t finish_rows<std::int32_t>(std::uint64_t, std::uint64_t, EdgeOffset*,
                                                 Columns<std::int32_t>, Duplicates,
                                                 exec::ThreadPool&);
template std::uint64_t finish_rows<float>(std::uint64_t, std::uint64_t, EdgeOffset*, Columns<float>,
                                          Duplicates, exec::ThreadPool&);

}  // namespace warren::graph::detail
