// SPDX-License-Identifier: Apache-2.0
// The three passes of GATv2's attention, for both backends: warren/learn/attention_v2.hpp has their
// formulas and names.
#pragma once

#include <cmath>
#include <limits>

#include "learn/attention/gatv2/attention_v2_walk.hpp"

namespace warren::learn::detail {

/// Statistics that a pass does not need.
struct NoStatistics {
  WARREN_HD Floats<kPair> row_statistics(std::uint64_t, std::uint64_t) const { return {}; }
  WARREN_HD Floats<kPair> entry_statistics(std::uint64_t, std::uint64_t) const { return {}; }
};

/// Along edges. scalar: the largest logit so far, and the sum of powers relative to it.
template <class T>
struct V2ForwardSide : NoStatistics {
  using Element = T;
  static constexpr std::uint32_t kRows = 1, kEntries = 1, kColumns = 1, kGradients = 1;
  static constexpr bool kIsWeighted = false;
  std::uint64_t heads, y_width;
  const T* q;
  std::uint64_t stride;
  TwoParts<T> z;
  T* y;  ///< Rows without gaps.
  float* statistics;

  [[nodiscard]] std::uintptr_t addresses() const {
    return address(q) | address(z.own) | address(z.pulled) | address(y);
  }
  WARREN_HD const T* row(std::uint32_t, std::uint64_t r) const { return q + r * stride; }
  WARREN_HD const T* entry(std::uint32_t, std::uint64_t c) const { return z.row(c); }
  WARREN_HD float factor(const EdgeDropout& dropout, std::uint32_t row_key, std::uint32_t entry_key,
                         std::uint32_t head) const {
    return dropout.factor(row_key, entry_key, head);
  }
  template <class Sums>
  WARREN_HD static Sums start() {
    Sums sums;
    sums.scalar[0] = std::numeric_limits<float>::lowest();
    return sums;
  }
  /// The sums so far, relative to another maximum.
  template <class Sums>
  WARREN_HD static void shrink(Sums& sums, float largest) {
    const float by = exponential(sums.scalar[0] - largest);
    for_each_column(sums, [&](float& value) { value *= by; });
    sums.scalar[0] = largest;
    sums.scalar[1] *= by;
  }
  template <std::uint32_t N, std::uint32_t kPacks, class F>
  WARREN_HD static void for_each_column(HeadSums<N, kPacks, 1>& sums, F&& f) {
    WARREN_UNROLL
    for (std::uint32_t p = 0; p < kPacks; ++p) {
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < N; ++i) f(sums.column[0][p].at[i]);
    }
  }
  template <std::uint32_t M, class Lane, std::uint32_t N, std::uint32_t kPacks>
  WARREN_HD void add(const Lane&, const typename Lane::Row&, const typename Lane::Entry* entries,
                     const float (&scores)[M], const float (&)[M], const float (&factors)[M],
                     HeadSums<N, kPacks, 1>& sums) const {
    float largest = sums.scalar[0];
    WARREN_UNROLL
    for (std::uint32_t u = 0; u < M; ++u) largest = exec::Maximum{}(largest, scores[u]);
    if (largest != sums.scalar[0]) shrink(sums, largest);
    WARREN_UNROLL
    for (std::uint32_t u = 0; u < M; ++u) {
      const float power = exponential(scores[u] - largest);
      const float weight = power * factors[u];
      sums.scalar[1] += power;
      WARREN_UNROLL
      for (std::uint32_t p = 0; p < kPacks; ++p) {
        add_scaled(weight, floats_of(entries[u].at[0][p]), sums.column[0][p]);
      }
    }
  }
  template <class Sums>
  WARREN_HD static void merge(Sums& sums, const Sums& part) {
    Sums other = part;
    const float largest = exec::Maximum{}(sums.scalar[0], other.scalar[0]);
    shrink(sums, largest);
    shrink(other, largest);
    sums.add(other);
    sums.scalar[0] = largest;
  }
  template <class Lane, std::uint32_t N, std::uint32_t kPacks>
  WARREN_HD void finish(const Lane& lane, const typename Lane::Row& row,
                        HeadSums<N, kPacks, 1>& sums, Floats<N> (&)[kPacks]) const {
    const float total = sums.scalar[1];
    const float inverse = total == 0.0f ? 0.0f : 1.0f / total;
    for_each_column(sums, [&](float& value) { value *= inverse; });
    WARREN_UNROLL
    for (std::uint32_t p = 0; p < kPacks; ++p)
      lane.store_packed(p, sums.column[0][p], y + row.index * y_width);
    if (lane.is_first())
      statistics[(row.index * heads + lane.head) * kPair + kLogarithm] =
          sums.scalar[0] + std::log(total);
  }
};

/// Along edges: dq. column: sums of w_ij g_ij and of w_ij where q_i + z_j > 0, of which e_ij's sum
/// is made when that of all w_ij g_ij is known, scalar[0]. Since a row's e_ij add up to 0, only
/// what f's two values differ by is left of them.
template <class T>
struct V2TargetSide {
  using Element = T;
  static constexpr std::uint32_t kRows = 2, kEntries = 1, kColumns = 2, kGradients = 1;
  static constexpr bool kIsWeighted = false;
  std::uint64_t heads;
  const T* q;
  const T* dy;
  std::uint64_t stride;
  TwoParts<T> z;
  T* dq;
  float* statistics;

  [[nodiscard]] std::uintptr_t addresses() const {
    return address(q) | address(dy) | address(z.own) | address(z.pulled) | address(dq);
  }
  WARREN_HD const T* row(std::uint32_t i, std::uint64_t r) const {
    return (i == 0 ? q : dy) + r * stride;
  }
  WARREN_HD const T* entry(std::uint32_t, std::uint64_t c) const { return z.row(c); }
  WARREN_HD Floats<kPair> row_statistics(std::uint64_t r, std::uint64_t head) const {
    // The other one of the pair is set in this walk, by the first of the head's lanes.
    Floats<kPair> pair{};
    pair.at[kLogarithm] = statistics[(r * heads + head) * kPair + kLogarithm];
    return pair;
  }
  WARREN_HD Floats<kPair> entry_statistics(std::uint64_t, std::uint64_t) const { return {}; }
  WARREN_HD float factor(const EdgeDropout& dropout, std::uint32_t row_key, std::uint32_t entry_key,
                         std::uint32_t head) const {
    return dropout.factor(row_key, entry_key, head);
  }
  template <class Sums>
  WARREN_HD static Sums start() {
    return {};
  }
  template <class Sums>
  WARREN_HD static void merge(Sums& sums, const Sums& other) {
    sums.add(other);
  }
  template <std::uint32_t M, class Lane, std::uint32_t N, std::uint32_t kPacks>
  WARREN_HD void add(const Lane& lane, const typename Lane::Row& row,
                     const typename Lane::Entry* entries, const float (&scores)[M],
                     const float (&products)[M], const float (&factors)[M],
                     HeadSums<N, kPacks, 2>& sums) const {
    WARREN_UNROLL
    for (std::uint32_t u = 0; u < M; ++u) {
      const float weight = exponential(scores[u] - row.statistics.at[kLogarithm]);
      const float part = weight * factors[u] * products[u];
      sums.scalar[0] += part;
      WARREN_UNROLL
      for (std::uint32_t p = 0; p < kPacks; ++p) {
        const Floats<N> from = lane.logit_part(entries[u], p);
        add_where_positive(row.at[0][p], from, part, sums.column[0][p]);
        add_where_positive(row.at[0][p], from, weight, sums.column[1][p]);
      }
    }
  }
  template <class Lane, std::uint32_t N, std::uint32_t kPacks>
  WARREN_HD void finish(const Lane& lane, const typename Lane::Row& row,
                        const HeadSums<N, kPacks, 2>& sums, Floats<N> (&gradient)[kPacks]) const {
    const float all = sums.scalar[0];
    const float difference = 1.0f - lane.job.slope;
    WARREN_UNROLL
    for (std::uint32_t p = 0; p < kPacks; ++p) {
      Floats<N> result;
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < N; ++i) {
        const float t = difference * (sums.column[0][p].at[i] - all * sums.column[1][p].at[i]);
        gradient[p].at[i] += row.at[0][p].at[i] * t;
        result.at[i] = lane.a[p].at[i] * t;
      }
      lane.store_row(p, result, dq + row.index * stride);
    }
    if (lane.is_first()) statistics[(row.index * heads + lane.head) * kPair + kProduct] = all;
  }
};

/// Against edges: dz; row j's entries are the rows i that j is a neighbour of. column: sums of
/// d_ij w_ij dy_i, and of e_ij where q_i + z_j > 0; scalar[0]: of all e_ij.
template <class T>
struct V2SourceSide {
  using Element = T;
  static constexpr std::uint32_t kRows = 1, kEntries = 2, kColumns = 2, kGradients = 1;
  static constexpr bool kIsWeighted = false;
  std::uint64_t heads;
  const T* z;
  std::uint64_t stride;
  TwoParts<T> q, dy;
  TwoParts<float> statistics;
  T* dz;

  [[nodiscard]] std::uintptr_t addresses() const {
    return address(z) | address(q.own) | address(q.pulled) | address(dy.own) | address(dy.pulled) |
           address(dz);
  }
  WARREN_HD const T* row(std::uint32_t, std::uint64_t r) const { return z + r * stride; }
  WARREN_HD const T* entry(std::uint32_t i, std::uint64_t c) const {
    return i == 0 ? q.row(c) : dy.row(c);
  }
  WARREN_HD Floats<kPair> row_statistics(std::uint64_t, std::uint64_t) const { return {}; }
  WARREN_HD Floats<kPair> entry_statistics(std::uint64_t c, std::uint64_t head) const {
    return load_floats<kPair>(statistics.row(c) + head * kPair);
  }
  WARREN_HD float factor(const EdgeDropout& dropout, std::uint32_t row_key, std::uint32_t entry_key,
                         std::uint32_t head) const {
    return dropout.factor(entry_key, row_key, head);
  }
  template <class Sums>
  WARREN_HD static Sums start() {
    return {};
  }
  template <class Sums>
  WARREN_HD static void merge(Sums& sums, const Sums& other) {
    sums.add(other);
  }
  template <std::uint32_t M, class Lane, std::uint32_t N, std::uint32_t kPacks>
  WARREN_HD void add(const Lane& lane, const typename Lane::Row& row,
                     const typename Lane::Entry* entries, const float (&scores)[M],
                     const float (&products)[M], const float (&factors)[M],
                     HeadSums<N, kPacks, 2>& sums) const {
    WARREN_UNROLL
    for (std::uint32_t u = 0; u < M; ++u) {
      const Floats<kPair> of = entries[u].statistics;
      const float weight = exponential(scores[u] - of.at[kLogarithm]);
      const float dropped = weight * factors[u];
      const float slope = dropped * products[u] - weight * of.at[kProduct];
      sums.scalar[0] += slope;
      WARREN_UNROLL
      for (std::uint32_t p = 0; p < kPacks; ++p) {
        add_scaled(dropped, floats_of(entries[u].at[1][p]), sums.column[0][p]);
        add_where_positive(row.at[0][p], lane.logit_part(entries[u], p), slope, sums.column[1][p]);
      }
    }
  }
  template <class Lane, std::uint32_t N, std::uint32_t kPacks>
  WARREN_HD void finish(const Lane& lane, const typename Lane::Row& row,
                        const HeadSums<N, kPacks, 2>& sums, Floats<N> (&gradient)[kPacks]) const {
    const float slope = lane.job.slope;
    WARREN_UNROLL
    for (std::uint32_t p = 0; p < kPacks; ++p) {
      Floats<N> result;
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < N; ++i) {
        const float v = slope * sums.scalar[0] + (1.0f - slope) * sums.column[1][p].at[i];
        gradient[p].at[i] += row.at[0][p].at[i] * v;
        result.at[i] = sums.column[0][p].at[i] + lane.a[p].at[i] * v;
      }
      lane.store_row(p, result, dz + row.index * stride);
    }
  }
};

/// The passes over edges that have weights: logits are of u_ij = q_i + z_j + x_ij b.
template <class T>
struct V2WeightedForwardSide : V2ForwardSide<T> {
  static constexpr bool kIsWeighted = true;
  const float* by_weight;  ///< b, heads x width.
};
template <class T>
struct V2WeightedTargetSide : V2TargetSide<T> {
  static constexpr bool kIsWeighted = true;
  const float* by_weight;
};
/// With one more column sum, of x_ij e_ij where u_ij > 0, and scalar[1], of all x_ij e_ij; adds to
/// the gradient of b, too.
template <class T>
struct V2WeightedSourceSide : V2SourceSide<T> {
  static constexpr std::uint32_t kColumns = 3, kGradients = 2;
  static constexpr bool kIsWeighted = true;
  const float* by_weight;

  template <std::uint32_t M, class Lane, std::uint32_t N, std::uint32_t kPacks>
  WARREN_HD void add(const Lane& lane, const typename Lane::Row& row,
                     const typename Lane::Entry* entries, const float (&scores)[M],
                     const float (&products)[M], const float (&factors)[M],
                     HeadSums<N, kPacks, 3>& sums) const {
    WARREN_UNROLL
    for (std::uint32_t u = 0; u < M; ++u) {
      const Floats<kPair> of = entries[u].statistics;
      const float weight = exponential(scores[u] - of.at[kLogarithm]);
      const float dropped = weight * factors[u];
      const float slope = dropped * products[u] - weight * of.at[kProduct];
      const float weighted = entries[u].value * slope;
      sums.scalar[0] += slope;
      sums.scalar[1] += weighted;
      WARREN_UNROLL
      for (std::uint32_t p = 0; p < kPacks; ++p) {
        const Floats<N> part = lane.logit_part(entries[u], p);
        add_scaled(dropped, floats_of(entries[u].at[1][p]), sums.column[0][p]);
        add_where_positive(row.at[0][p], part, slope, sums.column[1][p]);
        add_where_positive(row.at[0][p], part, weighted, sums.column[2][p]);
      }
    }
  }
  template <class Lane, std::uint32_t N, std::uint32_t kPacks>
  WARREN_HD void finish(const Lane& lane, const typename Lane::Row& row,
                        const HeadSums<N, kPacks, 3>& sums,
                        Floats<N> (&gradients)[2 * kPacks]) const {
    const float slope = lane.job.slope;
    WARREN_UNROLL
    for (std::uint32_t p = 0; p < kPacks; ++p) {
      Floats<N> result;
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < N; ++i) {
        const float v = slope * sums.scalar[0] + (1.0f - slope) * sums.column[1][p].at[i];
        const float weighted = slope * sums.scalar[1] + (1.0f - slope) * sums.column[2][p].at[i];
        gradients[p].at[i] += row.at[0][p].at[i] * v + lane.by_weight[p].at[i] * weighted;
        gradients[kPacks + p].at[i] += lane.a[p].at[i] * weighted;
        result.at[i] = sums.column[0][p].at[i] + lane.a[p].at[i] * v;
      }
      lane.store_row(p, result, this->dz + row.index * this->stride);
    }
  }
};

#if WARREN_HAS_CUDA
extern template void run_heads<exec::Cuda>(const exec::Stream&,
                                           const HeadJob<V2WeightedForwardSide<float>>&);
extern template void run_heads<exec::Cuda>(const exec::Stream&,
                                           const HeadJob<V2WeightedTargetSide<float>>&);
extern template void run_heads<exec::Cuda>(const exec::Stream&,
                                           const HeadJob<V2WeightedSourceSide<float>>&);
extern template void run_heads<exec::Cuda>(const exec::Stream&,
                                           const HeadJob<V2WeightedForwardSide<Half>>&);
extern template void run_heads<exec::Cuda>(const exec::Stream&,
                                           const HeadJob<V2WeightedTargetSide<Half>>&);
extern template void run_heads<exec::Cuda>(const exec::Stream&,
                                           const HeadJob<V2WeightedSourceSide<Half>>&);
extern template void run_heads<exec::Cuda>(const exec::Stream&,
                                           const HeadJob<V2WeightedForwardSide<BFloat16>>&);
extern template void run_heads<exec::Cuda>(const exec::Stream&,
                                           const HeadJob<V2WeightedTargetSide<BFloat16>>&);
extern template void run_heads<exec::Cuda>(const exec::Stream&,
                                           const HeadJob<V2WeightedSourceSide<BFloat16>>&);
extern template void run_heads<exec::Cuda>(const exec::Stream&,
                                           const HeadJob<V2ForwardSide<float>>&);
extern template void run_heads<exec::Cuda>(const exec::Stream&,
                                           const HeadJob<V2TargetSide<float>>&);
extern template void run_heads<exec::Cuda>(const exec::Stream&,
                                           const HeadJob<V2SourceSide<float>>&);
extern template void run_heads<exec::Cuda>(const exec::Stream&,
                                           const HeadJob<V2ForwardSide<Half>>&);
extern template void run_heads<exec::Cuda>(const exec::Stream&, const HeadJob<V2TargetSide<Half>>&);
extern template void run_heads<exec::Cuda>(const exec::Stream&, const HeadJob<V2SourceSide<Half>>&);
extern template void run_heads<exec::Cuda>(const exec::Stream&,
                                           const HeadJob<V2ForwardSide<BFloat16>>&);
extern template void run_heads<exec::Cuda>(const exec::Stream&,
                                           const HeadJob<V2TargetSide<BFloat16>>&);
extern template void run_heads<exec::Cuda>(const exec::Stream&,
                                           const HeadJob<V2SourceSide<BFloat16>>&);
#endif

}  // namespace warren::learn::detail
