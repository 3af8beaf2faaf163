// SPDX-License-Identifier: Apache-2.0
// The weights of attention's edges, made from a few numbers of each end, and what they are added up
// to, along edges and against them.
#pragma once

#include "warren/exec/row_address.hpp"
#include "warren/exec/tensor_cores.hpp"
#include "warren/learn/attention.hpp"

#include "learn/rows/exponential.hpp"
#include "learn/rows/row_pass.hpp"

namespace warren::learn::detail {

/// Rows of `stride` numbers, a rank's own ones and those that were brought.
template <class T>
struct TwoParts {
  const T* own;
  const T* pulled;
  std::uint64_t rows, stride;
  [[nodiscard]] WARREN_HD const T* row(std::uint64_t column) const {
    return column < rows ? own + column * stride : pulled + (column - rows) * stride;
  }
  /// Number `i` of a row of this rank's own ones; a row takes less than 4 GiB.
  [[nodiscard]] WARREN_HD const T* own_row(Vertex column, std::uint32_t i) const {
    return reinterpret_cast<const T*>(
        exec::row_address(reinterpret_cast<const unsigned char*>(own + i), column,
                          static_cast<std::uint32_t>(stride * sizeof(T))));
  }
};

/// What the four numbers of a row and head are: l, the largest logit, 1 / the sum of powers, <dy,
/// y>.
inline constexpr std::uint32_t kLeft = 0, kLargest = 1, kInverse = 2, kDot = 3, kStatistics = 4;

/// Dropout of edges: what happens to the edge from i to j depends on their keys and the head.
struct EdgeDropout {
  const std::uint32_t* keys = nullptr;  ///< Of all columns, own rows first; nullptr: off.
  float probability = 0.0f;
  float kept = 1.0f / (1.0f - probability);  ///< What an edge that stays is multiplied by.

  [[nodiscard]] WARREN_HD std::uint32_t key(std::uint64_t column) const {
    return keys == nullptr ? 0 : keys[column];
  }
  [[nodiscard]] WARREN_HD float factor(std::uint32_t row_key, std::uint32_t column_key,
                                       std::uint32_t head) const {
    if (keys == nullptr) return 1.0f;
    std::uint32_t x = row_key * 0x9e3779b1u + column_key + head * 0x85ebca77u;
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    x ^= x >> 16;
    const float drawn = static_cast<float>(static_cast<std::int32_t>(x >> 8)) * 0x1p-24f;
    return drawn < probability ? 0.0f : kept;
  }
};

/// What a lane adds up over a row's entries: in its columns, and of its head.
template <std::uint32_t N>
struct AttentionSums {
  Floats<N> all = {};       ///< Weights times x.
  Floats<N> positive = {};  ///< The same of entries with positive logits.
  float first = 0.0f, second = 0.0f;

  WARREN_HD void add(const AttentionSums& other) {
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) {
      all.at[i] += other.all.at[i];
      positive.at[i] += other.positive.at[i];
    }
    first += other.first;
    second += other.second;
  }
};

/// The same, and what the gradient of weighted edges' logits is made of.
template <std::uint32_t N>
struct WeightedAttentionSums : AttentionSums<N> {
  Floats<N> weighted = {};

  WARREN_HD void add(const WeightedAttentionSums& other) {
    AttentionSums<N>::add(other);
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) weighted.at[i] += other.weighted.at[i];
  }
};

/// What an entry adds to its row: weight times x in the columns, `term` to the head's first sum
/// and, where its logit is positive, to the second.
struct EdgeWeight {
  float weight, term;
  bool is_positive;
};

/// The same, and `weighted` times x in a third sum of the columns, `second` in the head's second.
struct WeightedEdge : EdgeWeight {
  float weighted, second;
};

/// Along edges. first: sum of powers; second: that of positive logits.
template <class T>
struct ForwardSide {
  using Element = T;
  static constexpr bool kHasSecond = true, kIsWeighted = false, kSumsWeighted = false;
  std::uint64_t heads;
  float slope;
  EdgeDropout dropout;
  TwoParts<float> r;
  float* statistics;
  float* share;
  T* y;  ///< Rows without gaps.
  std::uint64_t y_width;

  struct Row {
    float left, largest;
    std::uint32_t key;
  };
  struct Entry {
    float right;
    std::uint32_t key;
  };
  WARREN_HD Row row(std::uint64_t row, std::uint32_t head) const {
    const float* of = statistics + (row * heads + head) * kStatistics;
    return {of[kLeft], of[kLargest], dropout.key(row)};
  }
  WARREN_HD Entry entry(std::uint64_t column, std::uint32_t head) const {
    return {r.row(column)[head], dropout.key(column)};
  }
  /// Of a column of this rank's own, with fewer instructions.
  WARREN_HD Entry own_entry(Vertex column, std::uint32_t head) const {
    return {*r.own_row(column, head), dropout.key(column)};
  }
  [[nodiscard]] WARREN_HD EdgeWeight weigh(const Row& row, const Entry& entry,
                                           std::uint32_t head) const {
    const float x = row.left + entry.right;
    const bool is_positive = x > 0.0f;
    const float power = exponential((is_positive ? x : slope * x) - row.largest);
    return {power * dropout.factor(row.key, entry.key, head), power, is_positive};
  }
  /// What a row's sums are multiplied by.
  [[nodiscard]] WARREN_HD float scale(float first) const {
    return first > 0.0f ? 1.0f / first : 0.0f;
  }
  WARREN_HD void finish_head(std::uint64_t row, std::uint32_t head, float scale, float,
                             float second) const {
    statistics[(row * heads + head) * kStatistics + kInverse] = scale;
    share[row * heads + head] = second * scale;
  }
  /// Results that are wanted elsewhere, too. kIsFar: an address is made here, once, rather than
  /// kept for each element that may be written by itself in registers that the walk needs.
  template <bool kIsFar, std::uint32_t N>
  WARREN_HD void store(std::uint64_t row, std::uint64_t column, const Floats<N>& all) const {
    T* to = y + row * y_width + column;
    if constexpr (kIsFar) to = exec::made_once(to);
    if (y_width % N == 0 && column < y_width) return store_pack<N>(all, to);
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) {
      if (column + i < y_width) to[i] = from_float<T>(all.at[i]);
    }
  }
};

/// Against edges: row j's entries are the rows i that j is a neighbour of.
/// first: t[j][h] = sum over i of LeakyReLU'(l_i + r_j) a_ij <dy_i, y_i>.
template <class T>
struct BackwardSide {
  using Element = T;
  static constexpr bool kHasSecond = false, kIsWeighted = false, kSumsWeighted = false;
  std::uint64_t heads;
  float slope;
  EdgeDropout dropout;
  const float* r;
  TwoParts<float> statistics;
  float* t;

  struct Row {
    float right;
    std::uint32_t key;
  };
  struct Entry {
    Floats<kStatistics> of;
    std::uint32_t key;
  };
  WARREN_HD Row row(std::uint64_t row, std::uint32_t head) const {
    return {r[row * heads + head], dropout.key(row)};
  }
  WARREN_HD Entry entry(std::uint64_t column, std::uint32_t head) const {
    return {load_floats<kStatistics>(statistics.row(column) + head * kStatistics),
            dropout.key(column)};
  }
  /// Of a column of this rank's own, with fewer instructions.
  WARREN_HD Entry own_entry(Vertex column, std::uint32_t head) const {
    return {load_floats<kStatistics>(statistics.own_row(column, head * kStatistics)),
            dropout.key(column)};
  }
  [[nodiscard]] WARREN_HD EdgeWeight weigh(const Row& row, const Entry& entry,
                                           std::uint32_t head) const {
    const float x = entry.of.at[kLeft] + row.right;
    const bool is_positive = x > 0.0f;
    const float weight =
        exponential((is_positive ? x : slope * x) - entry.of.at[kLargest]) * entry.of.at[kInverse];
    return {weight * dropout.factor(entry.key, row.key, head),
            (is_positive ? 1.0f : slope) * weight * entry.of.at[kDot], is_positive};
  }
  [[nodiscard]] WARREN_HD float scale(float) const { return 1.0f; }
  WARREN_HD void finish_head(std::uint64_t row, std::uint32_t head, float, float first,
                             float) const {
    t[row * heads + head] = first;
  }
  template <bool kIsFar, std::uint32_t N>
  WARREN_HD void store(std::uint64_t, std::uint64_t, const Floats<N>&) const {}
};

/// Along edges that have weights: logits are of l_i + r_j + w_ij c.
template <class T>
struct WeightedForwardSide : ForwardSide<T> {
  static constexpr bool kIsWeighted = true;
  using Entry = typename ForwardSide<T>::Entry;
  const float* by_weight;  ///< c of every head.

  WARREN_HD Entry entry(std::uint64_t column, std::uint32_t head, float value) const {
    Entry entry = ForwardSide<T>::entry(column, head);
    entry.right += value * by_weight[head];
    return entry;
  }
};

/// Against them. The third sum of the columns: of w_ij LeakyReLU'(l_i + r_j + w_ij c) d_ij a_ij
/// dy_i; second: of that part of t that is by w_ij. Inner products with z_j make c's gradient.
template <class T>
struct WeightedBackwardSide : BackwardSide<T> {
  static constexpr bool kIsWeighted = true, kSumsWeighted = true;
  using Row = typename BackwardSide<T>::Row;
  struct Entry : BackwardSide<T>::Entry {
    float value;
  };
  const float* by_weight;  ///< c of every head.
  float* weighted;         ///< Rows as those of the results. Weights may pass what 16 bits hold.
  float* weighted_t;

  WARREN_HD Entry entry(std::uint64_t column, std::uint32_t head, float value) const {
    return {BackwardSide<T>::entry(column, head), value};
  }
  [[nodiscard]] WARREN_HD WeightedEdge weigh(const Row& row, const Entry& entry,
                                             std::uint32_t head) const {
    // Rounded as along edges: l_i + (r_j + w_ij c).
    Row moved = row;
    moved.right += entry.value * by_weight[head];
    const EdgeWeight edge = BackwardSide<T>::weigh(moved, entry, head);
    const float by = entry.value * (edge.is_positive ? 1.0f : this->slope);
    return {edge, by * edge.weight, entry.value * edge.term};
  }
  WARREN_HD void finish_head(std::uint64_t row, std::uint32_t head, float scale, float first,
                             float second) const {
    BackwardSide<T>::finish_head(row, head, scale, first, second);
    weighted_t[row * this->heads + head] = second;
  }
};

/// What a side adds up.
template <class Side, std::uint32_t N>
using SumsOf = std::conditional_t<Side::kSumsWeighted, WeightedAttentionSums<N>, AttentionSums<N>>;

}  // namespace warren::learn::detail
