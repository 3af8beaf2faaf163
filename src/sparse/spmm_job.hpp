// SPDX-License-Identifier: Apache-2.0
// What the kernels of the sparse-dense product have in common.
#pragma once

#include <cstdint>

#include "warren/exec/atomic.hpp"
#include "warren/exec/float_pack.hpp"
#include "warren/exec/launch.hpp"
#include "warren/sparse/spmm.hpp"

namespace warren::sparse::detail {

/// One product, as its kernels see it.
template <class T>
struct SpmmJob {
  MatrixView a;
  RowTable<T> b;
  T* c = nullptr;
  std::uint64_t c_stride = 0;
  std::uint64_t k = 0;
  const SpmmTask* tasks = nullptr;
  std::uint64_t task_count = 0;
  std::uint64_t all_tasks = 0;  ///< Of the plan: what comes before and after runs beside these.
  bool is_last = true;          ///< Of the plan's tasks none come after these.
  const SplitRow* splits = nullptr;
  std::uint64_t split_count = 0;
  float* partials = nullptr;
  std::uint64_t partial_stride = 0;
  std::uint32_t* arrivals = nullptr;  ///< GPUs only: for each column tile, a place a piece; zeros.
  std::uint64_t pieces = 0;
  std::uint64_t* rows_moved = nullptr;
  float alpha = 1.0f;
  float beta = 0.0f;
  bool is_c_narrow = false;  ///< C's rows are written and read element by element, up to k.
  std::uint32_t b_bytes = 0, c_bytes = 0;  ///< GPUs only: of a row's stride, modulo 2^32.
  bool is_plain = false;                   ///< GPUs only: C = the sums, in whole packs.
};

/// Where a group of lanes is in a product: groups are numbered tile of columns by tile.
struct TaskPlace {
  std::uint64_t task;
  std::uint32_t tile = 0;

  /// Of `index`; there are `tasks` in each tile. Tiles are few: a division would take longer.
  WARREN_HD TaskPlace(std::uint64_t index, std::uint64_t tasks) : task(index) {
    for (; task >= tasks; task -= tasks) ++tile;
  }
};

/// The columns that one lane works on: kWidth from `column` on, of which the first `done` are
/// another's results already.
struct LaneColumns {
  std::uint64_t column = 0;
  std::uint32_t done = 0;
  bool is_active = true;
};

template <class T, std::uint32_t kWidth>
struct SpmmLane {
  using Pack = exec::FloatPack<kWidth>;

  const SpmmJob<T>& job;
  LaneColumns mine;

  WARREN_HD const T* address(std::uint64_t row) const {
    const int q = job.b.parts == 1 ? 0 : job.b.part(row);
    return job.b.origin[q] + row * job.b.stride;
  }

  /// C[row] = alpha row_scale (sum + self B[row]) + beta C[row] in this lane's columns.
  WARREN_HD void finish(std::uint64_t row, Pack& sum) const {
    if (!mine.is_active) return;
    if (job.a.self != nullptr) {
      Pack own;
      own.load(address(job.a.self_first + row) + mine.column);
      sum.add(job.a.self[row], own);
    }
    const float scale = job.a.row_scale == nullptr ? 1.0f : job.a.row_scale[row];
    sum.scale(job.alpha * scale);
    T* const target = job.c + row * job.c_stride + mine.column;
    if (job.is_c_narrow) {
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < kWidth; ++i) {
        if (mine.column + i >= job.k) break;
        const float old = job.beta != 0.0f ? job.beta * to_float(target[i]) : 0.0f;
        target[i] = from_float<T>(sum.at(i) + old);
      }
      return;
    }
    if (job.beta != 0.0f) {
      Pack old;
      old.load(target);
      sum.add(job.beta, old);
    }
    if (mine.done == 0) {
      sum.store(target);
    } else {
      // All of the pack's places, so that a GPU need not index its registers.
      WARREN_UNROLL
      for (std::uint32_t i = 0; i < kWidth; ++i) {
        if (i >= mine.done) target[i] = from_float<T>(sum.at(i));
      }
    }
  }
};

}  // namespace warren::sparse::detail
