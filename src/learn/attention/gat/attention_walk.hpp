// SPDX-License-Identifier: Apache-2.0
// The walk over edges that attention's forward and backward passes are: every edge's weight is made
// where its row of z or dy is read, and nothing is kept for an edge. Tasks, tiles and pieces of
// long rows are those of the sparse-dense product (sparse/spmm_tiles.hpp): a group of lanes has a
// task, 16 bytes of a row each, with four rows on their way together. Rows are stored as T;
// weights, statistics and sums are float32.
#pragma once

#include <algorithm>

#include "learn/attention/gat/attention_shared_walk.hpp"
#include "learn/attention/gat/attention_tensor_walk.hpp"

namespace warren::learn::detail {

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
    SumsOf<Side, N> sums;
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
        if constexpr (Side::kIsWeighted) {
          const std::uint32_t e = sparse::detail::entry_or_last(i + u, total);
          entry[u] = job.side.entry(to[u], head, job.a.values[task.begin + e]);
        } else {
          entry[u] = job.side.entry(to[u], head);
        }
      }
      sparse::detail::find_columns(job.a, task, total, i + kInFlight, to);
      const bool is_within = i + kInFlight <= total && i + kInFlight <= rows.end();
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kInFlight; ++u) {
        if (!is_within) {
          if (i + u >= total) break;
          while (i + u >= rows.end()) next();
        }
        lane.add(job.side.weigh(row, entry[u], head), x[u], sums);
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
    SumsOf<Side, N> sums;
    for (std::uint32_t p = group; is_active && p < split.count; p += groups)
      sums.add(lane.load(std::uint64_t{split.first} + p));
    if constexpr (std::is_same_v<W, exec::Serial>) {
      // One lane is one group.
      if (is_active) lane.template finish<kIsWhole>(split.row, sums);
    } else {
      auto* const shared = worker.template scratch<SumsOf<Side, N>>();
      shared[worker.lane()] = sums;
      worker.sync();
      if (group == 0 && is_active) {
        for (std::uint32_t g = 1; g < groups; ++g) sums.add(shared[g * lanes + worker.lane()]);
        lane.template finish<kIsWhole>(split.row, sums);
      }
      worker.sync();
    }
  }
};

/// The walk over tasks, without what pieces of rows add up to.
template <class Backend, class W, class Side, std::uint32_t N, bool kIsWhole>
void launch_tasks(const exec::Stream& stream, const AttentionJob<Side>& job, std::uint32_t lanes) {
  const std::uint64_t columns = std::uint64_t{lanes} * N;
  constexpr std::uint32_t kThreads = 384;
#if defined(__CUDACC__)
  // Where a lane reads 16 bytes.
  if constexpr (std::is_same_v<Backend, exec::Cuda> && sizeof(typename Side::Element) == 2 &&
                N == 8 && !Side::kIsWeighted) {
    using Walk = AttentionTensorWalk<Side, kIsWhole>;
    static_assert(sizeof(typename Walk::Shared) <= exec::kLeastSharedBytes);
    if (job.tensor_sums && Walk::allows(job)) {
      return exec::launch<Backend, exec::Warp>(
          stream, job.task_count * Walk::spans(job), Walk{job},
          {.scratch_bytes = sizeof(typename Walk::Shared),
           .threads_per_block = exec::fitting_threads(stream.device(), Walk::kThreads,
                                                      sizeof(typename Walk::Shared))});
    }
  }
#endif
  const auto walk = [&](const auto& kernel) {
    exec::launch_wide<Backend, W>(stream, job.task_count * ((job.k + columns - 1) / columns),
                                  kernel, {.threads_per_block = kThreads});
  };
  // Columns read one by one are those of narrow heads.
  constexpr bool kShares = !std::is_same_v<Backend, exec::Cpu> && N > 1 && !Side::kIsWeighted;
  const std::uint32_t together = kShares ? lanes_of_a_head(job, lanes, N) : 0;
  if (together == 0) {
    walk(AttentionWalk<Side, N, kIsWhole>{job});
  } else if constexpr (kShares) {
    walk(AttentionSharedWalk<Side, N, kIsWhole>{job, together});
  }
}

template <class Backend, class Side, std::uint32_t N, bool kIsWhole>
void launch_pieces(const exec::Stream& stream, const AttentionJob<Side>& job, std::uint32_t lanes) {
  const std::uint64_t columns = std::uint64_t{lanes} * N;
  exec::LaunchOptions block;
  block.scratch_bytes = (std::is_same_v<Backend, exec::Cpu> ? 1 : block.threads_per_block) *
                        static_cast<std::uint32_t>(sizeof(SumsOf<Side, N>));
  // Of few rows: not worth code for each width of a CPU's vectors.
  exec::launch<Backend, exec::Block>(stream, job.split_count * ((job.k + columns - 1) / columns),
                                     AttentionCombine<Side, N, kIsWhole>{job, lanes}, block);
}

template <class Backend, class W, class Side, std::uint32_t N>
void launch_walk(const exec::Stream& stream, const AttentionJob<Side>& job, std::uint32_t lanes) {
  const auto launch = [&]<bool kIsWhole>() {
    launch_tasks<Backend, W, Side, N, kIsWhole>(stream, job, lanes);
    launch_pieces<Backend, Side, N, kIsWhole>(stream, job, lanes);
  };
  if (job.part == WalkPart::all) return launch.template operator()<true>();
  launch.template operator()<false>();
}

/// Of what is written besides.
template <class Side>
[[nodiscard]] std::uintptr_t address_of_weighted(const Side& side) {
  if constexpr (Side::kSumsWeighted) return address(side.weighted);
  return 0;
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
    const std::uintptr_t addresses = address(job.x.own) | address(job.x.pulled) | address(job.all) |
                                     address(job.positive) | address_of_weighted(job.side);
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
extern template void run_walk<exec::Cuda>(const exec::Stream&,
                                          const AttentionJob<WeightedForwardSide<float>>&);
extern template void run_walk<exec::Cuda>(const exec::Stream&,
                                          const AttentionJob<WeightedBackwardSide<float>>&);
extern template void run_walk<exec::Cuda>(const exec::Stream&,
                                          const AttentionJob<WeightedForwardSide<Half>>&);
extern template void run_walk<exec::Cuda>(const exec::Stream&,
                                          const AttentionJob<WeightedBackwardSide<Half>>&);
extern template void run_walk<exec::Cuda>(const exec::Stream&,
                                          const AttentionJob<WeightedForwardSide<BFloat16>>&);
extern template void run_walk<exec::Cuda>(const exec::Stream&,
                                          const AttentionJob<WeightedBackwardSide<BFloat16>>&);
#endif

}  // namespace warren::learn::detail
