// SPDX-License-Identifier: Apache-2.0
// The GPU's kernels of the sampled dense-dense product.
#pragma once

#include "warren/exec/beside.hpp"
#include "warren/exec/row_address.hpp"
#include "warren/sparse/tile_rows.hpp"

#include "sparse/sddmm_job.hpp"
#include "sparse/tile_launch.hpp"

namespace warren::sparse::detail {

/// Lane u of the first four gets the lanes' sum of part u: halves are exchanged, so that each
/// shuffle adds to two sums.
template <class W>
[[nodiscard]] __device__ float add_up(const W& worker, const float (&part)[4]) {
  const bool is_odd = (worker.lane() & 1u) != 0;
  const bool is_upper = (worker.lane() & 2u) != 0;
  const float low =
      (is_odd ? part[1] : part[0]) + worker.shuffle_xor(is_odd ? part[0] : part[1], 1);
  const float high =
      (is_odd ? part[3] : part[2]) + worker.shuffle_xor(is_odd ? part[2] : part[3], 1);
  float sum = (is_upper ? high : low) + worker.shuffle_xor(is_upper ? low : high, 2);
  WARREN_UNROLL
  for (std::uint32_t step = 4; step < worker.size(); step *= 2)
    sum += worker.shuffle_xor(sum, step);
  return sum;
}

/// The dot product of a lane's columns.
template <class T, std::uint32_t kWidth>
[[nodiscard]] __device__ float dot(const exec::FloatPack<kWidth>& x,
                                   const exec::RawPack<T, kWidth>& y) {
  exec::FloatPack<kWidth> values;
  values.set(y);
  return x.dot(values);
}

/// A task by a group of lanes that each own some columns: four rows of Y are on their way together;
/// the row of X is kept while it stays the same.
template <class T, std::uint32_t kWidth>
struct SddmmOnTile {
  static constexpr std::uint32_t kInFlight = 4;
  static constexpr std::uint32_t kMostThreads = 1024;
  using Pack = exec::FloatPack<kWidth>;
  using Raw = exec::RawPack<T, kWidth>;
  SddmmJob<T> job;

  template <class W>
  __device__ void operator()(const W& worker, std::uint64_t index) const {
    const SpmmTask task = job.tasks[index];
    const auto total = static_cast<std::uint32_t>(task.end - task.begin);
    if (total == 0) return;
    const std::uint32_t columns = worker.size() * kWidth;
    const bool is_one_pass = job.k <= columns;
    TileRows rows(job.a.offsets, task);
    Pack kept;
    std::uint32_t kept_row = TileRows::kNever;
    Vertex column[kInFlight];
    find_columns(job.a, task, total, 0, column);
    for (std::uint32_t i = 0; i < total; i += kInFlight) {
      std::uint64_t row[kInFlight];
      bool is_kept = true;
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kInFlight; ++u) {
        while (i + u >= rows.end() && i + u < total) rows.advance();
        row[u] = job.a.row_id(std::uint64_t{task.row} + rows.row());
        is_kept = is_kept && rows.row() == kept_row;
      }
      float product[kInFlight] = {};
      for (std::uint64_t c = worker.lane() * kWidth; c < job.k; c += columns) {
        Raw y[kInFlight];
        WARREN_UNROLL
        for (std::uint32_t u = 0; u < kInFlight; ++u)
          y[u] = *reinterpret_cast<const Raw*>(job.y + column[u] * job.y_stride + c);
        if (is_one_pass && is_kept) {
          WARREN_UNROLL
          for (std::uint32_t u = 0; u < kInFlight; ++u) product[u] = dot(kept, y[u]);
        } else {
          Raw x[kInFlight];
          WARREN_UNROLL
          for (std::uint32_t u = 0; u < kInFlight; ++u)
            x[u] = *reinterpret_cast<const Raw*>(job.x + row[u] * job.x_stride + c);
          WARREN_UNROLL
          for (std::uint32_t u = 0; u < kInFlight; ++u) {
            kept.set(x[u]);
            product[u] += dot(kept, y[u]);
          }
        }
      }
      kept_row = rows.row();
      const float sum = add_up(worker, product);
      const std::uint32_t mine = worker.lane();
      if (mine < kInFlight && i + mine < total) {
        std::uint64_t my_row = row[0];
        Vertex my_column = column[0];
        WARREN_UNROLL
        for (std::uint32_t u = 1; u < kInFlight; ++u) {
          if (mine != u) continue;
          my_row = row[u];
          my_column = column[u];
        }
        const EdgeOffset e = task.begin + i + mine;
        job.out[e] = job.scaled(sum, e, my_row, my_column);
      }
      find_columns(job.a, task, total, i + kInFlight, column);
    }
  }
};

/// The same where the products are plain ones and a group has the row of X in its registers:
/// instructions, of which there are fewer here, take as long as bytes do. Of wider rows a launch
/// for each tile of columns adds to what those before it made.
template <class T, std::uint32_t kWidth>
struct DotsOnTile {
  static constexpr std::uint32_t kInFlight = 4;
  /// Neighbouring tasks on one processor find each other's rows of Y in its cache.
  static constexpr std::uint32_t kMostThreads = 1024;
  using Pack = exec::FloatPack<kWidth>;
  using Raw = exec::RawPack<T, kWidth>;
  SddmmJob<T> job;
  std::uint32_t y_bytes;
  bool adds;

  static bool allows(const SddmmJob<T>& job) {
    return !job.a.is_weighted() && job.a.row_scale == nullptr && job.a.column_ids != nullptr &&
           job.y_stride < (std::uint64_t{1} << 32) / sizeof(T);  // Bytes fit 32 bits.
  }

  template <class W>
  __device__ void operator()(const W& worker, std::uint64_t index) const {
    const SpmmTask task = job.tasks[index];
    const auto total = static_cast<std::uint32_t>(task.end - task.begin);
    if (total == 0) return;
    const std::uint32_t first = worker.lane() * kWidth;
    const bool is_in = first < job.k;  // Lanes behind the last column have nothing to add.
    const auto* const origin =
        exec::kept_pointer(reinterpret_cast<const unsigned char*>(job.y + first));
    const Vertex* ids = exec::kept_pointer(job.a.column_ids + task.begin);
    float* out = exec::kept_pointer(job.out + task.begin + worker.lane());
    TileRows rows(job.a.offsets, task);
    Pack x;
    x.clear();
    std::uint32_t x_row = TileRows::kNever;
    Vertex column[kInFlight];
    WARREN_UNROLL
    for (std::uint32_t u = 0; u < kInFlight; ++u) column[u] = ids[entry_or_last(u, total)];
    for (std::uint32_t i = 0; i < total; i += kInFlight) {
      const std::uint32_t left = total - i;
      const bool is_writer = worker.lane() < kInFlight && worker.lane() < left;
      Raw y[kInFlight] = {};
      if (is_in) {
        WARREN_UNROLL
        for (std::uint32_t u = 0; u < kInFlight; ++u)
          y[u] = *reinterpret_cast<const Raw*>(exec::row_address(origin, column[u], y_bytes));
      }
      const float before = adds && is_writer ? *out : 0.0f;
      ids += kInFlight;
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kInFlight; ++u) {
        if (kInFlight + u < left) column[u] = ids[u];
      }
      // Where a row ends in one of a warp's groups, all go its way.
      bool has_end = i + kInFlight > rows.end() || x_row != rows.row();
      if constexpr (sizeof(T) == 2 && W::size() < 32) has_end = exec::any_beside(has_end);
      float product[kInFlight];
      WARREN_UNROLL
      for (std::uint32_t u = 0; u < kInFlight; ++u) {
        if (has_end && u < left) {
          while (i + u >= rows.end()) rows.advance();
          if (x_row != rows.row()) {
            x_row = rows.row();
            const std::uint64_t id = job.a.row_id(std::uint64_t{task.row} + x_row);
            if (is_in) x.load(job.x + id * job.x_stride + first);
          }
        }
        product[u] = dot(x, y[u]);
      }
      const float sum = add_up(worker, product);
      if (is_writer) *out = before + sum;
      out += kInFlight;
    }
  }
};

template <class T, std::uint32_t kWidth>
void launch_sddmm(const exec::Stream& stream, const SddmmJob<T>& job) {
  with_lanes((job.k + kWidth - 1) / kWidth, [&]<class W>() {
    constexpr std::uint32_t kLanes = exec::detail::kLanes<W>;
    constexpr std::uint64_t kColumns = std::uint64_t{kLanes} * kWidth;
    const exec::LaunchOptions shape =
        shape_of(stream, job.task_count, kLanes, {.threads_per_block = 512});
    if (!DotsOnTile<T, kWidth>::allows(job))
      return exec::launch<exec::Cuda, W>(stream, job.task_count, SddmmOnTile<T, kWidth>{job},
                                         shape);
    DotsOnTile<T, kWidth> tile{job, static_cast<std::uint32_t>(job.y_stride * sizeof(T)), false};
    for (std::uint64_t c = 0; c < job.k; c += kColumns) {
      tile.job.x = job.x + c;
      tile.job.y = job.y + c;
      tile.job.k = std::min(kColumns, job.k - c);
      tile.adds = c > 0;
      exec::launch<exec::Cuda, W>(stream, job.task_count, tile, shape);
    }
  });
}

/// A lane reads 16 bytes of a row at once where all addresses allow.
template <class T>
void launch_sddmm_tiles(const exec::Stream& stream, const SddmmJob<T>& job) {
  constexpr std::uint64_t kWide = 16 / sizeof(T);
  const std::uintptr_t bits =
      reinterpret_cast<std::uintptr_t>(job.x) | reinterpret_cast<std::uintptr_t>(job.y);
  if (bits % 16 == 0 && (job.k | job.x_stride | job.y_stride) % kWide == 0)
    return launch_sddmm<T, kWide>(stream, job);
  launch_sddmm<T, 1>(stream, job);
}

}  // namespace warren::sparse::detail
