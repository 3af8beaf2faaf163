// SPDX-License-Identifier: Apache-2.0
// The walk over edges that attention's forward and backward passes are: every edge's weight is made
// where its row of z or dy is read, by each lane for its own columns, and nothing is kept for an
// edge. Tasks, tiles and pieces of long rows are those of the sparse-dense product
// (sparse/spmm_tiles.hpp): a group of lanes has a task, 16 bytes of a row each, with four rows on
// their way together. Rows are stored as T; weights, statistics and sums are float32.
#pragma once

#include <algorithm>

#include "warren/learn/attention.hpp"

#include "learn/exponential.hpp"
#include "learn/row_pass.hpp"
#include "sparse/tile_rows.hpp"

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
};

/// What the four numbers of a row and head are: l, the largest logit, 1 / the sum of powers, <dy,
/// y>.
inline constexpr std::uint32_t kLeft = 0, kLargest = 1, kInverse = 2, kDot = 3, kStatistics = 4;

/// Dropout of edges: what happens to the edge from i to j depends on their keys and the head.
struct EdgeDropout {
  const std::uint32_t* keys = nullptr;  ///< Of all columns, own rows first; nullptr: off.
  float probability = 0.0f;

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
    return drawn < probability ? 0.0f : 1.0f / (1.0f - probability);
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

/// Along edges. first: sum of powers; second: that of positive logits.
template <class T>
struct ForwardSide {
  using Element = T;
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
  /// The entry's weight.
  template <std::uint32_t N>
  WARREN_HD float weigh(const Row& row, const Entry& entry, std::uint32_t head, bool& is_positive,
                        AttentionSums<N>& sums) const {
    const float x = row.left + entry.right;
    is_positive = x > 0.0f;
    const float power = exponential((is_positive ? x : slope * x) - row.largest);
    sums.first += power;
    sums.second += is_positive ? power : 0.0f;
    return power * dropout.factor(row.key, entry.key, head);
  }
  template <std::uint32_t N>
  WARREN_HD void finish(std::uint64_t row, std::uint32_t head, std::uint64_t column,
                        bool is_first_of_head, AttentionSums<N>& sums) const {
    const float inverse = sums.first > 0.0f ? 1.0f / sums.first : 0.0f;
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) {
      sums.all.at[i] *= inverse;
      sums.positive.at[i] *= inverse;
    }
    if (is_first_of_head) {
      statistics[(row * heads + head) * kStatistics + kInverse] = inverse;
      share[row * heads + head] = sums.second * inverse;
    }
    T* to = y + row * y_width + column;
    if (y_width % N == 0 && column < y_width) return store_pack<N>(sums.all, to);
    WARREN_UNROLL
    for (std::uint32_t i = 0; i < N; ++i) {
      if (column + i < y_width) to[i] = from_float<T>(sums.all.at[i]);
    }
  }
};

/// Against edges: row j's entries are the rows i that j is a neighbour of.
/// first: t[j][h] = sum over i of LeakyReLU'(l_i + r_j) a_ij <dy_i, y_i>.
template <class T>
struct BackwardSide {
  using Element = T;
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
  template <std::uint32_t N>
  WARREN_HD float weigh(const Row& row, const Entry& entry, std::uint32_t head, bool& is_positive,
                        AttentionSums<N>& sums) const {
    const float x = entry.of.at[kLeft] + row.right;
    is_positive = x > 0.0f;
    const float weight =
        exponential((is_positive ? x : slope * x) - entry.of.at[kLargest]) * entry.of.at[kInverse];
    sums.first += (is_positive ? 1.0f : slope) * weight * entry.of.at[kDot];
    return weight * dropout.factor(entry.key, row.key, head);
  }
  template <std::uint32_t N>
  WARREN_HD void finish(std::uint64_t row, std::uint32_t head, std::uint64_t, bool is_first_of_head,
                        AttentionSums<N>& sums) const {
    if (is_first_of_head) t[row * heads + head] = sums.first;
  }
};

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
  std::uint64_t partial_stride;  ///< A multiple of a lane's columns of at least 2 k + 2 heads.
};

/// A lane's columns of a job.
template <class Side, std::uint32_t N>
struct AttentionLane {
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
  WARREN_HD void finish(std::uint64_t row, AttentionSums<N>& sums) const {
    using T = typename Side::Element;
    T* const all = job.all + row * job.k + column;
    T* const positive = job.positive + row * job.k + column;
    float* const of_head = kIsWhole ? nullptr : job.sums + (row * job.heads + head) * 2;
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
      job.side.finish(row, head, column, is_first_of_head, sums);
    } else if (is_first_of_head) {
      of_head[0] = sums.first;
      of_head[1] = sums.second;
    }
    store_pack<N>(sums.all, all);
    store_pack<N>(sums.positive, positive);
  }
  /// A piece's sums to their place, and back.
  WARREN_HD void store(std::uint64_t piece, const AttentionSums<N>& sums) const {
    float* to = job.partials + piece * job.partial_stride;
    store_floats<N>(sums.all, to + column);
    store_floats<N>(sums.positive, to + job.k + column);
    if (!is_first_of_head) return;
    to[2 * job.k + head] = sums.first;
    to[2 * job.k + job.heads + head] = sums.second;
  }
  WARREN_HD AttentionSums<N> load(std::uint64_t piece) const {
    const float* from = job.partials + piece * job.partial_stride;
    return {load_floats<N>(from + column), load_floats<N>(from + job.k + column),
            from[2 * job.k + head], from[2 * job.k + job.heads + head]};
  }
};

/// Task `index % tasks` in column tile `index / tasks`. Lanes do not wait for each other.
template <class Side, std::uint32_t N, bool kIsWhole>
struct AttentionWalk {
  static constexpr std::uint32_t kInFlight = 4;
  /// As many as a processor then holds.
  static constexpr std::uint32_t kMostThreads = 768;
  AttentionJob<Side> job;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t index) const {
    const sparse::SpmmTask task = job.tasks[index % job.task_count];
    const std::uint64_t column = (index / job.task_count * worker.size() + worker.lane()) * N;
    if (column >= job.k) return;
    const AttentionLane<Side, N> lane(job, column);
    const std::uint32_t head = lane.head;
    sparse::detail::TileRows rows(job.a.offsets, task);
    typename Side::Row row = job.side.row(task.row, head);
    AttentionSums<N> sums;
    const auto next = [&] {
      lane.template finish<kIsWhole>(std::uint64_t{task.row} + rows.row(), sums);
      sums = {};
      rows.advance();
      if (rows.row() < task.rows) row = job.side.row(std::uint64_t{task.row} + rows.row(), head);
    };
    const auto total = static_cast<std::uint32_t>(task.end - task.begin);
    Vertex to[kInFlight];
    if (total > 0) sparse::detail::find_columns(job.a, task, total, 0, to);
    for (std::uint32_t i = 0; i < total; i += kInFlight) {
      Pack<typename Side::Element, N> x[kInFlight];
      typename Side::Entry entry[kInFlight];
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kInFlight; ++u) {
        x[u] = load_pack<N>(job.x.row(to[u]) + column);
        entry[u] = job.side.entry(to[u], head);
      }
      sparse::detail::find_columns(job.a, task, total, i + kInFlight, to);
      const bool is_within = i + kInFlight <= total && i + kInFlight <= rows.end();
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kInFlight; ++u) {
        if (!is_within) {
          if (i + u >= total) break;
          while (i + u >= rows.end()) next();
        }
        bool is_positive = false;
        const float weight = job.side.weigh(row, entry[u], head, is_positive, sums);
        const float positive = is_positive ? weight : 0.0f;
        WARREN_UNROLL
        for (std::uint32_t c = 0; c < N; ++c) {
          const float value = x[u].get(c);
          sums.all.at[c] += weight * value;
          sums.positive.at[c] += positive * value;
        }
      }
    }
    if (task.partial != sparse::SpmmTask::kWhole) return lane.store(task.partial, sums);
    while (rows.row() < task.rows) next();
  }
};

/// Split row `index % splits` in column tile `index / splits`: groups of `lanes` lanes add up every
/// so many-th of its pieces, the first one adds up the groups' sums.
template <class Side, std::uint32_t N, bool kIsWhole>
struct AttentionCombine {
  AttentionJob<Side> job;
  std::uint32_t lanes;

  template <class W>
  WARREN_HD void operator()(const W& worker, std::uint64_t index) const {
    const sparse::SplitRow split = job.splits[index % job.split_count];
    const std::uint32_t group = worker.lane() / lanes;
    const std::uint32_t groups = worker.size() / lanes;
    const std::uint64_t column = (index / job.split_count * lanes + worker.lane() % lanes) * N;
    const bool is_active = column < job.k;
    const AttentionLane<Side, N> lane(job, is_active ? column : 0);
    AttentionSums<N> sums;
    for (std::uint32_t p = group; is_active && p < split.count; p += groups)
      sums.add(lane.load(std::uint64_t{split.first} + p));
    auto* const shared = worker.template scratch<AttentionSums<N>>();
    shared[worker.lane()] = sums;
    worker.sync();
    if (group == 0 && is_active) {
      for (std::uint32_t g = 1; g < groups; ++g) sums.add(shared[g * lanes + worker.lane()]);
      lane.template finish<kIsWhole>(split.row, sums);
    }
    worker.sync();
  }
};

template <class Backend, class W, class Side, std::uint32_t N, bool kIsWhole>
void launch_parts(const exec::Stream& stream, const AttentionJob<Side>& job, std::uint32_t lanes) {
  const std::uint64_t tiles = (job.k + std::uint64_t{lanes} * N - 1) / (std::uint64_t{lanes} * N);
  exec::launch_wide<Backend, W>(stream, job.task_count * tiles,
                                AttentionWalk<Side, N, kIsWhole>{job}, {.threads_per_block = 384});
  exec::LaunchOptions block;
  block.scratch_bytes = (std::is_same_v<Backend, exec::Cpu> ? 1 : block.threads_per_block) *
                        static_cast<std::uint32_t>(sizeof(AttentionSums<N>));
  exec::launch_wide<Backend, exec::Block>(stream, job.split_count * tiles,
                                          AttentionCombine<Side, N, kIsWhole>{job, lanes}, block);
}

template <class Backend, class W, class Side, std::uint32_t N>
void launch_walk(const exec::Stream& stream, const AttentionJob<Side>& job, std::uint32_t lanes) {
  if (job.part == WalkPart::all) return launch_parts<Backend, W, Side, N, true>(stream, job, lanes);
  launch_parts<Backend, W, Side, N, false>(stream, job, lanes);
}

/// A lane reads 16 bytes of a row at once where heads and addresses allow.
template <class Backend, class Side>
void run_walk(const exec::Stream& stream, const AttentionJob<Side>& job) {
  const std::uint64_t step = job.heads == 1 ? job.k : job.width;
  if constexpr (std::is_same_v<Backend, exec::Cpu>) {
    if (step % 64 == 0) return launch_walk<Backend, exec::Serial, Side, 64>(stream, job, 1);
    if (step % 16 == 0) return launch_walk<Backend, exec::Serial, Side, 16>(stream, job, 1);
    if (step % 8 == 0) return launch_walk<Backend, exec::Serial, Side, 8>(stream, job, 1);
    if (step % 4 == 0) return launch_walk<Backend, exec::Serial, Side, 4>(stream, job, 1);
    launch_walk<Backend, exec::Serial, Side, 1>(stream, job, 1);
  } else {
    constexpr std::uint32_t kN = 16 / sizeof(typename Side::Element);
    constexpr std::uintptr_t kAligned = kN * sizeof(float);
    const std::uintptr_t addresses =
        address(job.x.own) | address(job.x.pulled) | address(job.all) | address(job.positive);
    if (step % kN != 0 || job.x.stride % kN != 0 || addresses % kAligned != 0)
      return launch_walk<Backend, exec::Warp, Side, 1>(stream, job, 32);
    const std::uint64_t lanes = job.k / kN;
    if (lanes > 16) return launch_walk<Backend, exec::Warp, Side, kN>(stream, job, 32);
    if (lanes > 8) return launch_walk<Backend, exec::Tile<16>, Side, kN>(stream, job, 16);
    if (lanes > 4) return launch_walk<Backend, exec::Tile<8>, Side, kN>(stream, job, 8);
    launch_walk<Backend, exec::Tile<4>, Side, kN>(stream, job, 4);
  }
}

#if WARREN_HAS_CUDA
extern template void run_walk<exec::Cuda>(const exec::Stream&,
                                          const AttentionJob<ForwardSide<float>>&);
extern template void run_walk<exec::Cuda>(const exec::Stream&,
                                          const AttentionJob<BackwardSide<float>>&);
extern template void run_walk<exec::Cuda>(const exec::Stream&,
                                          const AttentionJob<ForwardSide<Half>>&);
extern template void run_walk<exec::Cuda>(const exec::Stream&,
                                          const AttentionJob<BackwardSide<Half>>&);
extern template void run_walk<exec::Cuda>(const exec::Stream&,
                                          const AttentionJob<ForwardSide<BFloat16>>&);
extern template void run_walk<exec::Cuda>(const exec::Stream&,
                                          const AttentionJob<BackwardSide<BFloat16>>&);
#endif

}  // namespace warren::learn::detail
