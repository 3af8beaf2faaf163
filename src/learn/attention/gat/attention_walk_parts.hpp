// SPDX-License-Identifier: Apache-2.0
// What a walk over attention's edges is told, and what a lane does with its columns.
#pragma once

#include "warren/sparse/tile_rows.hpp"

#include "learn/attention/gat/attention_weights.hpp"

namespace warren::learn::detail {

/// Which of a row's entries a walk is over. The first part's sums stand where results will, and are
/// added to the rest's.
enum class WalkPart { all, first, rest };

/// One walk. k columns, `width` to a head; what lies between heads x width and k, of one head
/// alone, is 0.
template <class Side>
struct AttentionJob {
  using T = typename Side::Element;
  Side side;
  WalkPart part = WalkPart::all;
  bool tensor_sums = false;  ///< Of GPUs, on tensor cores where they can.
  sparse::MatrixView a;
  std::uint64_t heads, width, k;
  TwoParts<T> x;
  T* all;  ///< Results.
  T* positive;
  float* sums;  ///< Of parts: first and second of every row and head.
  const sparse::SpmmTask* tasks;
  std::uint64_t task_count;
  const sparse::SplitRow* splits;
  std::uint64_t split_count;
  float* partials;
  std::uint64_t partial_stride;  ///< A multiple of a lane's columns of at least 2 k + 2 heads,
                                 ///< and k behind that of what weighted edges are added up to.

  /// Where row 0 of x would be, were all rows with the part's.
  template <bool kIsWhole>
  [[nodiscard]] WARREN_HD const T* origin() const {
    return kIsWhole || part != WalkPart::rest ? x.own : x.pulled - x.rows * x.stride;
  }
};

/// A lane's columns of a job.
template <class Side, std::uint32_t N>
struct AttentionLane {
  using Sums = SumsOf<Side, N>;
  const AttentionJob<Side>& job;
  std::uint64_t column;
  std::uint32_t head;
  bool is_first_of_head;

  WARREN_HD AttentionLane(const AttentionJob<Side>& job_, std::uint64_t column_)
      : job(job_), column(column_) {
    const std::uint64_t of = column / job.width;
    head = static_cast<std::uint32_t>(of < job.heads ? of : job.heads - 1);
    is_first_of_head = column == head * job.width;
  }
  /// kIsWhole: there is one part alone, which asks for fewer registers.
  template <bool kIsWhole>
  WARREN_HD void finish(std::uint64_t row, Sums& sums) const {
    using T = typename Side::Element;
    T* const all = job.all + row * job.k + column;
    T* const positive = job.positive + row * job.k + column;
    const bool is_all = kIsWhole || job.part == WalkPart::all;
    float* const of_head = is_all ? nullptr : job.sums + (row * job.heads + head) * 2;
    if (!kIsWhole && job.part == WalkPart::rest) {
      const Pack<T, N> all_before = load_pack<N>(all), positive_before = load_pack<N>(positive);
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < N; ++i) {
        sums.all.at[i] += all_before.get(i);
        sums.positive.at[i] += positive_before.get(i);
      }
      sums.first += of_head[0];
      sums.second += of_head[1];
    }
    if (kIsWhole || job.part != WalkPart::first) {
      const float scale = job.side.scale(sums.first);
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < N; ++i) {
        sums.all.at[i] *= scale;
        sums.positive.at[i] *= scale;
      }
      if (is_first_of_head) job.side.finish_head(row, head, scale, sums.first, sums.second);
      job.side.template store<false>(row, column, sums.all);
    } else if (is_first_of_head) {
      of_head[0] = sums.first;
      of_head[1] = sums.second;
    }
    store_pack<N>(sums.all, all);
    store_pack<N>(sums.positive, positive);
    if constexpr (Side::kSumsWeighted) finish_weighted<kIsWhole>(row, sums);
  }
  template <class Edge>
  WARREN_HD void add(const Edge& edge, const Pack<typename Side::Element, N>& x, Sums& sums) const {
    const float positive = edge.is_positive ? edge.weight : 0.0f;
    sums.first += edge.term;
    if constexpr (Side::kHasSecond) sums.second += edge.is_positive ? edge.term : 0.0f;
    WARREN_UNROLL
    for (std::uint32_t c = 0; c < N; ++c) {
      const float value = x.get(c);
      sums.all.at[c] += edge.weight * value;
      sums.positive.at[c] += positive * value;
      if constexpr (Side::kSumsWeighted) sums.weighted.at[c] += edge.weighted * value;
    }
    if constexpr (Side::kSumsWeighted) sums.second += edge.second;
  }
  /// A piece's sums to their place, and back.
  WARREN_HD void store(std::uint64_t piece, const Sums& sums) const {
    float* to = job.partials + piece * job.partial_stride;
    store_floats<N>(sums.all, to + column);
    store_floats<N>(sums.positive, to + job.k + column);
    if constexpr (Side::kSumsWeighted)
      store_floats<N>(sums.weighted, to + job.partial_stride - job.k + column);
    if (!is_first_of_head) return;
    to[2 * job.k + head] = sums.first;
    to[2 * job.k + job.heads + head] = sums.second;
  }
  WARREN_HD Sums load(std::uint64_t piece) const {
    const float* from = job.partials + piece * job.partial_stride;
    const AttentionSums<N> sums{load_floats<N>(from + column),
                                load_floats<N>(from + job.k + column), from[2 * job.k + head],
                                from[2 * job.k + job.heads + head]};
    if constexpr (Side::kSumsWeighted) {
      return {sums, load_floats<N>(from + job.partial_stride - job.k + column)};
    } else {
      return sums;
    }
  }

 private:
  /// What has no scale: it is of the walk against edges alone.
  template <bool kIsWhole>
  WARREN_HD void finish_weighted(std::uint64_t row, Sums& sums) const {
    float* const weighted = job.side.weighted + row * job.k + column;
    if (!kIsWhole && job.part == WalkPart::rest) {
      const Floats<N> before = load_floats<N>(weighted);
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < N; ++i) sums.weighted.at[i] += before.at[i];
    }
    store_floats<N>(sums.weighted, weighted);
  }
};

}  // namespace warren::learn::detail
