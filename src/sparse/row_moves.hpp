// SPDX-License-Identifier: Apache-2.0
// Moving rows between ranks, for all strategies: what comes from another workgroup is counted, and
// moved several times where a test asks for a slow link (DistributedOptions::slow_between). Such
// bytes cross the real link each time, in kernels and copies of their own, of which each begins
// with an empty first-level cache; what arrives is the same.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "warren/memory/gather.hpp"
#include "warren/sparse/blocks.hpp"
#include "warren/sparse/distributed.hpp"

namespace warren::sparse {

/// As gather() takes rows of 16 bits.
[[nodiscard]] inline const memory::GlobalView<float>& movable(
    const memory::GlobalView<float>& view) {
  return view;
}
template <class T>
[[nodiscard]] memory::GlobalView<std::uint16_t> movable(const memory::GlobalView<T>& view) {
  static_assert(sizeof(T) == sizeof(std::uint16_t));
  memory::GlobalView<std::uint16_t> result;
  for (int q = 0; q < view.ranks; ++q)
    result.base[q] = reinterpret_cast<std::uint16_t*>(view.base[q]);
  for (int q = 0; q <= view.ranks; ++q) result.cuts[q] = view.cuts[q];
  result.width = view.width;
  result.rank = view.rank;
  result.ranks = view.ranks;
  result.is_replicated = view.is_replicated;
  return result;
}
[[nodiscard]] inline float* movable(float* rows) { return rows; }
template <class T>
[[nodiscard]] std::uint16_t* movable(T* rows) {
  return reinterpret_cast<std::uint16_t*>(rows);
}

/// The ranks that a rank shares fast links with, itself among them, and their rows.
struct Workgroup {
  int first_rank = 0, end_rank = 0;
  std::uint64_t first_row = 0, end_row = 0;
  bool is_team = false;  ///< All ranks are of it.

  Workgroup(const team::Team& team, const Rows& rows, int ranks) {
    if (ranks == 0) ranks = team.size();
    first_rank = team.rank() / ranks * ranks;
    end_rank = first_rank + ranks;
    is_team = ranks == team.size();
    first_row = rows.cuts[static_cast<std::size_t>(first_rank)];
    end_row = rows.cuts[static_cast<std::size_t>(end_rank)];
  }
  [[nodiscard]] bool has_rank(int q) const { return q >= first_rank && q < end_rank; }
  [[nodiscard]] bool has_row(std::uint64_t row) const { return row >= first_row && row < end_row; }
};

/// A list of rows that is gathered again and again.
class RowList {
 public:
  struct Range {
    std::uint64_t begin = 0, end = 0;
    [[nodiscard]] std::uint64_t size() const { return end - begin; }
  };

  RowList() = default;
  /// None of them from other workgroups.
  RowList(const exec::Stream& stream, const std::vector<std::uint64_t>& rows)
      : rows_(to_device(stream, rows)) {}
  RowList(const exec::Stream& stream, std::span<const Vertex> rows)
      : RowList(stream, std::vector<std::uint64_t>(rows.begin(), rows.end())) {}
  /// Of all ranks, ascending within each part that is gathered at once.
  RowList(const exec::Stream& stream, std::span<const Vertex> rows, const Workgroup& group)
      : RowList(stream, rows) {
    if (group.is_team) return;
    host_rows_.assign(rows.begin(), rows.end());
    near_ = {group.first_row, group.end_row};
  }
  [[nodiscard]] std::uint64_t size() const { return rows_.size(); }
  /// Which of a part, [begin, end), are other workgroups'.
  [[nodiscard]] std::array<Range, 2> far(std::uint64_t begin, std::uint64_t end) const {
    if (host_rows_.empty()) return {};
    const auto place = [&](std::uint64_t row) {
      const auto from = host_rows_.begin();
      return static_cast<std::uint64_t>(std::lower_bound(from + static_cast<std::ptrdiff_t>(begin),
                                                         from + static_cast<std::ptrdiff_t>(end),
                                                         row) -
                                        from);
    };
    return {Range{begin, place(near_.begin)}, Range{place(near_.end), end}};
  }
  /// to[i] = table[row i], by `processors` at most of a GPU (0: all).
  template <class T>
  void gather(const exec::Stream& stream, const memory::GlobalView<T>& table, T* to,
              std::uint64_t begin, std::uint64_t end, std::uint32_t processors = 0,
              bool is_beside = false) const {
    if (begin == end) return;
    memory::gather(stream, movable(table), rows_.data() + begin, end - begin,
                   movable(to + begin * table.width), nullptr, processors, is_beside);
  }
  template <class T>
  void gather(const exec::Stream& stream, const memory::GlobalView<T>& table, T* to,
              std::uint32_t processors = 0) const {
    gather(stream, table, to, 0, size(), processors);
  }

 private:
  memory::Buffer<std::uint64_t> rows_;
  std::vector<Vertex> host_rows_;  ///< Where there are other workgroups.
  Range near_;                     ///< The workgroup's vertices.
};

/// Copies rows from wherever this device can read; on the CPU with all of the rank's threads.
template <class T>
void copy_rows(const exec::Stream& stream, T* to, const T* from, std::uint64_t elements) {
  if (elements == 0) return;
  if (stream.device().is_cuda()) return exec::copy(stream, to, from, elements * sizeof(T));
  constexpr std::uint64_t kGrain = std::uint64_t{1} << 16;
  stream.device().pool().parallel_for(
      0, elements, kGrain, [&](std::uint64_t begin, std::uint64_t end) {
        std::memcpy(to + begin, from + begin, (end - begin) * sizeof(T));
      });
}

/// Moves a rank's rows of a product, and counts them.
template <class T>
class RowMoves {
 public:
  RowMoves(const Workgroup& group, std::uint32_t times, std::uint32_t processors)
      : group_(group), times_(times), processors_(processors) {}

  [[nodiscard]] const Workgroup& group() const { return group_; }
  /// How often rows of other workgroups are moved.
  [[nodiscard]] std::uint32_t times() const { return times_; }
  /// Of a GPU, the most that move rows.
  [[nodiscard]] std::uint32_t processors() const { return processors_; }
  [[nodiscard]] std::uint64_t moved() const { return moved_; }
  /// Of these, from other workgroups.
  [[nodiscard]] std::uint64_t between() const { return between_; }
  void restart() { moved_ = between_ = 0; }

  /// to[i] = table[row i] for i in [begin, end). `is_beside`: a kernel may be running already.
  void gather(const exec::Stream& stream, const RowList& list, const memory::GlobalView<T>& table,
              T* to, std::uint64_t begin, std::uint64_t end, bool is_beside = false) {
    list.gather(stream, table, to, begin, end, processors_, is_beside);
    moved_ += end - begin;
    for (const RowList::Range& far : list.far(begin, end)) {
      between_ += far.size();
      for (std::uint32_t i = 1; i < times_; ++i)
        list.gather(stream, table, to, far.begin, far.end, processors_, is_beside);
    }
  }
  void gather(const exec::Stream& stream, const RowList& list, const memory::GlobalView<T>& table,
              T* to) {
    gather(stream, list, table, to, 0, list.size());
  }
  /// The same from this workgroup's ranks, by all of a GPU's processors.
  void gather_near(const exec::Stream& stream, const RowList& list,
                   const memory::GlobalView<T>& table, T* to) {
    list.gather(stream, table, to);
    moved_ += list.size();
  }
  /// This rank's rows of a list to `to`, which is rank q's.
  void put(const exec::Stream& stream, const RowList& list, const memory::GlobalView<T>& table,
           T* to, int q) {
    repeat(q, list.size(), [&] { list.gather(stream, table, to, processors_); });
  }
  /// Of a list that came by a collective.
  void count(const RowList& list) {
    moved_ += list.size();
    for (const RowList::Range& far : list.far(0, list.size())) between_ += far.size();
  }
  /// `rows` rows of `width` elements from rank q.
  void copy(const exec::Stream& stream, int q, T* to, const T* from, std::uint64_t rows,
            std::uint64_t width) {
    repeat(q, rows, [&] { copy_rows(stream, to, from, rows * width); });
  }

 private:
  template <class Move>
  void repeat(int q, std::uint64_t rows, Move&& move) {
    moved_ += rows;
    if (!group_.has_rank(q)) between_ += rows;
    for (std::uint32_t i = 0; i < (group_.has_rank(q) ? 1 : times_); ++i) move();
  }

  Workgroup group_;
  std::uint32_t times_, processors_;
  std::uint64_t moved_ = 0, between_ = 0;
};

/// The rows of other workgroups that a product's kernel reads by itself, where they lie: once for
/// each time that it names them. The kernel stays as it is; the further times of a slow link are
/// copies to scratch memory, beside it.
template <class T>
class FarReads {
 public:
  FarReads() = default;
  template <class Columns>
  FarReads(const exec::Stream& stream, const RowMoves<T>& moves, const Columns& columns,
           std::uint64_t k)
      : times_(moves.times()), processors_(moves.processors()) {
    if (moves.group().is_team) return;
    std::vector<std::uint64_t> rows;
    for (const Vertex column : columns) {
      if (moves.group().has_row(column)) continue;
      ++size_;
      if (times_ > 1) rows.push_back(column);
    }
    list_ = to_device(stream, rows);
    scratch_ = memory::Buffer<T>(stream.device(),
                                 exec::bytes_of(std::min<std::uint64_t>(rows.size(), kPiece), k));
  }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] bool repeats() const { return list_.size() > 0; }
  /// All further times.
  void repeat(const exec::Stream& stream, const memory::GlobalView<T>& table) {
    for (std::uint32_t i = 1; i < times_; ++i) {
      for (std::uint64_t begin = 0; begin < list_.size(); begin += kPiece)
        memory::gather(stream, movable(table), list_.data() + begin,
                       std::min(kPiece, list_.size() - begin), movable(scratch_.data()), nullptr,
                       processors_);
    }
  }

 private:
  static constexpr std::uint64_t kPiece = std::uint64_t{1} << 18;

  std::uint32_t times_ = 1, processors_ = 0;
  std::uint64_t size_ = 0;
  memory::Buffer<std::uint64_t> list_;
  memory::Buffer<T> scratch_;
};

}  // namespace warren::sparse
